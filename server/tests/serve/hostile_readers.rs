//! Many peers that ask and never read.

use twolane_core::envelope::Version;

use crate::bench::{FINISHED, Process, Runner, STEP_REQUEST, control, gist};

const STOPPED: usize = 50;

/// What a stopped reader may cost in KiB: both queues as they are set below, a batch, and room for reading.
const COST_EACH_MAX_KIB: u64 = 1024;

#[tokio::test]
async fn stopped_readers_cost_their_queues_and_harm_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let (run_dir, script, config) =
        (dir.path().join("run"), dir.path().join("script.toml"), dir.path().join("config.toml"));
    // 16 MiB of control that no stopped reader takes, for each.
    let flood = format!(
        "start = \"request\"\n[[event]]\ntimes = 160\nlane = \"control\"\n\
         payload = {{ type = \"stream_start\", model = \"{}\" }}\n{FINISHED}",
        "x".repeat(100_000)
    );
    std::fs::write(&script, flood).unwrap();
    std::fs::write(&config, "control_queue = \"256KiB\"\nstall_limit = \"60m\"\n").unwrap();
    let mut server = Process::serve(&[
        "--no-http",
        "--run-dir",
        run_dir.to_str().unwrap(),
        "--script",
        script.to_str().unwrap(),
        "--config",
        config.to_str().unwrap(),
    ]);
    server.said("try ");
    let file = run_dir.join("providers.json");
    let before_kib = server.resident_kib();
    let mut stopped = Vec::new();
    for _ in 0..STOPPED {
        let mut peer = Runner::attach(&file).await;
        peer.send(&control(Version::V1, 1, 1, STEP_REQUEST)).await;
        stopped.push(peer);
    }
    let mut good = Runner::attach(&file).await;
    good.send(&control(Version::V1, 1, 1, STEP_REQUEST)).await;
    while gist(&good.next().await.unwrap()).3 != "finished" {}
    let cost_kib = server.resident_kib().saturating_sub(before_kib);
    assert!(cost_kib < COST_EACH_MAX_KIB * STOPPED as u64, "{cost_kib} KiB for {STOPPED} stopped readers");
    // One that reads again gets all of it.
    let mut late = stopped.swap_remove(0);
    let mut frames = 1;
    while gist(&late.next().await.unwrap()).3 != "finished" {
        frames += 1;
    }
    assert_eq!(frames, 161);
}

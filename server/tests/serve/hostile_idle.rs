//! Thousands of peers that connect and say nothing.

use tokio::net::TcpStream;

use crate::bench::{FINISHED, Process, Runner, bounded};

/// More than the places in the handshake and those who may wait for one.
const IDLE: usize = 2000;

/// Resident memory that the idle peers may cost the server, in KiB: 8 KiB each.
const COST_MAX_KIB: u64 = 16 * 1024;

#[tokio::test]
async fn two_thousand_idle_peers_cost_little_and_keep_nobody_out() {
    let dir = tempfile::tempdir().unwrap();
    let (run_dir, script) = (dir.path().join("run"), dir.path().join("script.toml"));
    std::fs::write(&script, format!("start = \"connect\"\n{FINISHED}")).unwrap();
    let mut server = Process::serve(&[
        "--no-http",
        "--run-dir",
        run_dir.to_str().unwrap(),
        "--script",
        script.to_str().unwrap(),
        "--handshake-limit",
        "1s",
        // Nobody reads its log, which has a line for each peer that is turned away.
        "--log",
        "error",
    ]);
    server.said("try ");
    let file = run_dir.join("providers.json");
    let address = twolane::net::connection_file::read(&file).unwrap().addresses[0];
    let before_kib = server.resident_kib();
    let mut idle = Vec::with_capacity(IDLE);
    for _ in 0..IDLE {
        idle.push(bounded(TcpStream::connect(address)).await.unwrap());
    }
    // It may be turned away while more wait than may; the idle ones are let go after one deadline each.
    let mut good = None;
    while good.is_none() {
        let mut runner = Runner::attach_or_refused(&file).await;
        good = match &mut runner {
            Some(runner) => runner.next().await,
            None => None,
        };
    }
    assert!(good.is_some_and(|frame| frame.header.flags().is_last()));
    let cost_kib = server.resident_kib().saturating_sub(before_kib);
    assert!(cost_kib < COST_MAX_KIB, "{cost_kib} KiB for {IDLE} idle peers");
    drop(idle);
}

//! Peers that announce much and send little.

use tokio::io::AsyncWriteExt as _;

use twolane_core::envelope::Version;

use crate::bench::{FINISHED, Process, Runner, STEP_REQUEST, control, gist};

const PEERS: usize = 100;

/// Resident memory that all announced bodies together may cost, in KiB; announced are 100 times 64 MiB.
const COST_MAX_KIB: u64 = 32 * 1024;

/// A control header of version 1, on generation 7, that announces `len` bytes of body.
fn announce(len: u32) -> Vec<u8> {
    let mut header = vec![0; 17];
    header[..4].copy_from_slice(&len.to_le_bytes());
    header[4..9].copy_from_slice(&[1, 3, 2, 7, 0]);
    header[9] = 1;
    header
}

#[tokio::test]
async fn an_announced_body_costs_what_arrives_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let (run_dir, script) = (dir.path().join("run"), dir.path().join("script.toml"));
    std::fs::write(&script, format!("start = \"request\"\n{FINISHED}")).unwrap();
    let arguments =
        ["--no-http", "--run-dir", run_dir.to_str().unwrap(), "--script", script.to_str().unwrap()];
    let mut server = Process::serve(&arguments);
    server.said("try ");
    let file = run_dir.join("providers.json");
    let before_kib = server.resident_kib();
    let mut peers = Vec::new();
    for at in 0..PEERS {
        let mut peer = Runner::attach(&file).await;
        // The largest that is legal, which is passed over; and the largest that is kept.
        peer.send(&announce(if at % 2 == 0 { 64 << 20 } else { 4 << 20 })).await;
        peer.send(&[b' '; 1000]).await;
        peers.push(peer);
    }
    for peer in peers.iter_mut().step_by(2) {
        // Refused by length alone, long before its body is there.
        assert_eq!(gist(&peer.next().await.unwrap()), (7, 1, true, "error".to_owned()));
    }
    let cost_kib = server.resident_kib().saturating_sub(before_kib);
    assert!(cost_kib < COST_MAX_KIB, "{cost_kib} KiB");
}

/// One byte over what any version carries.
#[tokio::test]
async fn a_body_over_64_mib_closes_the_connection_and_no_other() {
    let bench = crate::bench::Bench::start(&format!("start = \"request\"\n{FINISHED}"), &[]).await;
    let mut good = bench.runner().await;
    let mut greedy = bench.runner().await;
    greedy.send(&announce((64 << 20) + 1)).await;
    assert!(crate::bench::rest(&mut greedy.stream).await.is_empty());
    bench.counted("refused", 1).await;
    good.send(&control(Version::V1, 1, 1, STEP_REQUEST)).await;
    assert_eq!(gist(&good.next().await.unwrap()).3, "finished");
}

/// A frame whose every byte comes alone is a frame all the same.
#[tokio::test]
async fn a_request_byte_by_byte_is_answered() {
    let bench = crate::bench::Bench::start(&format!("start = \"request\"\n{FINISHED}"), &[]).await;
    let mut slow = bench.runner().await;
    for byte in control(Version::V1, 3, 5, STEP_REQUEST) {
        slow.stream.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(gist(&slow.next().await.unwrap()), (3, 5, true, "finished".to_owned()));
}

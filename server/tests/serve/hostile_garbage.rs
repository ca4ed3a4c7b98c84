//! Peers that are authenticated and send anything but frames.

use crate::bench::{Bench, FINISHED, STEP_REQUEST, control, gist, rest};
use twolane_core::envelope::Version;

const CASES: u64 = 64;

/// Bytes without a pattern, the same in each run.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::new();
    for _ in 0..64 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    // An unknown version in the first header, so that no case waits for the rest of a body.
    bytes[4] |= 0x80;
    bytes
}

#[tokio::test]
async fn garbage_behind_the_handshake_is_closed_without_a_byte_and_harms_nobody() {
    let bench = Bench::start(&format!("start = \"request\"\n{FINISHED}"), &[]).await;
    let mut good = bench.runner().await;
    for seed in 0..CASES {
        let mut peer = bench.runner().await;
        peer.send(&noise(seed)).await;
        assert!(rest(&mut peer.stream).await.is_empty(), "seed {seed}");
    }
    bench.counted("refused", CASES).await;
    good.send(&control(Version::V1, 1, 1, STEP_REQUEST)).await;
    assert_eq!(gist(&good.next().await.unwrap()).3, "finished");
}

/// Noise behind frames that were good: what was asked for is answered first.
#[tokio::test]
async fn garbage_behind_a_good_frame_costs_the_connection_and_not_the_answer() {
    let bench = Bench::start(&format!("start = \"request\"\n{FINISHED}"), &[]).await;
    let mut peer = bench.runner().await;
    peer.send(&control(Version::V1, 1, 1, STEP_REQUEST)).await;
    assert_eq!(gist(&peer.next().await.unwrap()).3, "finished");
    peer.send(&noise(7)).await;
    assert!(peer.next().await.is_none());
    bench.counted("refused", 1).await;
}

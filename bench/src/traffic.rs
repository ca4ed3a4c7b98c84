//! What is sent: display as fast as it goes, control at a steady pace with the time in it.

use std::time::{Duration, Instant};

use twolane_core::envelope::Generation;
use twolane_core::lanes::outbox::Place;

/// Bytes of a display frame, header included.
pub(crate) const FRAME_BYTES: usize = 1024;

/// Bytes of a display frame beside its text, about.
const AROUND_BYTES: usize = 160;

/// Between two control frames.
pub(crate) const CONTROL_EVERY: Duration = Duration::from_millis(5);

/// The one stream of a bench.
pub(crate) fn place() -> Place<'static> {
    Place { generation: Generation { epoch: 0, channel: 1 }, corr: 1, run_id: "run", step_id: 1 }
}

/// Deltas of two messages: in turn they join no other and stay frames of their own.
pub(crate) fn deltas() -> [Vec<u8>; 2] {
    let text = "d".repeat(FRAME_BYTES - AROUND_BYTES);
    ["m0", "m1"].map(|id| {
        format!("{{\"type\":\"text_delta\",\"message_id\":\"{id}\",\"delta\":\"{text}\"}}").into_bytes()
    })
}

/// A control payload that says when it was sent, in nanoseconds since `base`.
pub(crate) fn control(base: Instant) -> Vec<u8> {
    format!("{{\"type\":\"step_started\",\"sent\":\"{:020}\"}}", base.elapsed().as_nanos()).into_bytes()
}

/// When a control payload says it was sent.
pub(crate) fn sent(payload: &[u8]) -> Option<Duration> {
    let digits = payload.strip_suffix(b"\"}")?.last_chunk::<20>()?;
    std::str::from_utf8(digits).ok()?.trim_start_matches('0').parse().ok().map(Duration::from_nanos)
}

//! A reader that stops altogether, and then reads.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use twolane::net::lanes::ANSWERS_BYTES_MAX;
use twolane_core::lanes::outbox::Budget;

use crate::lanes::{Sending, pair};
use crate::reader;

/// Floods a reader that reads nothing for `time`, then lets it read all; false where anything is not accounted for or
/// more waited than is stated.
pub(crate) async fn bench(time: Duration) -> bool {
    let budget = Budget::default();
    let bound = budget.control_bytes + budget.display_bytes + ANSWERS_BYTES_MAX;
    println!("stopped: the same flood, a reader that reads nothing for {} s, then all", time.as_secs());
    let base = Instant::now();
    let (stream, socket) = pair(true).await;
    let resident_before = resident_kib();
    let sending = Sending::start(socket, budget, None, base);
    sleep(time).await;
    let resident_after = resident_kib();
    sending.finish();
    let seen = reader::read(stream, None, base).await;
    let sent = sending.end().await;
    let complete = seen.control == sent.control && seen.display + seen.dropped == sent.display;
    let kept = complete && sent.peak_bytes <= bound;
    println!("  control   {} sent, {} read in order", sent.control, seen.control);
    println!(
        "  display   {} sent, {} read, {} accounted for by gaps",
        sent.display, seen.display, seen.dropped
    );
    println!("  waiting   {} KiB at most, bound {} KiB", sent.peak_bytes / 1024, bound / 1024);
    if let (Some(before), Some(after)) = (resident_before, resident_after) {
        println!("  process   {before} KiB resident before, {after} KiB when the reader began again");
    }
    println!(
        "  every control frame in order, every loss accounted for: {}",
        if kept { "kept" } else { "NOT KEPT" }
    );
    kept
}

/// Resident memory of this process, where the system says so.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

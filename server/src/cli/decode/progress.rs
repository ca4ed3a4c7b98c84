//! How far a long file is read, on standard error.

use std::io::{Write as _, stderr};
use std::time::{Duration, Instant};

/// Smaller files are read before an eye could follow, in bytes.
const WORTH_SHOWING: u64 = 8 * 1024 * 1024;

/// Time between two lines.
const INTERVAL: Duration = Duration::from_millis(100);

pub(super) struct Progress {
    total: u64,
    read: u64,
    shown: Option<Instant>,
    is_wanted: bool,
}

impl Progress {
    /// For an input of `total` bytes, where that is known.
    pub(super) fn new(total: Option<u64>, is_terminal: bool) -> Self {
        let total = total.unwrap_or(0);
        Self { total, read: 0, shown: None, is_wanted: is_terminal && total > WORTH_SHOWING }
    }

    /// Counts a chunk.
    pub(super) fn advance(&mut self, bytes: usize, units: u64) {
        self.read += bytes as u64;
        if !self.is_wanted || self.shown.is_some_and(|at| at.elapsed() < INTERVAL) {
            return;
        }
        self.shown = Some(Instant::now());
        let percent = self.read.saturating_mul(100).checked_div(self.total).unwrap_or(100).min(100);
        let (read, total) = (mebibytes(self.read), mebibytes(self.total));
        let _ = write!(stderr(), "\r{read} of {total} MiB  {percent:>3} %  {units} units");
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        if self.shown.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    let tenths = bytes / (1024 * 1024 / 10);
    format!("{}.{}", tenths / 10, tenths % 10)
}

//! How far a long file is read, on standard error.

use std::io::{Write as _, stderr};
use std::time::{Duration, Instant};

/// Bytes without a row that are read before an eye could follow.
const WORTH_SHOWING: u64 = 8 * 1024 * 1024;

/// Time between two lines.
const INTERVAL: Duration = Duration::from_millis(100);

/// A line that takes its own place again and again.
pub(in crate::cli) struct Progress {
    total: u64,
    read: u64,
    /// Read since the last row where rows and the line share a terminal, in bytes.
    quiet: u64,
    shares: bool,
    shown: Option<Instant>,
}

impl Progress {
    /// For a file of `total` bytes. `shares` says that rows go to the same terminal: then the line is there only while
    /// they are long in coming.
    pub(super) fn new(total: u64, shares: bool) -> Self {
        // A file without a row is worth a line from its beginning on, if it is long.
        let quiet = if shares { 0 } else { WORTH_SHOWING };
        Self { total, read: 0, quiet, shares, shown: None }
    }

    /// Counts a chunk.
    pub(super) fn advance(&mut self, bytes: usize, units: u64) {
        self.read += bytes as u64;
        self.quiet += bytes as u64;
        let is_due = self.shown.is_none_or(|at| at.elapsed() >= INTERVAL);
        if self.total <= WORTH_SHOWING || self.quiet < WORTH_SHOWING || !is_due {
            return;
        }
        self.shown = Some(Instant::now());
        let percent = self.read.saturating_mul(100).checked_div(self.total).unwrap_or(100).min(100);
        let (read, total) = (mebibytes(self.read), mebibytes(self.total));
        let _ = write!(stderr(), "\r{read} of {total} MiB  {percent:>3} %  {units} units");
    }

    /// Makes way for rows.
    pub(super) fn rows(&mut self) {
        if self.shares {
            self.clear();
            self.quiet = 0;
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    let tenths = bytes / (1024 * 1024 / 10);
    format!("{}.{}", tenths / 10, tenths % 10)
}

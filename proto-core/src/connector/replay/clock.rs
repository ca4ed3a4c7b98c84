//! A clock that does not go back, and that is not believed when it leaps ahead.

use crate::limits::{CLOCK_LEAP_RUNNING_MS, CLOCK_LEAP_START_MS};

/// What time it is, in milliseconds of the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// The later of the clock and the mark. It becomes the mark in the commit of each claim and purge.
    Trusted {
        /// The time.
        ms: u64,
    },
    /// The clock leapt: new claims are refused, nothing is purged, no mark is written, until someone accepts it.
    Leapt {
        /// How far it is ahead.
        ahead_ms: u64,
    },
}

/// Judges the system's clock by the mark of the store and by monotonic time.
///
/// ```
/// use twolane_core::connector::replay::{Clock, Now};
///
/// // A process starts a second after the store's mark; then the clock is set forward by a day.
/// const DAY_MS: u64 = 24 * 3_600_000;
/// let mut clock = Clock::start(1_000_000, 0, 999_000);
/// assert_eq!(clock.now(1_000_500, 500), Now::Trusted { ms: 1_000_500 });
/// clock.marked(1_000_500);
/// assert_eq!(clock.now(1_000_600 + DAY_MS, 600), Now::Leapt { ahead_ms: DAY_MS });
///
/// // It stays so until someone says that the clock is right. Set back, it does not go back.
/// clock.accept(1_000_600 + DAY_MS, 600);
/// assert_eq!(clock.now(1_000_700, 700), Now::Trusted { ms: 1_000_600 + DAY_MS });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    mark_ms: u64,
    /// Clock and monotonic time when the clock was last taken to be right.
    base: (u64, u64),
    leapt_ms: Option<u64>,
}

impl Clock {
    /// At the start of a process. `mark_ms` is the store's, 0 of a new store, whose first clock is believed.
    pub fn start(clock_ms: u64, monotonic_ms: u64, mark_ms: u64) -> Self {
        let ahead = clock_ms.saturating_sub(mark_ms);
        let leapt = mark_ms > 0 && ahead > CLOCK_LEAP_START_MS;
        Self { mark_ms, base: (clock_ms, monotonic_ms), leapt_ms: leapt.then_some(ahead) }
    }

    /// What time it is. A leap stays one until it is accepted, even if the clock comes back.
    pub fn now(&mut self, clock_ms: u64, monotonic_ms: u64) -> Now {
        let (base_clock, base_monotonic) = self.base;
        let passed = monotonic_ms.saturating_sub(base_monotonic);
        let ahead = clock_ms.saturating_sub(base_clock.saturating_add(passed));
        if self.leapt_ms.is_none() && ahead > CLOCK_LEAP_RUNNING_MS {
            self.leapt_ms = Some(ahead);
        }
        match self.leapt_ms {
            Some(ahead_ms) => Now::Leapt { ahead_ms },
            None => Now::Trusted { ms: clock_ms.max(self.mark_ms) },
        }
    }

    /// The mark that was committed.
    pub fn marked(&mut self, mark_ms: u64) {
        self.mark_ms = self.mark_ms.max(mark_ms);
    }

    /// Someone says that the clock is right: what it shows is the mark from now on, also where that is earlier.
    pub const fn accept(&mut self, clock_ms: u64, monotonic_ms: u64) {
        self.mark_ms = clock_ms;
        self.base = (clock_ms, monotonic_ms);
        self.leapt_ms = None;
    }
}

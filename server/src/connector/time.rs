//! What time it is, as far as the system's clock can be believed.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use twolane_core::connector::replay::{Clock, Now};

/// Where time comes from; replaced in tests.
pub trait Time: Debug + Send + Sync + 'static {
    /// Milliseconds of the Unix epoch, as the system's clock shows them.
    fn unix_ms(&self) -> u64;
    /// Milliseconds since some moment; they only grow.
    fn monotonic_ms(&self) -> u64;
}

/// The system's.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Time for SystemClock {
    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A clock and its judge.
#[derive(Debug)]
pub(super) struct Judged {
    time: Box<dyn Time>,
    clock: Mutex<Clock>,
}

impl Judged {
    /// At the start, with the store's mark.
    pub(super) fn start(time: Box<dyn Time>, mark_ms: u64) -> Self {
        let clock = Clock::start(time.unix_ms(), time.monotonic_ms(), mark_ms);
        Self { time, clock: Mutex::new(clock) }
    }

    pub(super) fn now(&self) -> Now {
        self.with(Clock::now)
    }

    /// The clock as it is, believed or not: for what has to have a time.
    pub(super) fn unix_ms(&self) -> u64 {
        match self.now() {
            Now::Trusted { ms } => ms,
            Now::Leapt { .. } => self.time.unix_ms(),
        }
    }

    pub(super) fn monotonic_ms(&self) -> u64 {
        self.time.monotonic_ms()
    }

    pub(super) fn marked(&self, mark_ms: u64) {
        self.with(|clock, _, _| clock.marked(mark_ms));
    }

    /// A person says that the clock is right; gives what it shows.
    pub(super) fn accept(&self) -> u64 {
        self.with(|clock, unix_ms, monotonic_ms| {
            clock.accept(unix_ms, monotonic_ms);
            unix_ms
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Clock, u64, u64) -> T) -> T {
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut clock, self.time.unix_ms(), self.time.monotonic_ms())
    }
}

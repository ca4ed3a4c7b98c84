//! What time it is, as far as the system's clock can be believed.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use twolane_core::connector::replay::{Clock, Now};

use crate::stop_points;

/// Where time comes from; replaced in tests.
pub trait Time: Debug + Send + Sync + 'static {
    /// Milliseconds of the Unix epoch, as the system's clock shows them.
    fn unix_ms(&self) -> u64;
    /// Milliseconds since some moment; they only grow, also while the machine sleeps: a clock that went on meanwhile
    /// did not leap.
    fn monotonic_ms(&self) -> u64;
}

/// The system's.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// Time since the machine's start, with that in which it slept.
#[cfg(target_os = "linux")]
const SINCE_START: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const SINCE_START: ClockId = ClockId::Monotonic;

impl Time for SystemClock {
    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX).saturating_add(stop_points::clock_ahead_ms())
    }

    fn monotonic_ms(&self) -> u64 {
        let since = clock_gettime(SINCE_START);
        let (s, ms) = (u64::try_from(since.tv_sec), u64::try_from(since.tv_nsec / 1_000_000));
        s.unwrap_or(0).saturating_mul(1000).saturating_add(ms.unwrap_or(0)) + stop_points::clock_ahead_ms()
    }
}

/// A clock and its judge.
#[derive(Debug)]
pub(super) struct Judged {
    time: Box<dyn Time>,
    clock: Mutex<Clock>,
    /// When the clock was last believed.
    last_ms: AtomicU64,
}

impl Judged {
    /// At the start, with the store's mark.
    pub(super) fn start(time: Box<dyn Time>, mark_ms: u64) -> Self {
        let clock = Clock::start(time.unix_ms(), time.monotonic_ms(), mark_ms);
        Self { time, clock: Mutex::new(clock), last_ms: AtomicU64::new(mark_ms) }
    }

    pub(super) fn now(&self) -> Now {
        let now = self.with(Clock::now);
        if let Now::Trusted { ms } = now {
            self.last_ms.fetch_max(ms, Ordering::Relaxed);
        }
        now
    }

    /// The time for what has to have one: when the clock is not believed, that when it last was.
    pub(super) fn unix_ms(&self) -> u64 {
        match self.now() {
            Now::Trusted { ms } => ms,
            Now::Leapt { .. } => self.last_ms.load(Ordering::Relaxed),
        }
    }

    pub(super) fn monotonic_ms(&self) -> u64 {
        self.time.monotonic_ms()
    }

    pub(super) fn marked(&self, mark_ms: u64) {
        self.with(|clock, _, _| clock.marked(mark_ms));
    }

    /// What the clock shows, believed or not.
    pub(super) fn shown_unix_ms(&self) -> u64 {
        self.time.unix_ms()
    }

    /// A person says that the clock is right.
    pub(super) fn accept(&self) {
        self.with(Clock::accept);
        self.last_ms.store(0, Ordering::Relaxed);
    }

    fn with<T>(&self, work: impl FnOnce(&mut Clock, u64, u64) -> T) -> T {
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut clock, self.time.unix_ms(), self.time.monotonic_ms())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// What the kernel says in `/proc/uptime`, which counts sleep.
    fn uptime_ms() -> u64 {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        let (s, hundredths) = text.split_once(' ').unwrap().0.split_once('.').unwrap();
        s.parse::<u64>().unwrap() * 1000 + hundredths.parse::<u64>().unwrap() * 10
    }

    #[test]
    fn time_passes_while_the_machine_sleeps() {
        let before_ms = uptime_ms();
        let now_ms = SystemClock.monotonic_ms();
        assert!((before_ms..=uptime_ms() + 10).contains(&now_ms), "{now_ms} ms, uptime {before_ms} ms");
    }
}

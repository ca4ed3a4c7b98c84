//! The tap: every frame and handshake message this server reads or writes, for whoever listens.
//!
//! The sockets' tasks offer what they read and wrote; offering never waits for a listener. Each
//! listener has a bounded queue and is told what did not fit. Only bytes of the wire are offered:
//! no key ever is.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
pub use twolane_capture::Direction;
pub use twolane_capture::tap::Kind;

pub use super::queue::{Entry, Loss, Unit};

use super::queue::Queue;
use crate::limits::{TAP_BATCH_BYTES, TAP_LISTENERS, TAP_QUEUE_BYTES, TAP_RECENT_BYTES};

/// What a tap may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The latest units kept for a page that is opened later, in bytes; 0 keeps none.
    pub recent_bytes: usize,
    /// What may wait for one listener, in bytes.
    pub queue_bytes: usize,
    /// Listeners at once.
    pub listeners: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { recent_bytes: TAP_RECENT_BYTES, queue_bytes: TAP_QUEUE_BYTES, listeners: TAP_LISTENERS }
    }
}

/// A handle to the tap; clones are the same tap.
#[derive(Debug, Clone)]
pub struct Tap(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Whether an offer has any effect.
    wanted: AtomicBool,
    bounds: Bounds,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    recent: VecDeque<Unit>,
    recent_bytes: usize,
    forgotten_units: u64,
    forgotten_bytes: u64,
    listeners: Vec<Listening>,
    next_id: u64,
}

#[derive(Debug)]
struct Listening {
    id: u64,
    queue: Queue,
    ready: Arc<Notify>,
}

impl Tap {
    /// A tap within these bounds.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self(Arc::new(Shared {
            wanted: AtomicBool::new(bounds.recent_bytes > 0),
            bounds,
            state: Mutex::new(State::default()),
        }))
    }

    /// A tap for a server without a page: it keeps nothing, and an offer is one load.
    #[must_use]
    pub fn off() -> Self {
        Self::new(Bounds { recent_bytes: 0, ..Bounds::default() })
    }

    /// Shows one whole frame or handshake message, length prefix included, as it is on the wire.
    /// `conn` counts from 1 in this server and is not used again.
    pub fn offer(&self, conn: u64, endpoint: &'static str, direction: Direction, kind: Kind, bytes: &[u8]) {
        self.tell(conn, endpoint, direction, kind, bytes, 0);
    }

    /// Shows that a frame passed of which only the header is kept: its body was too long to be read.
    pub fn offer_skipped(
        &self,
        conn: u64,
        endpoint: &'static str,
        direction: Direction,
        header: &[u8],
        skipped_bytes: u32,
    ) {
        self.tell(conn, endpoint, direction, Kind::Frame, header, skipped_bytes);
    }

    fn tell(
        &self,
        conn: u64,
        endpoint: &'static str,
        direction: Direction,
        kind: Kind,
        bytes: &[u8],
        skipped_bytes: u32,
    ) {
        if !self.0.wanted.load(Ordering::Relaxed) {
            return;
        }
        let bytes = Arc::from(bytes);
        let mut state = self.0.lock();
        // Read under the lock, so that the order of times is the order of units.
        let unit = Unit { time_ns: now_ns(), conn, endpoint, direction, kind, bytes, skipped_bytes };
        for listening in &mut state.listeners {
            listening.push(&unit);
        }
        state.remember(unit, self.0.bounds.recent_bytes);
    }

    /// Begins to listen: the recent past first, then all that follows. `None` if
    /// as many as may listen already.
    #[must_use]
    pub fn listen(&self) -> Option<Listener> {
        let mut state = self.0.lock();
        if state.listeners.len() >= self.0.bounds.listeners {
            return None;
        }
        let joined = Entry::Joined {
            time_ns: state.recent.front().map_or_else(now_ns, |unit| unit.time_ns),
            units: state.forgotten_units,
            bytes: state.forgotten_bytes,
        };
        let mut queue = Queue::new(self.0.bounds.queue_bytes, joined);
        for unit in &state.recent {
            queue.push(unit);
        }
        let id = state.next_id;
        state.next_id += 1;
        let ready = Arc::new(Notify::new());
        state.listeners.push(Listening { id, queue, ready: Arc::clone(&ready) });
        self.0.wanted.store(true, Ordering::Relaxed);
        Some(Listener { tap: Arc::clone(&self.0), id, ready })
    }

    /// How many listen.
    #[must_use]
    pub fn listeners(&self) -> usize {
        self.0.lock().listeners.len()
    }
}

/// One listener; dropping it ends the listening.
#[derive(Debug)]
pub struct Listener {
    tap: Arc<Shared>,
    id: u64,
    ready: Arc<Notify>,
}

impl Listener {
    /// Waits for something to tell and moves it to the end of `out`: at `not_before` at the
    /// earliest, unless [`TAP_BATCH_BYTES`] wait. Dropping the future loses nothing.
    pub async fn batch(&mut self, not_before: Instant, out: &mut Vec<Entry>) {
        loop {
            let early = match self.take(not_before, out) {
                Taken::Some => return,
                Taken::NotYet => true,
                Taken::Nothing => false,
            };
            if early {
                tokio::select! {
                    () = sleep_until(not_before) => {}
                    () = self.ready.notified() => {}
                }
            } else {
                self.ready.notified().await;
            }
        }
    }

    fn take(&self, not_before: Instant, out: &mut Vec<Entry>) -> Taken {
        let mut state = self.tap.lock();
        let Some(listening) = state.listeners.iter_mut().find(|listening| listening.id == self.id) else {
            return Taken::Nothing;
        };
        if !listening.queue.is_ready() {
            return Taken::Nothing;
        }
        if listening.queue.held_bytes() < TAP_BATCH_BYTES && Instant::now() < not_before {
            return Taken::NotYet;
        }
        listening.queue.drain(TAP_BATCH_BYTES, out);
        Taken::Some
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut state = self.tap.lock();
        state.listeners.retain(|listening| listening.id != self.id);
        let wanted = self.tap.bounds.recent_bytes > 0 || !state.listeners.is_empty();
        self.tap.wanted.store(wanted, Ordering::Relaxed);
    }
}

enum Taken {
    Some,
    NotYet,
    Nothing,
}

impl Listening {
    /// Wakes the listener when there is a first thing to tell and when a batch is full, not for
    /// each unit between.
    fn push(&mut self, unit: &Unit) {
        let was_ready = self.queue.is_ready();
        let was_full = self.queue.held_bytes() >= TAP_BATCH_BYTES;
        self.queue.push(unit);
        if !was_ready || (!was_full && self.queue.held_bytes() >= TAP_BATCH_BYTES) {
            self.ready.notify_one();
        }
    }
}

impl State {
    fn remember(&mut self, unit: Unit, limit_bytes: usize) {
        self.recent_bytes = self.recent_bytes.saturating_add(unit.cost_bytes());
        self.recent.push_back(unit);
        while self.recent_bytes > limit_bytes {
            let Some(oldest) = self.recent.pop_front() else {
                return;
            };
            self.recent_bytes = self.recent_bytes.saturating_sub(oldest.cost_bytes());
            self.forgotten_units = self.forgotten_units.saturating_add(1);
            self.forgotten_bytes = self.forgotten_bytes.saturating_add(oldest.wire_bytes());
        }
    }
}

impl Shared {
    /// No holder of this lock runs foreign code, so a poisoned state is still whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nanoseconds since 1970; 0 for a clock before it.
fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_late_listener_missed_is_not_later_than_what_it_is_told() {
        let tap = Tap::new(Bounds { recent_bytes: 200, ..Bounds::default() });
        for _ in 0..3 {
            tap.offer(1, "providers", Direction::AToB, Kind::Frame, &[0; 100]);
        }
        let (mut listener, mut told) = (tap.listen().unwrap(), Vec::new());
        listener.batch(Instant::now(), &mut told).await;
        let [Entry::Joined { time_ns, units: 2, .. }, Entry::Unit(unit)] = &told[..] else {
            panic!("two units missed and one kept, not {told:?}");
        };
        assert!(*time_ns <= unit.time_ns);
    }
}

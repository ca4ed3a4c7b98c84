//! What a connection shows of itself: units for the tap, counts for the metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use twolane_core::envelope::Header;

use super::lanes::Lanes;
use crate::inspect::Tap;
use crate::inspect::tap::{Direction, Kind};

/// The tap as one connection sees it.
#[derive(Clone, Debug)]
pub struct Observer {
    tap: Tap,
    connection: u64,
    endpoint: &'static str,
}

impl Observer {
    /// For the connection with this number, from 1.
    pub fn new(tap: Tap, connection: u64, endpoint: &'static str) -> Self {
        Self { tap, connection, endpoint }
    }

    /// For a side that nobody watches: a client of another server.
    pub fn none() -> Self {
        Self::new(Tap::off(), 0, "")
    }

    /// The connection's number.
    pub const fn connection(&self) -> u64 {
        self.connection
    }

    /// Shows one whole unit.
    pub fn offer(&self, direction: Direction, kind: Kind, bytes: &[u8]) {
        self.tap.offer(self.connection, self.endpoint, direction, kind, bytes);
    }

    /// Shows that a frame passed whose body was too long to be read.
    pub fn offer_skipped(&self, direction: Direction, header: &Header) {
        let (bytes, skipped_bytes) = (header.encode(), header.body_len());
        self.tap.offer_skipped(self.connection, self.endpoint, direction, &bytes, skipped_bytes);
    }
}

/// Counts of an endpoint since its start.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections accepted.
    pub accepted: AtomicU64,
    /// Accepted connections that found no place in the handshake.
    pub turned_away: AtomicU64,
    /// Handshakes that failed.
    pub unauthenticated: AtomicU64,
    /// Handshakes that succeeded.
    pub authenticated: AtomicU64,
    /// Authenticated connections that are open now.
    pub open: AtomicU64,
    /// Connections closed because the peer broke a rule.
    pub refused: AtomicU64,
    /// Connections closed because the peer stopped reading.
    pub stalled: AtomicU64,
    /// Control frames of peers whose seq broke the law.
    pub law_broken: AtomicU64,
    /// Frames read.
    pub frames_read: AtomicU64,
    /// Frames written.
    pub frames_written: AtomicU64,
    /// Display frames shed, over connections that have ended.
    pub display_shed: AtomicU64,
}

impl Counters {
    /// Adds one.
    pub(crate) fn one(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes over what the lanes of an ended connection counted.
    pub(super) fn count_lanes(&self, lanes: &Lanes) {
        self.display_shed.fetch_add(lanes.shed_total(), Ordering::Relaxed);
    }

    /// Names and values, for output.
    pub fn rows(&self) -> [(&'static str, u64); 11] {
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        [
            ("accepted", value(&self.accepted)),
            ("turned_away", value(&self.turned_away)),
            ("unauthenticated", value(&self.unauthenticated)),
            ("authenticated", value(&self.authenticated)),
            ("open", value(&self.open)),
            ("refused", value(&self.refused)),
            ("stalled", value(&self.stalled)),
            ("law_broken", value(&self.law_broken)),
            ("frames_read", value(&self.frames_read)),
            ("frames_written", value(&self.frames_written)),
            ("display_shed", value(&self.display_shed)),
        ]
    }
}

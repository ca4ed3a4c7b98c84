//! What waits for one listener of the tap: bounded in bytes, with what did not fit counted.
//!
//! A full queue takes nothing until half of it was read, so that a slow listener sees a few long
//! gaps and not a thousand short ones. The gap stands where the units would have stood: after
//! all that was taken before them, before all that is taken after.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use twolane_capture::Direction;
use twolane_capture::tap::Kind;

use crate::limits::{LOSSES_TOLD_APART_MAX, UNIT_COST_BYTES};

/// One frame or handshake message, as it was on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// When it was offered, in nanoseconds since 1970.
    pub time_ns: u64,
    /// The connection's number in this server, from 1.
    pub conn: u64,
    /// The endpoint's name.
    pub endpoint: &'static str,
    /// `AToB` is from the side that opened the connection.
    pub direction: Direction,
    /// Frame, handshake message or connector packet.
    pub kind: Kind,
    /// Its bytes: all of them, or the header of a frame whose body was skipped.
    pub bytes: Arc<[u8]>,
    /// How many more bytes it had on the wire: the body of a frame over the endpoint's limit, which nobody keeps.
    pub skipped_bytes: u32,
}

impl Unit {
    /// Its length on the wire.
    pub(crate) fn wire_bytes(&self) -> u64 {
        (self.bytes.len() as u64).saturating_add(u64::from(self.skipped_bytes))
    }

    /// What holding it costs, in bytes.
    pub(crate) fn cost_bytes(&self) -> usize {
        self.bytes.len().saturating_add(UNIT_COST_BYTES)
    }
}

/// Units of one direction that a listener was too slow for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// When the first of them was offered, in nanoseconds since 1970.
    pub time_ns: u64,
    /// Their connection, or 0 for those of connections that are not told apart.
    pub conn: u64,
    /// Their endpoint, or `-` under connection 0.
    pub endpoint: &'static str,
    /// Their direction; without meaning under connection 0.
    pub direction: Direction,
    /// How many; at least 1.
    pub units: u64,
    /// Their length added up.
    pub bytes: u64,
}

/// One thing a listener is told, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Always first: the listener joined after so many units had passed that are not kept any
    /// more. 0 says that what follows is all there ever was.
    Joined {
        /// Before what follows, in nanoseconds since 1970: when the first kept unit was offered, or the listener
        /// joined where none is kept.
        time_ns: u64,
        /// How many units passed before the first one that follows.
        units: u64,
        /// Their length added up.
        bytes: u64,
    },
    /// A unit.
    Unit(Unit),
    /// A gap in one direction.
    Lost(Loss),
}

/// The bounded queue of one listener.
#[derive(Debug)]
pub(crate) struct Queue {
    entries: VecDeque<Entry>,
    held_bytes: usize,
    limit_bytes: usize,
    losing: bool,
    losses: BTreeMap<(u64, Direction), Loss>,
}

impl Queue {
    /// A queue that begins with what the listener missed.
    pub(crate) fn new(limit_bytes: usize, joined: Entry) -> Self {
        Self {
            entries: VecDeque::from([joined]),
            held_bytes: 0,
            limit_bytes,
            losing: false,
            losses: BTreeMap::new(),
        }
    }

    /// Whether there is something to read.
    pub(crate) fn is_ready(&self) -> bool {
        !self.entries.is_empty() || self.losing
    }

    /// What the waiting units cost, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Takes a unit, or counts it as lost.
    pub(crate) fn push(&mut self, unit: &Unit) {
        if self.losing {
            if self.held_bytes > self.limit_bytes / 2 {
                self.lose(unit);
                return;
            }
            self.tell_losses();
        }
        let held_bytes = self.held_bytes.saturating_add(unit.cost_bytes());
        if held_bytes > self.limit_bytes {
            self.losing = true;
            self.lose(unit);
            return;
        }
        self.held_bytes = held_bytes;
        self.entries.push_back(Entry::Unit(unit.clone()));
    }

    /// Moves entries into `out` until their units cost `enough_bytes` or none is left.
    pub(crate) fn drain(&mut self, enough_bytes: usize, out: &mut Vec<Entry>) {
        let mut moved_bytes = 0;
        while moved_bytes < enough_bytes {
            let Some(entry) = self.entries.pop_front() else {
                if !self.losing {
                    return;
                }
                self.tell_losses();
                continue;
            };
            if let Entry::Unit(unit) = &entry {
                moved_bytes += unit.cost_bytes();
                self.held_bytes = self.held_bytes.saturating_sub(unit.cost_bytes());
            }
            out.push(entry);
        }
    }

    fn lose(&mut self, unit: &Unit) {
        let mut key = (unit.conn, unit.direction);
        let mut endpoint = unit.endpoint;
        if self.losses.len() >= LOSSES_TOLD_APART_MAX && !self.losses.contains_key(&key) {
            key = (0, Direction::AToB);
            endpoint = "-";
        }
        let loss = self.losses.entry(key).or_insert(Loss {
            time_ns: unit.time_ns,
            conn: key.0,
            endpoint,
            direction: key.1,
            units: 0,
            bytes: 0,
        });
        loss.units = loss.units.saturating_add(1);
        loss.bytes = loss.bytes.saturating_add(unit.wire_bytes());
    }

    fn tell_losses(&mut self) {
        self.losing = false;
        let losses = std::mem::take(&mut self.losses);
        self.entries.extend(losses.into_values().map(Entry::Lost));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOINED: Entry = Entry::Joined { time_ns: 0, units: 0, bytes: 0 };

    fn unit(conn: u64, direction: Direction, len: usize) -> Unit {
        let bytes = vec![7; len].into();
        Unit {
            time_ns: 5,
            conn,
            endpoint: "providers",
            direction,
            kind: Kind::Frame,
            bytes,
            skipped_bytes: 0,
        }
    }

    fn all(queue: &mut Queue) -> Vec<Entry> {
        let mut out = Vec::new();
        queue.drain(usize::MAX, &mut out);
        out
    }

    fn loss(conn: u64, direction: Direction, units: u64, bytes: u64) -> Entry {
        Entry::Lost(Loss { time_ns: 5, conn, endpoint: "providers", direction, units, bytes })
    }

    #[test]
    fn a_gap_stands_between_what_came_before_and_after_it() {
        let (one, other) = (unit(1, Direction::AToB, 20), unit(2, Direction::BToA, 10));
        let mut queue = Queue::new(2 * one.cost_bytes(), JOINED);
        for unit in [&one, &one, &one, &other, &one] {
            queue.push(unit);
        }
        let mut out = Vec::new();
        queue.drain(one.cost_bytes(), &mut out);
        assert_eq!(out, [JOINED, Entry::Unit(one.clone())]);
        queue.push(&other);
        assert_eq!(
            all(&mut queue),
            [
                Entry::Unit(one),
                loss(1, Direction::AToB, 2, 40),
                loss(2, Direction::BToA, 1, 10),
                Entry::Unit(other),
            ]
        );
    }

    #[test]
    fn a_full_queue_takes_nothing_until_half_of_it_was_read() {
        let one = unit(1, Direction::AToB, 20);
        let mut queue = Queue::new(4 * one.cost_bytes(), JOINED);
        for _ in 0..5 {
            queue.push(&one);
        }
        let mut out = Vec::new();
        queue.drain(one.cost_bytes(), &mut out);
        queue.push(&one);
        assert_eq!(all(&mut queue).pop(), Some(loss(1, Direction::AToB, 2, 40)));
    }

    #[test]
    fn a_gap_is_told_even_when_nothing_follows_it() {
        let one = unit(1, Direction::AToB, 20);
        let mut queue = Queue::new(one.cost_bytes() - 1, JOINED);
        assert_eq!(all(&mut queue), [JOINED]);
        queue.push(&one);
        assert!(queue.is_ready());
        assert_eq!(all(&mut queue), [loss(1, Direction::AToB, 1, 20)]);
        assert!(!queue.is_ready());
    }

    #[test]
    fn losses_of_too_many_directions_are_added_up() {
        let mut queue = Queue::new(0, JOINED);
        queue.losing = true;
        queue.held_bytes = 1;
        let told_apart = LOSSES_TOLD_APART_MAX as u64;
        for conn in 1..=told_apart + 3 {
            queue.push(&unit(conn, Direction::BToA, 4));
        }
        let out = all(&mut queue);
        let rest =
            Loss { time_ns: 5, conn: 0, endpoint: "-", direction: Direction::AToB, units: 3, bytes: 12 };
        assert_eq!(out.len(), LOSSES_TOLD_APART_MAX + 2);
        assert!(out.contains(&Entry::Lost(rest)));
    }

    #[test]
    fn what_was_read_and_what_is_held_add_up_to_what_was_pushed() {
        let one = unit(1, Direction::AToB, 100);
        let mut queue = Queue::new(10 * one.cost_bytes(), JOINED);
        let (mut seen, mut lost) = (0, 0);
        for round in 0..1000_usize {
            queue.push(&one);
            if round % 3 == 0 {
                let mut out = Vec::new();
                queue.drain(1, &mut out);
                for entry in out {
                    match entry {
                        Entry::Unit(_) => seen += 1,
                        Entry::Lost(loss) => lost += loss.units,
                        Entry::Joined { .. } => {}
                    }
                }
            }
        }
        for entry in all(&mut queue) {
            match entry {
                Entry::Unit(_) => seen += 1,
                Entry::Lost(loss) => lost += loss.units,
                Entry::Joined { .. } => {}
            }
        }
        assert!(lost > 0);
        assert_eq!(seen + lost, 1000);
        assert_eq!(queue.held_bytes(), 0);
    }
}

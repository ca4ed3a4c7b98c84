//! The TCP connections of a capture: which segment belongs to which direction of which.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::ip::{End, Segment};
use crate::limits::{MAX_CONNECTIONS, MAX_HELD_TOTAL_BYTES};
use crate::outlet::{Numbers, Outlet};
use crate::piece::{CloseReason, Direction, Ends, Opening, SegmentSink};
use crate::record::Skip;
use crate::stream::{Arrival, Stream};

/// Both ends in an order that does not depend on the direction.
type Key = (End, End);

#[derive(Debug)]
struct Connection {
    number: Option<u32>,
    a: End,
    ends: Ends,
    a_to_b: Stream,
    b_to_a: Stream,
    /// Packets seen of it.
    packets: u64,
    last_time_ns: Option<u64>,
}

/// A place in the list of connections.
#[derive(Debug)]
struct Followed {
    key: Key,
    /// The tracker's packet count at its last packet.
    last_packet: u64,
    connection: Box<Connection>,
}

/// All connections that are being followed.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    /// In the order of keys. A list, because its code is a third of a tree's, and a connection
    /// begins far more rarely than a packet is looked up.
    followed: Vec<Followed>,
    packets: u64,
    held_total: usize,
}

impl Tracker {
    /// Takes one segment.
    pub(crate) fn segment(
        &mut self,
        segment: &Segment<'_>,
        time_ns: Option<u64>,
        numbers: &mut Numbers,
        out: &mut dyn SegmentSink,
    ) -> Result<(), Skip> {
        self.packets = self.packets.saturating_add(1);
        let key = key(segment);
        let replaced = self.find(&key).ok().filter(|at| {
            let followed = self.followed.get(*at);
            segment.syn && followed.is_some_and(|old| old.connection.contradicted_by(segment))
        });
        if let Some(at) = replaced {
            self.close(at, CloseReason::Replaced, time_ns, numbers, out);
        }
        if self.find(&key).is_err() {
            if segment.rst {
                return Ok(());
            }
            self.begin(key, segment, numbers, out);
        }
        let at = self.find(&key).unwrap_or(usize::MAX);
        let Some(followed) = self.followed.get_mut(at) else {
            return Ok(());
        };
        followed.last_packet = self.packets;
        let connection = &mut followed.connection;
        let held = connection.held_cost();
        let full = self.held_total >= MAX_HELD_TOTAL_BYTES;
        let result = connection.segment(segment, time_ns, full, numbers, out);
        self.held_total = self.held_total.saturating_sub(held).saturating_add(connection.held_cost());
        result
    }

    /// Closes everything, in the order of connection numbers.
    pub(crate) fn finish(&mut self, numbers: &mut Numbers, out: &mut dyn SegmentSink) {
        let by_number = |followed: &Followed| followed.connection.number.unwrap_or(u32::MAX);
        while let Some(at) = least(&self.followed, by_number) {
            self.close(at, CloseReason::EndOfCapture, None, numbers, out);
        }
    }

    fn find(&self, key: &Key) -> Result<usize, usize> {
        self.followed.binary_search_by(|followed| followed.key.cmp(key))
    }

    fn begin(&mut self, key: Key, segment: &Segment<'_>, numbers: &mut Numbers, out: &mut dyn SegmentSink) {
        if self.followed.len() >= MAX_CONNECTIONS
            && let Some(at) = least(&self.followed, |followed| followed.last_packet)
        {
            self.close(at, CloseReason::Forgotten, None, numbers, out);
        }
        let followed =
            Followed { key, last_packet: self.packets, connection: Box::new(Connection::new(segment)) };
        if let Err(at) = self.find(&key) {
            self.followed.insert(at, followed);
        }
    }

    /// Closes the connection at that place of the list, at `time_ns` or when it was last seen.
    fn close(
        &mut self,
        at: usize,
        reason: CloseReason,
        time_ns: Option<u64>,
        numbers: &mut Numbers,
        out: &mut dyn SegmentSink,
    ) {
        let mut connection = self.followed.remove(at).connection;
        self.held_total = self.held_total.saturating_sub(connection.held_cost());
        let time_ns = time_ns.or(connection.last_time_ns);
        connection.close(reason, time_ns, numbers, out);
    }
}

/// The place at which `by` is least.
fn least<K: Ord>(followed: &[Followed], by: impl Fn(&Followed) -> K) -> Option<usize> {
    let places = followed.iter().enumerate();
    places.min_by_key(|(_, followed)| by(followed)).map(|(at, _)| at)
}

impl Connection {
    fn new(segment: &Segment<'_>) -> Self {
        let (source, destination) = (segment.source, segment.destination);
        let sender_is_a = match (segment.syn, segment.ack) {
            (true, None) => true,
            (true, Some(_)) => false,
            (false, _) => source.port >= destination.port,
        };
        let (a, b) = if sender_is_a { (source, destination) } else { (destination, source) };
        Self {
            number: None,
            a,
            ends: Ends { a: a.socket_addr(), b: b.socket_addr(), guessed: !segment.syn },
            a_to_b: Stream::new(),
            b_to_a: Stream::new(),
            packets: 0,
            last_time_ns: None,
        }
    }

    fn direction_of(&self, segment: &Segment<'_>) -> Direction {
        // Both sides can have one address only where a host talks to its own port: one direction.
        if segment.source == self.a { Direction::AToB } else { Direction::BToA }
    }

    fn contradicted_by(&self, syn: &Segment<'_>) -> bool {
        let stream = match self.direction_of(syn) {
            Direction::AToB => &self.a_to_b,
            Direction::BToA => &self.b_to_a,
        };
        stream.contradicts(syn.seq.wrapping_add(1))
    }

    fn held_cost(&self) -> usize {
        self.a_to_b.held_cost().saturating_add(self.b_to_a.held_cost())
    }

    /// `full`: too much is held in all, so that this connection may hold nothing.
    fn segment(
        &mut self,
        segment: &Segment<'_>,
        time_ns: Option<u64>,
        full: bool,
        numbers: &mut Numbers,
        out: &mut dyn SegmentSink,
    ) -> Result<(), Skip> {
        self.packets = self.packets.saturating_add(1);
        self.last_time_ns = time_ns.or(self.last_time_ns);
        let direction = self.direction_of(segment);
        let (own, other) = match direction {
            Direction::AToB => (&mut self.a_to_b, &mut self.b_to_a),
            Direction::BToA => (&mut self.b_to_a, &mut self.a_to_b),
        };
        let mut outlet =
            Outlet { out, numbers, number: &mut self.number, direction, ends: self.ends, time_ns };
        let seq = segment.seq.wrapping_add(u32::from(segment.syn));
        if segment.syn {
            own.start(seq);
            own.announce(Opening::Syn, &mut outlet);
        }
        let arrival = Arrival {
            seq,
            data: if segment.rst { &[] } else { segment.data },
            cut: if segment.rst { 0 } else { segment.cut },
            fin: segment.fin,
            packet: self.packets,
        };
        let result = own.receive(arrival, &mut outlet);
        own.settle(self.packets, full, &mut outlet);
        if segment.rst {
            own.close(CloseReason::Reset, &mut outlet);
        }
        outlet.direction = direction.reversed();
        if let Some(ack) = segment.ack.filter(|_| !segment.rst) {
            other.start(ack);
            other.acknowledge(ack);
        }
        other.settle(self.packets, full, &mut outlet);
        if segment.rst {
            other.close(CloseReason::Reset, &mut outlet);
        }
        result
    }

    fn close(
        &mut self,
        reason: CloseReason,
        time_ns: Option<u64>,
        numbers: &mut Numbers,
        out: &mut dyn SegmentSink,
    ) {
        let mut outlet = Outlet {
            out,
            numbers,
            number: &mut self.number,
            direction: Direction::AToB,
            ends: self.ends,
            time_ns,
        };
        self.a_to_b.close(reason, &mut outlet);
        outlet.direction = Direction::BToA;
        self.b_to_a.close(reason, &mut outlet);
    }
}

fn key(segment: &Segment<'_>) -> Key {
    let (source, destination) = (segment.source, segment.destination);
    (source.min(destination), source.max(destination))
}

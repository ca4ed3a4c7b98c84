//! The TCP connections of a capture: which segment belongs to which direction of which.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::SocketAddr;

use crate::ip::Segment;
use crate::outlet::{Numbers, Outlet};
use crate::piece::{CloseReason, Direction, Ends, Opening, SegmentSink};
use crate::record::Skip;
use crate::stream::{Arrival, Stream};

/// Connections followed at once. When one more begins, the [`FORGET_AT_ONCE`] idle for longest
/// are closed as forgotten.
pub const MAX_CONNECTIONS: usize = 4096;

/// Forgetting several at once keeps the search for the idlest cheap.
pub const FORGET_AT_ONCE: usize = 256;

/// Bytes held behind holes in all directions of all connections together.
pub const MAX_HELD_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// Both ends in an order that does not depend on the direction.
type Key = (SocketAddr, SocketAddr);

#[derive(Debug)]
struct Connection {
    number: Option<u32>,
    ends: Ends,
    a_to_b: Stream,
    b_to_a: Stream,
    /// Packets seen of it.
    packets: u64,
    /// The tracker's packet count at the last one.
    last_packet: u64,
    last_time_ns: Option<u64>,
}

/// All connections that are being followed.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    connections: BTreeMap<Key, Connection>,
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
        if segment.syn
            && let Some(old) = self.connections.get_mut(&key)
            && old.contradicted_by(segment)
        {
            let held = old.held_cost();
            old.close(CloseReason::Replaced, time_ns, numbers, out);
            self.held_total = self.held_total.saturating_sub(held);
            self.connections.remove(&key);
        }
        if !self.connections.contains_key(&key) {
            if segment.rst {
                return Ok(());
            }
            self.make_room(numbers, out);
        }
        let packets = self.packets;
        let connection = self.connections.entry(key).or_insert_with(|| Connection::new(segment));
        connection.last_packet = packets;
        let held = connection.held_cost();
        let full = self.held_total >= MAX_HELD_TOTAL_BYTES;
        let result = connection.segment(segment, time_ns, full, numbers, out);
        self.held_total = self.held_total.saturating_sub(held).saturating_add(connection.held_cost());
        result
    }

    /// Closes everything, in the order of connection numbers.
    pub(crate) fn finish(&mut self, numbers: &mut Numbers, out: &mut dyn SegmentSink) {
        let mut connections: Vec<Connection> = core::mem::take(&mut self.connections).into_values().collect();
        connections.sort_by_key(|connection| connection.number.unwrap_or(u32::MAX));
        for mut connection in connections {
            let time_ns = connection.last_time_ns;
            connection.close(CloseReason::EndOfCapture, time_ns, numbers, out);
        }
        self.held_total = 0;
    }

    fn make_room(&mut self, numbers: &mut Numbers, out: &mut dyn SegmentSink) {
        if self.connections.len() < MAX_CONNECTIONS {
            return;
        }
        let mut idle: Vec<(u64, Key)> =
            self.connections.iter().map(|(key, connection)| (connection.last_packet, *key)).collect();
        idle.sort_unstable();
        for (_, key) in idle.into_iter().take(FORGET_AT_ONCE) {
            let Some(mut connection) = self.connections.remove(&key) else {
                continue;
            };
            self.held_total = self.held_total.saturating_sub(connection.held_cost());
            let time_ns = connection.last_time_ns;
            connection.close(CloseReason::Forgotten, time_ns, numbers, out);
        }
    }
}

impl Connection {
    fn new(segment: &Segment<'_>) -> Self {
        let (source, destination) = (segment.source, segment.destination);
        let sender_is_a = match (segment.syn, segment.ack) {
            (true, None) => true,
            (true, Some(_)) => false,
            (false, _) => source.port() >= destination.port(),
        };
        let (a, b) = if sender_is_a { (source, destination) } else { (destination, source) };
        Self {
            number: None,
            ends: Ends { a, b, guessed: !segment.syn },
            a_to_b: Stream::new(),
            b_to_a: Stream::new(),
            packets: 0,
            last_packet: 0,
            last_time_ns: None,
        }
    }

    fn direction_of(&self, segment: &Segment<'_>) -> Direction {
        // Both sides can have one address only where a host talks to its own port: one direction.
        if segment.source == self.ends.a { Direction::AToB } else { Direction::BToA }
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

//! One direction of a TCP connection: segments in any order to bytes in order.
//!
//! Positions are 64-bit counts from the first byte of the direction that could be seen, so that a
//! sequence number's wrap-around is met in one place, [`Stream::position`].

use alloc::vec::Vec;

use crate::bytes::count;
use crate::limits::{
    ACK_GRACE_PACKETS, HELD_OVERHEAD_BYTES, MAX_AHEAD, MAX_HELD_BYTES, MAX_HELD_SEGMENTS, MAX_REORDER_PACKETS,
};
use crate::outlet::Outlet;
use crate::piece::{CloseReason, Opening, Piece};
use crate::record::Skip;

/// Fresh or held bytes of a stream: captured, or known only by their number.
#[derive(Debug, Clone, Copy)]
enum Span<B> {
    Bytes(B),
    Cut(u64),
}

impl<B: AsRef<[u8]>> Span<B> {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => count(bytes.as_ref().len()),
            Self::Cut(len) => *len,
        }
    }
}

impl Span<&[u8]> {
    /// The first `len` and the rest.
    fn split(self, len: u64) -> (Self, Self) {
        match self {
            Self::Bytes(bytes) => {
                let at = usize::try_from(len).map_or(bytes.len(), |len| len.min(bytes.len()));
                let (head, rest) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
                (Self::Bytes(head), Self::Bytes(rest))
            }
            Self::Cut(all) => {
                let head = len.min(all);
                (Self::Cut(head), Self::Cut(all.saturating_sub(head)))
            }
        }
    }
}

#[derive(Debug)]
struct Held {
    /// Position of its first byte.
    at: u64,
    span: Span<Vec<u8>>,
    time_ns: Option<u64>,
    /// The connection's packet count at its arrival.
    arrived: u64,
}

impl Held {
    /// Position after its last byte.
    fn end(&self) -> u64 {
        self.at.saturating_add(self.span.len())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Where it starts is not known.
    Unseen,
    /// Its next position is known.
    Following,
    Closed,
}

/// What a segment brings to its own direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) seq: u32,
    pub(crate) data: &'a [u8],
    pub(crate) cut: u32,
    pub(crate) fin: bool,
    /// The connection's packet count.
    pub(crate) packet: u64,
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Stream {
    phase: Phase,
    /// Whether `Opened` was said.
    announced: bool,
    /// Sequence number at position 0.
    first_seq: u32,
    /// Position and sequence number of the next byte to hand out.
    next: u64,
    next_seq: u32,
    /// Without overlaps, the first position last, so that it is taken off the end.
    held: Vec<Held>,
    held_cost: usize,
    /// Position of the FIN, and the packet count when it was seen.
    fin: Option<(u64, u64)>,
    /// The other side has everything before this position.
    acked: u64,
    /// Bytes before this position were acknowledged so long ago that they will not be seen any more.
    given_up: u64,
    /// An acknowledgement of unseen bytes that is on its way to that: its position, and the packet
    /// count when it was seen.
    acked_unseen: Option<(u64, u64)>,
}

impl Stream {
    pub(crate) fn new() -> Self {
        Self {
            phase: Phase::Unseen,
            announced: false,
            first_seq: 0,
            next: 0,
            next_seq: 0,
            held: Vec::new(),
            held_cost: 0,
            fin: None,
            acked: 0,
            given_up: 0,
            acked_unseen: None,
        }
    }

    /// Bytes held, with what holding them costs.
    pub(crate) fn held_cost(&self) -> usize {
        self.held_cost
    }

    /// Whether a SYN whose first byte would be `seq` begins another connection.
    pub(crate) fn contradicts(&self, seq: u32) -> bool {
        self.phase != Phase::Unseen && self.first_seq != seq
    }

    /// The first byte to be seen has this sequence number.
    pub(crate) fn start(&mut self, seq: u32) {
        if self.phase == Phase::Unseen {
            self.phase = Phase::Following;
            self.first_seq = seq;
            self.next_seq = seq;
        }
    }

    /// Says that the direction begins, once.
    pub(crate) fn announce(&mut self, how: Opening, outlet: &mut Outlet<'_>) {
        if self.announced || self.phase == Phase::Closed {
            return;
        }
        self.announced = true;
        let ends = Some(outlet.ends);
        outlet.say(outlet.time_ns, Piece::Opened { how, ends });
    }

    /// Bytes, or a FIN, or neither.
    pub(crate) fn receive(&mut self, arrival: Arrival<'_>, outlet: &mut Outlet<'_>) -> Result<(), Skip> {
        let len = count(arrival.data.len()).saturating_add(u64::from(arrival.cut));
        if len == 0 && !arrival.fin {
            return Ok(());
        }
        self.start(arrival.seq);
        let distance = arrival.seq.wrapping_sub(self.next_seq).cast_signed();
        if distance > MAX_AHEAD {
            return Err(Skip::OutOfWindow);
        }
        let old = u64::from(distance.min(0).unsigned_abs());
        if self.phase == Phase::Closed {
            // The FIN itself takes one number.
            return if len > old.saturating_add(1) { Err(Skip::AfterClose) } else { Ok(()) };
        }
        let at = self.next.saturating_add(u64::from(distance.max(0).unsigned_abs()));
        if arrival.fin && len >= old && self.fin.is_none() {
            let end = at.saturating_add(len.saturating_sub(old));
            self.fin = Some((end, arrival.packet));
        }
        let (_, data) = Span::Bytes(arrival.data).split(old);
        let cut_old = old.saturating_sub(count(arrival.data.len()));
        let cut = u64::from(arrival.cut).saturating_sub(cut_old);
        let cut_at = at.saturating_add(data.len());
        self.take_in(at, data, arrival.packet, outlet);
        self.take_in(cut_at, Span::Cut(cut), arrival.packet, outlet);
        self.drain(outlet);
        Ok(())
    }

    /// The other side has everything before `ack`.
    pub(crate) fn acknowledge(&mut self, ack: u32) {
        let distance = ack.wrapping_sub(self.next_seq).cast_signed();
        if self.phase != Phase::Following || !(1..=MAX_AHEAD).contains(&distance) {
            return;
        }
        let mut acked = self.next.saturating_add(u64::from(distance.unsigned_abs()));
        if let Some((fin, _)) = self.fin {
            acked = acked.min(fin);
        }
        self.acked = self.acked.max(acked);
    }

    /// Declares the holes that are proven by now; all that something is held behind if `forced`.
    pub(crate) fn settle(&mut self, packet: u64, forced: bool, outlet: &mut Outlet<'_>) {
        if let Some((acked, since)) = self.acked_unseen
            && packet.saturating_sub(since) >= ACK_GRACE_PACKETS
        {
            self.given_up = acked;
            self.acked_unseen = None;
        }
        self.settle_holes(packet, forced, outlet);
        self.settle_tail(self.given_up, outlet);
        if self.acked_unseen.is_none() && self.acked > self.next {
            self.acked_unseen = Some((self.acked, packet));
        }
    }

    fn settle_holes(&mut self, packet: u64, forced: bool, outlet: &mut Outlet<'_>) {
        while self.phase == Phase::Following {
            let held = self.held.last().map(|held| (held.at, held.arrived));
            let Some((end, seen)) = held.or(self.fin) else {
                return;
            };
            let proven = forced
                || self.given_up >= end
                || self.held_cost > MAX_HELD_BYTES
                || self.held.len() > MAX_HELD_SEGMENTS
                || packet.saturating_sub(seen) >= MAX_REORDER_PACKETS;
            if !proven {
                return;
            }
            self.lose_until(end, outlet);
            self.drain(outlet);
        }
    }

    /// Declares what is acknowledged up to `acked` and has nothing behind it.
    fn settle_tail(&mut self, acked: u64, outlet: &mut Outlet<'_>) {
        if self.phase == Phase::Following && self.held.is_empty() && self.fin.is_none() {
            self.lose_until(acked, outlet);
        }
    }

    /// Nothing more will come: declares every hole, hands out what is held, closes.
    pub(crate) fn close(&mut self, reason: CloseReason, outlet: &mut Outlet<'_>) {
        self.settle_holes(u64::MAX, true, outlet);
        self.settle_tail(self.acked, outlet);
        self.end(reason, outlet);
    }

    fn end(&mut self, reason: CloseReason, outlet: &mut Outlet<'_>) {
        if self.announced && self.phase != Phase::Closed {
            outlet.say(outlet.time_ns, Piece::Closed { reason });
        }
        self.phase = Phase::Closed;
        self.held = Vec::new();
        self.held_cost = 0;
    }

    /// Hands out at once what is next in order, holds the rest. Where bytes of one position came
    /// twice, the first ones count.
    fn take_in(&mut self, at: u64, span: Span<&[u8]>, packet: u64, outlet: &mut Outlet<'_>) {
        if at == self.next && self.held.is_empty() {
            self.hand_out(span, outlet.time_ns, outlet);
            return;
        }
        let mut at = at;
        let mut rest = span;
        // Entries that end behind `at`; the last of them is the next one.
        let mut behind = self.held.partition_point(|held| held.end() > at);
        while rest.len() > 0 {
            let next_place = behind.checked_sub(1);
            let next = next_place.and_then(|place| self.held.get(place)).map(|held| (held.at, held.end()));
            if let Some((start, end)) = next
                && start <= at
            {
                (_, rest) = rest.split(end.saturating_sub(at));
                at = end;
                behind = behind.saturating_sub(1);
            } else {
                let room = next.map_or(u64::MAX, |(start, _)| start.saturating_sub(at));
                let (head, tail) = rest.split(room);
                let len = head.len();
                self.hold(behind, at, head, packet, outlet.time_ns);
                at = at.saturating_add(len);
                rest = tail;
            }
        }
    }

    fn hold(&mut self, place: usize, at: u64, span: Span<&[u8]>, arrived: u64, time_ns: Option<u64>) {
        let span = match span {
            Span::Bytes(bytes) => Span::Bytes(bytes.to_vec()),
            Span::Cut(len) => Span::Cut(len),
        };
        self.held_cost = self.held_cost.saturating_add(cost(&span));
        let held = Held { at, span, time_ns, arrived };
        self.held.insert(place, held);
    }

    /// Hands out what is held and next in order, and the end if that is next.
    fn drain(&mut self, outlet: &mut Outlet<'_>) {
        let next_held = |stream: &mut Self| {
            let is_next = stream.held.last()?.at <= stream.next;
            is_next.then(|| stream.held.pop())?
        };
        while let Some(Held { span, time_ns, .. }) = next_held(self) {
            self.held_cost = self.held_cost.saturating_sub(cost(&span));
            match span {
                Span::Bytes(bytes) => self.hand_out(Span::Bytes(&bytes), time_ns, outlet),
                Span::Cut(len) => self.hand_out(Span::Cut(len), time_ns, outlet),
            }
        }
        if self.fin.is_some_and(|(fin, _)| fin <= self.next) && self.phase == Phase::Following {
            self.announce(Opening::Joined, outlet);
            self.end(CloseReason::Fin, outlet);
        }
    }

    fn lose_until(&mut self, end: u64, outlet: &mut Outlet<'_>) {
        let lost = end.saturating_sub(self.next);
        self.hand_out(Span::Cut(lost), outlet.time_ns, outlet);
    }

    fn hand_out(&mut self, span: Span<&[u8]>, time_ns: Option<u64>, outlet: &mut Outlet<'_>) {
        let len = span.len();
        if len == 0 {
            return;
        }
        self.announce(Opening::Joined, outlet);
        match span {
            Span::Bytes(bytes) => outlet.say(time_ns, Piece::Bytes(bytes)),
            Span::Cut(bytes) => outlet.say(time_ns, Piece::Missing { bytes }),
        }
        self.next = self.next.saturating_add(len);
        self.next_seq = self.next_seq.wrapping_add(low_bits(len));
    }
}

fn cost(span: &Span<Vec<u8>>) -> usize {
    let bytes = match span {
        Span::Bytes(bytes) => bytes.len(),
        Span::Cut(_) => 0,
    };
    bytes.saturating_add(HELD_OVERHEAD_BYTES)
}

/// A length as sequence numbers count it, modulo 2^32.
fn low_bits(len: u64) -> u32 {
    u32::try_from(len & 0xffff_ffff).unwrap_or(0)
}

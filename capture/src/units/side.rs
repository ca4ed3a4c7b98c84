//! One direction of one connection: ordered bytes to units.

use alloc::vec::Vec;
use core::mem;

use twolane_core::envelope::{Header, HeaderFault, Version};
use twolane_core::frame::{Decoded, FrameDecoder, FrameReason, Item};
use twolane_core::handshake::HandshakeReason;
use twolane_core::handshake::message::{LengthFault, Sighted, split};
use twolane_core::limits::{
    CONNECTOR_PREFIX_LEN, HANDSHAKE_PREFIX_LEN, HEADER_LEN_V1, HEADER_LEN_V2, PREFIX_LEN,
};

use super::law::Laws;
use super::outlet::Outlet;
use super::partial::Partial;
use super::search::{Looked, Search};
use super::transcript::{Transcript, begins_connector, begins_message};
use super::{EVIDENCE_LEN_MAX, Part, UnitFault, UnitSink, show};
use crate::bytes::count;
use crate::limits::KEPT_CAPACITY_MAX;
use crate::piece::{Direction, Loss, Opening};
use crate::row::{Kind, mark};

/// `want` of a search: whatever comes.
const ANYTHING: usize = usize::MAX;

/// What both directions of a connection know.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) transcript: Transcript,
    /// Latched by the first frame of either direction.
    pub(super) version: Option<Version>,
    a_to_b: Laws,
    b_to_a: Laws,
}

impl Shared {
    /// Says that any number of frames of both directions may have been lost.
    pub(super) fn lose_all(&mut self) {
        self.a_to_b.lose_all();
        self.b_to_a.lose_all();
    }

    /// Whether anything that went by belongs to lanes: a connector's connection has neither handshake nor frames.
    fn has_lanes(&self) -> bool {
        self.version.is_some() || self.transcript.has_begun()
    }

    pub(super) fn laws(&mut self, direction: Direction) -> &mut Laws {
        match direction {
            Direction::AToB => &mut self.a_to_b,
            Direction::BToA => &mut self.b_to_a,
        }
    }
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Side {
    mode: Mode,
    /// The bytes of the unit that is not complete.
    unread: Vec<u8>,
    /// Unread bytes that make another look useful.
    want: usize,
    /// Place of the first unread byte in the stream.
    pub(super) offset: u64,
    /// The next frame's beginning was found by a search.
    is_guess: bool,
    has_frames: bool,
    /// The direction carries its one message of the connector.
    has_connector: bool,
    /// The endpoint's name was told.
    is_named: bool,
}

#[derive(Debug, Default)]
enum Mode {
    /// Between units, before the first frame: handshake messages or frames.
    #[default]
    Start,
    /// In step.
    Frames(FrameDecoder),
    /// Out of step.
    Search(Search),
    /// In step, inside a body of which the rest is not kept. `reported` is set where its unit says so already.
    Rest { expected: u64, left: u64, after_hole: u64, reported: bool },
    /// Given up after a fault.
    Lost { from: u64, bytes: u64, evidence: Vec<u8> },
    /// Behind the one message of a connector's direction.
    Answered,
    /// Packets, each one whole unit.
    Packets,
}

enum Step {
    /// So many bytes are done with; look again.
    Took(usize),
    /// So many bytes are done with, and so many more than those must be there.
    Wait { took: usize, want: usize },
}

impl Side {
    /// Whether the endpoint's name is still to be told; it counts as told from then on.
    pub(super) fn takes_name(&mut self) -> bool {
        !mem::replace(&mut self.is_named, true)
    }

    /// Says how the direction begins.
    pub(super) fn open(&mut self, how: Opening, shared: &mut Shared, direction: Direction) {
        match how {
            Opening::Syn => shared.laws(direction).begin(),
            Opening::Stream => {}
            Opening::Joined => self.mode = Mode::Search(Search::behind(0, true)),
        }
    }

    /// Takes the next bytes.
    pub(super) fn bytes<S: UnitSink>(
        &mut self,
        mut incoming: &[u8],
        shared: &mut Shared,
        out: &mut Outlet<'_, S>,
    ) {
        while !incoming.is_empty() {
            if self.unread.is_empty() {
                let used = self.walk(incoming, false, shared, out);
                self.unread.extend_from_slice(incoming.get(used..).unwrap_or_default());
                return;
            }
            // Only what the unit lacks is copied; what follows is read where it lies.
            let lacking = self.want.saturating_sub(self.unread.len()).max(1);
            let (taken, rest) = incoming.split_at(lacking.min(incoming.len()));
            self.unread.extend_from_slice(taken);
            incoming = rest;
            if self.want == ANYTHING || self.unread.len() >= self.want {
                self.walk_unread(false, shared, out);
            }
        }
    }

    /// Takes a hole of so many bytes.
    pub(super) fn missing<S: UnitSink>(&mut self, bytes: u64, shared: &mut Shared, out: &mut Outlet<'_, S>) {
        self.settle(shared, out);
        self.say_rest(out);
        let has_messages = !self.has_frames;
        let unread = mem::take(&mut self.unread);
        let have = count(unread.len());
        let next = match &mut self.mode {
            Mode::Start | Mode::Frames(_) if unread.is_empty() => None,
            Mode::Start | Mode::Frames(_) => {
                let partial = Partial::of(&unread);
                self.emit_partial(&partial, partial.hole(), &unread, shared, out);
                partial.rest_after(have, bytes)
            }
            Mode::Rest { expected, left, reported, .. } if bytes <= *left => {
                let (expected, left) = (*expected, *left - bytes);
                Some(Mode::Rest { expected, left, after_hole: 0, reported: *reported })
            }
            Mode::Answered => Some(Mode::Answered),
            Mode::Rest { .. } | Mode::Search(_) => None,
            Mode::Lost { from, bytes: lost, evidence } => {
                Some(Mode::Lost { from: *from, bytes: *lost, evidence: mem::take(evidence) })
            }
            Mode::Packets => {
                // A part of a unit is not there: what comes next follows frames that nobody could read.
                shared.laws(out.direction).lose_all();
                Some(Mode::Packets)
            }
        };
        self.offset = self.offset.saturating_add(have);
        out.gap(self.offset, bytes);
        self.offset = self.offset.saturating_add(bytes);
        self.mode = match next {
            Some(Mode::Rest { left: 0, .. }) => self.between(shared, out),
            Some(mode) => mode,
            None => {
                shared.laws(out.direction).lose_all();
                Mode::Search(Search::behind(0, has_messages))
            }
        };
    }

    /// Says that nothing follows.
    pub(super) fn close<S: UnitSink>(&mut self, shared: &mut Shared, out: &mut Outlet<'_, S>) {
        self.settle(shared, out);
        self.say_rest(out);
        let unread = mem::take(&mut self.unread);
        match &self.mode {
            Mode::Start | Mode::Frames(_) if !unread.is_empty() => {
                let partial = Partial::of(&unread);
                self.emit_partial(&partial, partial.end(), &unread, shared, out);
            }
            Mode::Rest { expected, left, .. } => {
                let part = if self.has_connector { Part::Message } else { Part::Body };
                let fault =
                    UnitFault::End { part, expected: *expected, actual: expected.saturating_sub(*left) };
                out.fault(self.offset, 0, &[], 0, fault);
            }
            Mode::Lost { from, bytes, evidence } => {
                out.fault(*from, *bytes, evidence, 0, UnitFault::Undecoded { bytes: *bytes });
            }
            Mode::Start | Mode::Frames(_) | Mode::Answered | Mode::Search(_) | Mode::Packets => {}
        }
        self.offset = self.offset.saturating_add(count(unread.len()));
        self.mode = Mode::Start;
    }

    /// Takes one packet of a tap.
    pub(super) fn packet<S: UnitSink>(
        &mut self,
        bytes: &[u8],
        kind: Option<crate::tap::Kind>,
        shared: &mut Shared,
        out: &mut Outlet<'_, S>,
    ) {
        self.mode = Mode::Packets;
        show::packet(self.offset, bytes, kind, shared, out);
        self.offset = self.offset.saturating_add(count(bytes.len()));
    }

    /// Takes word of whole units that a tap did not write: what comes next follows frames that nobody saw.
    pub(super) fn lost<S: UnitSink>(
        &mut self,
        units: u64,
        bytes: u64,
        how: Loss,
        shared: &mut Shared,
        out: &mut Outlet<'_, S>,
    ) {
        self.mode = Mode::Packets;
        shared.laws(out.direction).lose_all();
        out.lost(self.offset, units, bytes, how);
        self.offset = self.offset.saturating_add(bytes);
    }

    /// Decides a search with what is there, since what follows does not join on to it.
    fn settle<S: UnitSink>(&mut self, shared: &mut Shared, out: &mut Outlet<'_, S>) {
        if !matches!(self.mode, Mode::Search(_)) {
            return;
        }
        self.walk_unread(true, shared, out);
        if let Mode::Search(search) = &self.mode {
            show::passed(self.offset, search, out);
        }
    }

    fn walk_unread<S: UnitSink>(&mut self, is_end: bool, shared: &mut Shared, out: &mut Outlet<'_, S>) {
        let mut held = mem::take(&mut self.unread);
        let used = self.walk(&held, is_end, shared, out);
        if used >= held.len() && held.capacity() > KEPT_CAPACITY_MAX {
            return;
        }
        held.drain(..used);
        self.unread = held;
    }

    /// Reads all units that are whole; gives the bytes that are done with.
    fn walk<S: UnitSink>(
        &mut self,
        unread: &[u8],
        is_end: bool,
        shared: &mut Shared,
        out: &mut Outlet<'_, S>,
    ) -> usize {
        let mut used = 0;
        loop {
            let rest = unread.get(used..).unwrap_or_default();
            let (took, want) = match self.step(rest, is_end, shared, out) {
                Step::Took(took) => (took, None),
                Step::Wait { took, want } => (took, Some(want)),
            };
            used += took;
            self.offset = self.offset.saturating_add(count(took));
            if let Some(want) = want {
                self.want = want;
                return used;
            }
        }
    }

    fn step<S: UnitSink>(
        &mut self,
        unread: &[u8],
        is_end: bool,
        shared: &mut Shared,
        out: &mut Outlet<'_, S>,
    ) -> Step {
        match &mut self.mode {
            Mode::Start => self.start(unread, shared, out),
            Mode::Frames(decoder) => match decoder.decode(unread) {
                Ok(Decoded { item: Item::Need(want), consumed }) => Step::Wait { took: consumed, want },
                Ok(Decoded { item: Item::Frame(frame), consumed }) => {
                    let bytes = unread.get(..consumed).unwrap_or_default();
                    self.frame(&frame.header, frame.body, bytes, shared, out);
                    Step::Took(consumed)
                }
                Ok(Decoded { item: Item::Oversize(header), consumed }) => {
                    self.oversize(&header, unread.get(..consumed).unwrap_or_default(), shared, out);
                    Step::Took(consumed)
                }
                Err(fault) => self.give_up(UnitFault::Frame(fault.reason), unread, shared, out),
            },
            Mode::Search(search) => match search.look(unread, shared.version, is_end) {
                Looked::NotYet(took) => Step::Wait { took, want: ANYTHING },
                Looked::Found(place) => {
                    let offset = self.offset.saturating_add(count(place));
                    show::passed(offset, search, out);
                    let found = unread.get(place..).unwrap_or_default();
                    let is_message = begins_message(found) || begins_connector(found) == Some(true);
                    self.is_guess = !is_message;
                    self.mode = if is_message { Mode::Start } else { frames(shared, out) };
                    Step::Took(place)
                }
            },
            Mode::Rest { left, after_hole, .. } => {
                let took = usize::try_from(*left).unwrap_or(usize::MAX).min(unread.len());
                *left -= count(took);
                *after_hole += count(took);
                if *left > 0 {
                    return Step::Wait { took, want: 1 };
                }
                self.offset = self.offset.saturating_add(count(took));
                self.say_rest(out);
                self.offset = self.offset.saturating_sub(count(took));
                self.mode = self.between(shared, out);
                Step::Took(took)
            }
            Mode::Lost { bytes, evidence, .. } => {
                *bytes = bytes.saturating_add(count(unread.len()));
                let room = EVIDENCE_LEN_MAX.saturating_sub(evidence.len());
                evidence.extend_from_slice(unread.get(..unread.len().min(room)).unwrap_or_default());
                Step::Wait { took: unread.len(), want: 1 }
            }
            Mode::Answered if unread.is_empty() => Step::Wait { took: 0, want: 1 },
            Mode::Answered => self.give_up(UnitFault::SecondMessage, unread, shared, out),
            Mode::Packets => Step::Wait { took: unread.len(), want: 1 },
        }
    }

    /// Before the first frame: what stands behind the length tells a message from a frame.
    fn start<S: UnitSink>(&mut self, unread: &[u8], shared: &mut Shared, out: &mut Outlet<'_, S>) -> Step {
        match unread.get(HANDSHAKE_PREFIX_LEN) {
            None => return Step::Wait { took: 0, want: PREFIX_LEN },
            Some(b'{') => {}
            Some(_) if begins_message(unread) => {}
            Some(_) => match begins_connector(unread).filter(|_| !shared.has_lanes()) {
                Some(true) => return self.connector(unread, out),
                None if !shared.has_lanes() => return Step::Wait { took: 0, want: unread.len() + 1 },
                _ => {
                    self.mode = frames(shared, out);
                    return Step::Took(0);
                }
            },
        }
        let reason = match split(unread) {
            Ok(Sighted::Need(want)) => return Step::Wait { took: 0, want },
            Ok(Sighted::Message { consumed, json }) => {
                let text = unread.get(json).unwrap_or_default();
                let bytes = unread.get(..consumed).unwrap_or_default();
                show::message(self.offset, text, bytes, shared, out);
                return Step::Took(consumed);
            }
            Err(LengthFault::Empty) => HandshakeReason::MessageEmpty,
            Err(LengthFault::TooLong { len }) => HandshakeReason::MessageTooLong { len },
        };
        self.give_up(UnitFault::Handshake(reason), unread, shared, out)
    }

    /// The one message of this direction; its first bytes say that it is one.
    fn connector<S: UnitSink>(&mut self, unread: &[u8], out: &mut Outlet<'_, S>) -> Step {
        let partial = Partial::connector(unread);
        let (limit, len) = (out.options.body_limit, u32::try_from(partial.expected).unwrap_or(u32::MAX));
        self.has_connector = true;
        if len > limit {
            let prefix = unread.get(..CONNECTOR_PREFIX_LEN).unwrap_or_default();
            let mut row = out.row(Kind::Connector, self.offset, prefix);
            row.len = partial.expected;
            out.emit(row, Some(UnitFault::Oversize { len, limit }), None);
            let (expected, left) = (partial.expected, partial.expected);
            self.mode = Mode::Rest { expected, left, after_hole: 0, reported: true };
            return Step::Took(prefix.len());
        }
        let total = CONNECTOR_PREFIX_LEN.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        match unread.get(..total) {
            None => Step::Wait { took: 0, want: total },
            Some(whole) => {
                show::connector(self.offset, whole, out);
                self.mode = Mode::Answered;
                Step::Took(total)
            }
        }
    }

    fn frame<S: UnitSink>(
        &mut self,
        header: &Header,
        body: &[u8],
        bytes: &[u8],
        shared: &mut Shared,
        out: &mut Outlet<'_, S>,
    ) {
        self.has_frames = true;
        show::frame(self.offset, header, body, bytes, self.take_guess(), shared, out);
    }

    fn oversize<S: UnitSink>(
        &mut self,
        header: &Header,
        bytes: &[u8],
        shared: &mut Shared,
        out: &mut Outlet<'_, S>,
    ) {
        self.has_frames = true;
        shared.laws(out.direction).lose_one(header);
        let len = header.body_len();
        let mut row = out.row(Kind::Frame, self.offset, bytes).with_header(header);
        row.marks = self.take_guess();
        out.emit(row, Some(UnitFault::Oversize { len, limit: out.options.body_limit }), None);
        let len = u64::from(len);
        self.mode = Mode::Rest { expected: len, left: len, after_hole: 0, reported: true };
    }

    fn emit_partial<S: UnitSink>(
        &mut self,
        partial: &Partial,
        fault: UnitFault,
        unread: &[u8],
        shared: &mut Shared,
        out: &mut Outlet<'_, S>,
    ) {
        let mut row = out.row(partial.kind, self.offset, unread);
        row.len = count(unread.len());
        if partial.kind == Kind::Connector {
            self.has_connector = true;
            row.len = count(row.body().len());
        }
        if let Some(header) = &partial.header {
            self.has_frames = true;
            row = row.with_header(header);
            shared.laws(out.direction).lose_one(header);
        }
        row.marks = self.take_guess();
        out.emit(row, Some(fault), None);
    }

    /// The stream broke a rule: its place is shown, what follows is counted or searched.
    fn give_up<S: UnitSink>(
        &mut self,
        fault: UnitFault,
        unread: &[u8],
        shared: &mut Shared,
        out: &mut Outlet<'_, S>,
    ) -> Step {
        // No more than the rule was judged by, so that a unit does not depend on what else has arrived.
        let shown = unread.get(..unread.len().min(judged_len(&fault, unread))).unwrap_or_default();
        let marks = self.take_guess();
        out.fault(self.offset, count(shown.len()), shown, marks, fault);
        shared.laws(out.direction).lose_all();
        self.mode = if out.options.resync {
            Mode::Search(Search::behind(1, !self.has_frames))
        } else {
            Mode::Lost { from: self.offset, bytes: 0, evidence: Vec::new() }
        };
        Step::Took(0)
    }

    /// Says how many bytes of a damaged unit came behind its hole and end here, where its unit did not say so.
    fn say_rest<S: UnitSink>(&mut self, out: &mut Outlet<'_, S>) {
        let Mode::Rest { after_hole, reported: false, .. } = &mut self.mode else { return };
        let bytes = mem::take(after_hole);
        if bytes > 0 {
            let offset = self.offset.saturating_sub(bytes);
            out.fault(offset, bytes, &[], 0, UnitFault::Remainder { bytes });
        }
    }

    /// The mode between two units of a direction that is in step.
    fn between<S: UnitSink>(&self, shared: &Shared, out: &Outlet<'_, S>) -> Mode {
        match (self.has_connector, self.has_frames) {
            (true, _) => Mode::Answered,
            (_, true) => frames(shared, out),
            _ => Mode::Start,
        }
    }

    fn take_guess(&mut self) -> u8 {
        if mem::take(&mut self.is_guess) { mark::GUESS } else { 0 }
    }
}

impl Partial {
    /// The rest of the unit behind a hole of `missing` bytes, where its announced length says how long it is.
    fn rest_after(&self, have: u64, missing: u64) -> Option<Mode> {
        let total = self.total?;
        let left = total.checked_sub(have.checked_add(missing)?)?;
        Some(Mode::Rest { expected: self.expected, left, after_hole: 0, reported: false })
    }
}

/// Bytes of a unit that say that it breaks a rule which ends its stream.
fn judged_len(fault: &UnitFault, unread: &[u8]) -> usize {
    match fault {
        UnitFault::Frame(FrameReason::Header(HeaderFault::UnknownVersion { .. }))
        | UnitFault::Frame(FrameReason::VersionChanged { .. })
        | UnitFault::Handshake(_) => PREFIX_LEN,
        // That there is one is all that was looked at.
        UnitFault::SecondMessage => 1,
        _ if unread.get(PREFIX_LEN - 1) == Some(&Version::V2.number()) => HEADER_LEN_V2,
        _ => HEADER_LEN_V1,
    }
}

/// In step from here, in the connection's version where it is known.
fn frames<S: UnitSink>(shared: &Shared, out: &Outlet<'_, S>) -> Mode {
    let decoder = FrameDecoder::new(out.options.body_limit);
    Mode::Frames(match shared.version {
        Some(version) => decoder.with_version(version),
        None => decoder,
    })
}

/// A version that differs from the connection's, as a reason.
pub(super) fn version_fault(shared: &Shared, found: Version) -> Option<FrameReason> {
    let latched = shared.version?;
    (latched != found).then_some(FrameReason::VersionChanged { latched, found })
}

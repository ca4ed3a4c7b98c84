//! Whole units as rows: what is read of each for its columns, and by which laws it is judged.

use twolane_core::body;
use twolane_core::connector::outside::Outside;
use twolane_core::dissect;
use twolane_core::envelope::{FrameType, Header, Lane, Peeked, peek};
use twolane_core::frame::FrameReason;
use twolane_core::handshake::HandshakeReason;
use twolane_core::handshake::Stage;
use twolane_core::handshake::message::{LengthFault, Sighted, split};
use twolane_core::lanes::law::{Breach, Verdict};
use twolane_core::limits::BODY_LEN_MAX;

use super::outlet::Outlet;
use super::partial::Partial;
use super::search::Search;
use super::side::{Shared, version_fault};
use super::transcript::{begins_connector, begins_message, recognise};
use super::{EVIDENCE_LEN_MAX, UnitFault, UnitSink};
use crate::bytes::count;
use crate::row::{CONNECTOR_TAG, HANDSHAKE_TAG, Kind, LawMark, NO_TAG, Row, mark};
use crate::tap;

/// Emits a whole frame.
pub(super) fn frame<S: UnitSink>(
    offset: u64,
    header: &Header,
    body: &[u8],
    bytes: &[u8],
    marks: u8,
    shared: &mut Shared,
    out: &mut Outlet<'_, S>,
) {
    shared.version.get_or_insert(header.version());
    let mut row = out.row(Kind::Frame, offset, bytes).with_header(header);
    row.marks = marks;
    let (fault, breach) = match header.lane() {
        Ok(lane) => judge(&mut row, header, lane, body, shared, out),
        Err(fault) if header.frame_type() == FrameType::StreamData => (Some(UnitFault::Lane(fault)), None),
        Err(_) => (None, None),
    };
    out.emit(row, fault, breach);
}

/// Fills in what the body says and judges it by its schema and the seq law.
fn judge<S>(
    row: &mut Row<'_>,
    header: &Header,
    lane: Lane,
    body: &[u8],
    shared: &mut Shared,
    out: &Outlet<'_, S>,
) -> (Option<UnitFault>, Option<Breach>) {
    let seen = body::peek(body);
    let tag = seen.and_then(|seen| seen.tag);
    let is_in_place = tag.is_none_or(|tag| tag.check_lane(lane).is_ok());
    let is_sound = seen.is_some_and(|seen| seen.is_kept) && is_in_place;
    let fault = if is_sound { None } else { body_fault(row.bytes) };
    let verdict = match seen {
        Some(seen) => {
            row.tag = seen.tag.map_or(NO_TAG, |tag| tag.code());
            row.dropped = seen.dropped.unwrap_or(0);
            row.seq = seen.seq;
            Some(shared.laws(out.direction).check(header, lane, seen.seq, seen.dropped))
        }
        // A frame without a readable seq may have been any: the next one is taken as it is.
        None => {
            shared.laws(out.direction).lose_one(header);
            None
        }
    };
    if lane == Lane::Control && header.flags().is_last() {
        shared.laws(out.direction).end(header.generation());
        shared.laws(out.direction.reversed()).end(header.generation());
    }
    let (law, breach) = match verdict {
        None => (LawMark::None, None),
        Some(Verdict::Kept) => (LawMark::Kept, None),
        Some(Verdict::Joined) => (LawMark::Joined, None),
        Some(Verdict::Broken(breach)) => (LawMark::Broken, Some(breach)),
    };
    row.law = law;
    (fault, breach)
}

/// What the dissection finds wrong in a frame whose header is right. A body of another schema is no fault: it has
/// no seq, and nothing more can be said of it.
fn body_fault(frame: &[u8]) -> Option<UnitFault> {
    let mut only = OnlyFault(None);
    dissect::frame(frame, &mut only);
    only.0.map(UnitFault::Body)
}

/// Keeps no field of a dissection.
struct OnlyFault(Option<dissect::Fault>);

impl dissect::Sink for OnlyFault {
    fn open(&mut self, _: dissect::Field<'_>) {}
    fn close(&mut self, _: usize) {}
    fn leaf(&mut self, _: dissect::Field<'_>, _: usize) {}
    fn fault(&mut self, fault: dissect::Fault) {
        self.0 = Some(fault);
    }
}

/// Emits a whole handshake message.
pub(super) fn message<S: UnitSink>(
    offset: u64,
    json: &[u8],
    bytes: &[u8],
    shared: &mut Shared,
    out: &mut Outlet<'_, S>,
) {
    let mut row = out.row(Kind::Handshake, offset, bytes);
    row.len = count(json.len());
    let (stage, fault) = match recognise(json) {
        Ok(message) => {
            let stage = message.stage();
            let is_awaited = shared.transcript.awaits(stage);
            match shared.transcript.take(&message, out.key) {
                Some(true) => row.marks |= mark::VERIFIED,
                Some(false) => row.marks |= mark::REFUTED,
                None => {}
            }
            // Behind its last message a side's frames are seen from the first on.
            if stage != Stage::ClientHello {
                shared.laws(out.direction).begin();
            }
            (Some(stage), (!is_awaited).then_some(UnitFault::OutOfPlace { stage }))
        }
        Err((stage, reason)) => (stage, Some(UnitFault::Handshake(reason))),
    };
    row.tag = match stage {
        None => NO_TAG,
        Some(Stage::ClientHello) => HANDSHAKE_TAG,
        Some(Stage::ServerProof) => HANDSHAKE_TAG + 1,
        Some(Stage::ClientAuth) => HANDSHAKE_TAG + 2,
    };
    out.emit(row, fault, None);
}

/// Emits a whole message of the connector.
pub(super) fn connector<S: UnitSink>(offset: u64, bytes: &[u8], out: &mut Outlet<'_, S>) {
    let mut row = out.row(Kind::Connector, offset, bytes);
    let body = row.body();
    row.len = count(body.len());
    if let Ok(outside) = Outside::read(body) {
        row.tag = CONNECTOR_TAG + outside.sort as u8;
    }
    let mut only = OnlyFault(None);
    dissect::connector(bytes, &mut only);
    out.emit(row, only.0.map(UnitFault::Carriage), None);
}

/// Emits what a search passed over up to `offset`, if anything.
pub(super) fn passed<S: UnitSink>(offset: u64, search: &Search, out: &mut Outlet<'_, S>) {
    let (bytes, evidence) = search.passed();
    if bytes > 0 {
        out.fault(offset.saturating_sub(bytes), bytes, evidence, 0, UnitFault::Passed { bytes });
    }
}

/// Emits one packet of a tap.
pub(super) fn packet<S: UnitSink>(
    offset: u64,
    bytes: &[u8],
    kind: Option<tap::Kind>,
    shared: &mut Shared,
    out: &mut Outlet<'_, S>,
) {
    let sniffed = match begins_connector(bytes) {
        Some(true) => tap::Kind::Connector,
        _ if begins_message(bytes) => tap::Kind::Handshake,
        _ => tap::Kind::Frame,
    };
    match kind.unwrap_or(sniffed) {
        tap::Kind::Frame => frame_packet(offset, bytes, shared, out),
        tap::Kind::Handshake => message_packet(offset, bytes, shared, out),
        tap::Kind::Connector => connector_packet(offset, bytes, out),
    }
}

fn frame_packet<S: UnitSink>(offset: u64, bytes: &[u8], shared: &mut Shared, out: &mut Outlet<'_, S>) {
    let header = match peek(bytes) {
        Ok(Peeked::Header(header)) => header,
        Ok(Peeked::Need(_)) => {
            shared.laws(out.direction).lose_all();
            let fault = Partial::of(bytes).hole();
            return out.fault(offset, count(bytes.len()), bytes, 0, fault);
        }
        Err(fault) => {
            return packet_fault(offset, bytes, UnitFault::Frame(FrameReason::Header(fault)), shared, out);
        }
    };
    let len = header.body_len();
    if len > BODY_LEN_MAX {
        return packet_fault(offset, bytes, UnitFault::Frame(FrameReason::BodyTooLong { len }), shared, out);
    }
    let head = header.version().header_len();
    let total = head + len as usize;
    let Some(whole) = bytes.get(..total) else {
        shared.laws(out.direction).lose_one(&header);
        let row = out.row(Kind::Frame, offset, bytes).with_header(&header);
        return out.emit(row, Some(Partial::of(bytes).hole()), None);
    };
    if let Some(reason) = version_fault(shared, header.version()) {
        return packet_fault(offset, bytes, UnitFault::Frame(reason), shared, out);
    }
    frame(offset, &header, whole.get(head..).unwrap_or_default(), whole, 0, shared, out);
    trailing(offset, bytes, total, out);
}

fn message_packet<S: UnitSink>(offset: u64, bytes: &[u8], shared: &mut Shared, out: &mut Outlet<'_, S>) {
    let reason = match split(bytes) {
        Ok(Sighted::Message { consumed, json }) => {
            let text = bytes.get(json).unwrap_or_default();
            message(offset, text, bytes.get(..consumed).unwrap_or_default(), shared, out);
            return trailing(offset, bytes, consumed, out);
        }
        Ok(Sighted::Need(_)) => {
            let row = Row { len: count(bytes.len()), ..out.row(Kind::Handshake, offset, bytes) };
            return out.emit(row, Some(Partial::message(bytes).hole()), None);
        }
        Err(LengthFault::Empty) => HandshakeReason::MessageEmpty,
        Err(LengthFault::TooLong { len }) => HandshakeReason::MessageTooLong { len },
    };
    packet_fault(offset, bytes, UnitFault::Handshake(reason), shared, out);
}

fn connector_packet<S: UnitSink>(offset: u64, bytes: &[u8], out: &mut Outlet<'_, S>) {
    let partial = Partial::connector(bytes);
    let total = partial.total.map_or(usize::MAX, |total| usize::try_from(total).unwrap_or(usize::MAX));
    match bytes.get(..total) {
        Some(whole) => {
            connector(offset, whole, out);
            trailing(offset, bytes, total, out);
        }
        None => {
            let row = out.row(Kind::Connector, offset, bytes);
            let len = count(row.body().len());
            out.emit(Row { len, ..row }, Some(partial.hole()), None);
        }
    }
}

fn packet_fault<S: UnitSink>(
    offset: u64,
    bytes: &[u8],
    fault: UnitFault,
    shared: &mut Shared,
    out: &mut Outlet<'_, S>,
) {
    shared.laws(out.direction).lose_all();
    out.fault(offset, count(bytes.len()), bytes, 0, fault);
}

/// Emits what stands behind the end of a packet's unit.
fn trailing<S: UnitSink>(offset: u64, bytes: &[u8], total: usize, out: &mut Outlet<'_, S>) {
    let Some(behind @ [_, ..]) = bytes.get(total..) else { return };
    let shown = behind.get(..behind.len().min(EVIDENCE_LEN_MAX)).unwrap_or_default();
    let bytes = count(behind.len());
    out.fault(offset.saturating_add(count(total)), bytes, shown, 0, UnitFault::Trailing { bytes });
}

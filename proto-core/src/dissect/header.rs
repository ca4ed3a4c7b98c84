//! The frame's header, field by field, and its body behind it.

use super::fault::{Fault, FaultReason};
use super::field::{Field, FieldName, FieldValue, NodeKind, Sink};
use super::json::unread;
use super::payload::{self, Place};
use crate::envelope::field;
use crate::envelope::{Admission, Flags, FrameType, Header, Parts, Peeked, Priority, Version, peek};
use crate::frame::{EndFault, Part};
use crate::limits::{BODY_LEN_MAX, HEADER_LEN_V1, PREFIX_LEN};

/// Dissects the bytes of one frame into a `header` and, where there is one, a `body`.
///
/// `bytes` should end with the frame: what is left over is a fault, and so is what is missing.
///
/// ```
/// use twolane_core::dissect::{Fault, Field, Sink, frame};
///
/// /// Where each field stands, for the marks in a hex view.
/// #[derive(Default)]
/// struct Spans(Vec<(String, usize, usize)>);
///
/// impl Sink for Spans {
///     fn open(&mut self, _: Field<'_>) {}
///     fn close(&mut self, _: usize) {}
///     fn fault(&mut self, _: Fault) {}
///
///     fn leaf(&mut self, field: Field<'_>, end: usize) {
///         self.0.push((field.name.to_string(), field.start, end));
///     }
/// }
///
/// let mut spans = Spans::default();
/// frame(&[0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0], &mut spans);
/// assert_eq!(spans.0[..2], [("len".to_owned(), 0, 4), ("version".to_owned(), 4, 5)]);
/// assert_eq!(spans.0.last().unwrap(), &("corr".to_owned(), 9, 17));
/// ```
pub fn frame(bytes: &[u8], sink: &mut dyn Sink) {
    match peek(bytes) {
        Ok(Peeked::Header(header)) => whole_header(bytes, header, sink),
        Ok(Peeked::Need(expected)) => {
            let part = if expected < HEADER_LEN_V1 { Part::Prefix } else { Part::Header };
            let version = bytes.get(field::VERSION).and_then(|&number| Version::from_number(number));
            header_fields(bytes, version, None, sink);
            let reason = FaultReason::Cut(EndFault { part, expected, actual: bytes.len() });
            sink.fault(Fault { offset: bytes.len(), reason });
        }
        Err(fault) => {
            let version = bytes.get(field::VERSION).and_then(|&number| Version::from_number(number));
            let told = header_fields(bytes, version, None, sink);
            unread(told..bytes.len(), sink);
            sink.fault(Fault { offset: fault.offset(), reason: FaultReason::Header(fault) });
        }
    }
}

fn whole_header(bytes: &[u8], header: Header, sink: &mut dyn Sink) {
    let start = header_fields(bytes, Some(header.version()), Some(header), sink);
    let len = header.body_len();
    if len > BODY_LEN_MAX {
        unread(start..bytes.len(), sink);
        sink.fault(Fault { offset: field::LEN.start, reason: FaultReason::BodyTooLong { len } });
        return;
    }
    let expected = len as usize;
    let present = bytes.get(start..).unwrap_or_default();
    let body = present.get(..expected).unwrap_or(present);
    let place = match header.lane() {
        Ok(lane) => Place::Lane(lane),
        Err(_) if header.flags().is_binary() => Place::Binary,
        Err(_) => Place::NoLane,
    };
    let fault = payload::body_fields(body, start, place, sink);
    let end = start + body.len();
    if body.len() < expected {
        let cut = EndFault { part: Part::Body, expected, actual: body.len() };
        sink.fault(Fault { offset: end, reason: FaultReason::Cut(cut) });
        return;
    }
    unread(end..bytes.len(), sink);
    if let Some(fault) = fault {
        sink.fault(fault);
    } else if bytes.len() > end {
        let reason = FaultReason::TrailingBytes { count: bytes.len() - end };
        sink.fault(Fault { offset: end, reason });
    }
}

/// Tells the `header` group as far as whole fields are there, and gives the offset after it.
fn header_fields(
    bytes: &[u8],
    version: Option<Version>,
    header: Option<Header>,
    sink: &mut dyn Sink,
) -> usize {
    let header_len = version.map_or(PREFIX_LEN, Version::header_len);
    let bytes = bytes.get(..header_len).unwrap_or(bytes);
    if bytes.is_empty() {
        return 0;
    }
    let meaning = match version {
        Some(Version::V1) => "envelope, version 1",
        Some(Version::V2) => "envelope, version 2",
        None => "envelope",
    };
    sink.open(known("header", NodeKind::Group, 0, FieldValue::None, meaning));
    let mut fields = Fields { bytes, told: 0, sink };
    fields.integer(field::LEN, "len", "body bytes after the header");
    fields.integer(
        field::VERSION..field::VERSION + 1,
        "version",
        "envelope version; it chooses the header's length",
    );
    if let Some(version) = version {
        fields.frame_type();
        fields.flags(version);
        if let Some(header) = header {
            fields.lane(&header);
        }
        fields.integer(field::CHANNEL, "channel", "stream generation on lane sockets");
        if version == Version::V2 {
            fields.integer(field::EPOCH, "epoch", "with the channel, names the generation");
        }
        fields.integer(field::corr(version), "corr", "correlation of step, approval or request");
    }
    let told = fields.told;
    unread(told..bytes.len(), sink);
    sink.close(bytes.len());
    bytes.len()
}

/// The fields of one header in order; each is told only where all its bytes are there.
struct Fields<'a, 's> {
    bytes: &'a [u8],
    told: usize,
    sink: &'s mut dyn Sink,
}

impl Fields<'_, '_> {
    fn integer(&mut self, span: core::ops::Range<usize>, name: &'static str, meaning: &'static str) {
        let Some(bytes) = self.bytes.get(span.clone()) else { return };
        let value = bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
        self.sink
            .leaf(known(name, NodeKind::Integer, span.start, FieldValue::Number(value), meaning), span.end);
        self.told = span.end;
    }

    fn frame_type(&mut self) {
        let Some(&code) = self.bytes.get(field::TYPE) else { return };
        let value = match FrameType::from_code(code) {
            Some(frame_type) => FieldValue::Named(frame_type.name(), u64::from(code)),
            None => FieldValue::Number(u64::from(code)),
        };
        let end = field::TYPE + 1;
        self.sink.leaf(known("type", NodeKind::Integer, field::TYPE, value, "what the frame is for"), end);
        self.told = end;
    }

    fn flags(&mut self, version: Version) {
        let Some(&bits) = self.bytes.get(field::FLAGS) else { return };
        let end = field::FLAGS + 1;
        self.sink.open(known(
            "flags",
            NodeKind::Flags,
            field::FLAGS,
            FieldValue::Hex(bits),
            "how to carry it",
        ));
        let flags = Flags::from_bits(bits);
        self.bits(Flags::BINARY, "binary", FieldValue::Bool(flags.is_binary()), "the body is not text");
        let priority = match flags.priority() {
            Some(Priority::Passive) => FieldValue::Named("Passive", 0),
            Some(Priority::Interactive) => FieldValue::Named("Interactive", 1),
            Some(Priority::Background) => FieldValue::Named("Background", 2),
            None => FieldValue::Named("illegal", 3),
        };
        self.bits(Flags::PRIORITY, "priority", priority, "Interactive is control, Background is display");
        self.bits(Flags::LAST, "last", FieldValue::Bool(flags.is_last()), "the last frame of its stream");
        match version {
            Version::V1 => {
                let value = FieldValue::Number(u64::from(bits >> 4));
                self.bits(Flags::RESERVED_V1, "reserved", value, "must be 0 in version 1");
            }
            Version::V2 => self.flags_v2(flags),
        }
        self.sink.close(end);
        self.told = end;
    }

    fn flags_v2(&mut self, flags: Flags) {
        let admission = match flags.admission() {
            Some(Admission::Normal) => FieldValue::Named("Normal", 0),
            Some(Admission::Expedite) => FieldValue::Named("Expedite", 1),
            Some(Admission::Sheddable) => FieldValue::Named("Sheddable", 2),
            None => FieldValue::Named("illegal", 3),
        };
        self.bits(Flags::ADMISSION, "admission", admission, "whether it may be shed");
        let origin = FieldValue::Bool(flags.is_daemon_origin());
        self.bits(Flags::DAEMON_ORIGIN, "daemon_origin", origin, "sent by a daemon unasked");
        let subscription = FieldValue::Bool(flags.is_subscription());
        self.bits(Flags::SUBSCRIPTION, "subscription", subscription, "belongs to a subscription");
    }

    fn bits(&mut self, mask: u8, name: &'static str, value: FieldValue<'_>, meaning: &'static str) {
        let field = Field { mask, ..known(name, NodeKind::Bits, field::FLAGS, value, meaning) };
        self.sink.leaf(field, field::FLAGS + 1);
    }

    /// The lane follows from type and flags; only StreamData has one.
    fn lane(&mut self, header: &Header) {
        let Parts { frame_type: FrameType::StreamData, .. } = header.parts() else { return };
        let (value, meaning) = match header.lane() {
            Ok(lane) => (lane.name(), "from type and flags"),
            Err(crate::envelope::LaneFault::Binary) => ("none", "BINARY is not allowed on a lane socket"),
            Err(crate::envelope::LaneFault::SheddableControl) => {
                ("none", "Sheddable is not allowed on the control lane")
            }
            Err(_) => ("none", "priority Passive is no lane"),
        };
        let field = known("lane", NodeKind::Derived, field::TYPE, FieldValue::Word(value), meaning);
        self.sink.leaf(field, field::FLAGS + 1);
    }
}

/// A field that the wire's rules name.
pub(super) const fn known<'a>(
    name: &'static str,
    kind: NodeKind,
    start: usize,
    value: FieldValue<'a>,
    meaning: &'static str,
) -> Field<'a> {
    Field { start, value_start: start, kind, mask: 0, name: FieldName::Known(name), value, meaning }
}

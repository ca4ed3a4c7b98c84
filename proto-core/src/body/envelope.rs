//! The body envelope around every payload.

use super::fault::{BodyFault, BodyReason};
use super::plain::{self, Members};
use super::read::Known;
use super::rules::{ENVELOPE, PAYLOAD};
use super::tag::Tag;
use crate::scan::json::Kind;
use crate::scan::string::JsonStr;
use crate::scan::value::{Span, Value};

/// The one schema version that is read and written.
pub const BODY_SCHEMA_VERSION: u64 = 1;

/// One body, borrowed from its text. The whole text is strict JSON, duplicate names in the envelope and among the
/// payload's own members are refused, and unknown members are passed over.
///
/// ```
/// use twolane_core::body::{BODY_SCHEMA_VERSION, Body};
///
/// let text = br#"{"version":1,"run_id":"run-7","step_id":3,"seq":12,"payload":{"type":"cancel"}}"#;
/// let body = Body::parse(text).unwrap();
/// assert!(body.run_id == "run-7" && body.payload.name() == "cancel");
/// assert_eq!((body.step_id, body.seq), (3, 12));
///
/// let newer = br#"{"version":2,"payload":{}}"#;
/// assert_eq!(BODY_SCHEMA_VERSION, 1);
/// assert_eq!(Body::parse(newer).unwrap_err().to_string(), "byte 11: `version`: body schema version 2 is not supported; 1 is");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// The run, 1 to 256 bytes.
    pub run_id: JsonStr<'a>,
    /// The step in its run.
    pub step_id: u64,
    /// The place on its lane in its generation.
    pub seq: u64,
    /// What it carries.
    pub payload: Payload<'a>,
}

impl<'a> Body<'a> {
    /// Reads `text`, a whole body. Another schema version is refused by name before any other member is judged.
    pub fn parse(text: &'a [u8]) -> Result<Self, BodyFault> {
        if cfg!(twolane_backend = "compact") {
            return Self::parse_any(text);
        }
        match plain::read(text, &mut Members::none(text)) {
            Some(body) => Ok(body),
            None => Self::parse_any(text),
        }
    }

    /// Reads any spelling and names the fault.
    #[inline(never)]
    pub(super) fn parse_any(text: &'a [u8]) -> Result<Self, BodyFault> {
        let root = Value::parse(text)?;
        let foreign = BodyFault { offset: root.span().start, member: None, reason: BodyReason::Foreign };
        if root.kind() != Kind::ObjectStart {
            return Err(foreign);
        }
        let mut known = Known::new(root, ENVELOPE);
        known.gather(None)?;
        let (Some(_), Some(payload)) = (known.value(0), known.value(4)) else { return Err(foreign) };
        match known.integer(0) {
            Some(BODY_SCHEMA_VERSION) | None => known.check()?,
            Some(found) => return Err(known.fault(0, BodyReason::UnsupportedVersion { found })),
        }
        let payload = Payload::from_value(payload)?;
        let (run_id, step_id, seq) = (known.string(1), known.integer(2), known.integer(3));
        known.whole(run_id.zip(step_id).zip(seq).map(|((run_id, step_id), seq)| Self {
            run_id,
            step_id,
            seq,
            payload,
        }))
    }
}

/// The payload of a body: an object with a `type`, wherever that stands in it.
///
/// ```
/// use twolane_core::body::{Payload, Tag};
/// use twolane_core::scan::value::Span;
///
/// let text = br#" {"dropped":2,"type":"display_gap"} "#;
/// let payload = Payload::parse(text).unwrap();
/// assert_eq!((payload.tag(), payload.name_span()), (Some(Tag::DisplayGap), Span { start: 21, end: 34 }));
/// assert!(payload.name() == Tag::DisplayGap.name());
/// // To pass on without writing it anew, or to read members that no schema knows.
/// assert_eq!((payload.raw(), payload.span()), (text.trim_ascii(), 1..35));
/// let first = payload.value().members().unwrap().next_member().unwrap().unwrap();
/// assert_eq!(first.value.as_u64(), Some(2));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    name: JsonStr<'a>,
    name_span: Span,
    value: Value<'a>,
}

impl<'a> Payload<'a> {
    /// Reads `text` as a payload by itself.
    pub fn parse(text: &'a [u8]) -> Result<Self, BodyFault> {
        Self::from_value(Value::parse(text)?)
    }

    /// Reads `text` as the payload that will stand in an envelope, which is one level of nesting.
    pub(crate) fn parse_enveloped(text: &'a [u8]) -> Result<Self, BodyFault> {
        if !cfg!(twolane_backend = "compact")
            && let Some(payload) = plain::read_payload(text)
        {
            return Ok(payload);
        }
        Self::from_value(Value::parse_nested(text, 1)?)
    }

    pub(super) const fn from_parts(name: JsonStr<'a>, name_span: Span, value: Value<'a>) -> Self {
        Self { name, name_span, value }
    }

    fn from_value(value: Value<'a>) -> Result<Self, BodyFault> {
        let mut known = Known::new(value, PAYLOAD);
        known.read(Some("payload"))?;
        known.whole(known.value(0).and_then(|name| {
            let span = name.span();
            Some(Self { name: name.as_str()?, name_span: Span { start: span.start, end: span.end }, value })
        }))
    }

    /// The `type`, as spelled.
    pub const fn name(&self) -> JsonStr<'a> {
        self.name
    }

    /// Offsets of the `type`'s value in the text that was read, quotes included.
    pub const fn name_span(&self) -> Span {
        self.name_span
    }

    /// The tag, where the schema knows it; `None` for an unfamiliar one, which reads as `display_reset`.
    pub fn tag(&self) -> Option<Tag> {
        Tag::from_name(self.name)
    }

    /// The payload as it stands on the wire, to pass on without re-encoding.
    pub fn raw(&self) -> &'a [u8] {
        self.value.raw()
    }

    /// Offsets of the payload in the text that was read.
    pub const fn span(&self) -> core::ops::Range<usize> {
        self.value.span()
    }

    /// The members of a payload with this tag, to be read.
    pub(super) const fn members(&self, tag: Tag) -> Known<'a> {
        Known::new(self.value, tag.rules())
    }

    /// The rule that the members of a payload with this tag break.
    pub(crate) fn check_members(&self, tag: Tag) -> Result<(), BodyFault> {
        self.members(tag).read(Some("payload"))
    }

    /// That the tag breaks `reason`.
    pub(crate) const fn fault(&self, reason: BodyReason) -> BodyFault {
        BodyFault { offset: self.name_span.start, member: Some("type"), reason }
    }

    /// The payload as an object.
    pub const fn value(&self) -> Value<'a> {
        self.value
    }
}

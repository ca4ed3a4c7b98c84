//! A body: the body envelope where it is one, plain JSON or bytes where it is not.

use super::fault::Fault;
use super::field::{FieldValue, NodeKind, Sink};
use super::header::known;
use super::json::{Root, json_fields};
use super::schema::Schema;
use crate::body::{Body, BodyFault, BodyReason, Payload, Tag};
use crate::envelope::Lane;
use crate::scan::json::{Kind, Scanner, Token};
use crate::scan::string::JsonStr;
use crate::scan::value::unquoted;

/// What is known about where a body came from.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// In a frame of this lane.
    Lane(Lane),
    /// In a frame that has no lane: its body owes the body schema nothing.
    NoLane,
    /// In a frame that says it is not text.
    Binary,
    /// By itself.
    Alone,
}

/// Dissects a body that stands at offset `base` of what the caller shows. An empty body has no field.
///
/// - An object with `version` and `payload` is a body envelope: its members get their meaning and a broken rule is a fault.
/// - Any other JSON is a plain tree without a fault.
/// - Text that begins like an object or array (white space or a byte order mark before it) and is not strict JSON
///   is told up to the fault.
/// - Anything else is bytes, without a fault.
///
/// ```
/// use twolane_core::dissect::{Fault, Field, Sink, body};
///
/// /// The fault alone.
/// struct Judged(Option<Fault>);
///
/// impl Sink for Judged {
///     fn open(&mut self, _: Field<'_>) {}
///     fn close(&mut self, _: usize) {}
///     fn leaf(&mut self, _: Field<'_>, _: usize) {}
///
///     fn fault(&mut self, fault: Fault) {
///         self.0 = Some(fault);
///     }
/// }
///
/// let judge = |text: &[u8]| {
///     let mut judged = Judged(None);
///     // Offsets are those of a frame whose header of version 1 stands before the body.
///     body(text, 17, &mut judged);
///     judged.0.map(|fault| fault.offset)
/// };
/// assert_eq!(judge(br#"{"any":"json"}"#), None);
/// // Of a body that lacks its `run_id`, the closing brace.
/// assert_eq!(judge(br#"{"version":1,"payload":{"type":7}}"#), Some(17 + 33));
/// assert_eq!(judge(b"{"), Some(17 + 1));
/// ```
pub fn body(bytes: &[u8], base: usize, sink: &mut dyn Sink) {
    if let Some(fault) = body_fields(bytes, base, Place::Alone, sink) {
        sink.fault(fault);
    }
}

/// Tells the body and gives its fault, which the caller may have a better one for.
pub(super) fn body_fields(bytes: &[u8], base: usize, place: Place, sink: &mut dyn Sink) -> Option<Fault> {
    if bytes.is_empty() {
        return None;
    }
    if matches!(place, Place::Binary) {
        let value = FieldValue::Size(bytes.len());
        sink.leaf(known("body", NodeKind::Bytes, base, value, "BINARY is set: not text"), base + bytes.len());
        return None;
    }
    let survey = Survey::of(bytes);
    let judged = survey.envelope().then(|| judge(bytes, place));
    let interpreted = match (place, judged) {
        (_, None) | (Place::NoLane, Some(Err(_))) => false,
        (_, Some(_)) => true,
    };
    let (schema, meaning) =
        if interpreted { (Schema::Envelope(survey.tag()), "body envelope") } else { (Schema::Plain, "") };
    let payload_type = if interpreted { survey.payload_type } else { None };
    let root = Root { name: "body", schema, meaning, payload_type };
    let scanned = json_fields(bytes, base, root, sink);
    if let Err(fault) = scanned {
        return begins_like_json(bytes).then(|| Fault::from(fault).shifted(base));
    }
    match judged {
        Some(Err(fault)) if interpreted => Some(Fault::from(fault).shifted(base)),
        _ => None,
    }
}

/// The rule of the body schema that a whole body breaks.
fn judge(bytes: &[u8], place: Place) -> Result<(), BodyFault> {
    let body = Body::parse(bytes)?;
    let Some(tag) = body.payload.tag() else { return Ok(()) };
    if let Place::Lane(lane) = place {
        tag.check_lane(lane).map_err(|reason| body.payload.fault(reason))?;
    }
    judge_members(&body.payload, tag)
}

/// The rule that the payload's members break. A frame by itself does not tell its direction, so what is optional in
/// one direction is not asked for.
fn judge_members(payload: &Payload<'_>, tag: Tag) -> Result<(), BodyFault> {
    match payload.check_members(tag) {
        Err(BodyFault { member: Some("usage"), reason: BodyReason::Missing, .. }) => Ok(()),
        judged => judged,
    }
}

/// What tells a body envelope from other JSON, gathered as far as the text is strict.
#[derive(Default)]
struct Survey<'a> {
    version: bool,
    payload: bool,
    payload_type: Option<JsonStr<'a>>,
}

impl<'a> Survey<'a> {
    fn of(text: &'a [u8]) -> Self {
        let mut survey = Self::default();
        let mut scanner = Scanner::new(text);
        let Ok(Some(Token { kind: Kind::ObjectStart, .. })) = scanner.next_token() else { return survey };
        while let Ok(Some(token)) = scanner.next_token() {
            let Kind::Name { escaped } = token.kind else { continue };
            let name = unquoted(text, &token, escaped);
            if scanner.depth() != 1 {
                continue;
            }
            if name == "version" {
                survey.version = true;
            } else if name == "payload" {
                survey.payload = true;
                survey.read_payload(&mut scanner);
            }
        }
        survey
    }

    /// Reads on to the payload's first `type`.
    fn read_payload(&mut self, scanner: &mut Scanner<'a>) {
        let text = scanner.text();
        let Ok(Some(Token { kind: Kind::ObjectStart, .. })) = scanner.next_token() else { return };
        while scanner.depth() > 1 {
            let Ok(Some(token)) = scanner.next_token() else { return };
            let Kind::Name { escaped } = token.kind else { continue };
            if scanner.depth() != 2 || unquoted(text, &token, escaped) != "type" {
                continue;
            }
            if let Ok(Some(value @ Token { kind: Kind::String { escaped }, .. })) = scanner.next_token() {
                self.payload_type.get_or_insert(unquoted(text, &value, escaped));
            }
        }
    }

    const fn envelope(&self) -> bool {
        self.version && self.payload
    }

    fn tag(&self) -> Option<Tag> {
        self.payload_type.and_then(Tag::from_name)
    }
}

fn begins_like_json(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = text.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    matches!(first, Some(b'{' | b'['))
}

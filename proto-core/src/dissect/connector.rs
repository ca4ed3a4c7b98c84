//! A connector frame: its carriage, the envelope inside of its base64, and what that authenticates; and documents.
//!
//! All of it without a key. The bytes of the envelope are shown where their characters stand in the frame, so that
//! neighbours may share one.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::fault::{Fault, FaultReason};
use super::field::{Field, FieldName, FieldValue, NodeKind, Sink};
use super::header::known;
use super::json::unread;
use crate::connector::base64::{decode_into, decoded_len_max};
use crate::connector::carriage::{
    CarriageFault, CarriageReason, OperationRequest, OperationResponse, PAYLOAD_ENCODING,
};
use crate::connector::document::{DocumentFault, DocumentReason, Schemas};
use crate::connector::envelope::{EnvelopeSchema, ReadEnvelope};
use crate::connector::failure::{FAILURE_SCHEMA, Hint};
use crate::connector::outside::names_response;
use crate::limits::CONNECTOR_PREFIX_LEN;
use crate::scan::msgpack::{Kind, MsgpackFault, MsgpackReason, Scanner, Token, validate};
use crate::scan::string::JsonStr;

/// Byte strings up to this length are shown as hex.
const HEX_LEN_MAX: usize = 32;

/// Dissects the bytes of one connector frame, its length prefix first.
///
/// `bytes` should end with the frame: what is left over is a fault, and so is what is missing.
///
/// ```
/// use twolane_core::connector::failure::Failure;
/// use twolane_core::connector::carriage::ReplyTo;
/// use twolane_core::dissect::Tree;
///
/// // The answer to a request for another service, as it goes over the wire.
/// let request = ReplyTo { message_id: "request-1", service_id: "weather", operation: "invoke" };
/// let mut body = Vec::new();
/// Failure::Service.write(request, &mut body).unwrap();
/// let frame = [&(body.len() as u32).to_be_bytes()[..], &body].concat();
///
/// // `Tree` is the sink that keeps all it is told by `connector`.
/// let tree = Tree::connector(&frame);
/// let status = tree.nodes.iter().find(|node| &*node.name == "status").unwrap();
/// assert_eq!((&*status.value, tree.fault), ("unsupported", None));
/// ```
pub fn connector(bytes: &[u8], sink: &mut dyn Sink) {
    let Some(prefix) = bytes.first_chunk::<CONNECTOR_PREFIX_LEN>() else {
        unread(0..bytes.len(), sink);
        return sink.fault(cut(CONNECTOR_PREFIX_LEN, bytes));
    };
    let len = u32::from_be_bytes(*prefix);
    let value = FieldValue::Number(u64::from(len));
    let meaning = "bytes of the message after this prefix, big-endian";
    sink.leaf(known("len", NodeKind::Integer, 0, value, meaning), CONNECTOR_PREFIX_LEN);
    let end = usize::try_from(len).unwrap_or(usize::MAX).saturating_add(CONNECTOR_PREFIX_LEN);
    let body = bytes.get(CONNECTOR_PREFIX_LEN..end.min(bytes.len())).unwrap_or_default();
    let judged = message(body, sink);
    if bytes.len() < end {
        // The cut explains a message that ends too early better than its reader can.
        return sink.fault(cut(end, bytes));
    }
    unread(end..bytes.len(), sink);
    match judged {
        Err(fault) => sink.fault(fault.shifted(CONNECTOR_PREFIX_LEN)),
        Ok(()) if bytes.len() > end => {
            let reason = FaultReason::TrailingBytes { count: bytes.len() - end };
            sink.fault(Fault { offset: end, reason });
        }
        Ok(()) => {}
    }
}

/// Dissects the bytes of a document, as a seal holds it. Whether it is canonical is not judged.
///
/// ```
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::write_malformed;
/// use twolane_core::dissect::Tree;
///
/// let mut plaintext = Vec::new();
/// write_malformed(&mut plaintext, "request-1", "caller-1", &Digest([9; 32])).unwrap();
/// // `Tree` is the sink that keeps all it is told by `document`.
/// let tree = Tree::document(&plaintext);
/// let caller = tree.nodes.iter().find(|node| &*node.name == "caller_runtime_id").unwrap();
/// assert_eq!((&*caller.value, tree.fault), ("caller-1", None));
/// ```
pub fn document(bytes: &[u8], sink: &mut dyn Sink) {
    let place = Place { base: 0, base64: false };
    if let Err(fault) = value_fields(bytes, place, false, ("document", "what a seal holds"), sink) {
        sink.fault(fault);
    }
}

const fn cut(expected: usize, bytes: &[u8]) -> Fault {
    let actual = bytes.len();
    Fault { offset: actual, reason: FaultReason::CutMessage { expected, actual } }
}

/// Tells the message and gives its fault, if any; offsets of the fault are in `body`.
fn message(body: &[u8], sink: &mut dyn Sink) -> Result<(), Fault> {
    if body.is_empty() {
        return Err(Fault { offset: 0, reason: rule("", "there is no message") });
    }
    let carried = carried(body);
    let place = Place { base: CONNECTOR_PREFIX_LEN, base64: false };
    let expand = carried.as_ref().map_or(true, |carried| carried.is_ours);
    value_fields(body, place, expand, ("message", "a CultNet operation message"), sink)
        .map_err(|fault| Fault { offset: fault.offset.saturating_sub(CONNECTOR_PREFIX_LEN), ..fault })?;
    match carried? {
        carried if carried.is_ours => payload(&carried, sink),
        _ => Ok(()),
    }
}

/// What of a message says what its payload is.
struct Carried<'a> {
    schema: &'a str,
    payload: &'a str,
    /// Offset of the payload's text in the message.
    start: usize,
    /// Whether the payload is MessagePack in base64.
    is_ours: bool,
}

fn carried(body: &[u8]) -> Result<Carried<'_>, Fault> {
    let (schema, payload, encoding) = match (OperationRequest::read(body), OperationResponse::read(body)) {
        (Ok(request), _) => (request.payload_schema, request.payload, request.payload_encoding),
        (_, Ok(response)) => (response.payload_schema, response.payload, response.payload_encoding),
        // A response is what names itself so; anything else is judged as a request.
        (_, Err(fault)) if names_response(body) => return Err(fault.into()),
        (Err(fault), _) => return Err(fault.into()),
    };
    let is_ours = encoding.is_none_or(|encoding| encoding == PAYLOAD_ENCODING);
    Ok(Carried { schema, payload, start: offset_in(body, payload), is_ours })
}

/// Judges the payload, and tells what follows from an envelope.
fn payload(carried: &Carried<'_>, sink: &mut dyn Sink) -> Result<(), Fault> {
    let &Carried { schema, payload, start, .. } = carried;
    let not_base64 = Fault { offset: start, reason: rule("payload", "no canonical base64") };
    let mut decoded = vec![0; decoded_len_max(payload.len())];
    let decoded: &[u8] = decode_into(payload, &mut decoded).map_err(|_| not_base64)?;
    let at = |offset| start.saturating_add(first_character(offset));
    match schema {
        EnvelopeSchema::ID => {
            let read = ReadEnvelope::read(decoded)
                .map_err(|fault| Fault { offset: at(fault.offset.unwrap_or(0)), ..fault.into() })?;
            authenticated(&read, CONNECTOR_PREFIX_LEN + start, payload.len(), sink);
            Ok(())
        }
        FAILURE_SCHEMA if Hint::parse(decoded).is_none() => {
            Err(Fault { offset: start, reason: rule("payload", "no failure") })
        }
        _ => validate(decoded).map_err(|fault| {
            let reason = rule("payload", msgpack_words(fault.reason));
            Fault { offset: at(fault.offset), reason }
        }),
    }
}

/// What the seal authenticates besides its plaintext, which follows from the envelope.
fn authenticated(read: &ReadEnvelope<'_>, start: usize, len: usize, sink: &mut dyn Sink) {
    let mut aad = Vec::new();
    if read.envelope.write_aad(&mut aad).is_ok() {
        let hex = hex(&aad);
        let meaning = "authenticated with the ciphertext: schema, caller, request and kind";
        let field = known("aad", NodeKind::Derived, start, FieldValue::Raw(&hex), meaning);
        sink.leaf(field, start.saturating_add(len));
    }
}

/// Where bytes that are told stand in what is dissected.
#[derive(Clone, Copy)]
struct Place {
    /// Offset of the first.
    base: usize,
    /// Whether they stand there as base64.
    base64: bool,
}

impl Place {
    fn start(self, offset: usize) -> usize {
        self.base.saturating_add(if self.base64 { first_character(offset) } else { offset })
    }

    fn end(self, offset: usize) -> usize {
        let inside = match offset.checked_sub(1) {
            Some(last) if self.base64 => first_character(last).saturating_add(2),
            _ => self.start(offset).saturating_sub(self.base),
        };
        self.base.saturating_add(inside)
    }
}

/// The character of base64 in which the byte at `offset` begins.
const fn first_character(offset: usize) -> usize {
    (offset / 3).saturating_mul(4).saturating_add(offset % 3)
}

/// Tells one value that is all of `bytes`; the fault's offset is where it stands.
fn value_fields(
    bytes: &[u8],
    place: Place,
    expand: bool,
    (name, meaning): (&'static str, &'static str),
    sink: &mut dyn Sink,
) -> Result<(), Fault> {
    let mut walk = Walk { scanner: Scanner::new(bytes), bytes, place, expand, told: 0, sink };
    let field = known(name, NodeKind::Group, place.start(0), FieldValue::None, meaning);
    walk.sink.open(field);
    let outcome = walk.root();
    if outcome.is_err() {
        unread(place.start(walk.told)..place.end(bytes.len()), walk.sink);
    }
    walk.sink.close(place.end(bytes.len()));
    outcome.map_err(|fault| {
        let offset = place.start(fault.offset);
        Fault { offset, reason: rule("", msgpack_words(fault.reason)) }
    })
}

struct Walk<'a, 's> {
    scanner: Scanner<'a>,
    bytes: &'a [u8],
    place: Place,
    /// Whether a payload is told by what is in its base64.
    expand: bool,
    /// Offset after the last value told.
    told: usize,
    sink: &'s mut dyn Sink,
}

/// A name and where it begins, in front of a value.
type Named<'a> = (FieldName<'a>, usize, &'static str);

impl<'a> Walk<'a, '_> {
    /// The fields of the map that is all there is, or the one value.
    fn root(&mut self) -> Result<(), MsgpackFault> {
        match self.scanner.next_token()? {
            Some(Token { kind: Kind::Map(pairs), end, .. }) => {
                self.told = end;
                self.pairs(pairs)?;
            }
            Some(token) => self.value(&token, (FieldName::Known("value"), token.start, ""))?,
            None => {}
        }
        self.scanner.next_token().map(drop)
    }

    fn pairs(&mut self, pairs: u32) -> Result<(), MsgpackFault> {
        for _ in 0..pairs {
            let Some((key, _)) = self.scanner.skip_value()? else { break };
            let (name, meaning) = match self.scanner.text(&key) {
                Some(text) => (FieldName::Member(plain(text)), meaning(text)),
                None => (FieldName::Known("key"), "a key that is no text"),
            };
            if let Some(token) = self.scanner.next_token()? {
                self.value(&token, (name, key.start, meaning))?;
            }
        }
        Ok(())
    }

    /// One value with what is inside of it. Nesting is bounded by the scanner.
    fn value(&mut self, token: &Token, (name, start, meaning): Named<'a>) -> Result<(), MsgpackFault> {
        let (kind, count) = match token.kind {
            Kind::Map(pairs) => (NodeKind::Object, pairs),
            Kind::Array(elements) => (NodeKind::Array, elements),
            _ => {
                self.scalar(token, (name, start, meaning));
                return Ok(());
            }
        };
        self.sink.open(self.field(token, (name, start, meaning), kind, FieldValue::None));
        self.told = token.end;
        let outcome = if kind == NodeKind::Object { self.pairs(count) } else { self.elements(count) };
        self.sink.close(self.place.end(self.told));
        outcome
    }

    fn elements(&mut self, count: u32) -> Result<(), MsgpackFault> {
        for index in 0..usize::try_from(count).unwrap_or(usize::MAX) {
            let Some(token) = self.scanner.next_token()? else { break };
            self.value(&token, (FieldName::Index(index), token.start, ""))?;
        }
        Ok(())
    }

    fn scalar(&mut self, token: &Token, named: Named<'a>) {
        let content = self.bytes.get(token.content_span()).unwrap_or_default();
        let shown;
        let (kind, value) = match token.kind {
            Kind::Str => {
                if self.expand && self.payload(token, named) {
                    return;
                }
                (NodeKind::String, FieldValue::Text(plain(self.scanner.text(token).unwrap_or_default())))
            }
            Kind::Bin if content.len() <= HEX_LEN_MAX => {
                shown = hex(content);
                (NodeKind::Bytes, FieldValue::Raw(&shown))
            }
            Kind::Unsigned(number) => (NodeKind::Number, FieldValue::Number(number)),
            Kind::Bool(value) => (NodeKind::Bool, FieldValue::Bool(value)),
            Kind::Nil => (NodeKind::Null, FieldValue::Word("nil")),
            Kind::Negative(_) | Kind::Float32(_) | Kind::Float64(_) => {
                (NodeKind::Number, FieldValue::Word("a number that no field has"))
            }
            _ => (NodeKind::Bytes, FieldValue::Size(content.len())),
        };
        let field = self.field(token, named, kind, value);
        self.sink.leaf(field, self.place.end(token.end));
        self.told = token.end;
    }

    /// Tells the payload of a message by what is in its base64, where that is one map.
    fn payload(&mut self, token: &Token, named: Named<'a>) -> bool {
        let Some(text) = self.scanner.text(token) else { return false };
        if !matches!(named.0, FieldName::Member(name) if name == "payload") {
            return false;
        }
        let mut decoded = vec![0; decoded_len_max(text.len())];
        let Ok(decoded) = decode_into(text, &mut decoded) else { return false };
        if !matches!(Scanner::new(decoded).next_token(), Ok(Some(Token { kind: Kind::Map(_), .. }))) {
            return false;
        }
        self.sink.open(self.field(token, named, NodeKind::Object, FieldValue::Size(decoded.len())));
        let place = Place { base: self.place.start(token.content), base64: true };
        let mut inside = Walk {
            scanner: Scanner::new(decoded),
            bytes: decoded,
            place,
            expand: false,
            told: 0,
            sink: self.sink,
        };
        if inside.root().is_err() {
            let rest = place.start(inside.told)..place.end(decoded.len());
            unread(rest, self.sink);
        }
        self.sink.close(self.place.end(token.end));
        self.told = token.end;
        true
    }

    fn field<'f>(
        &self,
        token: &Token,
        (name, start, meaning): Named<'f>,
        kind: NodeKind,
        value: FieldValue<'f>,
    ) -> Field<'f> {
        let (start, value_start) = (self.place.start(start), self.place.start(token.start));
        Field { start, value_start, kind, mask: 0, name, value, meaning }
    }
}

/// A text that has no escapes.
const fn plain(text: &str) -> JsonStr<'_> {
    JsonStr::from_scanned(text.as_bytes(), false)
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // A String takes all that is written.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Where `text`, which was read from `body`, stands in it.
fn offset_in(body: &[u8], text: &str) -> usize {
    text.as_ptr().addr().saturating_sub(body.as_ptr().addr())
}

const fn rule(member: &'static str, rule: &'static str) -> FaultReason {
    let member = if member.is_empty() { None } else { Some(member) };
    FaultReason::Connector { member, rule }
}

impl From<CarriageFault> for Fault {
    fn from(fault: CarriageFault) -> Self {
        let reason = match fault.reason {
            CarriageReason::Msgpack(reason) => rule("", msgpack_words(reason)),
            CarriageReason::NotAMap => rule("", "expected a map"),
            CarriageReason::UnknownKey => rule("", "unknown key"),
            CarriageReason::DuplicateKey(member) => rule(member, "comes twice"),
            CarriageReason::Missing(member) => rule(member, "missing"),
            CarriageReason::WrongKind { field, .. } => rule(field, "a value of another kind"),
            CarriageReason::OtherMessage => rule("schemaVersion", "another message"),
        };
        Self { offset: fault.offset, reason }
    }
}

impl From<DocumentFault> for Fault {
    fn from(fault: DocumentFault) -> Self {
        let words = match fault.reason {
            DocumentReason::Msgpack(reason) => msgpack_words(reason),
            DocumentReason::FieldCount { .. } => "another number of fields",
            DocumentReason::Key => "another key stands in its place",
            DocumentReason::Schema => "another schema",
            DocumentReason::BytesLength { .. } => "another number of bytes",
            _ => "breaks its rule",
        };
        Self { offset: fault.offset.unwrap_or(0), reason: rule(fault.path.field, words) }
    }
}

const fn msgpack_words(reason: MsgpackReason) -> &'static str {
    match reason {
        MsgpackReason::UnexpectedEnd => "the bytes end inside a value",
        MsgpackReason::Reserved => "0xc1 starts no value",
        MsgpackReason::TooDeep => "nested deeper than 32",
        MsgpackReason::InvalidUtf8 => "invalid UTF-8",
        MsgpackReason::TrailingBytes => "bytes after the end of the value",
        MsgpackReason::WrongKind { .. } => "a value of another kind",
        MsgpackReason::NotShortest => "not in its shortest form",
        MsgpackReason::OutOfRange { .. } => "a number out of range",
    }
}

/// What a field of the carriage, the envelope or a document means.
fn meaning(name: &str) -> &'static str {
    match name {
        "schemaVersion" => "which message of CultNet this is",
        "messageId" => "the request id again, outside of the seal",
        "serviceId" => "who serves it",
        "operation" => "what it asks for",
        "status" => "outside of the seal: means nothing",
        "payloadSchema" => "what the payload is",
        "payloadEncoding" => "how the payload is written",
        "payload" => "base64 of MessagePack",
        "diagnostics" => "outside of the seal: means nothing",
        "schema_id" => "which document this is",
        "caller_runtime_id" => "who asks",
        "request_id" => "the caller's name of the request",
        "message_kind" => "which way it goes",
        "nonce" => "never twice under one key",
        "ciphertext" => "sealed; the last 16 bytes are the tag",
        "expires_at_unix_ms" => "until when a run may begin",
        "native_request_sha256" => "digest of the request in the caller's form",
        "provider_request_sha256" => "digest of the request in canonical form",
        "binding_sha256" => "what binds the result to its request",
        "disposition" => "what came of the request",
        "code" => "a hint: nothing authenticates it",
        "message" => "for people",
        _ => "",
    }
}

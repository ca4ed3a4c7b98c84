//! The CultNet messages around an envelope: read in any order of keys, written in one.
//!
//! Readers take what other writers write: `nil` for what is not there, headers of any length. They refuse unknown and
//! repeated keys and bytes after the message.

use core::ops::Range;

use crate::scan::msgpack::{Full, Kind, MsgpackFault, MsgpackReason, Output, Scanner, Token, Writer};

/// `schemaVersion` of a request.
pub const REQUEST_SCHEMA: &str = "cultnet.operation_request.v0";
/// `schemaVersion` of a response.
pub const RESPONSE_SCHEMA: &str = "cultnet.operation_response.v0";
/// The connector's `serviceId`.
pub const SERVICE_ID: &str = "gamecult.model.connector";
/// The connector's one `operation`.
pub const OPERATION: &str = "invoke";
/// How a payload is written.
pub const PAYLOAD_ENCODING: &str = "messagepack-base64";
/// `status` of every sealed reply; it is outside of the seal and means nothing.
pub const ACCEPTED: &str = "accepted";

/// Why bytes are no operation message. A request that is none gets no answer.
///
/// ```
/// use twolane_core::connector::carriage::{CarriageFault, CarriageReason, OperationRequest};
///
/// let fault = OperationRequest::read(b"\x81\xa5hello\xa5world").unwrap_err();
/// assert_eq!(fault, CarriageFault { offset: 1, reason: CarriageReason::UnknownKey });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct CarriageFault {
    /// Offset of the fault.
    pub offset: usize,
    /// Why.
    pub reason: CarriageReason,
}

/// Why bytes are no operation message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarriageReason {
    /// Not one value of MessagePack.
    #[error(transparent)]
    Msgpack(MsgpackReason),
    /// Some other value.
    #[error("expected a map")]
    NotAMap,
    /// A key that is none of the message's.
    #[error("unknown key")]
    UnknownKey,
    /// A key that comes twice.
    #[error("`{0}` comes twice")]
    DuplicateKey(&'static str),
    /// A key that is not there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A value of another kind.
    #[error("`{field}`: expected {expected}")]
    WrongKind {
        /// The key.
        field: &'static str,
        /// What has to stand there.
        expected: &'static str,
    },
    /// Another `schemaVersion`.
    #[error("`schemaVersion`: another message")]
    OtherMessage,
}

impl From<MsgpackFault> for CarriageFault {
    fn from(fault: MsgpackFault) -> Self {
        Self { offset: fault.offset, reason: CarriageReason::Msgpack(fault.reason) }
    }
}

/// A request as it is carried. Whether it is for us is not judged here.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::carriage::{OPERATION, OperationRequest, PAYLOAD_ENCODING, ReplyTo, SERVICE_ID};
///
/// let request = OperationRequest {
///     message_id: "request-1",
///     service_id: SERVICE_ID,
///     operation: OPERATION,
///     payload_schema: "gamecult.model.transport_envelope.v3",
///     payload_encoding: Some(PAYLOAD_ENCODING),
///     payload: "bGFtcA==",
///     source_runtime_id: None,
///     target_runtime_id: None,
/// };
/// let mut body = Vec::new();
/// request.write(&mut body).unwrap();
/// let read = OperationRequest::read(&body).unwrap();
/// assert_eq!(read, request);
/// let named = ReplyTo { message_id: "request-1", service_id: SERVICE_ID, operation: OPERATION };
/// assert_eq!(read.reply_to(), named);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationRequest<'a> {
    /// `messageId`
    pub message_id: &'a str,
    /// `serviceId`
    pub service_id: &'a str,
    /// `operation`
    pub operation: &'a str,
    /// `payloadSchema`
    pub payload_schema: &'a str,
    /// `payloadEncoding`
    pub payload_encoding: Option<&'a str>,
    /// `payload`
    pub payload: &'a str,
    /// `sourceRuntimeId`
    pub source_runtime_id: Option<&'a str>,
    /// `targetRuntimeId`
    pub target_runtime_id: Option<&'a str>,
}

/// What a response names of the request that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyTo<'a> {
    /// `messageId`
    pub message_id: &'a str,
    /// `serviceId`
    pub service_id: &'a str,
    /// `operation`
    pub operation: &'a str,
}

/// A response as it is carried. Nothing in it is authenticated.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::carriage::{ACCEPTED, OPERATION, OperationResponse, ReplyTo, SERVICE_ID};
///
/// let request = ReplyTo { message_id: "request-1", service_id: SERVICE_ID, operation: OPERATION };
/// let schema = "gamecult.model.transport_envelope.v3";
/// let mut body = Vec::new();
/// OperationResponse::of(request, ACCEPTED, schema, "bGFtcA==").write(&mut body).unwrap();
///
/// let read = OperationResponse::read(&body).unwrap();
/// assert_eq!((read.message_id, read.status, read.source_runtime_id), ("request-1", "accepted", None));
/// // Where to decode in place.
/// assert_eq!(&body[read.payload_span()], b"bGFtcA==");
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationResponse<'a> {
    /// `messageId`
    pub message_id: &'a str,
    /// `serviceId`
    pub service_id: &'a str,
    /// `operation`
    pub operation: &'a str,
    /// `status`
    pub status: &'a str,
    /// `payloadSchema`
    pub payload_schema: &'a str,
    /// `payloadEncoding`
    pub payload_encoding: Option<&'a str>,
    /// `payload`
    pub payload: &'a str,
    /// `sourceRuntimeId`
    pub source_runtime_id: Option<&'a str>,
    payload_start: usize,
}

const REQUEST_KEYS: [&str; 9] = [
    "schemaVersion",
    "messageId",
    "serviceId",
    "operation",
    "payloadSchema",
    "payloadEncoding",
    "payload",
    "sourceRuntimeId",
    "targetRuntimeId",
];

const RESPONSE_KEYS: [&str; 10] = [
    "schemaVersion",
    "messageId",
    "serviceId",
    "operation",
    "payloadSchema",
    "payloadEncoding",
    "payload",
    "sourceRuntimeId",
    "status",
    "diagnostics",
];

impl<'a> OperationRequest<'a> {
    /// Reads a request that is all of `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Self, CarriageFault> {
        let [version, id, service, operation, schema, encoding, payload, source, target] =
            read_map(bytes, &REQUEST_KEYS)?;
        version.is(REQUEST_SCHEMA)?;
        Ok(Self {
            message_id: id.text()?,
            service_id: service.text()?,
            operation: operation.text()?,
            payload_schema: schema.text()?,
            payload_encoding: encoding.optional()?,
            payload: payload.text()?,
            source_runtime_id: source.optional()?,
            target_runtime_id: target.optional()?,
        })
    }

    /// What a response to it names.
    pub const fn reply_to(&self) -> ReplyTo<'a> {
        ReplyTo { message_id: self.message_id, service_id: self.service_id, operation: self.operation }
    }

    /// Writes the request with its keys in their order. What is not there is left out.
    pub fn write(&self, out: &mut impl Output) -> Result<(), Full> {
        let mut w = Writer(out);
        let optional = [
            ("payloadEncoding", self.payload_encoding),
            ("payload", Some(self.payload)),
            ("sourceRuntimeId", self.source_runtime_id),
            ("targetRuntimeId", self.target_runtime_id),
        ];
        let fields = [
            ("schemaVersion", REQUEST_SCHEMA),
            ("messageId", self.message_id),
            ("serviceId", self.service_id),
            ("operation", self.operation),
            ("payloadSchema", self.payload_schema),
        ];
        w.map(count(fields.len(), &optional))?;
        write_fields(&mut w, &fields)?;
        write_optional(&mut w, &optional)
    }
}

impl<'a> OperationResponse<'a> {
    /// Reads a response that is all of `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Self, CarriageFault> {
        let [version, id, service, operation, schema, encoding, payload, source, status, diagnostics] =
            read_map(bytes, &RESPONSE_KEYS)?;
        version.is(RESPONSE_SCHEMA)?;
        diagnostics.texts()?;
        Ok(Self {
            message_id: id.text()?,
            service_id: service.text()?,
            operation: operation.text()?,
            status: status.text()?,
            payload_schema: schema.text()?,
            payload_encoding: encoding.optional()?,
            payload: payload.text()?,
            source_runtime_id: source.optional()?,
            payload_start: payload.token.map_or(0, |token| token.content),
        })
    }

    /// A response to a request, in its own words for where it went.
    pub const fn of(
        request: ReplyTo<'a>,
        status: &'a str,
        payload_schema: &'a str,
        payload: &'a str,
    ) -> Self {
        Self {
            message_id: request.message_id,
            service_id: request.service_id,
            operation: request.operation,
            status,
            payload_schema,
            payload_encoding: Some(PAYLOAD_ENCODING),
            payload,
            source_runtime_id: None,
            payload_start: 0,
        }
    }

    /// Where the payload's text stands in the bytes that were read; from 0 of a response that was not read.
    pub const fn payload_span(&self) -> Range<usize> {
        self.payload_start..self.payload_start.saturating_add(self.payload.len())
    }

    /// Writes the response with its keys in their order and no diagnostics. What is not there is left out.
    pub fn write(&self, out: &mut impl Output) -> Result<(), Full> {
        let mut w = Writer(out);
        let optional = [
            ("payloadEncoding", self.payload_encoding),
            ("payload", Some(self.payload)),
            ("sourceRuntimeId", self.source_runtime_id),
        ];
        let fields = [
            ("schemaVersion", RESPONSE_SCHEMA),
            ("messageId", self.message_id),
            ("serviceId", self.service_id),
            ("operation", self.operation),
            ("status", self.status),
            ("payloadSchema", self.payload_schema),
        ];
        w.map(count(fields.len(), &optional))?;
        write_fields(&mut w, &fields)?;
        write_optional(&mut w, &optional)
    }
}

/// Writes a message of the connector up to its payload, whose `payload_len` characters have to follow.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::carriage::{OperationRequest, REQUEST_SCHEMA, write_front};
/// use twolane_core::scan::msgpack::Output;
///
/// let mut body = Vec::new();
/// write_front(&mut body, false, "request-1", "gamecult.model.transport_envelope.v3", 8).unwrap();
/// // The payload follows, as many characters as were announced.
/// body.put(b"bGFtcA==").unwrap();
/// assert_eq!(OperationRequest::read(&body).unwrap().payload, "bGFtcA==");
/// assert!(body.windows(REQUEST_SCHEMA.len()).any(|window| window == REQUEST_SCHEMA.as_bytes()));
/// # }
/// ```
pub fn write_front(
    out: &mut impl Output,
    response: bool,
    message_id: &str,
    payload_schema: &str,
    payload_len: u32,
) -> Result<(), Full> {
    let mut w = Writer(out);
    w.map(if response { 8 } else { 7 })?;
    let schema = if response { RESPONSE_SCHEMA } else { REQUEST_SCHEMA };
    write_fields(
        &mut w,
        &[
            ("schemaVersion", schema),
            ("messageId", message_id),
            ("serviceId", SERVICE_ID),
            ("operation", OPERATION),
        ],
    )?;
    if response {
        write_fields(&mut w, &[("status", ACCEPTED)])?;
    }
    write_fields(&mut w, &[("payloadSchema", payload_schema), ("payloadEncoding", PAYLOAD_ENCODING)])?;
    w.str("payload")?;
    w.str_header(payload_len)
}

/// Whether a message, its length prefix left off, begins as an operation message does: with a map that has as many
/// keys as one may have, and a key of its own. `None` where more bytes are needed to tell.
///
/// No frame of a lane and no handshake message begins so: their first byte is a version, a brace or white space.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::carriage::{RESPONSE_SCHEMA, begins, write_front};
///
/// let mut body = Vec::new();
/// write_front(&mut body, true, "request-1", "gamecult.model.transport_envelope.v3", 0).unwrap();
/// assert_eq!((begins(&body[..1]), begins(&body)), (None, Some(true)));
/// // JSON of a handshake does not.
/// assert_eq!(begins(b"{\"client_nonce\":"), Some(false));
/// // The schema is the first value, if whoever wrote it keeps the order.
/// assert!(body[16..].starts_with(RESPONSE_SCHEMA.as_bytes()));
/// # }
/// ```
pub fn begins(front: &[u8]) -> Option<bool> {
    let (pairs, front) = match front {
        [] => return None,
        [byte @ 0x80..=0x8f, rest @ ..] => (u32::from(byte & 0x0f), rest),
        [0xde, high, low, rest @ ..] => (u32::from(u16::from_be_bytes([*high, *low])), rest),
        [0xdf, a, b, c, d, rest @ ..] => (u32::from_be_bytes([*a, *b, *c, *d]), rest),
        [0xde | 0xdf, ..] => return None,
        _ => return Some(false),
    };
    if pairs == 0 || usize::try_from(pairs).is_ok_and(|pairs| pairs > RESPONSE_KEYS.len()) {
        return Some(false);
    }
    let (len, front) = match front {
        [] => return None,
        [byte @ 0xa0..=0xbf, rest @ ..] => (u32::from(byte & 0x1f), rest),
        [0xd9, len, rest @ ..] => (u32::from(*len), rest),
        [0xda, high, low, rest @ ..] => (u32::from(u16::from_be_bytes([*high, *low])), rest),
        [0xdb, a, b, c, d, rest @ ..] => (u32::from_be_bytes([*a, *b, *c, *d]), rest),
        [0xd9..=0xdb, ..] => return None,
        _ => return Some(false),
    };
    let len = usize::try_from(len).ok();
    let mut keys = REQUEST_KEYS.iter().chain(&RESPONSE_KEYS).filter(|key| Some(key.len()) == len);
    match len.and_then(|len| front.get(..len)) {
        Some(key) => Some(keys.any(|known| known.as_bytes() == key)),
        None if keys.any(|known| known.as_bytes().starts_with(front)) => None,
        None => Some(false),
    }
}

fn count(fields: usize, optional: &[(&str, Option<&str>)]) -> u32 {
    let there = optional.iter().filter(|(_, text)| text.is_some()).count();
    u32::try_from(fields.saturating_add(there)).unwrap_or(u32::MAX)
}

fn write_fields<O: Output>(w: &mut Writer<'_, O>, fields: &[(&str, &str)]) -> Result<(), Full> {
    fields.iter().try_for_each(|(name, text)| {
        w.str(name)?;
        w.str(text)
    })
}

fn write_optional<O: Output>(w: &mut Writer<'_, O>, fields: &[(&str, Option<&str>)]) -> Result<(), Full> {
    fields.iter().try_for_each(|(name, text)| match text {
        Some(text) => write_fields(w, &[(name, text)]),
        None => Ok(()),
    })
}

/// The value of a key of ours, where it is there.
#[derive(Clone, Copy)]
struct Found<'a> {
    bytes: &'a [u8],
    field: &'static str,
    token: Option<Token>,
}

impl<'a> Found<'a> {
    fn text(&self) -> Result<&'a str, CarriageFault> {
        let missing = CarriageReason::Missing(self.field);
        let token = self.token.ok_or(CarriageFault { offset: self.bytes.len(), reason: missing })?;
        self.text_of(&token)
    }

    fn optional(&self) -> Result<Option<&'a str>, CarriageFault> {
        match self.token {
            Some(Token { kind: Kind::Nil, .. }) | None => Ok(None),
            Some(token) => self.text_of(&token).map(Some),
        }
    }

    fn is(&self, expected: &str) -> Result<(), CarriageFault> {
        if self.text()? == expected {
            return Ok(());
        }
        let offset = self.token.map_or(0, |token| token.start);
        Err(CarriageFault { offset, reason: CarriageReason::OtherMessage })
    }

    /// That this is a list of texts, or not there.
    fn texts(&self) -> Result<(), CarriageFault> {
        let Some(token) = self.token.filter(|token| token.kind != Kind::Nil) else { return Ok(()) };
        let Kind::Array(count) = token.kind else { return Err(self.wrong(&token, "a list of texts")) };
        let mut scanner = Scanner::new(self.bytes.get(token.start..).unwrap_or_default());
        scanner.next_token()?;
        for _ in 0..count {
            match scanner.next_token()? {
                Some(Token { kind: Kind::Str, .. }) => {}
                _ => return Err(self.wrong(&token, "a list of texts")),
            }
        }
        Ok(())
    }

    fn text_of(&self, token: &Token) -> Result<&'a str, CarriageFault> {
        let text = self.bytes.get(token.content_span()).and_then(|text| core::str::from_utf8(text).ok());
        text.filter(|_| token.kind == Kind::Str).ok_or(self.wrong(token, "a text"))
    }

    const fn wrong(&self, token: &Token, expected: &'static str) -> CarriageFault {
        CarriageFault {
            offset: token.start,
            reason: CarriageReason::WrongKind { field: self.field, expected },
        }
    }
}

/// The values of `keys` in a map that has no other key and none twice, and is all of `bytes`.
fn read_map<'a, const N: usize>(
    bytes: &'a [u8],
    keys: &[&'static str; N],
) -> Result<[Found<'a>; N], CarriageFault> {
    let mut found = keys.map(|field| Found { bytes, field, token: None });
    let mut scanner = Scanner::new(bytes);
    let Some(Token { kind: Kind::Map(pairs), .. }) = scanner.next_token()? else {
        return Err(CarriageFault { offset: 0, reason: CarriageReason::NotAMap });
    };
    for _ in 0..pairs {
        let Some((key, _)) = scanner.skip_value()? else { break };
        let name = scanner.text(&key);
        let unknown = CarriageFault { offset: key.start, reason: CarriageReason::UnknownKey };
        let place = found.iter_mut().find(|place| Some(place.field) == name).ok_or(unknown)?;
        let Some((value, _)) = scanner.skip_value()? else { break };
        if place.token.replace(value).is_some() {
            let reason = CarriageReason::DuplicateKey(place.field);
            return Err(CarriageFault { offset: key.start, reason });
        }
    }
    scanner.next_token()?;
    Ok(found)
}

//! Answers to what cannot be sealed: `gamecult.cultnet.operation_failure.v1`. Hints, since nothing authenticates them.

use super::base64::{decode_into, encode_in_place, encoded_len};
use super::carriage::{OperationResponse, ReplyTo};
use crate::scan::msgpack::{Full, Kind, Output, Scanner, Token, Writer, Written};

/// `payloadSchema` of a failure.
pub const FAILURE_SCHEMA: &str = "gamecult.cultnet.operation_failure.v1";

/// Bytes of the longest payload that we write.
const PAYLOAD_MAX: usize = 120;

/// Characters of base64 for it.
const TEXT_MAX: usize = PAYLOAD_MAX.div_ceil(3) * 4;

/// Why a request is answered without a seal.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::carriage::{OperationResponse, ReplyTo};
/// use twolane_core::connector::failure::{FAILURE_SCHEMA, Failure, Hint};
///
/// let request = ReplyTo { message_id: "request-1", service_id: "weather", operation: "invoke" };
/// for failure in Failure::ALL {
///     let mut body = Vec::new();
///     failure.write(request, &mut body).unwrap();
///
///     // What the other side reads. Anyone may have said it.
///     let response = OperationResponse::read(&body).unwrap();
///     assert_eq!((response.status, response.payload_schema), (failure.status(), FAILURE_SCHEMA));
///     let mut buffer = [0; 160];
///     let hint = Hint::read(response.payload, &mut buffer).unwrap();
///     assert_eq!(hint, Hint { code: failure.code(), message: failure.message() });
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// Another `serviceId`.
    Service,
    /// Another `operation`.
    Operation,
    /// Another `payloadSchema`.
    PayloadSchema,
    /// Another `payloadEncoding`.
    PayloadEncoding,
    /// A payload that is no canonical base64.
    Base64,
    /// A payload that is no envelope of an invocation.
    Envelope,
    /// A `messageId` that is not the envelope's request id.
    MessageId,
    /// An unknown caller, a ciphertext outside of the caller's bound, or a tag that no key of the caller makes: one
    /// answer for all three.
    NotAdmitted,
}

impl Failure {
    /// Every failure.
    pub const ALL: [Self; 8] = [
        Self::Service,
        Self::Operation,
        Self::PayloadSchema,
        Self::PayloadEncoding,
        Self::Base64,
        Self::Envelope,
        Self::MessageId,
        Self::NotAdmitted,
    ];

    /// `status` of the response.
    pub const fn status(self) -> &'static str {
        match self {
            Self::Service | Self::Operation => "unsupported",
            Self::NotAdmitted => "denied",
            _ => "invalid",
        }
    }

    /// `code` of the payload.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Service | Self::Operation => "operation-not-registered",
            Self::PayloadSchema => "request-schema-mismatch",
            Self::PayloadEncoding => "request-encoding-mismatch",
            Self::Base64 | Self::Envelope | Self::MessageId => "request-payload-invalid",
            Self::NotAdmitted => "not-admitted",
        }
    }

    /// `message` of the payload: a field and a kind, never a byte of the peer.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Service => "serviceId: not served here",
            Self::Operation => "operation: not served here",
            Self::PayloadSchema => "payloadSchema: another schema",
            Self::PayloadEncoding => "payloadEncoding: another encoding",
            Self::Base64 => "payload: no canonical base64",
            Self::Envelope => "payload: no canonical envelope of an invocation",
            Self::MessageId => "messageId: not the request id of the envelope",
            Self::NotAdmitted => "not admitted",
        }
    }

    /// Writes the body of the response to `request`, which names what it answers in the words of its sender.
    pub fn write(self, request: ReplyTo<'_>, out: &mut impl Output) -> Result<(), Full> {
        let mut buffer = [0; TEXT_MAX];
        let payload = self.payload(&mut buffer)?;
        OperationResponse::of(request, self.status(), FAILURE_SCHEMA, payload).write(out)
    }

    /// The payload in base64.
    fn payload(self, buffer: &mut [u8; TEXT_MAX]) -> Result<&str, Full> {
        let mut bytes = [0; PAYLOAD_MAX];
        let mut written = Written::new(&mut bytes);
        let mut w = Writer(&mut written);
        w.map(2)?;
        for (name, text) in [("code", self.code()), ("message", self.message())] {
            w.str(name)?;
            w.str(text)?;
        }
        let len = written.len();
        let text = encoded_len(len).and_then(|text_len| buffer.get_mut(..text_len)).ok_or(Full)?;
        let start = text.len().checked_sub(len).ok_or(Full)?;
        text.iter_mut().skip(start).zip(bytes).for_each(|(place, byte)| *place = byte);
        if !encode_in_place(text, len) {
            return Err(Full);
        }
        core::str::from_utf8(text).map_err(|_| Full)
    }
}

/// What a server says without a seal. Anyone may have said it.
///
/// ```
/// use twolane_core::connector::failure::Hint;
///
/// let mut buffer = [0; 64];
/// let hint = Hint::parse(b"\x82\xa7message\xa2no\xa4code\xa6denied").unwrap();
/// assert_eq!((hint.code, hint.message), ("denied", "no"));
/// assert_eq!(Hint::read("gA==", &mut buffer), None, "a map of nothing is no failure");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint<'a> {
    /// `code`
    pub code: &'a str,
    /// `message`
    pub message: &'a str,
}

impl<'a> Hint<'a> {
    /// Reads the payload of a failure, decoded to the front of `buffer`; `None` where it is none.
    pub fn read(payload: &str, buffer: &'a mut [u8]) -> Option<Self> {
        Self::parse(decode_into(payload, buffer).ok()?)
    }

    /// Reads a failure that is all of `bytes`, in any order of its keys.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut scanner = Scanner::new(bytes);
        let (mut code, mut message) = (None, None);
        let Some(Token { kind: Kind::Map(pairs), .. }) = scanner.next_token().ok()? else { return None };
        for _ in 0..pairs {
            let (key, _) = scanner.skip_value().ok()??;
            let (value, _) = scanner.skip_value().ok()??;
            match scanner.text(&key)? {
                "code" => code = Some(scanner.text(&value)?),
                "message" => message = Some(scanner.text(&value)?),
                _ => {}
            }
        }
        scanner.next_token().ok()?.is_none().then_some(Self { code: code?, message: message? })
    }
}

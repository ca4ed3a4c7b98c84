//! Members of the objects that the handshake and the connection file are made of: unknown ones passed over,
//! wrong ones named.

use core::fmt;

use crate::scan::json::{JsonFault, JsonReason, Kind};
use crate::scan::string::JsonStr;
use crate::scan::value::{Elements, MemberFault, MemberReason, Value, string_at};

/// Where and why an object is not what it has to be.
///
/// ```
/// use twolane_core::handshake::message::ClientHello;
/// use twolane_core::handshake::{FieldFault, FieldReason};
///
/// let fault = ClientHello::parse(br#"{"role":"client"}"#).unwrap_err();
/// assert_eq!(fault, FieldFault { offset: 16, reason: FieldReason::Missing("client_nonce") });
/// assert_eq!(fault.to_string(), "byte 16: member `client_nonce` is missing");
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct FieldFault {
    /// Offset in the JSON text, without the length prefix of a message.
    pub offset: usize,
    /// Why.
    pub reason: FieldReason,
}

/// Why an object is not what it has to be. Names are ours, never text that was read.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldReason {
    /// Not strict JSON.
    #[error(transparent)]
    Json(JsonReason),
    /// The text is some other value.
    #[error("expected an object")]
    NotAnObject,
    /// More members than are interpreted.
    #[error("more than 64 members")]
    TooManyMembers,
    /// A name occurs twice; `None` where it is not one of ours.
    #[error("{} occurs twice", Named(*.0))]
    Duplicate(Option<&'static str>),
    /// A member is not there; the offset is that of the object's end.
    #[error("member `{0}` is missing")]
    Missing(&'static str),
    /// A member or one of its elements is of another kind.
    #[error("member `{member}`: expected {expected}")]
    WrongType {
        /// Its name.
        member: &'static str,
        /// What has to stand there.
        expected: &'static str,
    },
    /// A number is negative, has a fraction or an exponent, or is too large.
    #[error("member `{member}`: expected an integer from 0 to {max}")]
    OutOfRange {
        /// Its name.
        member: &'static str,
        /// The largest that is allowed.
        max: u64,
    },
    /// An array of another length.
    #[error("member `{member}`: {found} elements, expected {expected}")]
    WrongLength {
        /// Its name.
        member: &'static str,
        /// How many elements it has to have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
}

struct Named(Option<&'static str>);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(member) => write!(f, "member `{member}`"),
            None => f.write_str("an unknown member"),
        }
    }
}

impl From<JsonFault> for FieldFault {
    fn from(fault: JsonFault) -> Self {
        Self { offset: fault.offset, reason: FieldReason::Json(fault.reason) }
    }
}

/// Hands each member of `object` whose name is in `known` to `take`, once, and says which there were: one bit each,
/// the first lowest.
pub(crate) fn each_known<'a, E: From<FieldFault>>(
    object: &Value<'a>,
    known: &[&'static str],
    take: &mut dyn FnMut(&'static str, &Value<'a>) -> Result<(), E>,
) -> Result<Seen, E> {
    let mut seen = Seen(0);
    let not_an_object = FieldFault { offset: object.span().start, reason: FieldReason::NotAnObject };
    let mut members = object.members().ok_or(not_an_object)?;
    while let Some(member) = members.next_member().map_err(|fault| name_duplicate(object, known, fault))? {
        for (place, name) in known.iter().enumerate() {
            if member.name == **name {
                take(name, &member.value)?;
                seen.0 |= 1 << place;
            }
        }
    }
    Ok(seen)
}

/// The known members that were there.
pub(crate) struct Seen(u8);

impl Seen {
    /// That the first of `known` that was not there is missing.
    pub(crate) fn all(&self, object: &Value<'_>, known: &[&'static str]) -> Result<(), FieldFault> {
        let absent = known.iter().enumerate().find(|(place, _)| self.0 & 1 << place == 0);
        absent.map_or(Ok(()), |(_, name)| Err(missing(object, name)))
    }
}

/// That `object` has no `member`.
pub(crate) fn missing(object: &Value<'_>, member: &'static str) -> FieldFault {
    FieldFault { offset: object.span().end.saturating_sub(1), reason: FieldReason::Missing(member) }
}

/// A string.
pub(crate) fn string<'a>(value: &Value<'a>, member: &'static str) -> Result<JsonStr<'a>, FieldFault> {
    value.as_str().ok_or(wrong_type(value, member, "a string"))
}

/// An integer from 0 to `max`.
pub(crate) fn integer(value: &Value<'_>, member: &'static str, max: u64) -> Result<u64, FieldFault> {
    if !matches!(value.kind(), Kind::Number { .. }) {
        return Err(wrong_type(value, member, "an integer"));
    }
    let reason = FieldReason::OutOfRange { member, max };
    let fault = FieldFault { offset: value.span().start, reason };
    value.as_u64().filter(|number| *number <= max).ok_or(fault)
}

/// An array.
pub(crate) fn array<'a>(value: &Value<'a>, member: &'static str) -> Result<Elements<'a>, FieldFault> {
    value.elements().ok_or(wrong_type(value, member, "an array"))
}

/// Reads an array of integers 0..=255 to the front of `out` and says how many there are, even if `out` is shorter.
pub(crate) fn bytes(value: &Value<'_>, member: &'static str, out: &mut [u8]) -> Result<usize, FieldFault> {
    let mut elements = array(value, member)?;
    let mut len = 0;
    while let Some(element) = elements.next_element()? {
        let number = integer(&element, member, u64::from(u8::MAX))?;
        if let (Some(place), Ok(byte)) = (out.get_mut(len), u8::try_from(number)) {
            *place = byte;
        }
        len += 1;
    }
    Ok(len)
}

/// Reads an array of exactly as many integers 0..=255 as `out` has places.
pub(crate) fn exact_bytes(value: &Value<'_>, member: &'static str, out: &mut [u8]) -> Result<(), FieldFault> {
    let found = bytes(value, member, out)?;
    if found == out.len() {
        return Ok(());
    }
    let reason = FieldReason::WrongLength { member, expected: out.len(), found };
    Err(FieldFault { offset: value.span().start, reason })
}

pub(crate) fn wrong_type(value: &Value<'_>, member: &'static str, expected: &'static str) -> FieldFault {
    FieldFault { offset: value.span().start, reason: FieldReason::WrongType { member, expected } }
}

/// The fault of a member list, with the name that occurs twice where it is one of ours.
fn name_duplicate(object: &Value<'_>, known: &[&'static str], fault: MemberFault) -> FieldFault {
    let reason = match fault.reason {
        MemberReason::Json(reason) => FieldReason::Json(reason),
        MemberReason::TooManyMembers => FieldReason::TooManyMembers,
        MemberReason::DuplicateName => {
            let name = string_at(object.raw(), fault.offset.saturating_sub(object.span().start));
            let member = name.and_then(|name| known.iter().copied().find(|member| name == *member));
            FieldReason::Duplicate(member)
        }
    };
    FieldFault { offset: fault.offset, reason }
}

/// Writes `text` as a JSON string in quotes: the two-character escapes where there is one, `\u00xx` for the other
/// control characters, everything else as it is.
pub(crate) fn write_string(out: &mut impl fmt::Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\u{8}' => out.write_str("\\b")?,
            '\u{c}' => out.write_str("\\f")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '\0'..='\u{1f}' => {
                let code = u32::from(character);
                out.write_str(if code < 0x10 { "\\u000" } else { "\\u001" })?;
                out.write_char(char::from_digit(code & 0xf, 16).unwrap_or('0'))?;
            }
            other => out.write_char(other)?,
        }
    }
    out.write_char('"')
}

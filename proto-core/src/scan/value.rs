//! Values inside a validated text and the members of one object, duplicate names refused.

use core::ops::Range;

use heapless::Vec;

use super::decimal::read_decimal;
use super::json::{JsonFault, JsonReason, Kind, Scanner, Token};
use super::string::JsonStr;
use crate::limits::OBJECT_MEMBERS_MAX;

/// One value and where it stands in its text.
///
/// ```
/// use twolane_core::scan::json::Kind;
/// use twolane_core::scan::value::{Elements, Members, Span, Value};
///
/// let text = br#"{"name": "lamp", "places": [3, 5]}"#;
/// let object = Value::parse(text)?;
/// assert_eq!((object.kind(), object.span(), object.raw()), (Kind::ObjectStart, 0..34, &text[..]));
/// let mut members: Members<'_> = object.members().unwrap();
///
/// let name = members.next_member().unwrap().unwrap();
/// assert_eq!((name.name_span, name.value.span()), (Span { start: 1, end: 7 }, 9..15));
/// assert!(name.name == "name" && name.value.as_str().unwrap() == "lamp");
///
/// let places = members.next_member().unwrap().unwrap();
/// let mut places: Elements<'_> = places.value.elements().unwrap();
/// assert_eq!(places.next_element()?.unwrap().as_u64(), Some(3));
/// assert_eq!(places.next_element()?.unwrap().as_u64(), Some(5));
/// assert!(places.next_element()?.is_none() && members.next_member().unwrap().is_none());
/// # Ok::<(), twolane_core::scan::json::JsonFault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    text: &'a [u8],
    first: Token,
    end: usize,
}

impl<'a> Value<'a> {
    /// Scans `text` as one value. The whole text is validated, so that no reader of a part can meet a syntax fault.
    pub fn parse(text: &'a [u8]) -> Result<Self, JsonFault> {
        Self::parse_nested(text, 0)
    }

    /// The same for a text that will stand inside `depth` containers, which count towards the limit of nesting.
    pub(crate) fn parse_nested(text: &'a [u8], depth: u8) -> Result<Self, JsonFault> {
        let mut scanner = Scanner::nested(text, 0, depth);
        let unexpected = JsonFault { offset: text.len(), reason: JsonReason::UnexpectedEnd };
        let (first, end) = scanner.skip_value()?.ok_or(unexpected)?;
        let behind = text.get(end..).unwrap_or_default();
        match behind.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            None => Ok(Self { text, first, end }),
            Some(place) => Err(JsonFault { offset: end + place, reason: JsonReason::TrailingBytes }),
        }
    }

    /// The value that a scanner passed over in `text`, from its first token to before `end`.
    pub(crate) const fn from_scanned(text: &'a [u8], first: Token, end: usize) -> Self {
        Self { text, first, end }
    }

    /// The value that starts at `start` of `text`; `None` where it is not strict JSON.
    pub(crate) fn at(text: &'a [u8], start: usize) -> Option<Self> {
        let (first, end) = Scanner::at(text, start).skip_value().ok()??;
        Some(Self { text, first, end })
    }

    /// The value's first token and the offset after its end.
    pub(crate) const fn place(&self) -> (Token, usize) {
        (self.first, self.end)
    }

    /// The text that the value stands in.
    pub(crate) const fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The kind of the value, by its first token.
    pub const fn kind(&self) -> Kind {
        self.first.kind
    }

    /// Offsets of the value in its text, quotes and brackets included.
    pub const fn span(&self) -> Range<usize> {
        self.first.start..self.end
    }

    /// The value as it stands on the wire.
    pub fn raw(&self) -> &'a [u8] {
        self.text.get(self.span()).unwrap_or_default()
    }

    /// The string, where it is one.
    pub fn as_str(&self) -> Option<JsonStr<'a>> {
        let Kind::String { escaped } = self.first.kind else { return None };
        Some(unquoted(self.text, &self.first, escaped))
    }

    /// The integer, where it is digits only and fits.
    pub fn as_u64(&self) -> Option<u64> {
        let Kind::Number { digits: true } = self.first.kind else { return None };
        read_decimal(self.raw())
    }

    /// The members, where it is an object.
    pub fn members(&self) -> Option<Members<'a>> {
        (self.first.kind == Kind::ObjectStart).then(|| Members::inside(self.text, self.first.start))
    }

    /// The elements, where it is an array.
    pub fn elements(&self) -> Option<Elements<'a>> {
        (self.first.kind == Kind::ArrayStart).then(|| Elements::inside(self.text, self.first.start))
    }
}

/// One member of an object.
///
/// ```
/// use twolane_core::scan::value::{Member, Value};
///
/// // The names of an object, each with the length of its value on the wire.
/// let object = Value::parse(br#"{"id":"call_1","input":{"q":1}}"#).unwrap();
/// let mut members = object.members().unwrap();
/// let mut found = Vec::new();
/// while let Ok(Some(Member { name, value, .. })) = members.next_member() {
///     found.push((name.to_string(), value.raw().len()));
/// }
/// assert_eq!(found, [("id".to_owned(), 8), ("input".to_owned(), 7)]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Its name.
    pub name: JsonStr<'a>,
    /// Offsets of the name, quotes included.
    pub name_span: Span,
    /// Its value.
    pub value: Value<'a>,
}

/// A `Copy` range of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First offset.
    pub start: usize,
    /// Offset after the last.
    pub end: usize,
}

/// Why the members of an object cannot be told apart.
///
/// ```
/// use twolane_core::scan::value::{MemberFault, MemberReason, Value};
///
/// // One name twice, however it is escaped.
/// let object = Value::parse(br#"{"a":1,"\u0061":2}"#).unwrap();
/// let mut members = object.members().unwrap();
/// assert!(members.next_member().is_ok());
/// let fault = MemberFault { offset: 7, reason: MemberReason::DuplicateName };
/// assert_eq!(members.next_member().unwrap_err(), fault);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct MemberFault {
    /// Offset of the fault; of the second name where two are equal.
    pub offset: usize,
    /// Why.
    pub reason: MemberReason,
}

/// Why the members of an object cannot be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemberReason {
    /// Not strict JSON.
    #[error(transparent)]
    Json(JsonReason),
    /// A name occurs twice, however it is escaped.
    #[error("duplicate member name")]
    DuplicateName,
    /// More than [`OBJECT_MEMBERS_MAX`] members.
    #[error("more than 64 members in an object that is interpreted")]
    TooManyMembers,
}

impl From<JsonFault> for MemberFault {
    fn from(fault: JsonFault) -> Self {
        Self { offset: fault.offset, reason: MemberReason::Json(fault.reason) }
    }
}

/// The members of one object in order; refuses a second member of one name.
///
/// ```
/// use twolane_core::scan::value::Value;
///
/// let object = Value::parse(br#"{"a":1,"b":2}"#).unwrap();
/// let mut members = object.members().unwrap();
/// let mut sum = 0;
/// while let Some(member) = members.next_member().unwrap() {
///     sum += member.value.as_u64().unwrap();
/// }
/// assert_eq!(sum, 3);
/// ```
#[derive(Clone, Debug)]
pub struct Members<'a> {
    scanner: Scanner<'a>,
    /// Where the names begin. Their ends are found again where needed: a small stack has no room for both.
    names: Vec<usize, OBJECT_MEMBERS_MAX>,
    /// One bit a name, the last lowest: whether it holds escapes.
    escaped: u64,
}

const _: () = assert!(OBJECT_MEMBERS_MAX <= u64::BITS as usize);

impl<'a> Members<'a> {
    /// The members of the object that starts at `start` of `text`.
    pub(crate) fn inside(text: &'a [u8], start: usize) -> Self {
        let mut scanner = Scanner::at(text, start);
        // The bracket was seen before, so this cannot fail where it matters: a fault stays and shows in `next_member`.
        let _ = scanner.next_token();
        Self { scanner, names: Vec::new(), escaped: 0 }
    }

    /// The next member, `None` at the closing bracket.
    pub fn next_member(&mut self) -> Result<Option<Member<'a>>, MemberFault> {
        let text = self.scanner.text();
        let Some(token) = self.scanner.next_token()? else { return Ok(None) };
        let Kind::Name { escaped } = token.kind else { return Ok(None) };
        let name = unquoted(text, &token, escaped);
        if self.is_taken(&token, name) {
            return Err(MemberFault { offset: token.start, reason: MemberReason::DuplicateName });
        }
        if self.names.push(token.start).is_err() {
            return Err(MemberFault { offset: token.start, reason: MemberReason::TooManyMembers });
        }
        self.escaped = self.escaped << 1 | u64::from(escaped);
        let Some((first, end)) = self.scanner.skip_value()? else { return Ok(None) };
        let name_span = Span { start: token.start, end: token.end };
        Ok(Some(Member { name, name_span, value: Value { text, first, end } }))
    }

    /// Whether an earlier member has this name.
    fn is_taken(&self, token: &Token, name: JsonStr<'a>) -> bool {
        let text = self.scanner.text();
        let quoted = text.get(token.span()).unwrap_or_default();
        let mut escaped = self.escaped;
        self.names.iter().rev().any(|&start| {
            let earlier_escaped = escaped & 1 == 1;
            escaped >>= 1;
            if earlier_escaped || name.is_escaped() {
                string_at(text, start).is_some_and(|earlier| earlier == name)
            } else {
                text.get(start..).is_some_and(|earlier| earlier.starts_with(quoted))
            }
        })
    }
}

/// The elements of one array in order.
///
/// ```
/// use twolane_core::scan::value::Value;
///
/// let array = Value::parse(b"[7, [8, 9]]").unwrap();
/// let mut elements = array.elements().unwrap();
/// assert_eq!(elements.next_element().unwrap().unwrap().as_u64(), Some(7));
/// assert_eq!(elements.next_element().unwrap().unwrap().raw(), b"[8, 9]");
/// assert!(elements.next_element().unwrap().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    scanner: Scanner<'a>,
}

impl<'a> Elements<'a> {
    pub(crate) fn inside(text: &'a [u8], start: usize) -> Self {
        let mut scanner = Scanner::at(text, start);
        let _ = scanner.next_token();
        Self { scanner }
    }

    /// The next element, `None` at the closing bracket.
    pub fn next_element(&mut self) -> Result<Option<Value<'a>>, JsonFault> {
        let text = self.scanner.text();
        match self.scanner.skip_value()? {
            Some((Token { kind: Kind::ArrayEnd, .. }, _)) | None => Ok(None),
            Some((first, end)) => Ok(Some(Value { text, first, end })),
        }
    }
}

/// The string or name whose opening quote is at `start`.
pub(crate) fn string_at(text: &[u8], start: usize) -> Option<JsonStr<'_>> {
    let token = Scanner::at(text, start).next_token().ok()??;
    let Kind::String { escaped } = token.kind else { return None };
    Some(unquoted(text, &token, escaped))
}

/// The string or name that `token` is, which a scanner passed over in `text`.
pub(crate) fn unquoted<'a>(text: &'a [u8], token: &Token, escaped: bool) -> JsonStr<'a> {
    let inner = token.start.saturating_add(1)..token.end.saturating_sub(1);
    JsonStr::from_scanned(text.get(inner).unwrap_or_default(), escaped)
}

//! A strict JSON tokenizer (RFC 8259): constant stack, no heap, the offset and reason of the first fault.
//!
//! Stricter than the RFC where two readers could otherwise see two meanings: a byte order mark, invalid UTF-8 and
//! a lone surrogate escape are faults, and nesting ends at [`JSON_DEPTH_MAX`].

use core::ops::Range;

use super::skip::value_end;
use crate::limits::JSON_DEPTH_MAX;

/// What a token is.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// A member's name, quotes included; the colon follows.
    Name {
        /// Whether the text holds escapes.
        escaped: bool,
    },
    /// A string value, quotes included.
    String {
        /// Whether the text holds escapes.
        escaped: bool,
    },
    /// A number.
    Number {
        /// Digits only: no sign, fraction or exponent.
        digits: bool,
    },
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
}

/// One token and where it stands.
///
/// ```
/// use twolane_core::scan::json::{Kind, Scanner};
///
/// let token = Scanner::new(b" 12 ").next_token().unwrap().unwrap();
/// assert_eq!((token.kind, token.span()), (Kind::Number { digits: true }, 1..3));
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset after its last byte.
    pub end: usize,
}

impl Token {
    /// The bytes of the token.
    pub const fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The first place where text is not strict JSON.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct JsonFault {
    /// Offset of the first byte that cannot be; the text's length where it ended too early.
    pub offset: usize,
    /// Why.
    pub reason: JsonReason,
}

/// Why text is not strict JSON.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonReason {
    /// The text ended inside a value.
    #[error("text ends inside a value")]
    UnexpectedEnd,
    /// No value starts here.
    #[error("expected a value")]
    ExpectedValue,
    /// Only a member name may start here.
    #[error("expected a member name in quotes")]
    ExpectedName,
    /// Only a colon may stand here.
    #[error("expected a colon after the member name")]
    ExpectedColon,
    /// Only a comma or the closing bracket may stand here.
    #[error("expected a comma or the closing bracket")]
    ExpectedComma,
    /// Something other than white space follows the value.
    #[error("bytes after the end of the value")]
    TrailingBytes,
    /// A byte order mark.
    #[error("byte order mark")]
    ByteOrderMark,
    /// Nesting over 64.
    #[error("nested deeper than 64")]
    TooDeep,
    /// Not UTF-8.
    #[error("invalid UTF-8")]
    InvalidUtf8,
    /// A control character inside a string, unescaped.
    #[error("unescaped control character in a string")]
    ControlCharacter,
    /// A backslash with something that is no escape.
    #[error("invalid escape in a string")]
    InvalidEscape,
    /// Half of a surrogate pair.
    #[error("lone surrogate escape in a string")]
    LoneSurrogate,
    /// A number that JSON has not: leading zero, plus sign, missing digits.
    #[error("invalid number")]
    InvalidNumber,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    /// A value or `]`, just after `[`.
    ValueOrEnd,
    /// A name or `}`, just after `{`.
    NameOrEnd,
    Name,
    /// A comma or the end of the innermost container.
    CommaOrEnd,
    /// The value is complete; only white space may follow.
    Done,
}

/// A pull scanner over one JSON text.
///
/// ```
/// use twolane_core::scan::json::{JsonFault, Kind, Scanner, Token};
///
/// let mut scanner = Scanner::new(br#"{"ids":[7],"on":true}"#);
/// assert_eq!(scanner.next_token()?, Some(Token { kind: Kind::ObjectStart, start: 0, end: 1 }));
/// let name = scanner.next_token()?.unwrap();
/// assert_eq!((name.kind, &scanner.text()[name.span()]), (Kind::Name { escaped: false }, &br#""ids""#[..]));
/// // The array is passed over as one value: its first token, and where it ends.
/// assert_eq!(scanner.depth(), 1);
/// let (first, end) = scanner.skip_value()?.unwrap();
/// assert_eq!((first.kind, end), (Kind::ArrayStart, 10));
/// while scanner.next_token()?.is_some() {}
/// assert!(scanner.is_complete());
/// # Ok::<(), JsonFault>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a [u8],
    position: usize,
    /// One bit a level, the innermost lowest: 1 for an object. 64 levels are all it has to hold.
    containers: u64,
    depth: u8,
    expect: Expect,
    failed: Option<JsonFault>,
}

const _: () = assert!(JSON_DEPTH_MAX as u32 <= u64::BITS);

impl<'a> Scanner<'a> {
    /// Scans `text`, which has to be one value with white space around it.
    pub const fn new(text: &'a [u8]) -> Self {
        Self::at(text, 0)
    }

    /// Scans the value that starts at `position` of `text`; offsets stay those of `text`.
    pub(crate) const fn at(text: &'a [u8], position: usize) -> Self {
        Self { text, position, containers: 0, depth: 0, expect: Expect::Value, failed: None }
    }

    /// Scans the value that starts at `position` of `text` and stands inside `depth` containers, which count towards
    /// the limit. Only for [`skip_value`](Self::skip_value): what is around the value is not known.
    pub(crate) const fn nested(text: &'a [u8], position: usize, depth: u8) -> Self {
        Self { text, position, containers: 0, depth, expect: Expect::Value, failed: None }
    }

    /// The whole text that is scanned.
    pub const fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Containers that are open around the next token.
    pub const fn depth(&self) -> u8 {
        self.depth
    }

    /// Whether one whole value has been read.
    pub fn is_complete(&self) -> bool {
        self.expect == Expect::Done
    }

    /// The next token, `None` after the value and the white space behind it. A fault stays.
    pub fn next_token(&mut self) -> Result<Option<Token>, JsonFault> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        self.advance().map_err(|(offset, reason)| {
            let fault = JsonFault { offset, reason };
            self.failed = Some(fault);
            fault
        })
    }

    /// Passes over the value that comes next and gives its first token and the offset after its end.
    pub fn skip_value(&mut self) -> Result<Option<(Token, usize)>, JsonFault> {
        let depth = self.depth;
        let Some(first) = self.next_token()? else { return Ok(None) };
        if !cfg!(twolane_backend = "compact")
            && self.depth > depth
            && let Some(end) = value_end(self.text, first.start, depth)
        {
            self.position = end;
            self.leave();
            return Ok(Some((first, end)));
        }
        let mut end = first.end;
        while self.depth > depth {
            match self.next_token()? {
                Some(token) => end = token.end,
                None => break,
            }
        }
        Ok(Some((first, end)))
    }

    fn advance(&mut self) -> Result<Option<Token>, (usize, JsonReason)> {
        self.skip_space();
        let Some(mut byte) = self.peek_byte() else {
            return if self.is_complete() {
                Ok(None)
            } else {
                Err((self.position, JsonReason::UnexpectedEnd))
            };
        };
        if self.expect == Expect::CommaOrEnd {
            match (byte, self.in_object()) {
                (b'}', true) | (b']', false) => return Ok(Some(self.close())),
                (b',', in_object) => {
                    self.position += 1;
                    self.expect = if in_object { Expect::Name } else { Expect::Value };
                    self.skip_space();
                    byte = self.peek_byte().ok_or((self.position, JsonReason::UnexpectedEnd))?;
                }
                _ => return Err((self.position, JsonReason::ExpectedComma)),
            }
        }
        match self.expect {
            Expect::Name => self.name(byte).map(Some),
            Expect::NameOrEnd if byte == b'}' => Ok(Some(self.close())),
            Expect::NameOrEnd => self.name(byte).map(Some),
            Expect::ValueOrEnd if byte == b']' => Ok(Some(self.close())),
            Expect::Value | Expect::ValueOrEnd => self.value(byte).map(Some),
            Expect::CommaOrEnd | Expect::Done => Err((self.position, JsonReason::TrailingBytes)),
        }
    }

    fn name(&mut self, byte: u8) -> Result<Token, (usize, JsonReason)> {
        if byte != b'"' {
            return Err((self.position, JsonReason::ExpectedName));
        }
        let start = self.position;
        let escaped = self.string()?;
        let end = self.position;
        self.skip_space();
        match self.peek_byte() {
            Some(b':') => self.position += 1,
            Some(_) => return Err((self.position, JsonReason::ExpectedColon)),
            None => return Err((self.position, JsonReason::UnexpectedEnd)),
        }
        self.expect = Expect::Value;
        Ok(Token { kind: Kind::Name { escaped }, start, end })
    }

    fn value(&mut self, byte: u8) -> Result<Token, (usize, JsonReason)> {
        let start = self.position;
        let kind = match byte {
            b'{' => return self.open(true),
            b'[' => return self.open(false),
            b'"' => Kind::String { escaped: self.string()? },
            b'-' | b'0'..=b'9' => Kind::Number { digits: self.number(byte)? },
            b't' => self.literal(b"true", Kind::Bool(true))?,
            b'f' => self.literal(b"false", Kind::Bool(false))?,
            b'n' => self.literal(b"null", Kind::Null)?,
            0xef if self.text.get(start..).is_some_and(|rest| rest.starts_with(b"\xef\xbb\xbf")) => {
                return Err((start, JsonReason::ByteOrderMark));
            }
            _ => return Err((start, JsonReason::ExpectedValue)),
        };
        self.after_value();
        Ok(Token { kind, start, end: self.position })
    }

    /// The offset after the number or word that starts here; `None` where none does.
    pub(super) fn scalar_end(mut self) -> Option<usize> {
        match self.peek_byte()? {
            b'{' | b'[' | b'"' => None,
            byte => self.value(byte).ok().map(|token| token.end),
        }
    }

    fn open(&mut self, object: bool) -> Result<Token, (usize, JsonReason)> {
        let start = self.position;
        if self.depth >= JSON_DEPTH_MAX {
            return Err((start, JsonReason::TooDeep));
        }
        self.depth += 1;
        self.containers = (self.containers << 1) | u64::from(object);
        self.position += 1;
        let (kind, expect) = if object {
            (Kind::ObjectStart, Expect::NameOrEnd)
        } else {
            (Kind::ArrayStart, Expect::ValueOrEnd)
        };
        self.expect = expect;
        Ok(Token { kind, start, end: self.position })
    }

    fn close(&mut self) -> Token {
        let start = self.position;
        let kind = if self.in_object() { Kind::ObjectEnd } else { Kind::ArrayEnd };
        self.position += 1;
        self.leave();
        Token { kind, start, end: self.position }
    }

    fn leave(&mut self) {
        self.containers >>= 1;
        self.depth = self.depth.saturating_sub(1);
        self.after_value();
    }

    fn after_value(&mut self) {
        self.expect = if self.depth == 0 { Expect::Done } else { Expect::CommaOrEnd };
    }

    const fn in_object(&self) -> bool {
        self.containers & 1 == 1
    }

    fn peek_byte(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek_byte() {
            self.position += 1;
        }
    }

    fn literal(&mut self, word: &[u8], kind: Kind) -> Result<Kind, (usize, JsonReason)> {
        for &expected in word {
            match self.peek_byte() {
                Some(found) if found == expected => self.position += 1,
                Some(_) => return Err((self.position, JsonReason::ExpectedValue)),
                None => return Err((self.position, JsonReason::UnexpectedEnd)),
            }
        }
        Ok(kind)
    }

    /// Passes over a number; whether it was digits alone.
    fn number(&mut self, first: u8) -> Result<bool, (usize, JsonReason)> {
        let mut digits_only = true;
        if first == b'-' {
            digits_only = false;
            self.position += 1;
        }
        if self.peek_byte() == Some(b'0') {
            self.position += 1;
            if let Some(b'0'..=b'9') = self.peek_byte() {
                return Err((self.position, JsonReason::InvalidNumber));
            }
        } else {
            self.digits()?;
        }
        if self.peek_byte() == Some(b'.') {
            digits_only = false;
            self.position += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek_byte() {
            digits_only = false;
            self.position += 1;
            if let Some(b'+' | b'-') = self.peek_byte() {
                self.position += 1;
            }
            self.digits()?;
        }
        Ok(digits_only)
    }

    /// Passes over one digit or more.
    fn digits(&mut self) -> Result<(), (usize, JsonReason)> {
        match self.peek_byte() {
            Some(b'0'..=b'9') => {}
            Some(_) => return Err((self.position, JsonReason::InvalidNumber)),
            None => return Err((self.position, JsonReason::UnexpectedEnd)),
        }
        while let Some(b'0'..=b'9') = self.peek_byte() {
            self.position += 1;
        }
        Ok(())
    }

    /// Passes over a string, both quotes included; whether it holds escapes.
    fn string(&mut self) -> Result<bool, (usize, JsonReason)> {
        self.position += 1;
        let mut escaped = false;
        // Where a run of bytes began that has to be checked as UTF-8: from its first byte over 0x7f.
        let mut unchecked: Option<usize> = None;
        loop {
            if !cfg!(twolane_backend = "compact") {
                self.position = plain_end(self.text, self.position);
            }
            let Some(byte) = self.peek_byte() else {
                self.check_utf8(unchecked)?;
                return Err((self.position, JsonReason::UnexpectedEnd));
            };
            match Class::of(byte) {
                Class::Plain => self.position += 1,
                Class::High => {
                    unchecked = unchecked.or(Some(self.position));
                    while self.peek_byte().is_some_and(|byte| !byte.is_ascii()) {
                        self.position += 1;
                    }
                }
                Class::Quote => {
                    self.check_utf8(unchecked)?;
                    self.position += 1;
                    return Ok(escaped);
                }
                Class::Escape => {
                    self.check_utf8(unchecked.take())?;
                    escaped = true;
                    self.escape()?;
                }
                Class::Control => {
                    self.check_utf8(unchecked)?;
                    return Err((self.position, JsonReason::ControlCharacter));
                }
            }
        }
    }

    fn check_utf8(&self, from: Option<usize>) -> Result<(), (usize, JsonReason)> {
        let Some(start) = from else { return Ok(()) };
        let run = self.text.get(start..self.position).unwrap_or_default();
        match core::str::from_utf8(run) {
            Ok(_) => Ok(()),
            Err(fault) => Err((start + fault.valid_up_to(), JsonReason::InvalidUtf8)),
        }
    }

    /// Passes over one escape, or two where they make a surrogate pair.
    fn escape(&mut self) -> Result<(), (usize, JsonReason)> {
        let start = self.position;
        self.position += 1;
        match self.peek_byte() {
            None => Err((self.position, JsonReason::UnexpectedEnd)),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.position += 1;
                Ok(())
            }
            Some(b'u') => {
                self.position += 1;
                match self.hex4()? {
                    0xd800..=0xdbff => self.low_surrogate(start),
                    0xdc00..=0xdfff => Err((start, JsonReason::LoneSurrogate)),
                    _ => Ok(()),
                }
            }
            Some(_) => Err((self.position, JsonReason::InvalidEscape)),
        }
    }

    fn low_surrogate(&mut self, high: usize) -> Result<(), (usize, JsonReason)> {
        for expected in [b'\\', b'u'] {
            match self.peek_byte() {
                Some(found) if found == expected => self.position += 1,
                Some(_) => return Err((high, JsonReason::LoneSurrogate)),
                None => return Err((self.position, JsonReason::UnexpectedEnd)),
            }
        }
        match self.hex4()? {
            0xdc00..=0xdfff => Ok(()),
            _ => Err((high, JsonReason::LoneSurrogate)),
        }
    }

    fn hex4(&mut self) -> Result<u32, (usize, JsonReason)> {
        let mut code = 0;
        for _ in 0..4 {
            let byte = self.peek_byte().ok_or((self.position, JsonReason::UnexpectedEnd))?;
            let digit = char::from(byte).to_digit(16).ok_or((self.position, JsonReason::InvalidEscape))?;
            code = code << 4 | digit;
            self.position += 1;
        }
        Ok(code)
    }
}

/// The offset after the string that starts with the quote at `start`, and whether it holds escapes.
#[inline]
pub(crate) fn string_end(text: &[u8], start: usize) -> Option<(usize, bool)> {
    let end = plain_end(text, start + 1);
    if text.get(end) == Some(&b'"') {
        return Some((end + 1, false));
    }
    rich_string_end(text, start)
}

/// The same for a string of more than plain ASCII. Apart from the short way, to keep that one short.
#[cold]
#[inline(never)]
fn rich_string_end(text: &[u8], start: usize) -> Option<(usize, bool)> {
    let mut scanner = Scanner::at(text, start);
    let escaped = scanner.string().ok()?;
    Some((scanner.position, escaped))
}

/// The offset of the first byte from `position` on that is not plain ASCII text of a string: a quote, a backslash, a
/// control character or a byte over 0x7f. Eight bytes at a time: most text of a body is inside its strings.
#[inline(always)]
fn plain_end(text: &[u8], mut position: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    // A top bit of `found` is set for every such byte. A borrow may also set it for a byte above the lowest such
    // one, but that one decides.
    while let Some(word) =
        text.get(position..).and_then(|rest| rest.first_chunk()).copied().map(u64::from_le_bytes)
    {
        let quote = (word ^ (ONES * 0x22)).wrapping_sub(ONES);
        let backslash = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
        let control = word.wrapping_sub(ONES * 0x20);
        let found = (quote | backslash | control | word) & TOPS;
        if found != 0 {
            return position + (found.trailing_zeros() / 8) as usize;
        }
        position += 8;
    }
    while let Some(&byte) = text.get(position) {
        if !matches!(Class::of(byte), Class::Plain) {
            break;
        }
        position += 1;
    }
    position
}

/// What a byte means inside a string.
#[derive(Clone, Copy)]
enum Class {
    Plain,
    High,
    Quote,
    Escape,
    Control,
}

impl Class {
    #[inline(always)]
    fn of(byte: u8) -> Self {
        if cfg!(twolane_backend = "compact") {
            return Self::by_rule(byte);
        }
        CLASS.get(usize::from(byte)).copied().unwrap_or(Self::Control)
    }

    const fn by_rule(byte: u8) -> Self {
        match byte {
            0..=0x1f => Self::Control,
            0x22 => Self::Quote,
            0x5c => Self::Escape,
            0x80.. => Self::High,
            _ => Self::Plain,
        }
    }
}

static CLASS: [Class; 256] = {
    let mut table = [Class::Plain; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = Class::by_rule(byte);
        match byte.checked_add(1) {
            Some(next) => byte = next,
            None => break table,
        }
    }
};

/// Checks that `text` is one strict JSON value with at most white space around it.
///
/// ```
/// use twolane_core::scan::json::{JsonFault, JsonReason, validate};
///
/// assert_eq!(validate(b" {\"a\": [1, 2.5e3]} "), Ok(()));
/// // The first byte that cannot be, or the length where the text ends too early.
/// assert_eq!(validate(b"[01]").unwrap_err(), JsonFault { offset: 2, reason: JsonReason::InvalidNumber });
/// assert_eq!(validate(b"[1").unwrap_err(), JsonFault { offset: 2, reason: JsonReason::UnexpectedEnd });
/// ```
pub fn validate(text: &[u8]) -> Result<(), JsonFault> {
    let mut scanner = Scanner::new(text);
    while scanner.skip_value()?.is_some() {}
    Ok(())
}

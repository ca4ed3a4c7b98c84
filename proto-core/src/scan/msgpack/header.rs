//! The first bytes of a value: its kind, its number or length, and where its content begins.

use core::ops::Range;

use super::fault::{MsgpackFault, MsgpackReason};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `nil`
    Nil,
    /// `true` or `false`
    Bool(bool),
    /// An integer that is not negative, in whatever format.
    Unsigned(u64),
    /// A negative integer.
    Negative(i64),
    /// A float of 32 bits, by its bits.
    Float32(u32),
    /// A float of 64 bits, by its bits.
    Float64(u64),
    /// Text in UTF-8.
    Str,
    /// Bytes.
    Bin,
    /// Bytes of an extension type.
    Ext(i8),
    /// An array; so many elements follow.
    Array(u32),
    /// A map; so many pairs of key and value follow.
    Map(u32),
}

/// One value without what is inside of an array or map, and where it stands.
///
/// ```
/// use twolane_core::scan::msgpack::{Kind, Scanner, Token};
///
/// // "hi" with a header of two bytes, where one would do.
/// let token = Scanner::new(b"\xd9\x02hi").next_token().unwrap().unwrap();
/// assert_eq!(token, Token { kind: Kind::Str, start: 0, content: 2, end: 4, shortest: false });
/// assert_eq!((token.span(), token.content_span()), (0..4, 2..4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset of the first byte of a text's or byte string's content; else the same as `end`.
    pub content: usize,
    /// Offset after its last byte.
    pub end: usize,
    /// Whether no shorter header says the same; floats always are.
    pub shortest: bool,
}

impl Token {
    /// The bytes of the token.
    pub const fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The bytes of the content of a text, byte string or extension.
    pub const fn content_span(&self) -> Range<usize> {
        self.content..self.end
    }
}

/// The token that starts at `start`. Text is not checked for UTF-8 here.
#[inline]
pub(super) fn token_at(bytes: &[u8], start: usize) -> Result<Token, MsgpackFault> {
    let end = MsgpackFault { offset: bytes.len(), reason: MsgpackReason::UnexpectedEnd };
    let (&first, rest) = bytes.get(start..).and_then(<[u8]>::split_first).ok_or(end)?;
    let header = header(first, rest).ok_or(end)?;
    let Some(header) = header else {
        return Err(MsgpackFault { offset: start, reason: MsgpackReason::Reserved });
    };
    // Inside of `bytes`, so that it does not overflow.
    let content = start.saturating_add(header.len);
    let len = usize::try_from(header.content_len).map_err(|_| end)?;
    let token_end = content.checked_add(len).filter(|token_end| *token_end <= bytes.len()).ok_or(end)?;
    Ok(Token { kind: header.kind, start, content, end: token_end, shortest: header.shortest })
}

struct Header {
    kind: Kind,
    /// Bytes up to the content.
    len: usize,
    /// Bytes of the content.
    content_len: u32,
    shortest: bool,
}

/// A header whose value is all there is to it.
const fn whole(kind: Kind, len: usize, shortest: bool) -> Option<Header> {
    Some(Header { kind, len, content_len: 0, shortest })
}

/// `None` outside where bytes are missing, inside where no value starts with `first`.
#[inline]
fn header(first: u8, rest: &[u8]) -> Option<Option<Header>> {
    let short = first & 0x0f;
    Some(match first {
        0x00..=0x7f => whole(Kind::Unsigned(u64::from(first)), 1, true),
        0x80..=0x8f => whole(Kind::Map(u32::from(short)), 1, true),
        0x90..=0x9f => whole(Kind::Array(u32::from(short)), 1, true),
        0xa0..=0xbf => sized(Kind::Str, 1, u32::from(first & 0x1f), true),
        0xc0 => whole(Kind::Nil, 1, true),
        0xc1 => None,
        0xc2 => whole(Kind::Bool(false), 1, true),
        0xc3 => whole(Kind::Bool(true), 1, true),
        0xc4..=0xc6 | 0xd9..=0xdb => blob(first, rest)?,
        0xc7..=0xc9 | 0xd4..=0xd8 => extension(first, rest)?,
        0xca => whole(Kind::Float32(u32::from_be_bytes(*rest.first_chunk()?)), 5, true),
        0xcb => whole(Kind::Float64(u64::from_be_bytes(*rest.first_chunk()?)), 9, true),
        0xcc..=0xcf => unsigned(first, rest)?,
        0xd0..=0xd3 => signed(first, rest)?,
        0xdc..=0xdf => container(first, rest)?,
        0xe0..=0xff => whole(Kind::Negative(i64::from(first.cast_signed())), 1, true),
    })
}

const fn sized(kind: Kind, len: usize, content_len: u32, shortest: bool) -> Option<Header> {
    Some(Header { kind, len, content_len, shortest })
}

fn blob(first: u8, rest: &[u8]) -> Option<Option<Header>> {
    let (kind, below) = if first <= 0xc6 { (Kind::Bin, 0) } else { (Kind::Str, 32) };
    Some(match first {
        0xc4 | 0xd9 => {
            let len = u32::from(*rest.first()?);
            sized(kind, 2, len, len >= below)
        }
        0xc5 | 0xda => {
            let len = u32::from(u16::from_be_bytes(*rest.first_chunk()?));
            sized(kind, 3, len, len > 0xff)
        }
        _ => {
            let len = u32::from_be_bytes(*rest.first_chunk()?);
            sized(kind, 5, len, len > 0xffff)
        }
    })
}

fn extension(first: u8, rest: &[u8]) -> Option<Option<Header>> {
    let (header_len, len, shortest) = match first {
        0xd4 => (2, 1, true),
        0xd5 => (2, 2, true),
        0xd6 => (2, 4, true),
        0xd7 => (2, 8, true),
        0xd8 => (2, 16, true),
        0xc7 => {
            let len = u32::from(*rest.first()?);
            (3, len, !matches!(len, 1 | 2 | 4 | 8 | 16))
        }
        0xc8 => {
            let len = u32::from(u16::from_be_bytes(*rest.first_chunk()?));
            (4, len, len > 0xff)
        }
        _ => {
            let len = u32::from_be_bytes(*rest.first_chunk()?);
            (6, len, len > 0xffff)
        }
    };
    // The type is the last byte of the header.
    let kind = Kind::Ext(rest.get(header_len - 2)?.cast_signed());
    Some(sized(kind, header_len, len, shortest))
}

fn unsigned(first: u8, rest: &[u8]) -> Option<Option<Header>> {
    Some(match first {
        0xcc => {
            let number = u64::from(*rest.first()?);
            whole(Kind::Unsigned(number), 2, number > 0x7f)
        }
        0xcd => {
            let number = u64::from(u16::from_be_bytes(*rest.first_chunk()?));
            whole(Kind::Unsigned(number), 3, number > 0xff)
        }
        0xce => {
            let number = u64::from(u32::from_be_bytes(*rest.first_chunk()?));
            whole(Kind::Unsigned(number), 5, number > 0xffff)
        }
        _ => {
            let number = u64::from_be_bytes(*rest.first_chunk()?);
            whole(Kind::Unsigned(number), 9, number > 0xffff_ffff)
        }
    })
}

fn signed(first: u8, rest: &[u8]) -> Option<Option<Header>> {
    let (number, len, above) = match first {
        0xd0 => (i64::from(i8::from_be_bytes(*rest.first_chunk()?)), 2, -0x20),
        0xd1 => (i64::from(i16::from_be_bytes(*rest.first_chunk()?)), 3, -0x80),
        0xd2 => (i64::from(i32::from_be_bytes(*rest.first_chunk()?)), 5, -0x8000),
        _ => (i64::from_be_bytes(*rest.first_chunk()?), 9, -0x8000_0000),
    };
    // A number that is not negative is written in an unsigned format, which is as short.
    Some(match u64::try_from(number) {
        Ok(number) => whole(Kind::Unsigned(number), len, false),
        Err(_) => whole(Kind::Negative(number), len, number < above),
    })
}

fn container(first: u8, rest: &[u8]) -> Option<Option<Header>> {
    let (count, len, shortest) = if first & 1 == 0 {
        let count = u32::from(u16::from_be_bytes(*rest.first_chunk()?));
        (count, 3, count > 0x0f)
    } else {
        let count = u32::from_be_bytes(*rest.first_chunk()?);
        (count, 5, count > 0xffff)
    };
    let kind = if first <= 0xdd { Kind::Array(count) } else { Kind::Map(count) };
    Some(whole(kind, len, shortest))
}

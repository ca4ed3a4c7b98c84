//! Strict reading of one canonical form: what is asked for stands there in its shortest form, or it is a fault.

use super::fault::{MsgpackFault, MsgpackReason};
use super::header::{Kind, Token, token_at};

/// A cursor over bytes whose shape the caller knows. After a fault it stays where the fault is.
///
/// ```
/// use twolane_core::scan::msgpack::{MsgpackReason, Reader};
///
/// // {"id": "r", "tag": bytes, "list": [true, nil], "n": 7}
/// let bytes = b"\x84\xa2id\xa1r\xa3tag\xc4\x02\x0a\x0b\xa4list\x92\xc3\xc0\xa1n\x07";
/// let mut reader = Reader::new(bytes);
/// assert!(reader.is_map());
/// assert_eq!(reader.map()?, 4);
/// // A name that has to be next is passed over; any other stays where it is.
/// assert!(!reader.short_str("tag") && reader.short_str("id"));
/// assert_eq!((reader.str()?, reader.position()), ("r", 6));
/// assert!(reader.short_str("tag"));
/// assert_eq!(reader.bin()?, [0x0a, 0x0b]);
/// assert!(reader.short_str("list"));
/// assert_eq!((reader.array()?, reader.bool()?, reader.nil()), (2, true, true));
/// assert!(reader.short_str("n"));
/// assert_eq!(reader.unsigned(100)?, 7);
/// reader.end()?;
///
/// // The same number again, under a lower bound; offsets are those of all bytes.
/// let at = reader.bytes().len() - 1;
/// let fault = Reader::at(bytes, at).unsigned(6).unwrap_err();
/// assert_eq!((fault.offset, fault.reason), (at, MsgpackReason::OutOfRange { max: 6 }));
/// # Ok::<(), twolane_core::scan::msgpack::MsgpackFault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// Reads from the front of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Reads from `position` of `bytes`; offsets stay those of `bytes`.
    pub const fn at(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position }
    }

    /// Offset of the next value.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// All bytes, those before [`position`](Self::position) too.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// That nothing is left.
    pub const fn end(&self) -> Result<(), MsgpackFault> {
        if self.position < self.bytes.len() {
            return Err(MsgpackFault { offset: self.position, reason: MsgpackReason::TrailingBytes });
        }
        Ok(())
    }

    /// The number of pairs of a map.
    #[inline]
    pub fn map(&mut self) -> Result<u32, MsgpackFault> {
        if let Some(first @ 0x80..=0x8f) = self.bytes.get(self.position) {
            self.position = self.position.saturating_add(1);
            return Ok(u32::from(first & 0x0f));
        }
        let token = self.token()?;
        let Kind::Map(count) = token.kind else { return Err(wrong(&token, "a map")) };
        self.pass(&token)?;
        Ok(count)
    }

    /// The number of elements of an array.
    pub fn array(&mut self) -> Result<u32, MsgpackFault> {
        let token = self.token()?;
        let Kind::Array(count) = token.kind else { return Err(wrong(&token, "an array")) };
        self.pass(&token)?;
        Ok(count)
    }

    /// Passes over the text `name` of less than 32 bytes, where that is next. What is there instead is for
    /// [`str`](Self::str) to tell.
    #[inline]
    pub fn short_str(&mut self, name: &str) -> bool {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let Some((first, rest)) = rest.split_first() else { return false };
        let is_next = name.len() < 32
            && usize::from(*first) == 0xa0 | name.len()
            && rest.get(..name.len()) == Some(name.as_bytes());
        if is_next {
            self.position = self.position.saturating_add(1).saturating_add(name.len());
        }
        is_next
    }

    /// A text.
    #[inline]
    pub fn str(&mut self) -> Result<&'a str, MsgpackFault> {
        match self.short_content() {
            Some((text, end)) => {
                self.position = end;
                Ok(text)
            }
            None => self.any_str(),
        }
    }

    /// A text of less than 65,536 bytes and the offset after it, where all is as it has to be.
    #[inline]
    fn short_content(&self) -> Option<(&'a str, usize)> {
        let (header, len) = match *self.bytes.get(self.position..)? {
            [first @ 0xa0..=0xbf, ..] => (1, usize::from(first & 0x1f)),
            [0xd9, len @ 32..=0xff, ..] => (2, usize::from(len)),
            [0xda, high @ 1..=0xff, low, ..] => (3, usize::from(u16::from_be_bytes([high, low]))),
            _ => return None,
        };
        let start = self.position.checked_add(header)?;
        let end = start.checked_add(len)?;
        Some((core::str::from_utf8(self.bytes.get(start..end)?).ok()?, end))
    }

    /// A text of any length, and what is wrong with it.
    fn any_str(&mut self) -> Result<&'a str, MsgpackFault> {
        let token = self.token()?;
        if token.kind != Kind::Str {
            return Err(wrong(&token, "a text"));
        }
        let content = self.bytes.get(token.content_span()).unwrap_or_default();
        let text = core::str::from_utf8(content).map_err(|fault| MsgpackFault {
            offset: token.content.saturating_add(fault.valid_up_to()),
            reason: MsgpackReason::InvalidUtf8,
        })?;
        self.pass(&token)?;
        Ok(text)
    }

    /// Bytes.
    pub fn bin(&mut self) -> Result<&'a [u8], MsgpackFault> {
        let token = self.token()?;
        if token.kind != Kind::Bin {
            return Err(wrong(&token, "bytes"));
        }
        self.pass(&token)?;
        Ok(self.bytes.get(token.content_span()).unwrap_or_default())
    }

    /// An integer from 0 to `max`.
    pub fn unsigned(&mut self, max: u64) -> Result<u64, MsgpackFault> {
        let token = self.token()?;
        let number = match token.kind {
            Kind::Unsigned(number) if number <= max => number,
            Kind::Unsigned(_) | Kind::Negative(_) => {
                return Err(MsgpackFault { offset: token.start, reason: MsgpackReason::OutOfRange { max } });
            }
            _ => return Err(wrong(&token, "an integer")),
        };
        self.pass(&token)?;
        Ok(number)
    }

    /// `true` or `false`.
    pub fn bool(&mut self) -> Result<bool, MsgpackFault> {
        let token = self.token()?;
        let Kind::Bool(value) = token.kind else { return Err(wrong(&token, "true or false")) };
        self.pass(&token)?;
        Ok(value)
    }

    /// Passes over `nil`, where that is next.
    pub fn nil(&mut self) -> bool {
        let found = self.bytes.get(self.position) == Some(&0xc0);
        self.position += usize::from(found);
        found
    }

    /// Whether a map is next, in whatever form.
    #[inline]
    pub fn is_map(&self) -> bool {
        matches!(self.bytes.get(self.position), Some(0x80..=0x8f | 0xde | 0xdf))
    }

    fn token(&self) -> Result<Token, MsgpackFault> {
        token_at(self.bytes, self.position)
    }

    fn pass(&mut self, token: &Token) -> Result<(), MsgpackFault> {
        if !token.shortest {
            return Err(MsgpackFault { offset: token.start, reason: MsgpackReason::NotShortest });
        }
        self.position = token.end;
        Ok(())
    }
}

const fn wrong(token: &Token, expected: &'static str) -> MsgpackFault {
    MsgpackFault { offset: token.start, reason: MsgpackReason::WrongKind { expected } }
}

//! A scanned JSON string, read without unescaping it into a buffer.

use core::fmt;

/// The content of a JSON string between its quotes, validated by the scanner; escapes are decoded as it is read.
///
/// ```
/// use twolane_core::scan::string::{Chars, JsonStr};
/// use twolane_core::scan::value::Value;
///
/// let value = Value::parse(br#""d\u00e9p\u00f4t""#).unwrap();
/// let text: JsonStr<'_> = value.as_str().unwrap();
/// assert!(text == "dépôt" && text.is_escaped());
/// assert_eq!((text.raw(), text.as_plain()), (&br"d\u00e9p\u00f4t"[..], None));
/// // Decoded as it is read, or into a buffer that is large enough.
/// let mut letters: Chars<'_> = text.chars();
/// assert_eq!((letters.next(), letters.next()), (Some('d'), Some('é')));
/// assert_eq!(text.decoded_len(), 7);
/// assert_eq!(text.decode_into(&mut [0; 7]), Some("dépôt"));
/// assert_eq!(text.decode_into(&mut [0; 6]), None);
/// ```
#[derive(Clone, Copy)]
pub struct JsonStr<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> JsonStr<'a> {
    /// The text without a character.
    pub(crate) const EMPTY: Self = Self { raw: &[], escaped: false };

    /// `raw` has to be what the scanner passed over, without the quotes.
    pub(crate) const fn from_scanned(raw: &'a [u8], escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// The content as it stands on the wire, escapes and all, without quotes.
    pub const fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Whether the wire text holds escapes.
    pub const fn is_escaped(&self) -> bool {
        self.escaped
    }

    /// The text where it holds no escape, borrowed from the wire.
    pub fn as_plain(&self) -> Option<&'a str> {
        if self.escaped { None } else { core::str::from_utf8(self.raw).ok() }
    }

    /// The characters, escapes decoded.
    pub fn chars(&self) -> Chars<'a> {
        Chars { rest: self.raw }
    }

    /// Bytes of the decoded text in UTF-8.
    pub fn decoded_len(&self) -> usize {
        if self.escaped { self.chars().map(char::len_utf8).sum() } else { self.raw.len() }
    }

    /// Writes the decoded text at the front of `out`; `None` where it does not fit.
    pub fn decode_into<'b>(&self, out: &'b mut [u8]) -> Option<&'b str> {
        let mut len = 0;
        for character in self.chars() {
            let mut encoded = [0; 4];
            for byte in character.encode_utf8(&mut encoded).bytes() {
                *out.get_mut(len)? = byte;
                len += 1;
            }
        }
        core::str::from_utf8(out.get(..len)?).ok()
    }
}

impl PartialEq<str> for JsonStr<'_> {
    fn eq(&self, other: &str) -> bool {
        if self.escaped { self.chars().eq(other.chars()) } else { self.raw == other.as_bytes() }
    }
}

impl PartialEq<&str> for JsonStr<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl PartialEq for JsonStr<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.escaped || other.escaped { self.chars().eq(other.chars()) } else { self.raw == other.raw }
    }
}

impl Eq for JsonStr<'_> {}

/// The decoded text.
impl fmt::Display for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        match self.as_plain() {
            Some(text) => f.write_str(text),
            None => self.chars().try_for_each(|character| f.write_char(character)),
        }
    }
}

impl fmt::Debug for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// The characters of a [`JsonStr`]. Ends early on bytes that no scanner would have passed.
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    rest: &'a [u8],
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let (&first, rest) = self.rest.split_first()?;
        match first {
            b'\\' => self.escape(rest),
            0..=0x7f => {
                self.rest = rest;
                Some(char::from(first))
            }
            _ => self.multibyte(first),
        }
    }
}

impl Chars<'_> {
    fn multibyte(&mut self, first: u8) -> Option<char> {
        let len = match first {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        let character = core::str::from_utf8(bytes).ok()?.chars().next()?;
        self.rest = rest;
        Some(character)
    }

    fn escape(&mut self, after_backslash: &[u8]) -> Option<char> {
        let consumed = |total: usize| self.rest.get(total..);
        let (character, rest) = match after_backslash.first()? {
            b'b' => ('\u{8}', consumed(2)?),
            b'f' => ('\u{c}', consumed(2)?),
            b'n' => ('\n', consumed(2)?),
            b'r' => ('\r', consumed(2)?),
            b't' => ('\t', consumed(2)?),
            b'u' => match hex4(after_backslash.get(1..5)?)? {
                high @ 0xd800..=0xdbff => {
                    let low = hex4(after_backslash.get(7..11)?)?;
                    let code = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
                    (char::from_u32(code)?, consumed(12)?)
                }
                code => (char::from_u32(code)?, consumed(6)?),
            },
            &other => (char::from(other), consumed(2)?),
        };
        self.rest = rest;
        Some(character)
    }
}

fn hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))
}

//! The connection key and the texts it is kept in.

use core::fmt;

use heapless::Vec;
use zeroize::{Zeroize, Zeroizing};

use super::field;
use super::field::{FieldFault, FieldReason};
use crate::connection_file::{ConnectionFile, ConnectionFileReason};
use crate::limits::{KEY_LEN_MAX, KEY_LEN_MIN};
use crate::scan::value::Value;

/// A connection key, 32 to 128 bytes. Overwritten when dropped; shown by nothing.
///
/// ```
/// use twolane_core::handshake::{Key, KeyFault, KeyTextFault, KeyTextReason};
///
/// assert_eq!(Key::new(&[7; 31]).unwrap_err(), KeyFault::TooShort { len: 31 });
/// let key = Key::new(&[7; 32]).unwrap();
/// assert_eq!(format!("{key:?}"), "Key(..)");
///
/// // A key file may be 64 hexadecimal digits and a line end.
/// assert!(Key::from_text(format!("{}\n", "07".repeat(32)).as_bytes()).is_ok());
/// let fault = KeyTextFault { offset: 0, reason: KeyTextReason::HexLength { found: 8 } };
/// assert_eq!(Key::from_text(b"07070707").unwrap_err(), fault);
/// ```
#[derive(Clone)]
pub struct Key {
    bytes: Vec<u8, KEY_LEN_MAX>,
}

impl Key {
    /// A key of 32 to 128 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, KeyFault> {
        check_len(bytes.len())?;
        let bytes = Vec::from_slice(bytes).map_err(|_| KeyFault::TooLong { len: bytes.len() })?;
        Ok(Self { bytes })
    }

    /// The key of a key file: a connection file, 64 hexadecimal digits, or a JSON array of 32 to 128 integers
    /// 0..=255; with white space around it.
    pub fn from_text(text: &[u8]) -> Result<Self, KeyTextFault> {
        let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match text.get(start) {
            None => Err(KeyTextFault { offset: start, reason: KeyTextReason::Empty }),
            Some(b'{') => from_connection_file(text),
            Some(b'[') => from_array(text, start),
            Some(byte) if byte.is_ascii_hexdigit() => from_hex(text, start),
            Some(_) => Err(KeyTextFault { offset: start, reason: KeyTextReason::UnknownForm }),
        }
    }

    /// The key in an array of integers: what is no such array is the outer fault, a bad length the inner one.
    pub(crate) fn from_array(value: &Value<'_>) -> Result<Result<Self, KeyFault>, FieldFault> {
        let mut buffer = Zeroizing::new([0; KEY_LEN_MAX]);
        let len = field::bytes(value, "key", buffer.as_mut_slice())?;
        Ok(buffer.get(..len).ok_or(KeyFault::TooLong { len }).and_then(Self::new))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Key {
    // One copy of the loop, however many ways out of a reader there are.
    #[inline(never)]
    fn drop(&mut self) {
        self.bytes.as_mut_slice().zeroize();
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Why bytes are no connection key. Whoever configured it is at fault.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// Fewer than 32 bytes.
    #[error("the key has {len} bytes, at least 32 are needed")]
    TooShort {
        /// How many it has.
        len: usize,
    },
    /// More than 128 bytes.
    #[error("the key has {len} bytes, at most 128 are held")]
    TooLong {
        /// How many it has.
        len: usize,
    },
}

/// Where and why a text holds no key.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct KeyTextFault {
    /// Offset in the text.
    pub offset: usize,
    /// Why.
    pub reason: KeyTextReason,
}

/// Why a text holds no key.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyTextReason {
    /// Nothing but white space.
    #[error("the key file is empty")]
    Empty,
    /// Neither `{`, `[` nor a hexadecimal digit comes first.
    #[error("expected a connection file, 64 hexadecimal digits or a JSON array of integers")]
    UnknownForm,
    /// Something other than a hexadecimal digit among them.
    #[error("not a hexadecimal digit")]
    NotHex,
    /// Another number of hexadecimal digits.
    #[error("{found} hexadecimal digits, expected 64")]
    HexLength {
        /// How many there are.
        found: usize,
    },
    /// It begins as a connection file does and is none.
    #[error("connection file: {0}")]
    File(ConnectionFileReason),
    /// It begins as an array does and is not one of bytes.
    #[error(transparent)]
    Array(FieldReason),
    /// Too short or too long.
    #[error(transparent)]
    Key(KeyFault),
}

impl From<FieldFault> for KeyTextFault {
    fn from(fault: FieldFault) -> Self {
        Self { offset: fault.offset, reason: KeyTextReason::Array(fault.reason) }
    }
}

const fn check_len(len: usize) -> Result<(), KeyFault> {
    match len {
        0..KEY_LEN_MIN => Err(KeyFault::TooShort { len }),
        KEY_LEN_MIN..=KEY_LEN_MAX => Ok(()),
        _ => Err(KeyFault::TooLong { len }),
    }
}

fn from_connection_file(text: &[u8]) -> Result<Key, KeyTextFault> {
    match ConnectionFile::parse(text) {
        Ok(file) => Ok(file.into_key()),
        Err(fault) => Err(KeyTextFault { offset: fault.offset, reason: KeyTextReason::File(fault.reason) }),
    }
}

fn from_array(text: &[u8], start: usize) -> Result<Key, KeyTextFault> {
    let array = Value::parse(text).map_err(FieldFault::from)?;
    Key::from_array(&array)?
        .map_err(|fault| KeyTextFault { offset: start, reason: KeyTextReason::Key(fault) })
}

/// Two digits a byte, from `start` to the white space at the end.
fn from_hex(text: &[u8], start: usize) -> Result<Key, KeyTextFault> {
    let digits = text.get(start..).unwrap_or_default().trim_ascii_end();
    if let Some(place) = digits.iter().position(|byte| !byte.is_ascii_hexdigit()) {
        return Err(KeyTextFault { offset: start + place, reason: KeyTextReason::NotHex });
    }
    let wrong_length = KeyTextReason::HexLength { found: digits.len() };
    let wrong_length = KeyTextFault { offset: start, reason: wrong_length };
    let (pairs, []) = digits.as_chunks::<2>() else { return Err(wrong_length) };
    let mut bytes = Zeroizing::new([0; KEY_LEN_MIN]);
    if pairs.len() != bytes.len() {
        return Err(wrong_length);
    }
    for (place, [high, low]) in bytes.iter_mut().zip(pairs) {
        *place = hex_digit(*high) << 4 | hex_digit(*low);
    }
    Key::new(bytes.as_slice())
        .map_err(|fault| KeyTextFault { offset: start, reason: KeyTextReason::Key(fault) })
}

/// The value of a hexadecimal digit.
const fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20).wrapping_sub(b'a').wrapping_add(10),
    }
}

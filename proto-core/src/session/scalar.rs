//! Ids, numbers in their own text, and a cursor that owns the name of its log.

use alloc::string::String;

use super::cursor::Cursor;
use super::wire::{Wire, object, wrong};
use crate::body::{BodyFault, BodyReason, Expected, not_negative};
use crate::limits::ID_LEN_MAX;
use crate::scan::json::Kind;
use crate::scan::value::Value;

/// An id of 1 to 256 bytes.
///
/// ```
/// use twolane_core::session::{Id, Wire};
///
/// assert_eq!(Id::new("run_7").unwrap().as_str(), "run_7");
/// assert!(Id::new("").is_none() && Id::new(&"x".repeat(257)).is_none());
/// assert!(Id::parse(br#""""#).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// `None` for a text that is empty or too long.
    pub fn new(text: &str) -> Option<Self> {
        (1..=ID_LEN_MAX).contains(&text.len()).then(|| Self(String::from(text)))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl core::fmt::Display for Id {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Wire for Id {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        let text = String::read(value)?;
        let reason = match text.len() {
            0 => BodyReason::EmptyId,
            len if len > ID_LEN_MAX => BodyReason::IdTooLong { len },
            _ => return Ok(Self(text)),
        };
        Err(BodyFault { offset: value.span().start, member: None, reason })
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

/// Any JSON number, as written.
///
/// ```
/// use twolane_core::session::{Number, Wire};
///
/// assert_eq!(Number::parse(b"-0.50").unwrap().as_str(), "-0.50");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Wire for Number {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        let Kind::Number { .. } = value.kind() else { return Err(wrong(value, Expected::Number)) };
        Ok(Self(String::from(core::str::from_utf8(value.raw()).unwrap_or_default())))
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

/// A number of seconds that is not negative, as written.
///
/// ```
/// use twolane_core::session::{Seconds, Wire};
///
/// assert_eq!(Seconds::parse(b"1.5").unwrap().as_str(), "1.5");
/// assert!(Seconds::parse(b"-1").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seconds(String);

impl Seconds {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Wire for Seconds {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        let text = not_negative(value).ok_or_else(|| wrong(value, Expected::NonNegative))?;
        Ok(Self(String::from(text)))
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

object! {
    /// A [`Cursor`] that owns the name of its log.
    ///
    /// ```
    /// use twolane_core::session::{Cursor, OwnedCursor, Wire};
    ///
    /// let text = br#"{"wal_seq":12,"sub_index":1,"log_id":"9f3a"}"#;
    /// let cursor = OwnedCursor::parse(text).unwrap();
    /// assert_eq!(cursor.borrow(), Cursor { wal_seq: 12, sub_index: 1, log_id: "9f3a" });
    /// ```
    pub OwnedCursor is strict {
        /// The commit, counted from 1; 0 stands before the first.
        need wal_seq: u64,
        /// The unit in its commit, counted from 0.
        need sub_index: u64,
        /// The log.
        need log_id: String,
    }
}

impl OwnedCursor {
    /// The same, borrowed.
    pub fn borrow(&self) -> Cursor<'_> {
        Cursor { wal_seq: self.wal_seq, sub_index: self.sub_index, log_id: &self.log_id }
    }
}

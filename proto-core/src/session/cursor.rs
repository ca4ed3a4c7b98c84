//! A place in a session's log.

use core::fmt::{self, Write};

use crate::handshake::field::write_string;
use crate::scan::decimal::write_decimal;

/// The place of one control unit in its session's log; `{"wal_seq","sub_index","log_id"}` on the wire. Two cursors of
/// one log are in order as their numbers are.
///
/// ```
/// use twolane_core::session::Cursor;
///
/// let mut text = String::new();
/// Cursor { wal_seq: 12, sub_index: 1, log_id: "9f3a" }.write(&mut text)?;
/// assert_eq!(text, r#"{"wal_seq":12,"sub_index":1,"log_id":"9f3a"}"#);
/// # Ok::<(), core::fmt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor<'a> {
    /// The commit, counted from 1; 0 stands before the first.
    pub wal_seq: u64,
    /// The unit in its commit, counted from 0.
    pub sub_index: u64,
    /// The log: another one's cursors mean nothing here.
    pub log_id: &'a str,
}

impl Cursor<'_> {
    /// Writes the cursor as JSON.
    pub fn write(&self, out: &mut impl Write) -> fmt::Result {
        out.write_str("{\"wal_seq\":")?;
        write_decimal(out, self.wal_seq)?;
        out.write_str(",\"sub_index\":")?;
        write_decimal(out, self.sub_index)?;
        out.write_str(",\"log_id\":")?;
        write_string(out, self.log_id)?;
        out.write_char('}')
    }
}

//! Writing the body envelope around a finished payload.

use core::fmt::{self, Write};

use super::envelope::{BODY_SCHEMA_VERSION, Payload};
use super::fault::BodyFault;
use crate::handshake::field::write_string;
use crate::limits::{ID_LEN_MAX, INTEGER_MAX};
use crate::scan::decimal::write_decimal;

/// Why a body was not written. What a reader would refuse is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteFault {
    /// Some reader would not keep the integer exact.
    #[error("`{member}` is {value}, over the limit of 9007199254740991")]
    IntegerTooLarge {
        /// `step_id` or `seq`.
        member: &'static str,
        /// The integer.
        value: u64,
    },
    /// The run id is empty.
    #[error("`run_id` is empty")]
    EmptyRunId,
    /// The run id is over 256 bytes.
    #[error("`run_id` has {len} bytes, at most 256 are allowed")]
    RunIdTooLong {
        /// Its bytes.
        len: usize,
    },
    /// The payload is none; offsets are in the payload.
    #[error("payload: {0}")]
    Payload(BodyFault),
    /// The output took no more. What it holds by now is to be thrown away.
    #[error("the output is full")]
    Full,
}

impl From<fmt::Error> for WriteFault {
    fn from(_: fmt::Error) -> Self {
        Self::Full
    }
}

/// Writes a body envelope in canonical spelling around `payload`, whose own spelling is kept.
///
/// All is checked before the first byte is written.
///
/// ```
/// use twolane_core::body::{WriteFault, write};
///
/// let mut body = String::new();
/// write(&mut body, "run-7", 3, 0, br#"{ "type": "cancel" }"#)?;
/// assert_eq!(body, r#"{"version":1,"run_id":"run-7","step_id":3,"seq":0,"payload":{ "type": "cancel" }}"#);
/// // What a reader would refuse is not written.
/// assert_eq!(write(&mut body, "", 3, 0, br#"{"type":"cancel"}"#), Err(WriteFault::EmptyRunId));
/// assert!(matches!(write(&mut body, "run-7", 3, 0, b"[]"), Err(WriteFault::Payload(_))));
/// # Ok::<(), WriteFault>(())
/// ```
#[inline(never)]
pub fn write(
    out: &mut impl Write,
    run_id: &str,
    step_id: u64,
    seq: u64,
    payload: &[u8],
) -> Result<(), WriteFault> {
    check_origin(run_id, step_id)?;
    check_integer("seq", seq)?;
    let payload = Payload::parse_enveloped(payload).map_err(WriteFault::Payload)?;
    // The scanner checked that it is UTF-8.
    let payload = core::str::from_utf8(payload.raw()).map_err(|_| WriteFault::Full)?;
    write_origin(out, run_id, step_id)?;
    write_seq(out, seq)?;
    out.write_str(payload)?;
    Ok(out.write_char('}')?)
}

/// What a reader would refuse of a step's place.
pub(crate) const fn check_origin(run_id: &str, step_id: u64) -> Result<(), WriteFault> {
    match run_id.len() {
        0 => return Err(WriteFault::EmptyRunId),
        len if len > ID_LEN_MAX => return Err(WriteFault::RunIdTooLong { len }),
        _ => {}
    }
    check_integer("step_id", step_id)
}

const fn check_integer(member: &'static str, value: u64) -> Result<(), WriteFault> {
    if value > INTEGER_MAX {
        return Err(WriteFault::IntegerTooLarge { member, value });
    }
    Ok(())
}

/// The front of a body up to its seq: what all bodies of one step have in common.
pub(crate) fn write_origin(out: &mut impl Write, run_id: &str, step_id: u64) -> fmt::Result {
    out.write_str("{\"version\":")?;
    write_decimal(out, BODY_SCHEMA_VERSION)?;
    out.write_str(",\"run_id\":")?;
    write_string(out, run_id)?;
    out.write_str(",\"step_id\":")?;
    write_decimal(out, step_id)?;
    out.write_str(",\"seq\":")
}

/// What is between [`write_origin`] and the payload, which nothing follows but `}`.
pub(crate) fn write_seq(out: &mut impl Write, seq: u64) -> fmt::Result {
    write_decimal(out, seq)?;
    out.write_str(",\"payload\":")
}

/// [`write()`] to the front of `out`; gives the length of the body in bytes.
///
/// ```
/// use twolane_core::body::{Body, WriteFault, write_into};
///
/// let mut buffer = [0; 128];
/// let len = write_into(&mut buffer, "run-7", 3, 0, br#"{"type":"cancel"}"#)?;
/// assert_eq!(Body::parse(&buffer[..len]).unwrap().step_id, 3);
/// assert_eq!(write_into(&mut buffer[..len - 1], "run-7", 3, 0, br#"{"type":"cancel"}"#), Err(WriteFault::Full));
/// # Ok::<(), WriteFault>(())
/// ```
pub fn write_into(
    out: &mut [u8],
    run_id: &str,
    step_id: u64,
    seq: u64,
    payload: &[u8],
) -> Result<usize, WriteFault> {
    let mut front = Front { out, len: 0 };
    write(&mut front, run_id, step_id, seq, payload)?;
    Ok(front.len)
}

struct Front<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Write for Front<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len.checked_add(text.len()).ok_or(fmt::Error)?;
        self.out.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

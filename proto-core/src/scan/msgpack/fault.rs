//! Why bytes are not the MessagePack that is asked for.

/// The first place where bytes are not what they have to be.
///
/// ```
/// use twolane_core::scan::msgpack::{MsgpackFault, MsgpackReason, validate};
///
/// // Text of two bytes that is not UTF-8: the fault is at the first that is not.
/// let fault = validate(b"\xa2a\xff").unwrap_err();
/// assert_eq!(fault, MsgpackFault { offset: 2, reason: MsgpackReason::InvalidUtf8 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct MsgpackFault {
    /// Offset of the value that cannot be, or of the first byte that is no UTF-8; the length of the input where it
    /// ends too early.
    pub offset: usize,
    /// Why.
    pub reason: MsgpackReason,
}

/// Why bytes are not what they have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MsgpackReason {
    /// The input ended inside a value.
    #[error("the bytes end inside a value")]
    UnexpectedEnd,
    /// The one byte that no value starts with.
    #[error("0xc1 starts no value")]
    Reserved,
    /// Nesting over 32.
    #[error("nested deeper than 32")]
    TooDeep,
    /// Text that is not UTF-8.
    #[error("invalid UTF-8")]
    InvalidUtf8,
    /// Something follows the value.
    #[error("bytes after the end of the value")]
    TrailingBytes,
    /// A value of another kind.
    #[error("expected {expected}")]
    WrongKind {
        /// What has to stand there.
        expected: &'static str,
    },
    /// A header or number that has a shorter form.
    #[error("not in its shortest form")]
    NotShortest,
    /// A number that does not fit.
    #[error("expected an integer from 0 to {max}")]
    OutOfRange {
        /// The largest that is allowed.
        max: u64,
    },
}

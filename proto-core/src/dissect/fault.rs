//! The one fault of a dissection.

use core::fmt;

use crate::body::{BodyFault, BodyReason};
use crate::envelope::HeaderFault;
use crate::frame::EndFault;
use crate::handshake::message::LengthFault;
use crate::handshake::{FieldFault, FieldReason};
use crate::scan::json::{JsonFault, JsonReason};

/// What is wrong with the bytes, and where. `Display` gives one sentence.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::dissect::{Fault, FaultReason, Tree};
///
/// // A Ping, and a byte that is not its own.
/// let wire = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0xff];
/// let fault = Fault { offset: 17, reason: FaultReason::TrailingBytes { count: 1 } };
/// assert_eq!(Tree::frame(&wire).fault, Some(fault));
/// assert_eq!(fault.to_string(), "byte 17: 1 bytes follow the end");
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Offset of the offending byte from the start of the bytes dissected; their length where they end too early.
    pub offset: usize,
    /// Why.
    pub reason: FaultReason,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.reason)
    }
}

impl core::error::Error for Fault {}

/// Why bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultReason {
    /// The header breaks a rule.
    #[error("{0}")]
    Header(HeaderFault),
    /// The frame announces a body over 64 MiB.
    #[error("len is {len} bytes, over the limit of 67108864")]
    BodyTooLong {
        /// The announced body bytes.
        len: u32,
    },
    /// The frame is cut short.
    #[error("{0}")]
    Cut(EndFault),
    /// There are more bytes than the frame or message has.
    #[error("{count} bytes follow the end")]
    TrailingBytes {
        /// Bytes too many.
        count: usize,
    },
    /// A handshake message announces a length that none has.
    #[error("{0}")]
    HandshakeLength(LengthFault),
    /// A handshake message is cut short.
    #[error("message ended too early: {actual} of {expected} bytes")]
    CutMessage {
        /// Bytes of the message (or of its length prefix), prefix included.
        expected: usize,
        /// Bytes that were there.
        actual: usize,
    },
    /// A handshake message is not what its stage demands.
    #[error("{0}")]
    Handshake(FieldReason),
    /// A body that begins like JSON is not strict JSON.
    #[error("{0}")]
    Json(JsonReason),
    /// The body breaks a rule of the body schema.
    #[error("{}{reason}", Named(*member))]
    Body {
        /// The member at fault, where it is one of the schema's.
        member: Option<&'static str>,
        /// The rule.
        reason: BodyReason,
    },
    /// A connector frame or document breaks a rule.
    #[error("{}{rule}", Named(*member))]
    Connector {
        /// The field at fault, where it is one of ours.
        member: Option<&'static str>,
        /// The rule in a few words.
        rule: &'static str,
    },
}

/// A member in front of the rule that it breaks.
struct Named(Option<&'static str>);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |member| write!(f, "`{member}`: "))
    }
}

impl Fault {
    /// The same fault in a text that starts at offset `base`.
    #[must_use]
    pub(super) const fn shifted(self, base: usize) -> Self {
        Self { offset: self.offset.saturating_add(base), reason: self.reason }
    }
}

impl From<JsonFault> for Fault {
    fn from(fault: JsonFault) -> Self {
        Self { offset: fault.offset, reason: FaultReason::Json(fault.reason) }
    }
}

impl From<FieldFault> for Fault {
    fn from(fault: FieldFault) -> Self {
        let reason = match fault.reason {
            FieldReason::Json(reason) => FaultReason::Json(reason),
            reason => FaultReason::Handshake(reason),
        };
        Self { offset: fault.offset, reason }
    }
}

impl From<BodyFault> for Fault {
    fn from(fault: BodyFault) -> Self {
        let reason = match fault.reason {
            BodyReason::Json(reason) => FaultReason::Json(reason),
            reason => FaultReason::Body { member: fault.member, reason },
        };
        Self { offset: fault.offset, reason }
    }
}

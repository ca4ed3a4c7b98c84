//! How many bytes a frame has for a payload, and a payload for a frame; the same on every target.
//!
//! A payload is the ciphertext with its tag; a frame is the body behind the length prefix.

use super::envelope::MessageKind;
use crate::limits::{CONNECTOR_ID_MAX, MIN_PAYLOAD_BYTES, SEAL_TAG_LEN};

/// The longest frame that a length prefix can announce.
///
/// ```
/// use twolane_core::connector::arithmetic::{
///     FRAME_BYTES_MAX, PAYLOAD_BYTES_MIN, frame_bytes_for_payload, payload_bytes_for_frame,
/// };
///
/// // The longest payload of all still has a frame, and the next one has none.
/// let longest = payload_bytes_for_frame(FRAME_BYTES_MAX).unwrap();
/// assert!(longest > PAYLOAD_BYTES_MIN && frame_bytes_for_payload(longest).is_some());
/// assert_eq!(frame_bytes_for_payload(longest + 1), None);
/// ```
pub const FRAME_BYTES_MAX: u64 = u32::MAX as u64;

/// The shortest payload: a tag around nothing.
pub const PAYLOAD_BYTES_MIN: u64 = SEAL_TAG_LEN as u64;

/// Bytes of an envelope besides its ids, its ciphertext and the headers of both.
const ENVELOPE_INVOCATION: u64 = 133;
const ENVELOPE_RESULT: u64 = 129;

/// Bytes of a message besides its id, its payload and the headers of both.
const REQUEST: u64 = 201;
const RESPONSE: u64 = 218;

const ID_BYTES_MAX: u64 = CONNECTOR_ID_MAX as u64;

/// Bytes of a text with its header.
const fn str_bytes(len: u64) -> u64 {
    len.saturating_add(match len {
        0..32 => 1,
        32..256 => 2,
        256..65_536 => 3,
        _ => 5,
    })
}

/// Bytes of a byte string with its header.
const fn bin_bytes(len: u64) -> u64 {
    len.saturating_add(match len {
        0..256 => 2,
        256..65_536 => 3,
        _ => 5,
    })
}

/// Bytes of an envelope whose ids have so many bytes, around a payload of `payload` bytes.
///
/// ```
/// use twolane_core::connector::arithmetic::envelope_bytes;
/// use twolane_core::connector::envelope::{Envelope, MessageKind, Nonce};
/// use twolane_core::scan::msgpack::Counted;
///
/// let message_kind = MessageKind::Invocation;
/// let envelope = Envelope { caller_runtime_id: "caller-1", request_id: "request-1", message_kind, nonce: Nonce([3; 12]) };
/// let mut front = Counted(0);
/// envelope.write_front(&mut front, 500).unwrap();
/// assert_eq!(envelope_bytes(message_kind, 8, 9, 500), front.0 + 500);
/// ```
pub const fn envelope_bytes(kind: MessageKind, caller_id: u64, request_id: u64, payload: u64) -> u64 {
    let own = match kind {
        MessageKind::Invocation => ENVELOPE_INVOCATION,
        MessageKind::Result => ENVELOPE_RESULT,
    };
    own.saturating_add(str_bytes(caller_id))
        .saturating_add(str_bytes(request_id))
        .saturating_add(bin_bytes(payload))
}

/// Characters of base64 for so many bytes.
///
/// ```
/// use twolane_core::connector::arithmetic::base64_bytes;
///
/// assert_eq!([0, 1, 3, 4].map(base64_bytes), [0, 4, 4, 8]);
/// ```
pub const fn base64_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(3).saturating_mul(4)
}

/// Bytes of the frame whose ids have so many bytes, around a payload of `payload` bytes; `None` where that is no
/// payload or no frame is long enough.
///
/// ```
/// use twolane_core::connector::arithmetic::frame_bytes;
/// use twolane_core::connector::envelope::MessageKind;
///
/// // Longer ids make a longer frame; less than a tag is no payload.
/// let short = frame_bytes(MessageKind::Result, 8, 9, 500).unwrap();
/// assert!(frame_bytes(MessageKind::Result, 256, 256, 500).unwrap() > short);
/// assert_eq!(frame_bytes(MessageKind::Result, 8, 9, 15), None);
/// ```
pub const fn frame_bytes(kind: MessageKind, caller_id: u64, request_id: u64, payload: u64) -> Option<u64> {
    if payload < PAYLOAD_BYTES_MIN {
        return None;
    }
    let text = base64_bytes(envelope_bytes(kind, caller_id, request_id, payload));
    let own = match kind {
        MessageKind::Invocation => REQUEST,
        MessageKind::Result => RESPONSE,
    };
    let frame = own.saturating_add(str_bytes(request_id)).saturating_add(str_bytes(text));
    if frame > FRAME_BYTES_MAX { None } else { Some(frame) }
}

/// Bytes of the longest frame, of either kind and with ids of any length, around a payload of `payload` bytes;
/// `None` where that is no payload or no frame is long enough.
///
/// ```
/// use twolane_core::connector::arithmetic::{frame_bytes, frame_bytes_for_payload};
/// use twolane_core::connector::envelope::MessageKind;
///
/// // A buffer of this size holds a frame of either kind and of any ids.
/// let longest = frame_bytes_for_payload(4096).unwrap();
/// for kind in [MessageKind::Invocation, MessageKind::Result] {
///     assert!(frame_bytes(kind, 256, 256, 4096).unwrap() <= longest);
/// }
/// ```
pub const fn frame_bytes_for_payload(payload: u64) -> Option<u64> {
    let request = frame_bytes(MessageKind::Invocation, ID_BYTES_MAX, ID_BYTES_MAX, payload);
    let response = frame_bytes(MessageKind::Result, ID_BYTES_MAX, ID_BYTES_MAX, payload);
    match (request, response) {
        (Some(request), Some(response)) => Some(if request > response { request } else { response }),
        _ => None,
    }
}

/// Bytes of the longest payload that fits a frame of `frame` bytes, whatever its kind and ids; `None` where none does.
///
/// ```
/// use twolane_core::connector::arithmetic::{frame_bytes_for_payload, payload_bytes_for_frame};
///
/// // What a machine with 64 KiB for frames may let its callers send.
/// let payload = payload_bytes_for_frame(65_536).unwrap();
/// assert!(frame_bytes_for_payload(payload).unwrap() <= 65_536);
/// assert!(frame_bytes_for_payload(payload + 1).unwrap() > 65_536);
/// assert_eq!(payload_bytes_for_frame(100), None);
/// ```
pub const fn payload_bytes_for_frame(frame: u64) -> Option<u64> {
    if !fits(PAYLOAD_BYTES_MIN, frame) {
        return None;
    }
    // A frame is longer than its payload, and longer the longer that is.
    let (mut fitting, mut too_long) = (PAYLOAD_BYTES_MIN, FRAME_BYTES_MAX);
    while fitting + 1 < too_long {
        let middle = fitting.midpoint(too_long);
        if fits(middle, frame) {
            fitting = middle;
        } else {
            too_long = middle;
        }
    }
    Some(fitting)
}

const fn fits(payload: u64, frame: u64) -> bool {
    match frame_bytes_for_payload(payload) {
        Some(needed) => needed <= frame,
        None => false,
    }
}

/// A bound of frames and one of payloads that agree: every payload within its bound fits a frame within its own.
///
/// ```
/// use twolane_core::connector::arithmetic::{FrameBound, FrameBoundFault};
///
/// let bound = FrameBound::new(65_536, 32_768)?;
/// assert_eq!((bound.frame(), bound.payload()), (65_536, 32_768));
/// // Base64 makes a payload a third longer: these two do not agree.
/// let fault = FrameBound::new(65_536, 65_536).unwrap_err();
/// assert!(matches!(fault, FrameBoundFault::FrameTooSmall { needed: 87_000.., .. }));
/// # Ok::<(), FrameBoundFault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameBound {
    frame: u64,
    payload: u64,
}

/// Why two bounds do not agree. Whoever configured them is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameBoundFault {
    /// The payload's bound would keep refusals from their callers.
    #[error("a payload bound of {found} bytes; at least 4096 are needed")]
    PayloadTooSmall {
        /// The bound.
        found: u64,
    },
    /// The frame's bound is too small for the payload's.
    #[error("payloads of {payload} bytes need frames of {needed} bytes; the bound is {found}")]
    FrameTooSmall {
        /// The payload's bound.
        payload: u64,
        /// The frame that it needs.
        needed: u64,
        /// The frame's bound.
        found: u64,
    },
    /// A bound over what a length prefix can announce.
    #[error("no frame has more than 4294967295 bytes")]
    TooLarge,
}

impl FrameBound {
    /// The two bounds in bytes, where they agree.
    pub const fn new(frame: u64, payload: u64) -> Result<Self, FrameBoundFault> {
        if payload < MIN_PAYLOAD_BYTES {
            return Err(FrameBoundFault::PayloadTooSmall { found: payload });
        }
        if frame > FRAME_BYTES_MAX {
            return Err(FrameBoundFault::TooLarge);
        }
        match frame_bytes_for_payload(payload) {
            Some(needed) if needed <= frame => Ok(Self { frame, payload }),
            Some(needed) => Err(FrameBoundFault::FrameTooSmall { payload, needed, found: frame }),
            None => Err(FrameBoundFault::TooLarge),
        }
    }

    /// The most bytes of a frame's body.
    pub const fn frame(self) -> u64 {
        self.frame
    }

    /// The most bytes of a ciphertext with its tag.
    pub const fn payload(self) -> u64 {
        self.payload
    }
}

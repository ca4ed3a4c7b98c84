//! How many bytes a frame has for a payload, and a payload for a frame; the same on every target.
//!
//! A payload is the ciphertext with its tag; a frame is the body behind the length prefix.

use super::envelope::MessageKind;
use crate::limits::{CONNECTOR_ID_MAX, MIN_PAYLOAD_BYTES, SEAL_TAG_LEN};

/// The longest frame that a length prefix can announce.
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
pub const fn base64_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(3).saturating_mul(4)
}

/// Bytes of the frame whose ids have so many bytes, around a payload of `payload` bytes; `None` where that is no
/// payload or no frame is long enough.
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
pub const fn frame_bytes_for_payload(payload: u64) -> Option<u64> {
    let request = frame_bytes(MessageKind::Invocation, ID_BYTES_MAX, ID_BYTES_MAX, payload);
    let response = frame_bytes(MessageKind::Result, ID_BYTES_MAX, ID_BYTES_MAX, payload);
    match (request, response) {
        (Some(request), Some(response)) => Some(if request > response { request } else { response }),
        _ => None,
    }
}

/// Bytes of the longest payload that fits a frame of `frame` bytes, whatever its kind and ids; `None` where none does.
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

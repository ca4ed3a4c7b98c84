//! The rules that a header breaks.

use super::{FrameType, field};

/// The rule that a header breaks. Readers and writers refuse the same ones.
///
/// ```
/// use twolane_core::envelope::{HeaderFault, peek};
///
/// let wire = [0, 0, 0, 0, 1, 7, 0x12, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
/// let fault = peek(&wire).unwrap_err();
/// assert_eq!(fault, HeaderFault::ReservedFlags { bits: 0x12 });
/// assert_eq!(fault.offset(), 6);
/// assert_eq!(fault.to_string(), "flags 0x12 set reserved bits; version 1 keeps bits 4-7 zero");
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// Byte 4 is neither 1 nor 2.
    #[error("envelope version {found} is unknown; 1 and 2 are")]
    UnknownVersion {
        /// Byte 4.
        found: u8,
    },
    /// Byte 5 is over 11.
    #[error("frame type {found} is unknown; types end at 11")]
    UnknownType {
        /// Byte 5.
        found: u8,
    },
    /// Bits 4-7 are set in version 1.
    #[error("flags 0x{bits:02x} set reserved bits; version 1 keeps bits 4-7 zero")]
    ReservedFlags {
        /// Byte 6.
        bits: u8,
    },
    /// Priority 3.
    #[error("flags 0x{bits:02x} carry priority 3, which is illegal")]
    IllegalPriority {
        /// Byte 6.
        bits: u8,
    },
    /// Admission 3 in version 2.
    #[error("flags 0x{bits:02x} carry admission 3, which is illegal")]
    IllegalAdmission {
        /// Byte 6.
        bits: u8,
    },
    /// Sheddable on a type other than Push and StreamData.
    #[error("{frame_type} frames are never Sheddable; only Push and StreamData are")]
    SheddableOnType {
        /// The frame's type.
        frame_type: FrameType,
    },
    /// A pure header announces a body.
    #[error("{frame_type} frames have no body, but len is {len}")]
    PureHeaderWithBody {
        /// The frame's type.
        frame_type: FrameType,
        /// The announced body bytes.
        len: u32,
    },
    /// Channel 0 has no epoch.
    #[error("epoch is {epoch} on channel 0, where it must be 0")]
    EpochWithoutChannel {
        /// The epoch found.
        epoch: u32,
    },
    /// A version 1 header has no place for an epoch; only a writer can ask for one.
    #[error("epoch is {epoch}, but version 1 has no place for it")]
    EpochInVersion1 {
        /// The epoch asked for.
        epoch: u32,
    },
}

impl HeaderFault {
    /// Offset of the offending field from the start of the header, in bytes.
    pub const fn offset(&self) -> usize {
        match self {
            Self::UnknownVersion { .. } => field::VERSION,
            Self::UnknownType { .. } => field::TYPE,
            Self::ReservedFlags { .. }
            | Self::IllegalPriority { .. }
            | Self::IllegalAdmission { .. }
            | Self::SheddableOnType { .. } => field::FLAGS,
            Self::PureHeaderWithBody { .. } => field::LEN.start,
            Self::EpochWithoutChannel { .. } | Self::EpochInVersion1 { .. } => field::EPOCH.start,
        }
    }
}

/// Why a StreamData frame belongs to no lane.
///
/// ```
/// use twolane_core::envelope::{FrameType, LaneFault, Peeked, peek};
///
/// let wire = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
/// let Ok(Peeked::Header(ping)) = peek(&wire) else { panic!("a whole header") };
/// assert_eq!(ping.lane(), Err(LaneFault::NotStreamData(FrameType::Ping)));
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaneFault {
    /// Only StreamData has a lane.
    #[error("{0} frames have no lane")]
    NotStreamData(FrameType),
    /// Priority Passive names no lane.
    #[error("priority Passive is no lane; control is Interactive and display is Background")]
    Passive,
    /// Lane bodies are JSON text.
    #[error("BINARY is not allowed on a lane socket")]
    Binary,
    /// Control is never shed.
    #[error("Sheddable is not allowed on the control lane")]
    SheddableControl,
}

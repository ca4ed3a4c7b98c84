//! What can be wrong with a unit.

use twolane_core::dissect;
use twolane_core::envelope::LaneFault;
use twolane_core::frame::FrameReason;
use twolane_core::handshake::{HandshakeReason, Stage};

/// The part of a unit at which bytes end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The first five bytes of a frame.
    Prefix,
    /// The header of a frame after its prefix.
    Header,
    /// The body of a frame.
    Body,
    /// The length prefix of a handshake message or connector message.
    LengthPrefix,
    /// A handshake message or connector message after its length prefix.
    Message,
}

impl Part {
    /// The word in messages and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::Header => "header",
            Self::Body => "body",
            Self::LengthPrefix => "length prefix",
            Self::Message => "message",
        }
    }
}

/// What is wrong with a unit. The sender of the bytes is at fault, except where the capture is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnitFault {
    /// The frame breaks a rule; the stream cannot be read on.
    #[error("{0}")]
    Frame(FrameReason),
    /// A body over the limit that this reader was given; it was skipped by its length.
    #[error("body of {len} bytes is over this reader's limit of {limit} and was not kept")]
    Oversize {
        /// The announced body bytes.
        len: u32,
        /// The limit.
        limit: u32,
    },
    /// The stream ends inside the unit.
    #[error("the stream ends inside the {}: {actual} of {expected} bytes", part.name())]
    End {
        /// Where.
        part: Part,
        /// Bytes of that part.
        expected: u64,
        /// Bytes of it that are there.
        actual: u64,
    },
    /// The capture lacks bytes inside the unit.
    #[error("the capture lacks bytes inside the {}: {actual} of {expected} bytes before the hole", part.name())]
    Hole {
        /// Where.
        part: Part,
        /// Bytes of that part.
        expected: u64,
        /// Bytes of it that are there before the hole.
        actual: u64,
    },
    /// Bytes behind a hole that belong to the damaged unit before it.
    #[error("{bytes} bytes behind the hole belong to the damaged unit before it")]
    Remainder {
        /// How many.
        bytes: u64,
    },
    /// Bytes passed over in search of a boundary.
    #[error("{bytes} bytes passed over in search of a frame boundary")]
    Passed {
        /// How many.
        bytes: u64,
    },
    /// Everything behind a fault that ended a direction's reading, its own bytes included.
    #[error("{bytes} bytes from the fault on were not decoded")]
    Undecoded {
        /// How many.
        bytes: u64,
    },
    /// The handshake message is malformed.
    #[error("{0}")]
    Handshake(HandshakeReason),
    /// A handshake message where another or a frame belongs.
    #[error("{stage} is out of place here")]
    OutOfPlace {
        /// What it is.
        stage: Stage,
    },
    /// A StreamData frame of no lane.
    #[error("{0}")]
    Lane(LaneFault),
    /// The body of a frame on a lane breaks a rule.
    #[error("{}", .0.reason)]
    Body(dissect::Fault),
    /// A message of the connector breaks a rule outside of its seal.
    #[error("{}", .0.reason)]
    Carriage(dissect::Fault),
    /// Bytes behind the one message that a direction of a connector's connection carries.
    #[error("bytes behind the one message of this direction")]
    SecondMessage,
    /// A tapped packet holds more than its unit.
    #[error("{bytes} bytes behind the end of the unit in one packet")]
    Trailing {
        /// How many.
        bytes: u64,
    },
}

impl UnitFault {
    /// The words for the `fault` column's numbers, from 1 on.
    pub const NAMES: [&str; 16] = [
        "header",
        "too-long",
        "version-changed",
        "oversize",
        "end",
        "hole",
        "remainder",
        "passed",
        "undecoded",
        "handshake",
        "out-of-place",
        "lane",
        "trailing",
        "body",
        "carriage",
        "second-message",
    ];

    /// The number in the `fault` column; 0 is no fault.
    #[must_use]
    pub const fn code(&self) -> u8 {
        match self {
            Self::Frame(FrameReason::Header(_)) => 1,
            Self::Frame(FrameReason::BodyTooLong { .. }) => 2,
            Self::Frame(FrameReason::VersionChanged { .. }) => 3,
            Self::Oversize { .. } => 4,
            Self::End { .. } => 5,
            Self::Hole { .. } => 6,
            Self::Remainder { .. } => 7,
            Self::Passed { .. } => 8,
            Self::Undecoded { .. } => 9,
            Self::Handshake(_) => 10,
            Self::OutOfPlace { .. } => 11,
            Self::Lane(_) => 12,
            Self::Trailing { .. } => 13,
            Self::Body(_) => 14,
            Self::Carriage(_) => 15,
            Self::SecondMessage => 16,
        }
    }

    /// The word for a number of the `fault` column.
    #[must_use]
    pub fn name_of(code: u8) -> Option<&'static str> {
        Self::NAMES.get(usize::from(code).checked_sub(1)?).copied()
    }

    /// Whether the capture or this reader's limits are to blame, rather than the sender of the bytes.
    #[must_use]
    pub const fn is_captures(&self) -> bool {
        matches!(
            self,
            Self::Oversize { .. } | Self::Hole { .. } | Self::Remainder { .. } | Self::Passed { .. }
        )
    }

    /// Offset of the offending field from the start of the unit, in bytes; 0 where the whole unit is meant.
    #[must_use]
    pub fn offset(&self) -> u64 {
        let offset = match self {
            Self::Frame(FrameReason::Header(fault)) => fault.offset(),
            Self::Frame(FrameReason::VersionChanged { .. }) => 4,
            Self::Lane(_) => 6,
            Self::Body(fault) | Self::Carriage(fault) => fault.offset,
            Self::Handshake(HandshakeReason::Message(fault)) => 4 + fault.offset,
            _ => 0,
        };
        u64::try_from(offset).unwrap_or(u64::MAX)
    }
}

//! One unit as a row: the values that a table, a filter and the index's columns share.

use twolane_core::connector::outside::Sort;
use twolane_core::envelope::{Flags, FrameType, Generation, Header, Lane, Version};

use crate::piece::Direction;

/// What a unit is. The numbers are those of the `kind` column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// One handshake message, length prefix included.
    Handshake = 1,
    /// One frame, or what there is of it where it carries a fault.
    Frame = 2,
    /// One message of the connector, length prefix included.
    Connector = 3,
    /// Bytes that are not in the capture.
    Gap = 4,
    /// A place that cannot be read, or bytes passed over without being read.
    Fault = 5,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Handshake, Self::Frame, Self::Connector, Self::Gap, Self::Fault];

    /// The word in tables, filters and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Frame => "frame",
            Self::Connector => "connector",
            Self::Gap => "gap",
            Self::Fault => "fault",
        }
    }

    /// The number in the `kind` column.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// What the seq law says of a frame. The numbers are those of the `law` column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LawMark {
    /// The law does not apply: no lane, or a body without a seq.
    None = 0,
    /// The frame follows the one before it.
    Kept = 1,
    /// The reader joined here: the frame is taken as the first.
    Joined = 2,
    /// The frame does not follow.
    Broken = 3,
}

impl LawMark {
    /// Every mark, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::None, Self::Kept, Self::Joined, Self::Broken];

    /// The word in tables, filters and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Kept => "kept",
            Self::Joined => "joined",
            Self::Broken => "broken",
        }
    }
}

/// Bits of the `marks` column.
pub mod mark {
    /// The unit's beginning was found by searching for it: a guess.
    pub const GUESS: u8 = 1;
    /// The unit holds fewer bytes than it announces.
    pub const CUT: u8 = 2;
    /// The handshake message's proof is right under the key given.
    pub const VERIFIED: u8 = 4;
    /// The handshake message's proof is wrong under the key given.
    pub const REFUTED: u8 = 8;
    /// The units that a gap stands for passed before the tap was joined.
    pub const EARLIER: u8 = 16;
}

/// `version` of a unit that is no frame.
pub const NO_VERSION: u8 = 0;
/// `frame_type` of a unit that is no frame.
pub const NO_TYPE: u8 = 255;
/// `lane` of a unit that belongs to no lane.
pub const NO_LANE: u8 = 0;
/// `lane` of the control lane.
pub const CONTROL: u8 = 1;
/// `lane` of the display lane.
pub const DISPLAY: u8 = 2;
/// `tag` of a body that carries none that is known.
pub const NO_TAG: u8 = 0;
/// `tag` of a handshake message: this plus 0 for the hello, 1 for the proof, 2 for the auth.
pub const HANDSHAKE_TAG: u8 = 0xf0;
/// `tag` of a message of the connector: this plus its place in [`Sort::ALL`].
pub const CONNECTOR_TAG: u8 = 0xe0;
/// `seq` of a frame without one. A frame that claims this very number breaks the law, and its breach says so.
pub const NO_SEQ: u64 = u64::MAX;
/// `time_ns` of a source without times.
pub const NO_TIME: u64 = u64::MAX;

/// One unit's values. Everything that is not there has its `NO_` value, so that a row is a row of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// What the unit is.
    pub kind: Kind,
    /// Envelope version: 1, 2 or [`NO_VERSION`].
    pub version: u8,
    /// Frame type's code, or [`NO_TYPE`].
    pub frame_type: u8,
    /// Flag bits.
    pub flags: u8,
    /// [`CONTROL`], [`DISPLAY`] or [`NO_LANE`].
    pub lane: u8,
    /// The payload tag's code, [`HANDSHAKE_TAG`] and on, [`CONNECTOR_TAG`] and on, or [`NO_TAG`].
    pub tag: u8,
    /// Channel; `stream_gen` on lane sockets.
    pub channel: u16,
    /// Epoch.
    pub epoch: u32,
    /// Correlation.
    pub corr: u64,
    /// Seq of the body, or [`NO_SEQ`].
    pub seq: u64,
    /// `dropped` of a display gap; of a gap the whole units that a tap did not write; else 0.
    pub dropped: u64,
    /// Connection, counted from 1.
    pub connection: u32,
    /// Direction.
    pub direction: Direction,
    /// Nanoseconds since 1970 of the packet that completed the unit, or [`NO_TIME`].
    pub time_ns: u64,
    /// Place in the direction's stream, in bytes from its first captured byte.
    pub offset: u64,
    /// Body bytes that a frame announces; bytes missing of a gap, passed over of a fault; else the bytes of the
    /// unit without its length prefix.
    pub len: u64,
    /// Number of the fault, 0 for none: see [`crate::units::UnitFault::code`].
    pub fault: u8,
    /// What the seq law says.
    pub law: LawMark,
    /// Bits of [`mark`].
    pub marks: u8,
    /// The unit's bytes: of a frame header and body, of a message prefix and text.
    pub bytes: &'a [u8],
}

impl<'a> Row<'a> {
    /// A row of `kind` with nothing known.
    #[must_use]
    pub fn empty(kind: Kind, connection: u32, direction: Direction) -> Self {
        Self {
            kind,
            version: NO_VERSION,
            frame_type: NO_TYPE,
            flags: 0,
            lane: NO_LANE,
            tag: NO_TAG,
            channel: 0,
            epoch: 0,
            corr: 0,
            seq: NO_SEQ,
            dropped: 0,
            connection,
            direction,
            time_ns: NO_TIME,
            offset: 0,
            len: 0,
            fault: 0,
            law: LawMark::None,
            marks: 0,
            bytes: &[],
        }
    }

    /// The same with the fields of `header`.
    #[must_use]
    pub fn with_header(mut self, header: &Header) -> Self {
        self.version = header.version().number();
        self.frame_type = header.frame_type().code();
        self.flags = header.flags().bits();
        self.lane = match header.lane() {
            Ok(Lane::Control) => CONTROL,
            Ok(Lane::Display) => DISPLAY,
            Err(_) => NO_LANE,
        };
        self.channel = header.channel();
        self.epoch = header.epoch();
        self.corr = header.corr();
        self.len = u64::from(header.body_len());
        self
    }

    /// The frame's type, where it is a frame.
    #[must_use]
    pub fn frame_type(&self) -> Option<FrameType> {
        FrameType::from_code(self.frame_type)
    }

    /// What a message of the connector is, where it can be told.
    #[must_use]
    pub fn sort(&self) -> Option<Sort> {
        let place = self.tag.checked_sub(CONNECTOR_TAG).filter(|_| self.kind == Kind::Connector)?;
        Sort::ALL.get(usize::from(place)).copied()
    }

    /// The flags; none set where it is no frame.
    #[must_use]
    pub fn flags(&self) -> Flags {
        Flags::from_bits(self.flags)
    }

    /// The lane, where it has one.
    #[must_use]
    pub fn lane(&self) -> Option<Lane> {
        match self.lane {
            CONTROL => Some(Lane::Control),
            DISPLAY => Some(Lane::Display),
            _ => None,
        }
    }

    /// The generation, meaningful where it is a frame.
    #[must_use]
    pub fn generation(&self) -> Generation {
        Generation { epoch: self.epoch, channel: self.channel }
    }

    /// The seq, where there is one.
    #[must_use]
    pub fn seq(&self) -> Option<u64> {
        (self.seq != NO_SEQ).then_some(self.seq)
    }

    /// The whole units that a gap stands for, where a tap counted them.
    #[must_use]
    pub fn lost_units(&self) -> Option<u64> {
        (self.kind == Kind::Gap && self.dropped > 0).then_some(self.dropped)
    }

    /// The time, where the source has one.
    #[must_use]
    pub fn time_ns(&self) -> Option<u64> {
        (self.time_ns != NO_TIME).then_some(self.time_ns)
    }

    /// Whether all of `marks` are set.
    #[must_use]
    pub fn is_marked(&self, marks: u8) -> bool {
        self.marks & marks == marks
    }

    /// The bytes without header or length prefix: the body, or the message.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        let head = match (self.kind, Version::from_number(self.version)) {
            (Kind::Frame, Some(version)) => version.header_len(),
            (Kind::Handshake | Kind::Connector, _) => 4,
            _ => 0,
        };
        self.bytes.get(head..).unwrap_or_default()
    }
}

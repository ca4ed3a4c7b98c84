//! The fixed header in front of every body, in both versions (docs/wire.md, "Envelope").
//!
//! [`peek`] learns all that routing needs from the first 17 or 21 bytes; the body is never looked at.

mod fault;
mod flags;

use core::fmt;
use core::ops::Deref;

pub use fault::{HeaderFault, LaneFault};
pub use flags::{Admission, Flags, Priority};

use crate::limits::{HEADER_LEN_MAX, HEADER_LEN_V1, HEADER_LEN_V2, PREFIX_LEN};

/// Byte offsets of the header's fields; those after `channel` depend on the version.
pub(crate) mod field {
    use core::ops::Range;

    use super::Version;

    pub(crate) const LEN: Range<usize> = 0..4;
    pub(crate) const VERSION: usize = 4;
    pub(crate) const TYPE: usize = 5;
    pub(crate) const FLAGS: usize = 6;
    pub(crate) const CHANNEL: Range<usize> = 7..9;
    pub(crate) const EPOCH: Range<usize> = 9..13;

    pub(crate) const fn corr(version: Version) -> Range<usize> {
        match version {
            Version::V1 => 9..17,
            Version::V2 => 13..21,
        }
    }
}

/// Envelope version; it chooses the length of the header.
///
/// ```
/// use twolane_core::envelope::Version;
///
/// let version = Version::from_number(2).unwrap();
/// assert_eq!((version, version.number(), version.header_len()), (Version::V2, 2, 21));
/// assert_eq!(Version::from_number(3), None);
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// 17-byte header without an epoch.
    V1,
    /// 21-byte header with an epoch and four more flag bits.
    V2,
}

impl Version {
    /// The version written as `number` in byte 4 of a header.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            _ => None,
        }
    }

    /// The number written in byte 4 of a header.
    pub const fn number(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    /// Bytes of a header of this version.
    pub const fn header_len(self) -> usize {
        match self {
            Self::V1 => HEADER_LEN_V1,
            Self::V2 => HEADER_LEN_V2,
        }
    }
}

/// What a frame is for.
///
/// ```
/// use twolane_core::envelope::FrameType;
///
/// let ping = FrameType::from_code(7).unwrap();
/// assert_eq!((ping.code(), ping.name(), ping.is_pure_header()), (7, "Ping", true));
/// assert_eq!(FrameType::from_code(12), None);
/// assert_eq!(FrameType::ALL.iter().filter(|of| of.is_pure_header()).count(), 4);
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the wire's own")]
pub enum FrameType {
    Request = 0,
    Response = 1,
    Push = 2,
    StreamData = 3,
    StreamEnd = 4,
    Error = 5,
    Cancel = 6,
    Ping = 7,
    Pong = 8,
    Hello = 9,
    HelloAck = 10,
    Goodbye = 11,
}

impl FrameType {
    /// Every type, in the order of their codes.
    pub const ALL: [Self; 12] = [
        Self::Request,
        Self::Response,
        Self::Push,
        Self::StreamData,
        Self::StreamEnd,
        Self::Error,
        Self::Cancel,
        Self::Ping,
        Self::Pong,
        Self::Hello,
        Self::HelloAck,
        Self::Goodbye,
    ];

    /// The type with this code, byte 5 of a header.
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Request,
            1 => Self::Response,
            2 => Self::Push,
            3 => Self::StreamData,
            4 => Self::StreamEnd,
            5 => Self::Error,
            6 => Self::Cancel,
            7 => Self::Ping,
            8 => Self::Pong,
            9 => Self::Hello,
            10 => Self::HelloAck,
            11 => Self::Goodbye,
            _ => return None,
        })
    }

    /// The code in byte 5 of a header.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The name used in documents and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "Request",
            Self::Response => "Response",
            Self::Push => "Push",
            Self::StreamData => "StreamData",
            Self::StreamEnd => "StreamEnd",
            Self::Error => "Error",
            Self::Cancel => "Cancel",
            Self::Ping => "Ping",
            Self::Pong => "Pong",
            Self::Hello => "Hello",
            Self::HelloAck => "HelloAck",
            Self::Goodbye => "Goodbye",
        }
    }

    /// Whether frames of this type never have a body.
    pub const fn is_pure_header(self) -> bool {
        matches!(self, Self::Cancel | Self::Ping | Self::Pong | Self::Goodbye)
    }
}

impl fmt::Display for FrameType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One stream on a lane socket: the channel, in version 2 together with the epoch.
///
/// ```
/// use twolane_core::envelope::Generation;
///
/// let first = Generation { epoch: 0, channel: 7 };
/// let after_restart = Generation { epoch: 1, channel: 7 };
/// assert_ne!(first, after_restart);
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation {
    /// Version 2 only; 0 in version 1.
    pub epoch: u32,
    /// `stream_gen`.
    pub channel: u16,
}

/// The two lanes of a lane socket.
///
/// ```
/// use twolane_core::envelope::Lane;
///
/// assert_eq!([Lane::Control, Lane::Display].map(Lane::name), ["control", "display"]);
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Reliable and ordered.
    Control,
    /// Lossy, every loss accounted for.
    Display,
}

impl Lane {
    /// The name used in documents and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Display => "display",
        }
    }
}

/// The fields of a header before they are checked together.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Envelope version.
    pub version: Version,
    /// Frame type.
    pub frame_type: FrameType,
    /// Flag bits.
    pub flags: Flags,
    /// Channel; `stream_gen` on lane sockets.
    pub channel: u16,
    /// Epoch; must be 0 in version 1 and where the channel is 0.
    pub epoch: u32,
    /// Correlation of step, approval or request.
    pub corr: u64,
    /// Body bytes. Any value is legal here; frames are bounded by [`crate::limits::BODY_LEN_MAX`].
    pub len: u32,
}

/// A header that keeps every rule of its version. Only [`peek`] and [`Header::new`] make one.
///
/// ```
/// use twolane_core::envelope::{Flags, FrameType, Generation, Header, HeaderFault, Lane, Parts, Version};
///
/// // A control frame of 120 bytes on generation 3, step 9.
/// let parts = Parts {
///     version: Version::V2,
///     frame_type: FrameType::StreamData,
///     flags: Flags::CONTROL,
///     channel: 3,
///     epoch: 1,
///     corr: 9,
///     len: 120,
/// };
/// let header = Header::new(parts)?;
/// assert_eq!(header.lane(), Ok(Lane::Control));
/// assert_eq!(header.generation(), Generation { epoch: 1, channel: 3 });
/// assert_eq!((header.version(), header.frame_type(), header.flags()), (parts.version, parts.frame_type, parts.flags));
/// assert_eq!((header.channel(), header.epoch(), header.corr(), header.body_len()), (3, 1, 9, 120));
/// assert_eq!(header.encode()[..7], [120, 0, 0, 0, 2, 3, 0x02]);
///
/// // What a reader would refuse cannot be made: a Goodbye has no body.
/// let goodbye = Parts { frame_type: FrameType::Goodbye, ..header.parts() };
/// let fault = HeaderFault::PureHeaderWithBody { frame_type: FrameType::Goodbye, len: 120 };
/// assert_eq!(Header::new(goodbye), Err(fault));
/// # Ok::<(), HeaderFault>(())
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    parts: Parts,
}

impl Header {
    /// Checks `parts` by the rules a reader applies, in the same order.
    pub const fn new(parts: Parts) -> Result<Self, HeaderFault> {
        let epoch = parts.epoch;
        if matches!(parts.version, Version::V1) && epoch != 0 {
            return match Self::of_reader(Parts { epoch: 0, ..parts }) {
                Ok(_) => Err(HeaderFault::EpochInVersion1 { epoch }),
                Err(fault) => Err(fault),
            };
        }
        Self::of_reader(parts)
    }

    /// The rules that bytes can break: those of version 1 have no epoch.
    const fn of_reader(parts: Parts) -> Result<Self, HeaderFault> {
        let Parts { version, frame_type, flags, channel, epoch, len, .. } = parts;
        if let Some(fault) = flags_fault(version, frame_type, flags) {
            return Err(fault);
        }
        if frame_type.is_pure_header() && len != 0 {
            return Err(HeaderFault::PureHeaderWithBody { frame_type, len });
        }
        if epoch != 0 && channel == 0 {
            return Err(HeaderFault::EpochWithoutChannel { epoch });
        }
        Ok(Self { parts })
    }

    /// Envelope version.
    pub const fn version(&self) -> Version {
        self.parts.version
    }

    /// Frame type.
    pub const fn frame_type(&self) -> FrameType {
        self.parts.frame_type
    }

    /// Flag bits.
    pub const fn flags(&self) -> Flags {
        self.parts.flags
    }

    /// Channel; `stream_gen` on lane sockets.
    pub const fn channel(&self) -> u16 {
        self.parts.channel
    }

    /// Epoch; 0 in version 1.
    pub const fn epoch(&self) -> u32 {
        self.parts.epoch
    }

    /// Correlation.
    pub const fn corr(&self) -> u64 {
        self.parts.corr
    }

    /// Body bytes as announced.
    pub const fn body_len(&self) -> u32 {
        self.parts.len
    }

    /// The stream that the frame belongs to, compared as a pair.
    pub const fn generation(&self) -> Generation {
        Generation { epoch: self.parts.epoch, channel: self.parts.channel }
    }

    /// The unchecked fields, to change and check anew.
    pub const fn parts(&self) -> Parts {
        self.parts
    }

    /// The lane of a StreamData frame on a lane socket, or the rule that it breaks.
    pub const fn lane(&self) -> Result<Lane, LaneFault> {
        let Parts { frame_type, flags, .. } = self.parts;
        if !matches!(frame_type, FrameType::StreamData) {
            return Err(LaneFault::NotStreamData(frame_type));
        }
        if flags.is_binary() {
            return Err(LaneFault::Binary);
        }
        match flags.priority() {
            Some(Priority::Interactive) => match flags.admission() {
                Some(Admission::Sheddable) => Err(LaneFault::SheddableControl),
                _ => Ok(Lane::Control),
            },
            Some(Priority::Background) => Ok(Lane::Display),
            _ => Err(LaneFault::Passive),
        }
    }

    /// The bytes of this header, 17 or 21.
    pub const fn encode(&self) -> HeaderBytes {
        let Parts { version, frame_type, flags, channel, epoch, corr, len } = self.parts;
        let [l0, l1, l2, l3] = len.to_le_bytes();
        let [n0, n1] = channel.to_le_bytes();
        let [e0, e1, e2, e3] = epoch.to_le_bytes();
        let [c0, c1, c2, c3, c4, c5, c6, c7] = corr.to_le_bytes();
        let (v, t, f) = (version.number(), frame_type.code(), flags.bits());
        let bytes = match version {
            Version::V1 => [l0, l1, l2, l3, v, t, f, n0, n1, c0, c1, c2, c3, c4, c5, c6, c7, 0, 0, 0, 0],
            Version::V2 => [l0, l1, l2, l3, v, t, f, n0, n1, e0, e1, e2, e3, c0, c1, c2, c3, c4, c5, c6, c7],
        };
        HeaderBytes { bytes, version }
    }
}

/// The rules on byte 6, in the order that a reader applies them.
const fn flags_fault(version: Version, frame_type: FrameType, flags: Flags) -> Option<HeaderFault> {
    let bits = flags.bits();
    if matches!(version, Version::V1) && bits & Flags::RESERVED_V1 != 0 {
        return Some(HeaderFault::ReservedFlags { bits });
    }
    if flags.priority().is_none() {
        return Some(HeaderFault::IllegalPriority { bits });
    }
    match flags.admission() {
        None => Some(HeaderFault::IllegalAdmission { bits }),
        Some(Admission::Sheddable) => match frame_type {
            FrameType::Push | FrameType::StreamData => None,
            _ => Some(HeaderFault::SheddableOnType { frame_type }),
        },
        Some(_) => None,
    }
}

/// An encoded header; dereferences to its 17 or 21 bytes.
///
/// ```
/// use twolane_core::envelope::{HeaderBytes, Peeked, peek};
///
/// let wire = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
/// let Ok(Peeked::Header(ping)) = peek(&wire) else { panic!("a whole header") };
/// let bytes: HeaderBytes = ping.encode();
/// assert_eq!(*bytes, wire);
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderBytes {
    bytes: [u8; HEADER_LEN_MAX],
    version: Version,
}

impl Deref for HeaderBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.version {
            Version::V1 => self.bytes.first_chunk::<HEADER_LEN_V1>().map_or(&[], |b| b),
            Version::V2 => &self.bytes,
        }
    }
}

/// What [`peek`] found.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peeked {
    /// So many bytes must be there, counted from the start of the header: a state, not an error.
    Need(usize),
    /// The whole header, legal by the rules of its version. Its `len` may still be over any bound.
    Header(Header),
}

/// Reads the header at the start of `unread`, as far as it is there.
///
/// The version in byte 4 is judged as soon as five bytes are there, so an unknown one never waits for more.
///
/// ```
/// use twolane_core::envelope::{HeaderFault, Peeked, peek};
///
/// // 64 KiB of StreamData on the display lane of generation 1, version 1.
/// let wire = [0, 0, 1, 0, 1, 3, 0x04, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0];
/// let Ok(Peeked::Header(header)) = peek(&wire) else { panic!("a whole header") };
/// assert_eq!((header.channel(), header.corr(), header.body_len()), (1, 9, 65_536));
///
/// assert_eq!(peek(&wire[..4]), Ok(Peeked::Need(5)));
/// assert_eq!(peek(&wire[..5]), Ok(Peeked::Need(17)));
/// assert_eq!(peek(&[0, 0, 0, 0, 3]), Err(HeaderFault::UnknownVersion { found: 3 }));
/// ```
#[inline(always)]
pub const fn peek(unread: &[u8]) -> Result<Peeked, HeaderFault> {
    if cfg!(twolane_backend = "compact") {
        return peek_in_order(unread);
    }
    match legal(unread) {
        Some(header) => Ok(Peeked::Header(header)),
        None => match needed(unread) {
            Ok(total) => Ok(Peeked::Need(total)),
            Err(fault) => Err(fault),
        },
    }
}

/// The same in one way for both versions, rule by rule: the smallest.
#[inline(always)]
const fn peek_in_order(unread: &[u8]) -> Result<Peeked, HeaderFault> {
    let Some(&[_, _, _, _, number]) = unread.first_chunk::<PREFIX_LEN>() else {
        return Ok(Peeked::Need(PREFIX_LEN));
    };
    let Some(version) = Version::from_number(number) else {
        return Err(HeaderFault::UnknownVersion { found: number });
    };
    let incomplete = Ok(Peeked::Need(version.header_len()));
    let Some((&[l0, l1, l2, l3, _, code, flags, n0, n1], rest)) = unread.split_first_chunk() else {
        return incomplete;
    };
    let (epoch, rest) = match version {
        Version::V1 => ([0; 4], rest),
        Version::V2 => match rest.split_first_chunk() {
            Some((epoch, rest)) => (*epoch, rest),
            None => return incomplete,
        },
    };
    let Some(corr) = rest.first_chunk() else { return incomplete };
    let Some(frame_type) = FrameType::from_code(code) else {
        return Err(HeaderFault::UnknownType { found: code });
    };
    let parts = Parts {
        version,
        frame_type,
        flags: Flags::from_bits(flags),
        channel: u16::from_le_bytes([n0, n1]),
        epoch: u32::from_le_bytes(epoch),
        corr: u64::from_le_bytes(*corr),
        len: u32::from_le_bytes([l0, l1, l2, l3]),
    };
    match Header::of_reader(parts) {
        Ok(header) => Ok(Peeked::Header(header)),
        Err(fault) => Err(fault),
    }
}

/// The header at the start of `unread` where all of it is there and breaks no rule.
#[inline(always)]
pub(crate) const fn legal(unread: &[u8]) -> Option<Header> {
    // Each version by itself to the end: joined any earlier, the fields are put together byte by byte.
    if let Some(parts) = parts_v1(unread) {
        return if is_legal(&parts) { Some(Header { parts }) } else { None };
    }
    match parts_v2(unread) {
        Some(parts) if is_legal(&parts) => Some(Header { parts }),
        _ => None,
    }
}

/// The fields of a whole version 1 header of a known type.
#[inline(always)]
const fn parts_v1(unread: &[u8]) -> Option<Parts> {
    let Some(&[l0, l1, l2, l3, 1, code, flags, n0, n1, c0, c1, c2, c3, c4, c5, c6, c7]) =
        unread.first_chunk()
    else {
        return None;
    };
    let Some(frame_type) = FrameType::from_code(code) else { return None };
    Some(Parts {
        version: Version::V1,
        frame_type,
        flags: Flags::from_bits(flags),
        channel: u16::from_le_bytes([n0, n1]),
        epoch: 0,
        corr: u64::from_le_bytes([c0, c1, c2, c3, c4, c5, c6, c7]),
        len: u32::from_le_bytes([l0, l1, l2, l3]),
    })
}

/// The same of version 2.
#[inline(always)]
const fn parts_v2(unread: &[u8]) -> Option<Parts> {
    let Some(&[l0, l1, l2, l3, 2, code, flags, n0, n1, e0, e1, e2, e3, c0, c1, c2, c3, c4, c5, c6, c7]) =
        unread.first_chunk()
    else {
        return None;
    };
    let Some(frame_type) = FrameType::from_code(code) else { return None };
    Some(Parts {
        version: Version::V2,
        frame_type,
        flags: Flags::from_bits(flags),
        channel: u16::from_le_bytes([n0, n1]),
        epoch: u32::from_le_bytes([e0, e1, e2, e3]),
        corr: u64::from_le_bytes([c0, c1, c2, c3, c4, c5, c6, c7]),
        len: u32::from_le_bytes([l0, l1, l2, l3]),
    })
}

/// Whether [`Header::new`] takes `parts`, in few steps. It knows no faults.
#[inline(always)]
const fn is_legal(parts: &Parts) -> bool {
    let Parts { version, frame_type, flags, channel, epoch, len, .. } = *parts;
    let bits = flags.bits();
    let of_version = match version {
        Version::V1 => (bits & Flags::RESERVED_V1 == 0) & (epoch == 0),
        Version::V2 => {
            let admission = match bits & Flags::ADMISSION {
                Flags::ADMISSION => false,
                Flags::SHEDDABLE => matches!(frame_type, FrameType::Push | FrameType::StreamData),
                _ => true,
            };
            admission & ((epoch == 0) | (channel != 0))
        }
    };
    of_version & (bits & Flags::PRIORITY != Flags::PRIORITY) & (!frame_type.is_pure_header() | (len == 0))
}

/// How many bytes a header at the start of `unread` has to have, or the first rule that it breaks.
///
/// Apart from the short way and with a result that fits registers: where both ways write to one place in memory, it
/// is the short one that becomes slow.
#[cold]
#[inline(never)]
const fn needed(unread: &[u8]) -> Result<usize, HeaderFault> {
    let Some(&[_, _, _, _, number]) = unread.first_chunk::<PREFIX_LEN>() else { return Ok(PREFIX_LEN) };
    let Some(version) = Version::from_number(number) else {
        return Err(HeaderFault::UnknownVersion { found: number });
    };
    let total = version.header_len();
    if unread.len() < total {
        return Ok(total);
    }
    let parts = match version {
        Version::V1 => parts_v1(unread),
        Version::V2 => parts_v2(unread),
    };
    match (parts, unread.first_chunk()) {
        (Some(parts), _) => match Header::new(parts) {
            Ok(_) => Ok(total),
            Err(fault) => Err(fault),
        },
        (None, Some(&[_, _, _, _, _, found])) => Err(HeaderFault::UnknownType { found }),
        (None, None) => Ok(total),
    }
}

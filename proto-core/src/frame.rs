//! Frames: a header and its body, out of and into byte streams cut anywhere (docs/wire.md, "Frames").

use core::hint::black_box;

use crate::envelope::{Header, HeaderFault, Peeked, Version, legal, peek};
use crate::limits::{BODY_LEN_MAX, HEADER_LEN_MAX};

/// One frame, its body borrowed from the buffer that was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The header; its `body_len` is the length of `body`.
    pub header: Header,
    /// The opaque body.
    pub body: &'a [u8],
}

/// What the front of the unread bytes holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// So many unread bytes (after `consumed` are dropped) make the next call useful.
    Need(usize),
    /// A whole frame.
    Frame(Frame<'a>),
    /// A legal frame over the endpoint's limit. Its body will be skipped and never handed out.
    Oversize(Header),
}

/// One step of a decoder. Drop `consumed` bytes from the front, whatever the item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "`consumed` bytes have to be dropped from the front of the buffer"]
pub struct Decoded<'a> {
    /// Bytes that are done with, those of `item` included.
    pub consumed: usize,
    /// What was found.
    pub item: Item<'a>,
}

/// A streaming decoder that holds no bytes: it looks at the caller's unread ones.
///
/// Call [`decode`](Self::decode) until it answers [`Item::Need`], then read more. After a fault it stays failed,
/// since a stream out of step cannot be trusted again.
///
/// ```
/// use twolane_core::envelope::Version;
/// use twolane_core::frame::{Decoded, Frame, FrameDecoder, Item};
///
/// // Two display frames, version 1; of the second one only the header has come.
/// let wire = *b"\x02\0\0\0\x01\x03\x04\x01\0\x09\0\0\0\0\0\0\0{}\x08\0\0\0\x01\x03\x04\x01\0\x09\0\0\0\0\0\0\0";
/// let mut decoder = FrameDecoder::new(1024);
/// let Decoded { consumed, item: Item::Frame(Frame { header, body }) } = decoder.decode(&wire)? else {
///     panic!("a whole frame")
/// };
/// assert_eq!((consumed, header.corr(), body), (19, 9, &b"{}"[..]));
/// assert_eq!((decoder.version(), decoder.offset()), (Some(Version::V1), 19));
///
/// // 25 unread bytes make the next call useful.
/// let rest = &wire[consumed..];
/// assert_eq!(decoder.decode(rest)?, Decoded { consumed: 0, item: Item::Need(25) });
/// // Where the stream ends here, it was cut.
/// assert_eq!(decoder.end(rest).unwrap_err().to_string(), "stream ended inside a frame's body: 0 of 8 bytes");
/// # Ok::<(), twolane_core::frame::FrameFault>(())
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Debug)]
pub struct FrameDecoder {
    body_limit: u32,
    latched: Option<Version>,
    skip: u32,
    offset: u64,
    failed: Option<FrameFault>,
}

impl FrameDecoder {
    /// A decoder that hands out bodies of up to `body_limit` bytes and skips larger ones.
    /// A limit over [`BODY_LEN_MAX`] means [`BODY_LEN_MAX`].
    pub const fn new(body_limit: u32) -> Self {
        let body_limit = if body_limit > BODY_LEN_MAX { BODY_LEN_MAX } else { body_limit };
        Self { body_limit, latched: None, skip: 0, offset: 0, failed: None }
    }

    /// The same, refusing any version but `version` from the first frame on.
    ///
    /// ```
    /// use twolane_core::envelope::Version;
    /// use twolane_core::frame::{FrameDecoder, FrameFault, FrameReason};
    ///
    /// // The connection file declared version 2, the peer writes version 1.
    /// let mut decoder = FrameDecoder::new(1024).with_version(Version::V2);
    /// let reason = FrameReason::VersionChanged { latched: Version::V2, found: Version::V1 };
    /// assert_eq!(decoder.decode(&[0, 0, 0, 0, 1]), Err(FrameFault { offset: 0, reason }));
    /// ```
    #[must_use]
    pub const fn with_version(mut self, version: Version) -> Self {
        self.latched = Some(version);
        self
    }

    /// The version latched by the first frame, or given.
    pub const fn version(&self) -> Option<Version> {
        self.latched
    }

    /// Offset in the stream of the first unread byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Looks at the front of the unread bytes.
    #[inline]
    pub fn decode<'a>(&mut self, unread: &'a [u8]) -> Result<Decoded<'a>, FrameFault> {
        if cfg!(twolane_backend = "compact") {
            return self.decode_any(unread);
        }
        match self.whole_frame(unread) {
            Some((frame, consumed)) => Ok(Decoded { consumed, item: Item::Frame(frame) }),
            None => self.decode_any(unread),
        }
    }

    /// The whole frames at the front of `unread`, one after the other: the way through a buffer of many frames.
    ///
    /// ```
    /// use twolane_core::frame::FrameDecoder;
    ///
    /// // Three Pings in one read.
    /// let wire = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0].repeat(3);
    /// let mut decoder = FrameDecoder::new(1024);
    /// assert_eq!(decoder.whole_frames(&wire).count(), 3);
    /// assert_eq!(decoder.offset(), 51);
    /// ```
    pub const fn whole_frames<'d, 'a>(&'d mut self, unread: &'a [u8]) -> WholeFrames<'d, 'a> {
        WholeFrames { decoder: self, unread }
    }

    /// The short way: a whole frame within the limit, of the latched version where there is one. It knows no faults.
    #[inline(always)]
    fn whole_frame<'a>(&mut self, unread: &'a [u8]) -> Option<(Frame<'a>, usize)> {
        let header = legal(unread)?;
        let version = header.version();
        let start = version.header_len();
        let total = start + header.body_len() as usize;
        let body = unread.get(start..total)?;
        let in_step = self.skip == 0 && self.failed.is_none();
        let same_version = self.latched.is_none_or(|latched| latched == version);
        if !in_step || !same_version || header.body_len() > self.body_limit {
            return None;
        }
        self.latched = Some(version);
        self.offset += total as u64;
        Some((Frame { header, body }, total))
    }

    /// Whatever else the front may be.
    #[inline(never)]
    fn decode_any<'a>(&mut self, unread: &'a [u8]) -> Result<Decoded<'a>, FrameFault> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        let skipped = self.skip_oversize(unread.len());
        let rest = unread.get(skipped..).unwrap_or_default();
        if self.skip > 0 {
            return Ok(Decoded { consumed: skipped, item: Item::Need(1) });
        }
        let item = match self.next_item(rest) {
            Ok(item) => item,
            Err(reason) => {
                let fault = FrameFault { offset: self.offset, reason };
                self.failed = Some(fault);
                return Err(fault);
            }
        };
        let taken = match &item {
            Item::Need(_) => 0,
            Item::Frame(frame) => frame.header.version().header_len() + frame.body.len(),
            Item::Oversize(header) => header.version().header_len(),
        };
        self.offset += taken as u64;
        Ok(Decoded { consumed: skipped + taken, item })
    }

    /// Whether the stream may end with `unread` left over; if not, where it was cut.
    pub fn end(&self, unread: &[u8]) -> Result<(), EndFault> {
        if self.skip > 0 {
            let (expected, actual) = (self.skip as usize, unread.len());
            return if actual >= expected {
                self.end_at_frame(unread.get(expected..).unwrap_or_default())
            } else {
                Err(EndFault { part: Part::Body, expected, actual })
            };
        }
        self.end_at_frame(unread)
    }

    fn end_at_frame(&self, unread: &[u8]) -> Result<(), EndFault> {
        if unread.is_empty() {
            return Ok(());
        }
        let actual = unread.len();
        match peek(unread) {
            Ok(Peeked::Need(expected)) if expected < crate::limits::HEADER_LEN_V1 => {
                Err(EndFault { part: Part::Prefix, expected, actual })
            }
            Ok(Peeked::Need(expected)) => Err(EndFault { part: Part::Header, expected, actual }),
            Ok(Peeked::Header(header)) => {
                let header_len = header.version().header_len();
                Err(EndFault {
                    part: Part::Body,
                    expected: header.body_len() as usize,
                    actual: actual - header_len,
                })
            }
            // A broken header is decode's to name; here it is an end inside a header all the same.
            Err(_) => Err(EndFault { part: Part::Header, expected: HEADER_LEN_MAX, actual }),
        }
    }

    fn skip_oversize(&mut self, available: usize) -> usize {
        let step = u32::try_from(available).map_or(self.skip, |available| available.min(self.skip));
        self.skip -= step;
        self.offset += u64::from(step);
        step as usize
    }

    fn next_item<'a>(&mut self, unread: &'a [u8]) -> Result<Item<'a>, FrameReason> {
        self.check_version(unread)?;
        let header = match peek(unread).map_err(FrameReason::Header)? {
            Peeked::Need(total) => return Ok(Item::Need(total)),
            Peeked::Header(header) => header,
        };
        let len = header.body_len();
        if len > BODY_LEN_MAX {
            return Err(FrameReason::BodyTooLong { len });
        }
        self.latched = Some(header.version());
        if len > self.body_limit {
            self.skip = len;
            return Ok(Item::Oversize(header));
        }
        let start = header.version().header_len();
        let total = start + len as usize;
        match unread.get(start..total) {
            Some(body) => Ok(Item::Frame(Frame { header, body })),
            None => Ok(Item::Need(total)),
        }
    }

    /// A changed version is refused by name before the rest of its header is waited for.
    fn check_version(&self, unread: &[u8]) -> Result<(), FrameReason> {
        let (Some(latched), Some(&number)) = (self.latched, unread.get(crate::envelope::field::VERSION))
        else {
            return Ok(());
        };
        match Version::from_number(number) {
            Some(found) if found != latched => Err(FrameReason::VersionChanged { latched, found }),
            _ => Ok(()),
        }
    }
}

/// Bytes by which [`WholeFrames`] touches memory before it gets there: a page, far enough for the memory to answer.
const READ_AHEAD_BYTES: usize = 4096;

/// Whole frames of one buffer; ends before whatever is none, which [`FrameDecoder::decode`] names.
///
/// ```
/// use twolane_core::frame::{FrameDecoder, WholeFrames};
///
/// let ping = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
/// let mut wire = [0; 40];
/// wire[..17].copy_from_slice(&ping);
/// wire[17..34].copy_from_slice(&ping);
/// let mut decoder = FrameDecoder::new(1024);
/// let mut frames: WholeFrames<'_, '_> = decoder.whole_frames(&wire[..36]);
/// assert_eq!(frames.by_ref().map(|frame| frame.header.corr()).sum::<u64>(), 10);
/// assert_eq!(frames.unread(), &wire[34..36]);
/// ```
#[derive(Debug)]
pub struct WholeFrames<'d, 'a> {
    decoder: &'d mut FrameDecoder,
    unread: &'a [u8],
}

impl<'a> WholeFrames<'_, 'a> {
    /// The bytes behind the frames that were handed out.
    pub const fn unread(&self) -> &'a [u8] {
        self.unread
    }
}

impl<'a> Iterator for WholeFrames<'_, 'a> {
    type Item = Frame<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Frame<'a>> {
        // Where a header is, is known only from the one before it, so the processor cannot wait for many at once.
        if let Some(byte) = self.unread.get(READ_AHEAD_BYTES) {
            black_box(*byte);
        }
        let (frame, total) = self.decoder.whole_frame(self.unread)?;
        self.unread = self.unread.get(total..).unwrap_or_default();
        Some(frame)
    }
}

/// Why a stream of frames cannot go on, and the offset of the frame that broke it.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("frame at byte {offset}: {reason}")]
pub struct FrameFault {
    /// Offset of the frame's first byte in the stream.
    pub offset: u64,
    /// The rule broken.
    pub reason: FrameReason,
}

/// The rule that a frame breaks.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameReason {
    /// The header is illegal by itself.
    #[error(transparent)]
    Header(HeaderFault),
    /// `len` is over 64 MiB.
    #[error("len is {len} bytes, over the limit of 67108864")]
    BodyTooLong {
        /// The announced body bytes.
        len: u32,
    },
    /// Not the version that this connection began with.
    #[error("version changed from {} to {} on one connection", latched.number(), found.number())]
    VersionChanged {
        /// The version of the first frame.
        latched: Version,
        /// The version of this one.
        found: Version,
    },
}

/// The part of a frame in which a stream ended.
///
/// ```
/// use twolane_core::frame::{EndFault, FrameDecoder, Part};
///
/// let cut = FrameDecoder::new(1024).end(&[0, 0, 0, 0, 1, 7]);
/// assert_eq!(cut, Err(EndFault { part: Part::Header, expected: 17, actual: 6 }));
/// assert_eq!(Part::Header.name(), "header");
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The first five bytes.
    Prefix,
    /// The header after its prefix.
    Header,
    /// The body.
    Body,
}

impl Part {
    /// The name used in documents and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::Header => "header",
            Self::Body => "body",
        }
    }
}

/// A stream that ended inside a frame.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stream ended inside a frame's {}: {actual} of {expected} bytes", part.name())]
pub struct EndFault {
    /// Where it ended.
    pub part: Part,
    /// Bytes of that part (prefix and header count from the frame's start, body from its own).
    pub expected: usize,
    /// Bytes of it that were there.
    pub actual: usize,
}

/// Why a frame was not written. Nothing was.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeFault {
    /// The header announces another length than the body has.
    #[error("header announces {announced} bytes of body, but there are {actual}")]
    LengthMismatch {
        /// `body_len` of the header.
        announced: u32,
        /// Bytes of the body.
        actual: usize,
    },
    /// No reader would accept it.
    #[error("body is {len} bytes, over the limit of 67108864")]
    BodyTooLong {
        /// Bytes of the body.
        len: u32,
    },
    /// The buffer given is too small.
    #[error("buffer has {available} bytes, the frame needs {needed}")]
    BufferTooSmall {
        /// Bytes of the frame.
        needed: usize,
        /// Bytes of the buffer.
        available: usize,
    },
}

/// Checks that `body` may follow `header` on the wire: what a reader would refuse is not written.
///
/// ```
/// use twolane_core::envelope::{Peeked, peek};
/// use twolane_core::frame::{EncodeFault, check_frame};
///
/// let wire = *b"\x02\0\0\0\x01\x03\x04\x01\0\x09\0\0\0\0\0\0\0";
/// let Ok(Peeked::Header(header)) = peek(&wire) else { panic!("a whole header") };
/// assert_eq!(check_frame(&header, b"{}"), Ok(()));
/// assert_eq!(check_frame(&header, b"{"), Err(EncodeFault::LengthMismatch { announced: 2, actual: 1 }));
/// ```
pub fn check_frame(header: &Header, body: &[u8]) -> Result<(), EncodeFault> {
    let announced = header.body_len();
    if announced as usize != body.len() {
        return Err(EncodeFault::LengthMismatch { announced, actual: body.len() });
    }
    if announced > BODY_LEN_MAX {
        return Err(EncodeFault::BodyTooLong { len: announced });
    }
    Ok(())
}

/// Writes a frame at the front of `out` and returns its length in bytes.
///
/// ```
/// use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
/// use twolane_core::frame::{EncodeFault, encode_frame};
///
/// let body = br#"{"version":1,"run_id":"r","step_id":0,"seq":0,"payload":{"type":"cancel"}}"#;
/// let header = Header::new(Parts {
///     version: Version::V1,
///     frame_type: FrameType::StreamData,
///     flags: Flags::CONTROL,
///     channel: 1,
///     epoch: 0,
///     corr: 4,
///     len: body.len() as u32,
/// })?;
/// let mut out = [0; 128];
/// let len = encode_frame(&header, body, &mut out).unwrap();
/// assert_eq!(len, 17 + body.len());
/// assert!(out[..len].ends_with(body));
///
/// let fault = EncodeFault::BufferTooSmall { needed: len, available: 16 };
/// assert_eq!(encode_frame(&header, body, &mut out[..16]), Err(fault));
/// # Ok::<(), twolane_core::envelope::HeaderFault>(())
/// ```
pub fn encode_frame(header: &Header, body: &[u8], out: &mut [u8]) -> Result<usize, EncodeFault> {
    check_frame(header, body)?;
    let head = header.encode();
    let needed = head.len() + body.len();
    let available = out.len();
    let Some((head_place, body_place)) =
        out.get_mut(..needed).and_then(|frame| frame.split_at_mut_checked(head.len()))
    else {
        return Err(EncodeFault::BufferTooSmall { needed, available });
    };
    copy(head_place, &head);
    copy(body_place, body);
    Ok(needed)
}

/// Copies as far as both reach, so that no compiler has to be convinced that the lengths are equal.
fn copy(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

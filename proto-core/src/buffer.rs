//! A caller's buffer and a decoder over it: fill, take frames out, fill again.

use crate::envelope::Header;
use crate::frame::{Decoded, EndFault, Frame, FrameDecoder, FrameFault, Item};
use crate::limits::HEADER_LEN_MAX;

/// What a filled buffer gave.
///
/// ```
/// use twolane_core::buffer::{Event, FrameBuffer};
///
/// // 64 bytes of storage: a display body of 1,024 bytes does not fit, and its sender is not made to wait.
/// let mut storage = [0; 64];
/// let mut frames = FrameBuffer::new(&mut storage).unwrap();
/// let header = *b"\0\x04\0\0\x01\x03\x04\x01\0\x09\0\0\0\0\0\0\0";
/// frames.space()[..17].copy_from_slice(&header);
/// frames.advance(17);
/// let Some(Event::Oversize(header)) = frames.take().unwrap() else { panic!("a frame that is too large") };
/// assert_eq!((header.channel(), header.body_len()), (1, 1024));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A whole frame, borrowed from the buffer until the next call.
    Frame(Frame<'a>),
    /// A legal frame that the buffer can not hold; its body is skipped.
    Oversize(Header),
}

/// A fixed buffer of the caller's, decoded in place: no copy of a body, no growth.
///
/// ```
/// use twolane_core::buffer::{Event, FrameBuffer};
/// let mut storage = [0; 64];
/// let mut frames = FrameBuffer::new(&mut storage).unwrap();
/// let wire = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
/// frames.space()[..wire.len()].copy_from_slice(&wire);
/// frames.advance(wire.len());
/// let Some(Event::Frame(frame)) = frames.take().unwrap() else { panic!("a whole ping") };
/// assert_eq!(frame.header.corr(), 5);
/// ```
#[derive(Debug)]
pub struct FrameBuffer<'b> {
    storage: &'b mut [u8],
    start: usize,
    end: usize,
    decoder: FrameDecoder,
}

/// The buffer cannot hold a header and one byte of body.
///
/// ```
/// use twolane_core::buffer::{BufferTooSmall, FrameBuffer};
///
/// assert_eq!(FrameBuffer::MIN_LEN, 22);
/// assert_eq!(FrameBuffer::new(&mut [0; 16]).unwrap_err(), BufferTooSmall { available: 16 });
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("buffer has {available} bytes, at least {} are needed", FrameBuffer::MIN_LEN)]
pub struct BufferTooSmall {
    /// Bytes of the buffer given.
    pub available: usize,
}

impl<'b> FrameBuffer<'b> {
    /// Smallest useful buffer in bytes.
    ///
    /// ```
    /// use twolane_core::buffer::FrameBuffer;
    ///
    /// assert!(FrameBuffer::new(&mut [0; FrameBuffer::MIN_LEN]).is_ok());
    /// assert!(FrameBuffer::new(&mut [0; FrameBuffer::MIN_LEN - 1]).is_err());
    /// ```
    pub const MIN_LEN: usize = HEADER_LEN_MAX + 1;

    /// Decodes within `storage`: bodies that fit beside a header are handed out, larger ones skipped.
    pub fn new(storage: &'b mut [u8]) -> Result<Self, BufferTooSmall> {
        let available = storage.len();
        if available < Self::MIN_LEN {
            return Err(BufferTooSmall { available });
        }
        let limit = u32::try_from(available - HEADER_LEN_MAX).unwrap_or(u32::MAX);
        Ok(Self { storage, start: 0, end: 0, decoder: FrameDecoder::new(limit) })
    }

    /// Where the next bytes off the socket go. Never empty after [`take`](Self::take) answered `None`.
    pub fn space(&mut self) -> &mut [u8] {
        let Self { start, end, .. } = *self;
        if 0 < start && start <= end && end <= self.storage.len() {
            self.storage.copy_within(start..end, 0);
            (self.start, self.end) = (0, end - start);
        }
        self.storage.get_mut(self.end..).unwrap_or_default()
    }

    /// Says that `count` bytes were written at the front of [`space`](Self::space); more than fit count as all.
    pub fn advance(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.storage.len());
    }

    /// The bytes that nothing was made of yet: what a handshake before the first frame looks at.
    pub fn unread(&self) -> &[u8] {
        self.storage.get(self.start..self.end).unwrap_or_default()
    }

    /// Drops `count` bytes from the front of [`unread`](Self::unread), which the decoder then never sees: those of a
    /// handshake. Bytes of frames are [`take`](Self::take)'s to drop.
    ///
    /// ```
    /// use twolane_core::buffer::{Event, FrameBuffer};
    /// use twolane_core::handshake::message::{Sighted, split};
    ///
    /// // The end of a handshake and the first frame in one segment: not a byte of the frame is lost.
    /// let mut storage = [0; 64];
    /// let mut frames = FrameBuffer::new(&mut storage).unwrap();
    /// let wire = *b"\x02\0\0\0{}\0\0\0\0\x01\x07\x02\0\0\x05\0\0\0\0\0\0\0";
    /// frames.space()[..wire.len()].copy_from_slice(&wire);
    /// frames.advance(wire.len());
    /// let Ok(Sighted::Message { consumed, .. }) = split(frames.unread()) else { panic!("a whole message") };
    /// frames.consume(consumed);
    /// assert!(matches!(frames.take(), Ok(Some(Event::Frame(_)))));
    /// assert_eq!(frames.decoder().offset(), 17);
    /// assert_eq!(frames.end(), Ok(()));
    /// ```
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// The next event, or `None` when more bytes are needed. Call until `None`.
    pub fn take(&mut self) -> Result<Option<Event<'_>>, FrameFault> {
        let unread = self.storage.get(self.start..self.end).unwrap_or_default();
        let Decoded { consumed, item } = self.decoder.decode(unread)?;
        self.start = self.start.saturating_add(consumed).min(self.end);
        Ok(match item {
            Item::Need(_) => None,
            Item::Frame(frame) => Some(Event::Frame(frame)),
            Item::Oversize(header) => Some(Event::Oversize(header)),
        })
    }

    /// The decoder's state: version, offset.
    pub const fn decoder(&self) -> &FrameDecoder {
        &self.decoder
    }

    /// Whether the stream may end here; if not, where it was cut.
    pub fn end(&self) -> Result<(), EndFault> {
        self.decoder.end(self.unread())
    }
}

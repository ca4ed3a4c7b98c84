//! A stream that is awaited: embedded-io-async 0.7, both lanes on it.
//!
//! # Cancel safety
//!
//! A future of this module may be dropped at any of its awaits, and nothing is lost, as far as the stream's own `read`
//! and `write` have no effect when they are dropped; streams of embassy-net and of most UART drivers say so. Method by
//! method:
//!
//! | method | awaits | after a drop |
//! |---|---|---|
//! | [`FrameReader::fill`] | one `read` | what was read before is in the buffer |
//! | [`LaneWriter::send`] | one `write` | what was written before is noted, a frame begun is gone on with |
//! | [`LaneWriter::flush`] | `write`s, one `flush` | the same; call it again |
//! | [`turn`] | `read` and `write` together | the one that was not ready is dropped each time, which is why the others hold |

use embassy_futures::select::{Either, select};
use embedded_io_async::{Read, Write};

use super::queue::Queue;
use super::{ReadFault, WriteFault};
use crate::buffer::{BufferTooSmall, Event, FrameBuffer};
use crate::envelope::{Header, Lane};
use crate::frame::EncodeFault;

/// Frames out of an awaited stream, by way of the caller's buffer.
///
/// ```
/// use embassy_futures::block_on;
/// use twolane_core::buffer::Event;
/// use twolane_core::stream::asynchronous::FrameReader;
///
/// let ping = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
/// let mut storage = [0; 64];
/// let mut reader = FrameReader::new(&ping[..], &mut storage).unwrap();
/// assert!(reader.buffer().unread().is_empty());
/// assert_eq!(block_on(reader.fill()), Ok(true));
/// assert!(matches!(reader.take(), Ok(Some(Event::Frame(frame))) if frame.header.corr() == 5));
/// assert_eq!(block_on(reader.fill()), Ok(false), "the end, between two frames");
/// ```
#[derive(Debug)]
pub struct FrameReader<'b, R> {
    source: R,
    frames: FrameBuffer<'b>,
}

impl<'b, R: Read> FrameReader<'b, R> {
    /// Reads `source` into `storage`, which bounds the bodies that are handed out.
    pub fn new(source: R, storage: &'b mut [u8]) -> Result<Self, BufferTooSmall> {
        Ok(Self { source, frames: FrameBuffer::new(storage)? })
    }

    /// Reads once. `false`: the stream has ended, between two frames. Call [`take`](Self::take) until `None` first.
    pub async fn fill(&mut self) -> Result<bool, ReadFault<R::Error>> {
        match self.source.read(self.frames.space()).await.map_err(ReadFault::Stream)? {
            0 => self.frames.end().map(|()| false).map_err(ReadFault::End),
            count => {
                self.frames.advance(count);
                Ok(true)
            }
        }
    }

    /// The next event of what was read, `None` when more has to be. It does not wait.
    pub fn take(&mut self) -> Result<Option<Event<'_>>, ReadFault<R::Error>> {
        self.frames.take().map_err(ReadFault::Frame)
    }

    /// The buffer, for a handshake that precedes the first frame.
    pub const fn buffer(&mut self) -> &mut FrameBuffer<'b> {
        &mut self.frames
    }
}

/// Frames of both lanes into an awaited stream: control overtakes display between any two frames.
///
/// ```
/// use embassy_futures::block_on;
/// use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
/// use twolane_core::stream::asynchronous::LaneWriter;
///
/// let parts = Parts {
///     version: Version::V1,
///     frame_type: FrameType::StreamData,
///     flags: Flags::display(Version::V1),
///     channel: 1,
///     epoch: 0,
///     corr: 9,
///     len: 2,
/// };
/// let display = Header::new(parts).unwrap();
/// let control = Header::new(Parts { flags: Flags::CONTROL, ..parts }).unwrap();
///
/// let (mut control_queue, mut display_queue, mut sent) = ([0; 64], [0; 64], [0; 57]);
/// let mut writer = LaneWriter::new(&mut sent[..], &mut control_queue, &mut display_queue).unwrap();
/// writer.push(&display, b"{}").unwrap();
/// writer.push(&display, b"{}").unwrap();
/// block_on(writer.send()).unwrap();
/// // Control came later than the second display frame and overtakes it.
/// writer.push(&control, b"[]").unwrap();
/// block_on(writer.flush()).unwrap();
/// assert!(writer.is_empty());
/// assert_eq!([&sent[17..19], &sent[36..38], &sent[55..57]], [b"{}", b"[]", b"{}"]);
/// ```
#[derive(Debug)]
pub struct LaneWriter<'b, W> {
    sink: W,
    control: Queue<'b>,
    display: Queue<'b>,
}

impl<'b, W: Write> LaneWriter<'b, W> {
    /// Queues up to `control` and `display` bytes of encoded frames; each has to hold a header.
    pub fn new(sink: W, control: &'b mut [u8], display: &'b mut [u8]) -> Result<Self, BufferTooSmall> {
        Ok(Self { sink, control: Queue::new(control)?, display: Queue::new(display)? })
    }

    /// Queues a frame on the lane of its header; what has no lane, a pong or goodbye, goes with control. It does not
    /// wait: where the lane is full it says [`EncodeFault::BufferTooSmall`] and nothing is queued. A display frame that
    /// is not queued has to be accounted for by a gap.
    pub fn push(&mut self, header: &Header, body: &[u8]) -> Result<(), EncodeFault> {
        match header.lane() {
            Ok(Lane::Display) => self.display.push(header, body),
            _ => self.control.push(header, body),
        }
    }

    /// Whether all was sent that was queued.
    pub const fn is_empty(&self) -> bool {
        self.control.is_empty() && self.display.is_empty()
    }

    /// Writes once: the rest of a frame that was begun, else all control that waits, else one display frame.
    pub async fn send(&mut self) -> Result<(), WriteFault<W::Error>> {
        let display = self.display.is_begun() || self.control.is_empty();
        let queue = if display { &mut self.display } else { &mut self.control };
        let bytes = queue.front(!display);
        if bytes.is_empty() {
            return Ok(());
        }
        match self.sink.write(bytes).await.map_err(WriteFault::Stream)? {
            0 => Err(WriteFault::Closed),
            count => {
                queue.sent(count);
                Ok(())
            }
        }
    }

    /// Sends all that is queued, and flushes the stream.
    pub async fn flush(&mut self) -> Result<(), WriteFault<W::Error>> {
        while !self.is_empty() {
            self.send().await?;
        }
        self.sink.flush().await.map_err(WriteFault::Stream)
    }
}

/// What came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Bytes were read: take the frames. `false`: the stream has ended.
    Read(bool),
    /// Bytes were written.
    Written,
}

/// Why a turn failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnFault<R, W> {
    /// On the way in.
    #[error("reading: {0}")]
    Read(ReadFault<R>),
    /// On the way out.
    #[error("writing: {0}")]
    Write(WriteFault<W>),
}

/// Reads or writes, whichever the stream is ready for first; only reads where nothing is queued.
///
/// ```
/// use embassy_futures::block_on;
/// use twolane_core::stream::asynchronous::{FrameReader, LaneWriter, Turn, TurnFault, turn};
/// use twolane_core::stream::ReadFault;
///
/// // Nothing is queued to send, and the stream ends inside a frame.
/// let (mut storage, mut control, mut display) = ([0; 64], [0; 64], [0; 64]);
/// let mut reader = FrameReader::new(&[0, 0, 0][..], &mut storage).unwrap();
/// let mut sink = [0; 64];
/// let mut writer = LaneWriter::new(&mut sink[..], &mut control, &mut display).unwrap();
/// assert_eq!(block_on(turn(&mut reader, &mut writer)), Ok(Turn::Read(true)));
/// let ended = block_on(turn(&mut reader, &mut writer));
/// assert!(matches!(ended, Err(TurnFault::Read(ReadFault::End(_)))));
/// ```
pub async fn turn<R: Read, W: Write>(
    reader: &mut FrameReader<'_, R>,
    writer: &mut LaneWriter<'_, W>,
) -> Result<Turn, TurnFault<R::Error, W::Error>> {
    if writer.is_empty() {
        return reader.fill().await.map(Turn::Read).map_err(TurnFault::Read);
    }
    match select(reader.fill(), writer.send()).await {
        Either::First(read) => read.map(Turn::Read).map_err(TurnFault::Read),
        Either::Second(written) => written.map(|()| Turn::Written).map_err(TurnFault::Write),
    }
}

//! A stream that blocks: embedded-io 0.7.

use embedded_io::{Read, Write};

use super::{ReadFault, WriteFault};
use crate::buffer::{BufferTooSmall, Event, FrameBuffer};
use crate::envelope::Header;
use crate::frame::check_frame;

/// Frames out of a blocking stream, by way of the caller's buffer.
///
/// ```
/// use twolane_core::buffer::Event;
/// use twolane_core::envelope::FrameType;
/// use twolane_core::stream::ReadFault;
/// use twolane_core::stream::blocking::FrameReader;
///
/// // A Ping and the front of another; any `embedded_io::Read` will do, a byte slice is one.
/// let wire = [[0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]; 2].concat();
/// let mut storage = [0; 64];
/// let mut reader = FrameReader::new(&wire[..20], &mut storage).unwrap();
/// assert!(reader.buffer().unread().is_empty());
/// assert_eq!(reader.fill(), Ok(true));
/// let Ok(Some(Event::Frame(frame))) = reader.take() else { panic!("a whole frame") };
/// assert_eq!(frame.header.frame_type(), FrameType::Ping);
/// assert_eq!(reader.take(), Ok(None));
/// // The stream ended inside a frame.
/// assert!(matches!(reader.fill(), Err(ReadFault::End(end)) if end.actual == 3));
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
    pub fn fill(&mut self) -> Result<bool, ReadFault<R::Error>> {
        match self.source.read(self.frames.space()).map_err(ReadFault::Stream)? {
            0 => self.frames.end().map(|()| false).map_err(ReadFault::End),
            count => {
                self.frames.advance(count);
                Ok(true)
            }
        }
    }

    /// The next event of what was read, `None` when more has to be.
    pub fn take(&mut self) -> Result<Option<Event<'_>>, ReadFault<R::Error>> {
        self.frames.take().map_err(ReadFault::Frame)
    }

    /// The buffer, for a handshake that precedes the first frame.
    pub const fn buffer(&mut self) -> &mut FrameBuffer<'b> {
        &mut self.frames
    }
}

/// Writes one frame, all of it. What a reader would refuse is refused before its first byte.
///
/// ```
/// use twolane_core::envelope::{Peeked, peek};
/// use twolane_core::frame::EncodeFault;
/// use twolane_core::stream::WriteFault;
/// use twolane_core::stream::blocking::write_frame;
///
/// let wire = *b"\x02\0\0\0\x01\x03\x04\x01\0\x09\0\0\0\0\0\0\0{}";
/// let Ok(Peeked::Header(header)) = peek(&wire) else { panic!("a whole header") };
/// // Any `embedded_io::Write` will do; the front of a byte slice is one.
/// let mut sent = [0; 19];
/// write_frame(&mut &mut sent[..], &header, b"{}").unwrap();
/// assert_eq!(sent, wire);
/// // A body of another length is refused before the first byte.
/// let fault = EncodeFault::LengthMismatch { announced: 2, actual: 0 };
/// assert_eq!(write_frame(&mut &mut sent[..], &header, b""), Err(WriteFault::Encode(fault)));
/// ```
pub fn write_frame<W: Write>(sink: &mut W, header: &Header, body: &[u8]) -> Result<(), WriteFault<W::Error>> {
    check_frame(header, body).map_err(WriteFault::Encode)?;
    for part in [&*header.encode(), body] {
        let mut rest = part;
        while !rest.is_empty() {
            match sink.write(rest).map_err(WriteFault::Stream)? {
                0 => return Err(WriteFault::Closed),
                count => rest = rest.get(count..).unwrap_or_default(),
            }
        }
    }
    Ok(())
}

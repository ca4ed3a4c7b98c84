//! A stream that blocks: embedded-io 0.7.

use embedded_io::{Read, Write};

use super::{ReadFault, WriteFault};
use crate::buffer::{BufferTooSmall, Event, FrameBuffer};
use crate::envelope::Header;
use crate::frame::check_frame;

/// Frames out of a blocking stream, by way of the caller's buffer.
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

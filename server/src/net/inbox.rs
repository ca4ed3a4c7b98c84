//! Unread bytes of one connection, and the frames in them.

use std::io;

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use twolane_core::envelope::{Header, Version};
use twolane_core::frame::{Decoded, EndFault, FrameDecoder, FrameFault, Item};

/// Free space kept for a read. The buffer grows with what arrived, never with what a header announces.
const READ_BYTES: usize = 64 * 1024;

/// A frame taken out of an [`Inbox`], with its bytes as they came.
#[derive(Debug)]
pub struct Taken {
    /// The header.
    pub header: Header,
    /// Header and body.
    pub bytes: BytesMut,
}

impl Taken {
    /// The body.
    pub fn body(&self) -> &[u8] {
        self.bytes.get(self.header.version().header_len()..).unwrap_or_default()
    }
}

/// What was found at the front of the unread bytes.
#[derive(Debug)]
pub enum Found {
    /// A whole frame.
    Frame(Taken),
    /// A frame over the limit; its body is skipped without being kept.
    Oversize(Header),
}

/// A growing buffer and a decoder over it.
#[derive(Debug)]
pub struct Inbox {
    unread: BytesMut,
    decoder: FrameDecoder,
}

impl Inbox {
    /// Begins with what was read behind the handshake.
    pub fn new(unread: BytesMut, body_limit: u32) -> Self {
        Self { unread, decoder: FrameDecoder::new(body_limit) }
    }

    /// The same, refusing any version but `version`.
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.decoder = self.decoder.with_version(version);
        self
    }

    /// Reads once. 0 is the end of the stream. Dropping the future loses nothing.
    pub async fn read(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<usize> {
        self.unread.reserve(READ_BYTES);
        stream.read_buf(&mut self.unread).await
    }

    /// Reads once and forgets what was read and what was unread. 0 is the end of the stream.
    pub async fn discard(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<usize> {
        self.unread.clear();
        self.read(stream).await
    }

    /// The next frame, or `None` when more bytes are needed. Call until `None` before reading again.
    pub fn take(&mut self) -> Result<Option<Found>, FrameFault> {
        let Decoded { consumed, item } = self.decoder.decode(&self.unread)?;
        let header = match item {
            Item::Need(_) => {
                self.unread.advance(consumed);
                return Ok(None);
            }
            Item::Oversize(header) => {
                self.unread.advance(consumed);
                return Ok(Some(Found::Oversize(header)));
            }
            Item::Frame(frame) => frame.header,
        };
        // A frame may follow the skipped end of an oversize body: it is the last part of what is consumed.
        let len = header.version().header_len() + header.body_len() as usize;
        self.unread.advance(consumed.saturating_sub(len));
        let bytes = self.unread.split_to(len.min(self.unread.len()));
        Ok(Some(Found::Frame(Taken { header, bytes })))
    }

    /// The bytes that were read and not taken.
    pub fn unread(&self) -> &[u8] {
        &self.unread
    }

    /// Offset of the first unread byte after the handshake.
    pub const fn offset(&self) -> u64 {
        self.decoder.offset()
    }

    /// The version of the first frame.
    pub const fn version(&self) -> Option<Version> {
        self.decoder.version()
    }

    /// Whether the stream may end here; if not, where it was cut.
    pub fn end(&self) -> Result<(), EndFault> {
        self.decoder.end(&self.unread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: [u8; 17] = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];

    fn stream_data(len: usize) -> Vec<u8> {
        let mut frame = vec![0; 17 + len];
        frame[..4].copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
        frame[4..7].copy_from_slice(&[1, 3, 2]);
        frame
    }

    #[tokio::test]
    async fn a_frame_read_behind_the_handshake_is_not_lost() {
        let mut inbox = Inbox::new(BytesMut::from(&PING[..9]), 100);
        assert!(inbox.take().unwrap().is_none());
        let mut rest: &[u8] = &PING[9..];
        assert_eq!(inbox.read(&mut rest).await.unwrap(), 8);
        let Some(Found::Frame(ping)) = inbox.take().unwrap() else { panic!("a frame") };
        assert_eq!((ping.header.corr(), &ping.bytes[..]), (5, &PING[..]));
        assert!(inbox.end().is_ok());
    }

    #[tokio::test]
    async fn an_announced_body_costs_nothing_before_it_arrives() {
        let mut head: &[u8] = &stream_data(60_000_000)[..17];
        let mut inbox = Inbox::new(BytesMut::new(), 64 << 20);
        inbox.read(&mut head).await.unwrap();
        assert!(inbox.take().unwrap().is_none());
        inbox.unread.reserve(READ_BYTES);
        assert!(inbox.unread.capacity() < 4 * READ_BYTES);
    }

    #[tokio::test]
    async fn the_frame_behind_an_oversize_one_is_found_whole() {
        let mut wire = stream_data(500);
        wire.extend_from_slice(&PING);
        let mut inbox = Inbox::new(BytesMut::from(&wire[..]), 100);
        assert!(matches!(inbox.take(), Ok(Some(Found::Oversize(_)))));
        let Some(Found::Frame(ping)) = inbox.take().unwrap() else { panic!("a frame") };
        assert_eq!(&ping.bytes[..], &PING[..]);
        assert_eq!(inbox.offset(), wire.len() as u64);
    }
}

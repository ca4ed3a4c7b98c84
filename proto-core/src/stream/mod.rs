//! Frames over the streams of machines without a system, a feature for each version of their traits.
//!
//! All progress lies in the reader and the writer, none in a future: see [`asynchronous`] for what that is worth.

#[cfg(feature = "embedded-io-async-07")]
pub mod asynchronous;
pub mod blocking;
#[cfg(feature = "embedded-io-async-07")]
mod queue;

use crate::frame::{EncodeFault, EndFault, FrameFault};

/// Why no more frames come.
///
/// ```
/// use twolane_core::stream::blocking::FrameReader;
/// use twolane_core::stream::ReadFault;
///
/// // A peer of some version 9.
/// let mut storage = [0; 64];
/// let mut reader = FrameReader::new(&[0, 0, 0, 0, 9][..], &mut storage).unwrap();
/// reader.fill().unwrap();
/// assert!(matches!(reader.take(), Err(ReadFault::Frame(fault)) if fault.offset == 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadFault<E> {
    /// The stream failed.
    #[error("the stream failed")]
    Stream(E),
    /// The peer broke a rule.
    #[error(transparent)]
    Frame(FrameFault),
    /// The stream ended inside a frame.
    #[error(transparent)]
    End(EndFault),
}

/// Why a frame was not sent.
///
/// ```
/// use twolane_core::envelope::{Peeked, peek};
/// use twolane_core::stream::WriteFault;
/// use twolane_core::stream::blocking::write_frame;
///
/// let wire = *b"\x02\0\0\0\x01\x03\x04\x01\0\x09\0\0\0\0\0\0\0{}";
/// let Ok(Peeked::Header(header)) = peek(&wire) else { panic!("a whole header") };
/// // The sink has room for the header alone.
/// let mut sent = [0; 17];
/// assert!(matches!(write_frame(&mut &mut sent[..], &header, b"{}"), Err(WriteFault::Stream(_))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteFault<E> {
    /// The stream failed. Part of a frame may be on its way, so that the connection is over.
    #[error("the stream failed")]
    Stream(E),
    /// The stream takes no more bytes. The connection is over.
    #[error("the stream takes no more bytes")]
    Closed,
    /// No reader would accept the frame; nothing of it was sent.
    #[error(transparent)]
    Encode(EncodeFault),
}

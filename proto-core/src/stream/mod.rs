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

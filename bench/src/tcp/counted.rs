//! Reads of a socket, counted.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

/// Counts what the socket gave at once; that there is nothing yet is known without a call after a read in part.
pub(super) struct Counted {
    stream: TcpStream,
    reads: u64,
}

impl Counted {
    pub(super) const fn new(stream: TcpStream) -> Self {
        Self { stream, reads: 0 }
    }

    pub(super) const fn reads(&self) -> u64 {
        self.reads
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.reads += u64::from(read.is_ready());
        read
    }
}

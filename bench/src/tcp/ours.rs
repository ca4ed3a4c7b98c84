//! Our side as a connection runs it: control frames through lanes and writer, an inbox at the other end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;
use twolane::net::inbox::{Found, Inbox};
use twolane::net::lanes::Lanes;
use twolane::net::writer::{Pace, write};
use twolane_core::envelope::Version;
use twolane_core::lanes::outbox::Budget;

use crate::traffic::place;

/// Bytes of a body around the padding of its payload, about.
const AROUND_BYTES: usize = 100;

/// Bytes that arrived, the time, and the reads of the socket.
pub(super) async fn frames(
    reader: TcpStream,
    writer: TcpStream,
    frames: usize,
    body: usize,
) -> (u64, Duration, u64) {
    let lanes = Lanes::new(Version::V1, Budget::default());
    let writing = {
        let lanes = lanes.clone();
        tokio::spawn(async move {
            let (_read, mut write_half) = writer.into_split();
            write(&lanes, &mut write_half, Pace::default(), |_| {}).await
        })
    };
    let padding = "x".repeat(body.saturating_sub(AROUND_BYTES));
    let payload = format!("{{\"type\":\"step_started\",\"x\":\"{padding}\"}}");
    let started = Instant::now();
    let producing = tokio::spawn(async move {
        for _ in 0..frames {
            lanes.control(place(), payload.as_bytes(), false).await.expect("lanes that are open");
        }
        lanes.close(false);
    });
    let (bytes, reads) = read(reader).await;
    let took = started.elapsed();
    producing.await.expect("a producer");
    writing.await.expect("a writer");
    (bytes, took, reads)
}

async fn read(reader: TcpStream) -> (u64, u64) {
    let mut reader = Counted { stream: reader, reads: 0 };
    let mut inbox = Inbox::new(BytesMut::new(), u32::MAX);
    let mut bytes = 0;
    loop {
        while let Some(found) = inbox.take().expect("frames") {
            let Found::Frame(frame) = found else { panic!("a frame over the limit") };
            bytes += frame.bytes.len() as u64;
        }
        if inbox.read(&mut reader).await.expect("a socket that works") == 0 {
            return (bytes, reader.reads);
        }
    }
}

/// Counts what is asked of the socket; an answer of "not yet" may cost a call or none and counts as one.
struct Counted {
    stream: TcpStream,
    reads: u64,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.reads += 1;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

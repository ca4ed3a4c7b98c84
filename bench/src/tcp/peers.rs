//! The bare loop and the peers: a task that writes, a task that reads.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt as _};
use subc_protocol_v2::{Flags, Frame, FrameType, Priority};
use subc_transport::{read_frame, write_frame};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter};
use tokio::net::TcpStream;
use tokio_util::codec::{FramedRead, FramedWrite, LengthDelimitedCodec};

use super::counted::Counted;
use super::{CHUNK_BYTES, READ_BYTES};

/// Writes and reads `total` bytes and looks at none of them.
pub(super) async fn bare(reader: TcpStream, mut writer: TcpStream, total: usize) -> (u64, Duration, u64) {
    let started = Instant::now();
    let writing = tokio::spawn(async move {
        let chunk = vec![0; CHUNK_BYTES];
        let mut left = total;
        while left > 0 {
            let part = &chunk[..left.min(CHUNK_BYTES)];
            writer.write_all(part).await.expect("a socket that works");
            left -= part.len();
        }
    });
    let mut reader = Counted::new(reader);
    let (mut chunk, mut bytes) = (vec![0; READ_BYTES], 0);
    loop {
        match reader.read(&mut chunk).await.expect("a socket that works") {
            0 => break,
            read => bytes += read as u64,
        }
    }
    let took = started.elapsed();
    writing.await.expect("a writer");
    (bytes, took, reader.reads())
}

pub(super) async fn subc(
    reader: TcpStream,
    writer: TcpStream,
    frames: usize,
    body: usize,
) -> (u64, Duration, u64) {
    subc_over(reader, writer, frames, body).await
}

pub(super) async fn subc_buffered(
    reader: TcpStream,
    writer: TcpStream,
    frames: usize,
    body: usize,
) -> (u64, Duration, u64) {
    let reader = BufReader::with_capacity(CHUNK_BYTES, reader);
    subc_over(reader, BufWriter::with_capacity(CHUNK_BYTES, writer), frames, body).await
}

async fn subc_over(
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin + Send + 'static,
    frames: usize,
    body: usize,
) -> (u64, Duration, u64) {
    let flags = Flags::new(false, Priority::Interactive, false);
    let frame = Frame::build(FrameType::StreamData, flags, 1, 0, 1, vec![b'x'; body]).expect("a legal frame");
    let started = Instant::now();
    let writing = tokio::spawn(async move {
        for _ in 0..frames {
            write_frame(&mut writer, &frame).await.expect("a socket that works");
        }
        writer.shutdown().await.expect("a socket that works");
    });
    let mut bytes = 0;
    while let Some(frame) = read_frame(&mut reader).await.expect("frames") {
        bytes += frame.body.len() as u64 + 21;
    }
    let took = started.elapsed();
    writing.await.expect("a writer");
    (bytes, took, 0)
}

pub(super) async fn codec(
    reader: TcpStream,
    writer: TcpStream,
    frames: usize,
    body: usize,
) -> (u64, Duration, u64) {
    let mut reader = FramedRead::with_capacity(reader, LengthDelimitedCodec::new(), CHUNK_BYTES);
    let mut writer = FramedWrite::new(writer, LengthDelimitedCodec::new());
    writer.set_backpressure_boundary(CHUNK_BYTES);
    let started = Instant::now();
    let writing = tokio::spawn(async move {
        let body = Bytes::from(vec![b'x'; body]);
        for _ in 0..frames {
            writer.feed(body.clone()).await.expect("a socket that works");
        }
        SinkExt::<Bytes>::close(&mut writer).await.expect("a socket that works");
    });
    let mut bytes = 0;
    while let Some(frame) = reader.next().await {
        bytes += frame.expect("a frame").len() as u64 + 4;
    }
    let took = started.elapsed();
    writing.await.expect("a writer");
    (bytes, took, 0)
}

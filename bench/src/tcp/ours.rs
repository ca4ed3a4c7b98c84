//! Our framing as a program uses it by itself, and as a connection runs it: lanes and writer, an inbox at the other end.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use twolane::net::inbox::{Found, Inbox};
use twolane::net::lanes::Lanes;
use twolane::net::writer::{Pace, write};
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
use twolane_core::frame::encode_frame;
use twolane_core::lanes::outbox::Budget;

use super::CHUNK_BYTES;
use super::counted::Counted;
use crate::traffic::place;

/// Frames of any bodies, encoded one behind the other into chunks. Bytes that arrived, the time, and the reads.
pub(super) async fn frames(
    reader: TcpStream,
    mut writer: TcpStream,
    frames: usize,
    body: usize,
) -> (u64, Duration, u64) {
    let started = Instant::now();
    let writing = tokio::spawn(async move {
        let body = vec![b'x'; body];
        let mut chunk = vec![0; CHUNK_BYTES + body.len() + Version::V1.header_len()];
        let mut filled = 0;
        for corr in 1..=frames {
            let header = Header::new(Parts {
                version: Version::V1,
                frame_type: FrameType::StreamData,
                flags: Flags::CONTROL,
                channel: 1,
                epoch: 0,
                corr: corr as u64,
                len: body.len() as u32,
            });
            filled +=
                encode_frame(&header.expect("a legal header"), &body, &mut chunk[filled..]).expect("room");
            if filled >= CHUNK_BYTES || corr == frames {
                writer.write_all(&chunk[..filled]).await.expect("a socket that works");
                filled = 0;
            }
        }
    });
    let (bytes, reads) = read(reader).await;
    let took = started.elapsed();
    writing.await.expect("a writer");
    (bytes, took, reads)
}

/// Payloads of `payload` bytes of control through lanes and writer. The same figures.
pub(super) async fn lanes(
    reader: TcpStream,
    writer: TcpStream,
    frames: usize,
    payload: usize,
) -> (u64, Duration, u64) {
    let lanes = Lanes::new(Version::V1, Budget::default());
    let writing = {
        let lanes = lanes.clone();
        tokio::spawn(async move {
            let (_read, mut write_half) = writer.into_split();
            write(&lanes, &mut write_half, Pace::default(), |_| {}).await
        })
    };
    let around = "{\"type\":\"step_started\",\"x\":\"\"}";
    let padding = "x".repeat(payload.saturating_sub(around.len()));
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
    let mut reader = Counted::new(reader);
    let mut inbox = Inbox::new(BytesMut::new(), u32::MAX);
    let mut bytes = 0;
    loop {
        while let Some(found) = inbox.take().expect("frames") {
            let Found::Frame(frame) = found else { panic!("a frame over the limit") };
            bytes += frame.bytes.len() as u64;
        }
        if inbox.read(&mut reader).await.expect("a socket that works") == 0 {
            return (bytes, reader.reads());
        }
    }
}

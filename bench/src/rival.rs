//! What most programs do: one queue, first in, first out, and one write a frame.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{MissedTickBehavior, interval};
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};

use crate::traffic::{CONTROL_EVERY, control, deltas};

/// Frames that wait.
const QUEUE_FRAMES: usize = 256;

/// Floods display and sends control through one queue for `time`, then LAST.
pub(crate) async fn send(mut stream: TcpStream, time: Duration, base: Instant) {
    let (queue, mut frames) = channel::<Vec<u8>>(QUEUE_FRAMES);
    let writer = tokio::spawn(async move {
        while let Some(frame) = frames.recv().await {
            stream.write_all(&frame).await.expect("a socket that works");
        }
        stream
    });
    let end = Instant::now() + time;
    let flood = tokio::spawn(flood(queue.clone(), end));
    let mut ticks = interval(CONTROL_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seq = 0;
    while Instant::now() < end {
        ticks.tick().await;
        let frame = frame(Flags::CONTROL, seq, &control(base));
        queue.send(frame).await.expect("a writer");
        seq += 1;
    }
    flood.await.expect("a flood");
    queue.send(frame(Flags::CONTROL_LAST, seq, b"{\"type\":\"finished\"}")).await.expect("a writer");
    drop(queue);
    drop(writer.await);
}

async fn flood(queue: Sender<Vec<u8>>, end: Instant) {
    let deltas = deltas();
    for (seq, delta) in deltas.iter().cycle().enumerate() {
        if Instant::now() >= end {
            return;
        }
        queue.send(frame(Flags::display(Version::V1), seq as u64, delta)).await.expect("a writer");
    }
}

fn frame(flags: Flags, seq: u64, payload: &[u8]) -> Vec<u8> {
    let mut body =
        format!("{{\"version\":1,\"run_id\":\"run\",\"step_id\":1,\"seq\":{seq},\"payload\":").into_bytes();
    body.extend_from_slice(payload);
    body.push(b'}');
    let header = Header::new(Parts {
        version: Version::V1,
        frame_type: FrameType::StreamData,
        flags,
        channel: 1,
        epoch: 0,
        corr: 1,
        len: body.len() as u32,
    });
    let mut frame = header.expect("a legal header").encode().to_vec();
    frame.append(&mut body);
    frame
}

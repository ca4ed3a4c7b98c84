//! The reading end: takes bytes at a pace, holds every frame against the law, times control.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::sleep_until;
use twolane::net::inbox::{Found, Inbox};
use twolane_core::body::{Body, DisplayEvent};
use twolane_core::envelope::Lane;
use twolane_core::lanes::law::{Law, Verdict};

use crate::traffic::sent;

/// Bytes of one read: a paced reader takes little and often.
const READ_BYTES: u64 = 16 * 1024;

/// What a reader saw.
pub(crate) struct Seen {
    /// Of each control frame, from before it was queued until it was decoded.
    pub(crate) times: Vec<Duration>,
    /// Control frames, the LAST among them.
    pub(crate) control: u64,
    /// Display frames that are no gaps.
    pub(crate) display: u64,
    /// What the gaps account for.
    pub(crate) dropped: u64,
    /// Bytes of display and gaps.
    pub(crate) display_bytes: u64,
    /// From the first read until LAST.
    pub(crate) took: Duration,
}

/// Reads until LAST, `pace` bytes a second; as fast as it goes where `None`. Frames that break the law end the bench.
pub(crate) async fn read(mut stream: TcpStream, pace: Option<f64>, base: Instant) -> Seen {
    let mut inbox = Inbox::new(BytesMut::new(), u32::MAX);
    let (mut control, mut display) = (Law::from_start(Lane::Control), Law::from_start(Lane::Display));
    let mut seen = Seen {
        times: Vec::new(),
        control: 0,
        display: 0,
        dropped: 0,
        display_bytes: 0,
        took: Duration::ZERO,
    };
    let started = Instant::now();
    let mut bytes = 0;
    loop {
        let read = inbox.read(&mut (&mut stream).take(READ_BYTES)).await.expect("a socket that works");
        assert_ne!(read, 0, "the writer ended without LAST");
        bytes += read;
        while let Some(found) = inbox.take().expect("frames") {
            let Found::Frame(frame) = found else { panic!("a frame over the limit") };
            let body = Body::parse(frame.body()).expect("a body");
            let verdict = if frame.header.lane() == Ok(Lane::Control) {
                seen.control += 1;
                let sent = sent(body.payload.raw());
                seen.times.extend(sent.map(|sent| base.elapsed().saturating_sub(sent)));
                control.check(body.seq, None)
            } else {
                seen.display_bytes += frame.bytes.len() as u64;
                match DisplayEvent::read(&body.payload).expect("a display event") {
                    DisplayEvent::DisplayGap { dropped } => {
                        seen.dropped += dropped;
                        display.check(body.seq, Some(dropped))
                    }
                    _ => {
                        seen.display += 1;
                        display.check(body.seq, None)
                    }
                }
            };
            assert_eq!(verdict, Verdict::Kept);
            if frame.header.flags().is_last() {
                seen.took = started.elapsed();
                return seen;
            }
        }
        if let Some(pace) = pace {
            sleep_until((started + Duration::from_secs_f64(bytes as f64 / pace)).into()).await;
        }
    }
}

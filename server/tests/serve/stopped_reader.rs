//! A reader that stops: what waits for it is bounded, and what it gets afterwards is complete or accounted for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use twolane::net::inbox::{Found, Inbox};
use twolane::net::lanes::{ANSWERS_BYTES_MAX, Lanes};
use twolane::net::socket::{Tuning, connect, listen, tune};
use twolane::net::writer::{Pace, WriteEnd, write};
use twolane_core::body::{Body, DisplayEvent};
use twolane_core::envelope::{Flags, Generation, Lane, Version};
use twolane_core::lanes::law::{Law, Verdict};
use twolane_core::lanes::outbox::{Budget, Place};

use crate::bench::{BOUND, bounded, eventually};

const BUDGET: Budget =
    Budget { control_bytes: 1024 * 1024, display_bytes: 128 * 1024, display_entries: 1024 };

/// More than the queue and the kernel hold together, so that the producer has to wait.
const CONTROL_FRAMES: u64 = 1500;

const FRAME_BYTES: usize = 4096;

/// Where both versions have the flags.
const FLAGS_AT: usize = 6;

fn place() -> Place<'static> {
    Place { generation: Generation { epoch: 0, channel: 1 }, corr: 1, run_id: "run", step_id: 1 }
}

/// The reader's end of a connection, and the writer of the other, which counts the control frames it takes.
async fn connection(lanes: &Lanes, control: &Arc<AtomicU64>) -> (TcpStream, JoinHandle<WriteEnd>) {
    let tuning = Tuning::default();
    let listener = listen("127.0.0.1:0".parse().unwrap(), tuning).unwrap();
    let reader = connect(listener.local_addr().unwrap(), tuning, BOUND).await.unwrap();
    let (socket, _) = listener.accept().await.unwrap();
    tune(&socket, tuning).unwrap();
    let (lanes, control) = (lanes.clone(), Arc::clone(control));
    let writer = tokio::spawn(async move {
        let (_read, mut write_half) = socket.into_split();
        let pace = Pace { stall: Duration::from_secs(3600), ..Pace::default() };
        let count = |frame: &[u8]| {
            if frame.get(FLAGS_AT).is_some_and(|flags| flags & Flags::CONTROL.bits() != 0) {
                control.fetch_add(1, Ordering::Relaxed);
            }
        };
        write(&lanes, &mut write_half, pace, count).await
    });
    (reader, writer)
}

async fn produce_control(lanes: Lanes) {
    let payload = format!("{{\"type\":\"step_started\",\"x\":\"{}\"}}", "c".repeat(FRAME_BYTES));
    for _ in 1..CONTROL_FRAMES {
        lanes.control(place(), payload.as_bytes(), false).await.unwrap();
    }
    lanes.control(place(), b"{\"type\":\"finished\"}", true).await.unwrap();
}

/// Queues a delta that joins no other.
fn push_display(lanes: &Lanes, at: u64) {
    let (id, text) = (at % 2, "d".repeat(FRAME_BYTES));
    let delta = format!("{{\"type\":\"text_delta\",\"message_id\":\"m{id}\",\"delta\":\"{text}\"}}");
    lanes.display(place(), delta.as_bytes()).unwrap();
}

/// Floods both lanes until neither takes more, checking the bound at each step; the display frames queued.
async fn flood(lanes: &Lanes) -> u64 {
    let both_full = BUDGET.control_bytes + BUDGET.display_bytes - 4 * FRAME_BYTES;
    let mut pushed = 0;
    while lanes.queued_bytes() < both_full || lanes.shed_total() < 500 {
        push_display(lanes, pushed);
        pushed += 1;
        let queued = lanes.queued_bytes();
        assert!(queued <= BUDGET.control_bytes + BUDGET.display_bytes + ANSWERS_BYTES_MAX, "{queued} bytes");
        tokio::task::yield_now().await;
    }
    pushed
}

#[derive(Default)]
struct Read {
    control: u64,
    display: u64,
    dropped: u64,
}

/// Reads up to LAST, holding every frame against the law.
async fn read_all(reader: &mut TcpStream, unread: BytesMut) -> Read {
    let mut inbox = Inbox::new(unread, u32::MAX);
    let (mut control_law, mut display_law) = (Law::from_start(Lane::Control), Law::from_start(Lane::Display));
    let mut read = Read::default();
    loop {
        let Some(found) = inbox.take().unwrap() else {
            assert_ne!(bounded(inbox.read(reader)).await.unwrap(), 0);
            continue;
        };
        let Found::Frame(frame) = found else { panic!("a frame") };
        let body = Body::parse(frame.body()).unwrap();
        let verdict = if frame.header.lane() == Ok(Lane::Control) {
            read.control += 1;
            control_law.check(body.seq, None)
        } else if let DisplayEvent::DisplayGap { dropped } = DisplayEvent::read(&body.payload).unwrap() {
            read.dropped += dropped;
            display_law.check(body.seq, Some(dropped))
        } else {
            read.display += 1;
            display_law.check(body.seq, None)
        };
        assert_eq!(verdict, Verdict::Kept);
        if frame.header.flags().is_last() {
            return read;
        }
    }
}

#[tokio::test]
async fn all_control_arrives_in_order_and_every_loss_is_accounted_for() {
    for version in [Version::V1, Version::V2] {
        let lanes = Lanes::new(version, BUDGET);
        let (mut reader, writer) = connection(&lanes, &Arc::default()).await;
        let producer = tokio::spawn(produce_control(lanes.clone()));
        let pushed = bounded(flood(&lanes)).await;
        assert!(!producer.is_finished());
        let read = read_all(&mut reader, BytesMut::new()).await;
        bounded(producer).await.unwrap();
        assert_eq!(read.control, CONTROL_FRAMES);
        assert_eq!((read.display + read.dropped, read.dropped), (pushed, lanes.shed_total()));
        assert_eq!(lanes.queued_bytes(), 0);
        writer.abort();
    }
}

/// Floods display until it is shed, reads some of it and stops again: the writer is left between two frames, waiting
/// for room. What was read, and how many frames were queued.
async fn stick(lanes: &Lanes, reader: &mut TcpStream) -> (BytesMut, u64) {
    let mut unread = BytesMut::new();
    let mut pushed = 0;
    for read_at_least in [0, 64 * 1024] {
        while unread.len() < read_at_least {
            assert_ne!(bounded(reader.read_buf(&mut unread)).await.unwrap(), 0);
        }
        let shed = lanes.shed_total();
        while lanes.shed_total() < shed + 100 {
            push_display(lanes, pushed);
            pushed += 1;
            tokio::task::yield_now().await;
        }
    }
    (unread, pushed)
}

/// The end of a run is not held back by display that does not get away, though the reader reads nothing.
#[tokio::test]
async fn a_last_behind_display_that_is_stuck_goes_at_its_deadline_behind_its_gap() {
    let lanes = Lanes::new(Version::V1, BUDGET);
    let (mut reader, writer) = connection(&lanes, &Arc::default()).await;
    let (unread, pushed) = stick(&lanes, &mut reader).await;
    let shed_before = lanes.shed_total();
    lanes.control(place(), b"{\"type\":\"finished\"}", true).await.unwrap();
    eventually("an empty queue", || lanes.queued_bytes() == 0).await;
    let read = read_all(&mut reader, unread).await;
    assert_eq!((read.control, read.display + read.dropped), (1, pushed));
    // What still waited at the deadline was shed then.
    assert!(read.dropped >= shed_before + 20, "{} of {shed_before}", read.dropped);
    writer.abort();
}

#[tokio::test]
async fn control_does_not_wait_for_room_that_display_waits_for() {
    let lanes = Lanes::new(Version::V2, BUDGET);
    let control = Arc::default();
    let (mut reader, writer) = connection(&lanes, &control).await;
    let (_unread, _) = stick(&lanes, &mut reader).await;
    lanes.control(place(), b"{\"type\":\"step_started\"}", false).await.unwrap();
    eventually("control handed to the socket", || control.load(Ordering::Relaxed) == 1).await;
    // Display stays where it can be overtaken and shed.
    assert!(lanes.queued_bytes() > BUDGET.display_bytes / 2);
    writer.abort();
}

//! Control behind a flood of display: how long a frame takes on two lanes, and in one queue.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::yield_now;
use tokio::time::{MissedTickBehavior, interval};
use twolane::net::lanes::Lanes;
use twolane::net::socket::{Tuning, connect, listen, tune};
use twolane::net::writer::{Pace, write};
use twolane_core::envelope::Version;
use twolane_core::lanes::outbox::Budget;

use crate::figures::{Round, ms};
use crate::reader::{self, Seen};
use crate::rival;
use crate::traffic::{CONTROL_EVERY, control, deltas, place};

/// What the reader takes, in bytes a second.
const READER_BYTES_S: f64 = 20e6;

/// What control may take at most behind the flood.
const P99_MAX: Duration = Duration::from_millis(10);

/// By what control has to be faster than in one queue.
const RATIO_MIN: f64 = 20.0;

/// Share of the control frames that has to be sent when it is due; below it the processors were somewhere else, and
/// the figures say nothing about writers.
const PACE_MIN: f64 = 0.95;

/// Compares; false where what the specification promises was not kept or could not be judged.
pub(crate) async fn bench(rounds: u32, time: Duration) -> bool {
    println!(
        "lanes: 1 KiB display frames at full speed, a reader of 20 MB/s, a control frame each {} ms; \
         medians of {rounds} rounds of {} s",
        CONTROL_EVERY.as_millis(),
        time.as_secs()
    );
    let (mut queue, mut ours, mut foreign) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        queue.push(one_queue(time).await);
        ours.push(two_lanes(time, true).await);
        foreign.push(two_lanes(time, false).await);
    }
    let [queue, ours, foreign] = [queue, ours, foreign].map(|rounds| Round::median(&rounds));
    println!("  {:<44}{:>12}{:>12}{:>12}{:>8}{:>14}", "", "p50", "p99", "max", "frames", "display");
    row("one queue of 256 frames, default buffers", &queue);
    row("two lanes", &ours);
    row("two lanes, the reader with default buffers", &foreign);
    let ratio = queue.p99.as_secs_f64() / ours.p99.as_secs_f64();
    println!("  control p99 on two lanes is 1/{ratio:.0} of that in one queue");
    let due = time.as_secs_f64() / CONTROL_EVERY.as_secs_f64();
    if (ours.frames as f64) < PACE_MIN * due {
        println!(
            "  not judged: the machine is busy, {} of {due:.0} control frames were sent in time; again when it is idle",
            ours.frames
        );
        return false;
    }
    let kept = ratio >= RATIO_MIN && ours.p99 <= P99_MAX && ours.display_mb_s > 0.9 * READER_BYTES_S / 1e6;
    println!(
        "  promised: 1/{RATIO_MIN}, {}, display at the reader's rate: {}",
        ms(P99_MAX),
        if kept { "kept" } else { "NOT KEPT" }
    );
    kept
}

fn row(name: &str, round: &Round) {
    println!(
        "  {name:<44}{:>12}{:>12}{:>12}{:>8}{:>9.1} MB/s",
        ms(round.p50),
        ms(round.p99),
        ms(round.max),
        round.frames,
        round.display_mb_s
    );
}

async fn one_queue(time: Duration) -> Round {
    let base = Instant::now();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (reader, writer) = tokio::join!(TcpStream::connect(address(&listener)), listener.accept());
    let (reader, (writer, _)) = (reader.expect("a connection"), writer.expect("a connection"));
    writer.set_nodelay(true).expect("a socket that works");
    let sending = tokio::spawn(rival::send(writer, time, base));
    let seen = reader::read(reader, Some(READER_BYTES_S), base).await;
    sending.await.expect("a sender");
    round(seen)
}

async fn two_lanes(time: Duration, short_buffers: bool) -> Round {
    let base = Instant::now();
    let (reader, writer) = pair(short_buffers).await;
    let sending = Sending::start(writer, Budget::default(), Some(time), base);
    let seen = reader::read(reader, Some(READER_BYTES_S), base).await;
    sending.end().await;
    round(seen)
}

fn round(seen: Seen) -> Round {
    Round::new(seen.times, seen.display_bytes, seen.took)
}

fn address(listener: &TcpListener) -> SocketAddr {
    listener.local_addr().expect("an address")
}

/// A reader, with our buffers or the platform's, and our writer's socket.
pub(crate) async fn pair(short_buffers: bool) -> (TcpStream, TcpStream) {
    let tuning = Tuning::default();
    let listener = listen("127.0.0.1:0".parse().expect("an address"), tuning).expect("a port");
    let reader = if short_buffers {
        connect(address(&listener), tuning, Duration::from_secs(5)).await
    } else {
        TcpStream::connect(address(&listener)).await
    };
    let (writer, _) = listener.accept().await.expect("a connection");
    tune(&writer, tuning).expect("a socket that works");
    (reader.expect("a connection"), writer)
}

/// Our side, sending: display at full speed, control at its pace, LAST at the end.
pub(crate) struct Sending {
    writer: tokio::task::JoinHandle<()>,
    flood: tokio::task::JoinHandle<u64>,
    control: tokio::task::JoinHandle<u64>,
    ended: Arc<AtomicBool>,
    peak_bytes: Arc<AtomicUsize>,
}

/// What our side sent.
pub(crate) struct Sent {
    pub(crate) display: u64,
    pub(crate) control: u64,
    /// The most that waited.
    pub(crate) peak_bytes: usize,
}

impl Sending {
    /// Sends for `time`; until [`finish`](Self::finish) where `None`.
    pub(crate) fn start(socket: TcpStream, budget: Budget, time: Option<Duration>, base: Instant) -> Self {
        let lanes = Lanes::new(Version::V1, budget);
        let (ended, peak_bytes) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let writer = {
            let lanes = lanes.clone();
            tokio::spawn(async move {
                let (_read, mut write_half) = socket.into_split();
                write(&lanes, &mut write_half, Pace::default(), |_| {}).await;
            })
        };
        let until = time.map(|time| Instant::now() + time);
        let over = {
            let ended = Arc::clone(&ended);
            move || ended.load(Ordering::Relaxed) || until.is_some_and(|until| Instant::now() >= until)
        };
        let flood = tokio::spawn(flood(lanes.clone(), over.clone(), Arc::clone(&peak_bytes)));
        let control = tokio::spawn(send_control(lanes, over, base));
        Self { writer, flood, control, ended, peak_bytes }
    }

    /// Sends LAST now, if it was not sent.
    pub(crate) fn finish(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Ends the writer and says what was sent; for when LAST was read.
    pub(crate) async fn end(self) -> Sent {
        let display = self.flood.await.expect("a flood");
        let control = self.control.await.expect("a sender");
        self.writer.abort();
        Sent { display, control, peak_bytes: self.peak_bytes.load(Ordering::Relaxed) }
    }
}

async fn flood(lanes: Lanes, over: impl Fn() -> bool, peak_bytes: Arc<AtomicUsize>) -> u64 {
    let deltas = deltas();
    for (pushed, delta) in deltas.iter().cycle().enumerate() {
        // Refused once LAST is queued.
        if over() || lanes.display(place(), delta).is_err() {
            return pushed as u64;
        }
        peak_bytes.fetch_max(lanes.queued_bytes(), Ordering::Relaxed);
        yield_now().await;
    }
    0
}

async fn send_control(lanes: Lanes, over: impl Fn() -> bool, base: Instant) -> u64 {
    let mut ticks = interval(CONTROL_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut frames = 1;
    while !over() {
        ticks.tick().await;
        lanes.control(place(), &control(base), false).await.expect("lanes that are open");
        frames += 1;
    }
    lanes.control(place(), b"{\"type\":\"finished\"}", true).await.expect("lanes that are open");
    frames
}

//! Frames over loopback TCP: our writer and reader against a bare loop and against peers, on sockets set alike.

mod ours;
mod peers;

use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region};
use tokio::net::TcpStream;

use crate::lanes::pair;
use crate::timing::{judge, median};

/// Sizes of bodies. An envelope alone has some 70 bytes, so that our smallest body is larger than the peers'.
const BODIES: [usize; 3] = [64, 1024, 64 * 1024];

/// Bytes of one write and of one read of the bare loop.
const CHUNK_BYTES: usize = 64 * 1024;

/// At most so many frames of one size in one round.
const FRAMES_MAX: usize = 200_000;

/// At most so many bytes of one size in one round.
const ROUND_BYTES: usize = 192 << 20;

/// Ours has to pass so much of what the bare loop does.
const BARE_SHARE_MIN: f64 = 0.9;

/// Calls of the socket that one of our frames of 1 KiB may cost on the reading side.
const READS_MAX: f64 = 0.035;

/// Below this many a frame there is none for each.
const ALLOCATIONS_MAX: f64 = 0.01;

/// What one round of one way gave.
#[derive(Clone, Copy)]
struct Round {
    frames: usize,
    bytes: u64,
    took: Duration,
    /// Allocations of both ends.
    allocations: usize,
    /// Reads of the socket, where they were counted.
    reads: u64,
}

/// One size, all ways: medians over the rounds.
struct Figures {
    mb_s: f64,
    frames_s: f64,
    allocations: f64,
    reads: f64,
}

/// False where a promise was not kept.
pub(crate) async fn bench(rounds: u32) -> bool {
    println!("tcp: one connection over loopback, both ends in this process; medians of {rounds} rounds");
    let mut kept = true;
    for body in BODIES {
        kept &= size(body, rounds).await;
    }
    kept
}

async fn size(body: usize, rounds: u32) -> bool {
    let frames = (ROUND_BYTES / body).min(FRAMES_MAX);
    let mut ways: [(&str, Vec<Round>); 5] = [
        ("bare loop, 64 KiB a call", Vec::new()),
        ("twolane: Lanes, writer, Inbox", Vec::new()),
        ("subc-transport 0.15", Vec::new()),
        ("subc-transport 0.15 in BufReader, BufWriter", Vec::new()),
        ("tokio-util LengthDelimitedCodec, 64 KiB", Vec::new()),
    ];
    for _ in 0..rounds {
        ways[0].1.push(round(frames, async |a, b| peers::bare(a, b, frames * (body + 17)).await).await);
        ways[1].1.push(round(frames, async |a, b| ours::frames(a, b, frames, body).await).await);
        ways[2].1.push(round(frames, async |a, b| peers::subc(a, b, frames, body).await).await);
        ways[3].1.push(round(frames, async |a, b| peers::subc_buffered(a, b, frames, body).await).await);
        ways[4].1.push(round(frames, async |a, b| peers::codec(a, b, frames, body).await).await);
    }
    println!("  bodies of {body} bytes, {frames} frames a round");
    let figures = ways.map(|(name, rounds)| {
        let figures = Figures::median(&rounds);
        println!(
            "    {name:<46}{:>9.0} MB/s{:>12.0} frames/s{:>8.3} allocations{:>8.4} reads a frame",
            figures.mb_s, figures.frames_s, figures.allocations, figures.reads
        );
        figures
    });
    let [bare, ours, ..] = &figures;
    let share = ours.mb_s / bare.mb_s;
    let mut kept = share >= BARE_SHARE_MIN && ours.allocations <= ALLOCATIONS_MAX;
    println!("    ours passes {share:.2} of the bare loop");
    let mut promise = format!("{BARE_SHARE_MIN} of the bare loop, no allocation a frame");
    if body == 1024 {
        kept &= ours.reads <= READS_MAX;
        promise.push_str(&format!(", {READS_MAX} reads a frame"));
    }
    judge(&promise, kept)
}

/// Runs one way over a fresh connection. It gives the bytes that arrived, the time, and the reads of the socket.
async fn round(frames: usize, way: impl AsyncFnOnce(TcpStream, TcpStream) -> (u64, Duration, u64)) -> Round {
    let (reader, writer) = pair(true).await;
    let region = Region::new(&INSTRUMENTED_SYSTEM);
    let (bytes, took, reads) = way(reader, writer).await;
    let change = region.change();
    Round { frames, bytes, took, allocations: change.allocations + change.reallocations, reads }
}

impl Figures {
    fn median(rounds: &[Round]) -> Self {
        let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
        Self {
            mb_s: of(|round| round.bytes as f64 / 1e6 / round.took.as_secs_f64()),
            frames_s: of(|round| round.frames as f64 / round.took.as_secs_f64()),
            allocations: of(|round| round.allocations as f64 / round.frames as f64),
            reads: of(|round| round.reads as f64 / round.frames as f64),
        }
    }
}

//! Frames over loopback TCP: our framing, and lanes with their writer, against a bare loop and against peers, on sockets
//! set alike.

mod counted;
mod ours;
mod peers;

use std::time::Duration;

use clap::ValueEnum;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region};
use tokio::net::TcpStream;

use crate::lanes::pair;
use crate::timing::{judge, median};

/// Sizes of bodies; of payloads where a lanes envelope of some 70 bytes comes around them.
const BODIES: [usize; 3] = [64, 1024, 64 * 1024];

/// Bytes that the bare loop and the encoder's write at once. The lanes' writer offers up to four times as many, of which
/// the kernel takes about so many.
const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes that the bare loop asks for at once: as our inbox does.
const READ_BYTES: usize = 64 * 1024;

/// At most so many frames of one size in one round.
const FRAMES_MAX: usize = 400_000;

/// At most so many bytes of one size in one round.
const ROUND_BYTES: usize = 192 << 20;

/// Ours has to pass so much of what the bare loop does.
const BARE_SHARE_MIN: f64 = 0.9;

/// System calls that one of our frames of 1 KiB may cost, of both ends; a tracer has to count them.
const SYSTEM_CALLS_MAX: f64 = 0.035;

/// Below this many a frame there is none for each: of the largest there are few in a round beside what grows once.
const ALLOCATIONS_MAX: f64 = 0.02;

/// One way through the socket.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// Bytes that nobody looks at
    Bare,
    /// The core's encoder into chunks, an inbox
    Frames,
    /// Payloads through lanes and writer, an inbox
    Lanes,
    /// subc-transport 0.15
    Subc,
    /// The same, buffered
    SubcBuffered,
    /// tokio-util's LengthDelimitedCodec
    Codec,
}

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

/// One size, one way: medians over the rounds.
struct Figures {
    way: Way,
    mb_s: f64,
    frames_s: f64,
    frame_bytes: f64,
    allocations: f64,
    reads: f64,
}

/// False where a promise was not kept. With `only` nothing is compared: for a profiler or a counter of system calls.
pub(crate) async fn bench(rounds: u32, only: Option<Way>) -> bool {
    println!("tcp: one connection over loopback, both ends in this process; medians of {rounds} rounds");
    let mut kept = true;
    for body in BODIES {
        kept &= size(body, rounds, only).await;
    }
    kept
}

async fn size(body: usize, rounds: u32, only: Option<Way>) -> bool {
    let frames = (ROUND_BYTES / body).min(FRAMES_MAX);
    let ways = Way::value_variants().iter().filter(|way| only.is_none_or(|only| only == **way));
    let mut ways: Vec<(Way, Vec<Round>)> = ways.map(|way| (*way, Vec::new())).collect();
    for _ in 0..rounds {
        for (way, figures) in &mut ways {
            figures.push(way.round(frames, body).await);
        }
    }
    println!("  bodies of {body} bytes, {frames} frames a round");
    let figures: Vec<Figures> = ways.into_iter().map(|(way, rounds)| Figures::median(way, &rounds)).collect();
    figures.iter().for_each(Figures::print);
    let of = |way| figures.iter().find(|figures| figures.way == way);
    let (Some(bare), Some(framing), Some(lanes)) = (of(Way::Bare), of(Way::Frames), of(Way::Lanes)) else {
        return true;
    };
    let mut kept = true;
    for ours in [framing, lanes] {
        let share = ours.mb_s / bare.mb_s;
        println!("    {} passes {share:.2} of the bare loop's bytes", ours.way.name());
        kept &= share >= BARE_SHARE_MIN && ours.allocations <= ALLOCATIONS_MAX;
    }
    if body == 1024 {
        println!(
            "    not judged here: at most {SYSTEM_CALLS_MAX} system calls a frame; reads are but a part of them. \
             Count all with `strace -f -c` and `--only`"
        );
    }
    let promise = format!("{BARE_SHARE_MIN} of the bare loop, no allocation a frame");
    judge(&promise, kept)
}

impl Way {
    const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare loop",
            Self::Frames => "twolane: encode_frame, Inbox",
            Self::Lanes => "twolane: Lanes, writer, Inbox",
            Self::Subc => "subc-transport 0.15",
            Self::SubcBuffered => "subc-transport 0.15 in BufReader, BufWriter",
            Self::Codec => "tokio-util LengthDelimitedCodec",
        }
    }

    async fn round(self, frames: usize, body: usize) -> Round {
        match self {
            Self::Bare => round(frames, async |a, b| peers::bare(a, b, frames * (body + 17)).await).await,
            Self::Frames => round(frames, async |a, b| ours::frames(a, b, frames, body).await).await,
            Self::Lanes => round(frames, async |a, b| ours::lanes(a, b, frames, body).await).await,
            Self::Subc => round(frames, async |a, b| peers::subc(a, b, frames, body).await).await,
            Self::SubcBuffered => {
                round(frames, async |a, b| peers::subc_buffered(a, b, frames, body).await).await
            }
            Self::Codec => round(frames, async |a, b| peers::codec(a, b, frames, body).await).await,
        }
    }
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
    fn median(way: Way, rounds: &[Round]) -> Self {
        let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
        Self {
            way,
            mb_s: of(|round| round.bytes as f64 / 1e6 / round.took.as_secs_f64()),
            frames_s: of(|round| round.frames as f64 / round.took.as_secs_f64()),
            frame_bytes: of(|round| round.bytes as f64 / round.frames as f64),
            allocations: of(|round| round.allocations as f64 / round.frames as f64),
            reads: of(|round| round.reads as f64 / round.frames as f64),
        }
    }

    fn print(&self) {
        let Self { way, mb_s, frames_s, frame_bytes, allocations, reads } = self;
        println!(
            "    {:<44}{mb_s:>8.0} MB/s{frames_s:>11.0} frames/s of{frame_bytes:>7.0} bytes{allocations:>7.3} allocations\
             {reads:>8.4} reads a frame",
            way.name()
        );
    }
}

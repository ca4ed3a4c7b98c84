//! What is timed, against rivals in the same run: `cargo xtask bench [NAME]`.

mod connector;
mod fields;
mod figures;
mod lanes;
mod peek;
mod reader;
mod rival;
mod stopped;
mod tcp;
mod timing;
mod traffic;
mod walk;

use std::alloc::System;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Counts what both ends of `tcp` allocate.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Twolane's benches. Rounds of the things compared take turns; medians over the rounds are printed.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Cli {
    /// Run this bench alone
    #[arg(value_enum)]
    name: Option<Name>,
    /// Rounds of each thing compared; each bench has its own number of them where none is given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: Option<u32>,
    /// Seconds of one round of `lanes`
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Seconds for which the reader of `stopped` stops
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    stop_seconds: u64,
    /// Mebibytes that `walk` walks over
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=16384))]
    walk_mib: u64,
    /// Seconds of one round of `turns` and `retries`
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    turn_seconds: u64,
    /// Finished turns in the store of `retries`, of about 3 KB each
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(100_000..=100_000_000))]
    stored: u64,
    /// Where `turns` and `retries` make their stores, which go with them; beside the built benches if not given
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Serve the store in DIR until the input ends: what `retries` kills
    #[arg(long, value_name = "DIR", hide = true)]
    serve_store: Option<PathBuf>,
    /// The one way of `tcp` to run, for a profiler or a counter of system calls
    #[arg(long, value_enum)]
    only: Option<tcp::Way>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Headers, against the first peer's decoder
    Peek,
    /// Frames of a buffer beyond every cache, against the same and against reading every byte
    Walk,
    /// A body's fields and its payload's type, against serde_json
    Fields,
    /// Frames over a loopback connection, against a bare loop and other framings
    Tcp,
    /// Control behind a flood of display on two lanes, against one queue
    Lanes,
    /// The same flood before a reader that stops
    Stopped,
    /// A sealed request read, against rmp-serde
    Decode,
    /// Sealing and opening, against the cipher alone and others
    Seal,
    /// Sealed, durable turns, against bare commits, PostgreSQL, Redis and a log
    Turns,
    /// Retries of finished turns from a full store, in process, over sockets, after a kill
    Retries,
}

impl Name {
    async fn bench(self, cli: &Cli) -> bool {
        let rounds = |default| cli.rounds.unwrap_or(default);
        let (turn_time, place) = (Duration::from_secs(cli.turn_seconds), cli.data_dir.as_deref());
        match self {
            Self::Peek => peek::bench(rounds(15)),
            Self::Walk => walk::bench(rounds(7), cli.walk_mib),
            Self::Fields => fields::bench(rounds(15)),
            Self::Tcp => tcp::bench(rounds(5), cli.only).await,
            Self::Lanes => lanes::bench(rounds(3), Duration::from_secs(cli.seconds)).await,
            Self::Stopped => stopped::bench(Duration::from_secs(cli.stop_seconds)).await,
            Self::Decode => connector::decode::bench(rounds(15)),
            Self::Seal => connector::seal::bench(rounds(15)),
            Self::Turns => connector::turns::bench(rounds(5), turn_time, place).await,
            Self::Retries => connector::retries::bench(rounds(5), turn_time, cli.stored, place).await,
        }
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 4)]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(folder) = &cli.serve_store {
        connector::filled::serve(folder).await;
        return ExitCode::SUCCESS;
    }
    let mut kept = true;
    for name in Name::value_variants() {
        if cli.name.is_none_or(|only| only == *name) {
            kept &= name.bench(&cli).await;
        }
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

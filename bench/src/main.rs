//! What is timed, against rivals in the same run: `cargo xtask bench [NAME]`.

mod figures;
mod lanes;
mod reader;
mod rival;
mod stopped;
mod traffic;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

/// Twolane's benches. Rounds of the things compared take turns; medians over the rounds are printed.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Cli {
    /// Run this bench alone
    #[arg(value_parser = ["lanes", "stopped"])]
    name: Option<String>,
    /// Rounds of each thing compared
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,
    /// Seconds of one round
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Seconds for which the reader of `stopped` stops
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    stop_seconds: u64,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 4)]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let wanted = |name: &str| cli.name.as_deref().is_none_or(|only| only == name);
    let mut kept = true;
    if wanted("lanes") {
        kept &= lanes::bench(cli.rounds, Duration::from_secs(cli.seconds)).await;
    }
    if wanted("stopped") {
        kept &= stopped::bench(Duration::from_secs(cli.stop_seconds)).await;
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

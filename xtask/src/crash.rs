//! The connector's process, killed: at every place of a scenario, and again and again at random.

use anyhow::Result;
use clap::Args;

use crate::command::{cargo, run};

/// How often, and by which dice.
#[derive(Args)]
pub(crate) struct Options {
    /// Kills at least
    #[arg(long, value_name = "N", default_value_t = 50)]
    rounds: u32,
    /// Seconds at least
    #[arg(long, value_name = "N", default_value_t = 180)]
    seconds: u32,
    /// What the moments are drawn from
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seed: u64,
}

/// A part of the tests: every place, and three minutes of random kills.
pub(crate) fn all() -> Result<()> {
    let mut places = connector(&["--features", "stop-points"]);
    places.args(["--", "--nocapture", "stopped"]);
    run(&mut places, "the case that failed is the last one printed")?;
    crash(&Options { rounds: 50, seconds: 180, seed: 1 })
}

/// `cargo xtask crash`: the random kills alone.
pub(crate) fn crash(options: &Options) -> Result<()> {
    let mut kills = connector(&[]);
    kills.args(["--", "--nocapture", "--test-threads", "1", "crash"]);
    kills.env("TWOLANE_CRASH_ROUNDS", options.rounds.to_string());
    kills.env("TWOLANE_CRASH_SECONDS", options.seconds.to_string());
    kills.env("TWOLANE_CRASH_SEED", options.seed.to_string());
    run(&mut kills, "the seed is printed: cargo xtask crash --seed N")
}

fn connector(more: &[&str]) -> std::process::Command {
    let mut command = cargo(["test", "-p", "twolane", "--test", "connector"]);
    command.args(more);
    command
}

//! What people and CI both run: `cargo xtask test`, `check` and the rest.

mod checks;
mod command;
mod parts;
mod report;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Twolane's tasks.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Every test there is, each part with its time
    Test(test::Options),
    /// The quick parts: format, clippy, unit
    Check,
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Test(options) => test::test(&options),
        Task::Check => test::check(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

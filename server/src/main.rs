//! The `twolane` binary.

use std::process::ExitCode;

use clap::Parser as _;
use twolane::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run().into()
}

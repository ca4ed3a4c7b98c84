//! `cargo xtask bench`: the package in `bench/`, whose rivals no test compiles.

use anyhow::Result;
use clap::Args;

use crate::command::{cargo, run};

/// What to measure.
#[derive(Args)]
pub(crate) struct Options {
    /// Run this bench alone; `cargo xtask bench -- --help` lists them
    name: Option<String>,
    /// For the benches themselves, such as `-- --rounds 5`
    #[arg(last = true)]
    more: Vec<String>,
}

/// Builds the benches as released programs are and runs them.
pub(crate) fn bench(options: &Options) -> Result<()> {
    let mut command =
        cargo(["run", "--quiet", "--release", "--locked", "--manifest-path", "bench/Cargo.toml", "--"]);
    command.args(&options.name).args(&options.more);
    run(&mut command, "again on an idle machine; `cargo xtask bench -- --help` lists what there is")
}

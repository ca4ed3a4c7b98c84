//! `cargo xtask bench`: the package in `bench/`, whose rivals no test compiles.

use anyhow::Result;
use clap::Args;

use crate::bench_page;
use crate::command::{cargo, run};

/// What to measure.
#[derive(Args)]
pub(crate) struct Options {
    /// Run this bench alone: `page`, or one of those that `cargo xtask bench -- --help` lists
    name: Option<String>,
    /// For the benches themselves, such as `-- --rounds 5`
    #[arg(last = true)]
    more: Vec<String>,
}

/// Builds the benches as released programs are and runs them; the page's own runs where it is named.
pub(crate) fn bench(options: &Options) -> Result<()> {
    if options.name.as_deref() == Some("page") {
        return bench_page::bench(&options.more);
    }
    let mut command =
        cargo(["run", "--quiet", "--release", "--locked", "--manifest-path", "bench/Cargo.toml", "--"]);
    command.args(&options.name).args(&options.more);
    run(&mut command, "again on an idle machine; `cargo xtask bench -- --help` lists what there is")
}

//! What people and CI both run: `cargo xtask demo`, `test`, `check` and the rest.

mod bench;
mod bench_page;
mod browser;
mod c;
mod checks;
mod command;
mod core_builds;
mod crash;
mod debian;
mod demo;
mod deny;
mod examples;
mod firmware;
mod fuzz;
mod golden;
mod miri;
mod no_panic;
mod open;
mod page;
mod panic_sites;
mod parts;
mod report;
mod setup;
mod size;
mod test;
mod wasm;
mod wireshark;

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
    /// Build everything and run the server with the page until Ctrl-C
    Demo(demo::Options),
    /// Every test there is, each part with its time
    Test(test::Options),
    /// The quick parts: format, clippy, unit
    Check,
    /// Compare fixtures/golden with what the core says, or write it
    Golden(golden::Options),
    /// Compare proto-c's header with what its sources say, or write it
    Header(c::Options),
    /// What is timed, against rivals: the package in bench/
    Bench(bench::Options),
    /// Flash, RAM and stack by part on small machines, against fixtures/sizes.json
    Size(size::Options),
    /// The connector's server killed at random, for as long as you like
    Crash(crash::Options),
    /// Hostile input to the core and the capture reader, for as long as you like
    Fuzz(fuzz::Options),
    /// The core's tests under Miri
    Miri,
    /// Licences and versions of what we depend on, offline
    Deny,
    /// Build the page into web-demo/dist
    Page,
    /// Install what the other tasks need
    Setup,
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Demo(options) => demo::demo(&options),
        Task::Test(options) => test::test(&options),
        Task::Check => test::check(),
        Task::Golden(options) => golden::golden(&options),
        Task::Bench(options) => bench::bench(&options),
        Task::Size(options) => size::size(&options),
        Task::Header(options) => c::header(&options),
        Task::Crash(options) => crash::crash(&options),
        Task::Fuzz(options) => fuzz::fuzz(&options),
        Task::Miri => miri::miri(),
        Task::Deny => deny::deny(),
        Task::Page => setup::for_page().and_then(|()| page::page()),
        Task::Setup => setup::all(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

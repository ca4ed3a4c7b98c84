//! Hostile input: `proto-core/fuzz`, with libFuzzer where it is there, with the package's own generator everywhere.

use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::command::{cargo, program, root, run, target_dir};
use crate::setup::{on_path, text_of};

/// Of each target in the tests, in seconds.
const BRIEF_SECONDS: u32 = 2;

/// What to look for, and how long.
#[derive(Args)]
pub(crate) struct Options {
    /// One target; all of them, one after the other, when none is named
    target: Option<String>,
    /// Minutes for each target
    #[arg(long, value_name = "N", default_value_t = 10)]
    minutes: u32,
    /// Use the generator of the package itself, which needs no nightly compiler
    #[arg(long)]
    stable: bool,
    /// With --stable, the number of the first input, to look where no earlier run did
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
}

/// `cargo xtask fuzz`: until the time is over or an input breaks a law, which is kept and named.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    let seconds = options.minutes.saturating_mul(60);
    if options.stable || !has_nightly() {
        println!("  on this compiler, with seeded inputs");
        return stable(seconds, options.from, options.target.as_deref());
    }
    if on_path("cargo-fuzz").is_none() && text_of(&mut cargo(["fuzz", "--version"])).is_err() {
        let mut install = cargo(["install", "--locked", "cargo-fuzz"]);
        run(&mut install, "see that this machine reaches crates.io; or: cargo xtask fuzz --stable")?;
    }
    let names = match &options.target {
        Some(name) => vec![name.clone()],
        None => text_of(&mut own(&["--list"]))?.lines().map(str::to_owned).collect(),
    };
    run(&mut own(&["--corpus", "proto-core/fuzz/corpus"]), "")?;
    for name in &names {
        let mut command = program("cargo");
        command.current_dir(root().join("proto-core"));
        // The core has no unsafe code, so that a sanitizer would only cost time.
        command.args([
            "+nightly",
            "fuzz",
            "run",
            "--features",
            "libfuzzer",
            "--sanitizer",
            "none",
            name,
            "--",
        ]);
        command.arg(format!("-max_total_time={seconds}")).arg("-max_len=65536").arg("-rss_limit_mb=1024");
        run(&mut command, "the input that broke a law is in proto-core/fuzz/artifacts")?;
    }
    Ok(())
}

/// The part of the tests: each target for a few seconds, the same inputs on every machine.
pub(crate) fn brief() -> Result<()> {
    stable(BRIEF_SECONDS, 0, None)
}

fn stable(seconds: u32, from: u64, target: Option<&str>) -> Result<()> {
    let (seconds, from) = (seconds.to_string(), from.to_string());
    let mut command = own(&["--seconds", &seconds, "--from", &from]);
    command.args(target);
    run(&mut command, "the line above runs the input again that broke a law")
}

/// The package's own program.
fn own(arguments: &[&str]) -> Command {
    let mut command = cargo(["run", "--quiet", "--release", "--locked"]);
    command.args(["--manifest-path", "proto-core/fuzz/Cargo.toml"]);
    if let Ok(folder) = target_dir().context("no target folder") {
        command.arg("--target-dir").arg(folder.join("fuzz"));
    }
    command.arg("--").args(arguments);
    command
}

fn has_nightly() -> bool {
    text_of(program("cargo").args(["+nightly", "--version"])).is_ok()
}

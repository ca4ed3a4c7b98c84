//! The parts that are cargo's own.

use anyhow::Result;

use crate::command::{cargo, run};
use crate::examples;

pub(crate) fn format() -> Result<()> {
    run(&mut cargo(["fmt", "--all", "--check"]), "cargo fmt --all")?;
    // A workspace of its own, which the line above does not see.
    run(
        &mut cargo(["fmt", "--manifest-path", "bench/Cargo.toml", "--check"]),
        "cargo fmt --manifest-path bench/Cargo.toml",
    )
}

pub(crate) fn clippy() -> Result<()> {
    run(&mut cargo(["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]), "")
}

pub(crate) fn docs() -> Result<()> {
    run(cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"), "")?;
    examples::check()
}

pub(crate) fn unit() -> Result<()> {
    run(&mut cargo(["test", "--workspace"]), "")
}

//! The core's tests under Miri: no unsafe code of it is ours, but some that it calls is. And the border to C, where it is.

use anyhow::Result;

use crate::command::{program, run};
use crate::setup::text_of;

/// Tests whose cases are a fixed, small number. Those that generate thousands would take hours.
const TESTS: &[&str] = &["frames", "handshake", "body", "connection_file", "outbox"];

/// Tests inside those that go through megabytes, many random cases, or a handshake for every bit of a message.
const TOO_LONG: &[&str] =
    &["the_law_and_the_totals_hold", "megabytes", "any_", "random", "flipped_bit", "no_reader_would_take"];

/// `cargo xtask miri`: 109 tests, 10 to 15 minutes on two cores.
pub(crate) fn miri() -> Result<()> {
    if text_of(program("cargo").args(["+nightly", "miri", "--version"])).is_err() {
        let mut add = program("rustup");
        add.args(["toolchain", "install", "nightly", "--profile", "minimal", "--component", "miri,rust-src"]);
        run(&mut add, "install rustup (https://rustup.rs): Miri is a part of the nightly compiler")?;
    }
    let mut command = program("cargo");
    command.args(["+nightly", "miri", "test", "--package", "twolane-core", "--features", "alloc", "--lib"]);
    for test in TESTS {
        command.args(["--test", test]);
    }
    command.arg("--");
    for name in TOO_LONG {
        command.args(["--skip", name]);
    }
    // Goldens and vectors are read from files; one case of a property is enough here.
    command.env("MIRIFLAGS", "-Zmiri-disable-isolation").env("PROPTEST_CASES", "1");
    run(&mut command, "")?;
    let mut border = program("cargo");
    border.args([
        "+nightly",
        "miri",
        "test",
        "--package",
        "twolane-c",
        "--features",
        "seal",
        "--test",
        "border",
    ]);
    run(&mut border, "")
}

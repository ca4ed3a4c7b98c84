//! The tests in a real browser, against the built binary with the built page inside.

use anyhow::{Result, bail};

use crate::command::{cargo, program, run, target_dir};
use crate::{page, setup};

pub(crate) fn browser() -> Result<()> {
    let chromium = setup::chromium()?;
    page::packages()?;
    // The same selection as `cargo test --workspace`, so that the unit tests' build is this one.
    run(&mut cargo(["build", "--workspace", "--lib", "--bins", "--tests"]), "")?;
    let binary = target_dir()?.join("debug/twolane");
    if !binary.is_file() {
        bail!("cargo left no binary at {}", binary.display());
    }
    run(
        program("npm")
            .args(["run", "--silent", "--prefix", "web-demo", "test:browser"])
            .env("TWOLANE_BIN", binary)
            .env("CHROMIUM", chromium),
        "",
    )
}

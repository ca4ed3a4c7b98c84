//! The parts of `cargo xtask test`, in the order they run. Adding one is one line here.

use anyhow::Result;

use crate::checks;

/// One named part of the tests.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn() -> Result<()>,
    /// Also in `cargo xtask check`.
    pub(crate) quick: bool,
}

const fn part(name: &'static str, about: &'static str, run: fn() -> Result<()>) -> Part {
    Part {
        name,
        about,
        run,
        quick: false,
    }
}

const fn quick(name: &'static str, about: &'static str, run: fn() -> Result<()>) -> Part {
    Part {
        name,
        about,
        run,
        quick: true,
    }
}

/// Cheap before dear; what a later part needs before that part.
pub(crate) const PARTS: &[Part] = &[
    quick("format", "rustfmt has nothing to change", checks::format),
    quick("clippy", "no lint in any target", checks::clippy),
    part(
        "docs",
        "the documentation builds without a warning",
        checks::docs,
    ),
    quick("unit", "the workspace's own tests", checks::unit),
];

//! The parts of `cargo xtask test`, in the order they run. Adding one is one line here.

use anyhow::Result;

use crate::{
    browser, c, checks, core_builds, crash, deny, firmware, fuzz, golden, no_panic, page, setup, size,
    wireshark,
};

/// One named part of the tests.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn() -> Result<()>,
    /// Also in `cargo xtask check`.
    pub(crate) quick: bool,
}

const fn part(name: &'static str, about: &'static str, run: fn() -> Result<()>) -> Part {
    Part { name, about, run, quick: false }
}

const fn quick(name: &'static str, about: &'static str, run: fn() -> Result<()>) -> Part {
    Part { name, about, run, quick: true }
}

/// Cheap before dear; what a later part needs before that part.
pub(crate) const PARTS: &[Part] = &[
    part("setup", "what the tests need is installed", setup::all),
    quick("format", "rustfmt has nothing to change", checks::format),
    quick("clippy", "no lint in any target", checks::clippy),
    part("deny", "licences and versions of what we depend on", deny::deny),
    part("features", "the core with each set of features", core_builds::features),
    part("targets", "the core for machines without a system", core_builds::targets),
    part("no-panic", "no panic is reachable from the core's entry points", no_panic::no_panic),
    part("firmware", "the goldens dissected on a bare machine as on the host", firmware::firmware),
    part("size", "no part of the core takes more flash, RAM or stack than it did", size::check),
    part("c", "the core from C, under valgrind", c::c),
    part("docs", "the documentation builds without a warning; the core is shown by examples", checks::docs),
    part("page", "the page builds and its types hold", page::page_and_types),
    part("golden", "the goldens are what the core says", golden::check),
    quick("unit", "the workspace's own tests", checks::unit),
    part("crash", "the connector killed at every place, and for three minutes at random", crash::all),
    part("wireshark", "the dissector in a real tshark", wireshark::wireshark),
    part("fuzz", "hostile input for a few seconds each", fuzz::brief),
    part("browser", "the page in a real browser", browser::browser),
];

//! Links the core's entry points with a panic handler that cannot be resolved: firmware/no-panic.

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, line, root, run, target_dir};
use crate::panic_sites;

const TARGETS: [&str; 2] = ["thumbv6m-none-eabi", "thumbv7em-none-eabihf"];
const OPT_LEVELS: [&str; 2] = ["z", "3"];

/// One program each, so that a failure names the entry point.
const ENTRY_POINTS: [&str; 8] =
    ["peek", "decode", "scan", "msgpack", "handshake", "body", "dissect", "connector"];

/// The program that does keep a panic.
const PLANTED: &str = "planted";

/// The symbol of firmware/no-panic that is defined nowhere.
const UNRESOLVED: &str = "a_panic_is_reachable";

pub(crate) fn no_panic() -> Result<()> {
    for target in TARGETS {
        for opt_level in OPT_LEVELS {
            println!("  {target}, opt-level {opt_level}: {}", ENTRY_POINTS.join(", "));
            let mut all = link(target, opt_level, &ENTRY_POINTS)?;
            run(&mut all, "an undefined `a_panic_is_reachable` is a panic that the named program can reach")?;
        }
    }
    panic_sites::check(TARGETS[0], &OPT_LEVELS)?;
    planted_is_found()
}

/// A check that cannot fail proves nothing.
fn planted_is_found() -> Result<()> {
    let mut planted = link(TARGETS[0], OPT_LEVELS[0], &[PLANTED])?;
    let output = planted.output().with_context(|| format!("cannot start `{}`", line(&planted)))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains(UNRESOLVED) {
        bail!("`{}` keeps a panic and still links, so the check sees nothing:\n{said}", line(&planted));
    }
    println!("  a planted panic does not link");
    Ok(())
}

fn link(target: &str, opt_level: &str, programs: &[&str]) -> Result<std::process::Command> {
    let mut command = cargo(["build", "--quiet", "--locked", "--release", "--target", target]);
    command.arg("--manifest-path").arg(root().join("firmware/no-panic/Cargo.toml"));
    command.arg("--target-dir").arg(target_dir()?.join("no-panic"));
    for program in programs {
        command.args(["--bin", program]);
    }
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level);
    Ok(command)
}

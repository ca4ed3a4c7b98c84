//! What must be on the machine before anything runs. Fast when all of it is there.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, line, program, run};
use crate::debian;

/// The targets the core is built for; the page's is the last.
pub(crate) const TARGETS: &[&str] = &[
    "thumbv6m-none-eabi",
    "thumbv7m-none-eabi",
    "thumbv7em-none-eabihf",
    "riscv32imc-unknown-none-elf",
    PAGE_TARGET,
];

/// The page's module.
pub(crate) const PAGE_TARGET: &str = "wasm32-unknown-unknown";

/// The oldest Node that the page's bundler runs on.
const NODE_MIN: (u32, u32) = (20, 19);

/// Programs that only the tests start, each in the Debian package of its name.
const PROGRAMS: &[&str] = &["tcpdump", "qemu-system-arm", "valgrind"];

const CHROMIUM_NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// What `cargo xtask test` needs.
pub(crate) fn all() -> Result<()> {
    rust_targets(TARGETS)?;
    rust_components()?;
    node()?;
    programs()
}

/// What the page, and so the demo, needs.
pub(crate) fn for_page() -> Result<()> {
    rust_targets(&[PAGE_TARGET])?;
    node()
}

/// The browser of the tests: `CHROMIUM`, else the first known name on the path.
pub(crate) fn chromium() -> Result<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM") {
        let path = PathBuf::from(path);
        if path.is_file() {
            return Ok(path);
        }
        bail!("CHROMIUM is {}, which is no file", path.display());
    }
    CHROMIUM_NAMES.iter().find_map(|name| on_path(name)).with_context(|| {
        format!(
            "no Chromium found ({}); try: cargo xtask setup, or set CHROMIUM to its path",
            CHROMIUM_NAMES.join(", ")
        )
    })
}

/// Asks the compiler's own folder, which is right with and without rustup.
fn rust_targets(wanted: &[&'static str]) -> Result<()> {
    let sysroot = text_of(program("rustc").args(["--print", "sysroot"]))?;
    let libraries = PathBuf::from(sysroot).join("lib/rustlib");
    let missing: Vec<&str> =
        wanted.iter().copied().filter(|target| !libraries.join(target).join("lib").is_dir()).collect();
    if !missing.is_empty() {
        rustup("target", &missing)?;
    }
    println!("  rust targets  {}", wanted.join(", "));
    Ok(())
}

fn rust_components() -> Result<()> {
    let mut missing = Vec::new();
    for (component, subcommand) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if text_of(&mut cargo([subcommand, "--version"])).is_err() {
            missing.push(component);
        }
    }
    if !missing.is_empty() {
        rustup("component", &missing)?;
    }
    println!("  rust tools    rustfmt, clippy");
    Ok(())
}

fn rustup(kind: &'static str, names: &[&str]) -> Result<()> {
    if on_path("rustup").is_none() {
        bail!(
            "the Rust {kind} {} is missing and rustup is not here to add it; \
             install rustup (https://rustup.rs) or your system's package of it",
            names.join(", ")
        );
    }
    run(
        program("rustup").args([kind, "add"]).args(names),
        "see that this machine reaches static.rust-lang.org",
    )
}

fn node() -> Result<()> {
    let advice = format!(
        "install Node {}.{} or newer with npm: https://nodejs.org/en/download",
        NODE_MIN.0, NODE_MIN.1
    );
    let node = text_of(program("node").arg("--version")).with_context(|| advice.clone())?;
    let version =
        node_version(&node).with_context(|| format!("`node --version` printed {node:?}, not a version"))?;
    if version < NODE_MIN {
        bail!("Node {node} is too old; {advice}");
    }
    let npm = text_of(program("npm").arg("--version")).with_context(|| advice.clone())?;
    println!("  node          {node}, npm {npm}");
    Ok(())
}

fn node_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix('v')?.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    Some((major, minor))
}

/// The programs that only the tests start.
fn programs() -> Result<()> {
    let mut missing = Vec::new();
    if env::var_os("CHROMIUM").is_none() && chromium().is_err() {
        missing.push("chromium");
    }
    missing.extend(PROGRAMS.iter().filter(|name| on_path(name).is_none()));
    if !missing.is_empty() {
        debian::install(&missing)?;
    }
    println!("  browser       {}", chromium()?.display());
    for name in PROGRAMS {
        let path = on_path(name).with_context(|| format!("{name} is installed but not on the path"))?;
        println!("  {name:13} {}", path.display());
    }
    Ok(())
}

/// Where a shell would find `name`; system folders too, since a user's path may lack them.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The trimmed standard output of a program that must succeed; what it complains of is not shown.
pub(crate) fn text_of(command: &mut Command) -> Result<String> {
    let name = line(command);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{name}`"))?;
    if !output.status.success() {
        bail!("`{name}` failed ({})", output.status);
    }
    let text = String::from_utf8(output.stdout).with_context(|| format!("`{name}` printed no UTF-8"))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_versions_compare_by_number() {
        assert_eq!(node_version("v20.20.2"), Some((20, 20)));
        assert!(node_version("v9.11.2") < Some(NODE_MIN));
        assert!(node_version("v22.0.0-rc.1") > Some(NODE_MIN));
        assert_eq!(node_version("20.1.0"), None);
        assert_eq!(node_version("v20"), None);
    }

    #[test]
    fn a_failed_program_gives_an_error_and_not_its_output() {
        assert_eq!(text_of(Command::new("echo").arg("here")).unwrap(), "here");
        assert!(text_of(&mut Command::new("false")).is_err());
        assert!(text_of(&mut Command::new("no-such-program-anywhere")).is_err());
    }
}

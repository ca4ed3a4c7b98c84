//! Installs Debian packages where that needs no question answered, else says the command.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};

use crate::command::{line, program, target_dir};
use crate::setup::{on_path, text_of};

const LOG_LINES_SHOWN: usize = 30;

/// How this process may become root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Already,
    Sudo,
    Unreachable,
}

/// Adds `packages`; output goes to a log whose end is shown when it fails.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    if on_path("apt-get").is_none() {
        bail!(
            "missing: {}; install with your system's package manager \
             (a browser elsewhere: set CHROMIUM to its path)",
            packages.join(", ")
        );
    }
    let is_root = rustix::process::geteuid().is_root();
    let root = root(is_root, || text_of(program("sudo").args(["-n", "true"])).is_ok());
    if root == Root::Unreachable {
        bail!("missing: {}; run: {}", packages.join(", "), by_hand(packages));
    }
    let log = target_dir()?.join("xtask/apt.log");
    fs::create_dir_all(log.parent().context("a log lies in a folder")?)?;
    let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    println!("  installing    {} (log: {})", packages.join(", "), log.display());
    for arguments in [update(), install_arguments(packages)] {
        let words = words(root, &arguments);
        let mut command = program(words[0]);
        command
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?);
        let status = command.status().with_context(|| format!("cannot start `{}`", line(&command)))?;
        if !status.success() {
            bail!("`{}` failed ({status}):\n{}\n  try: {}", line(&command), tail(&log), by_hand(packages));
        }
    }
    Ok(())
}

fn root(is_root: bool, sudo_works: impl FnOnce() -> bool) -> Root {
    if is_root {
        Root::Already
    } else if sudo_works() {
        Root::Sudo
    } else {
        Root::Unreachable
    }
}

fn update() -> Vec<&'static str> {
    vec!["update"]
}

fn install_arguments<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    arguments
}

/// `env` carries the setting through sudo, which clears the environment.
fn words<'a>(root: Root, arguments: &[&'a str]) -> Vec<&'a str> {
    let mut words = match root {
        Root::Sudo => vec!["sudo", "-n"],
        Root::Already | Root::Unreachable => Vec::new(),
    };
    words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    // Another package run may hold the lock for a while, a mirror may stumble once.
    words.extend(["-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]);
    words.extend(arguments);
    words
}

fn by_hand(packages: &[&str]) -> String {
    format!("sudo apt-get update && sudo apt-get {}", install_arguments(packages).join(" "))
}

fn tail(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudo_is_asked_only_by_those_who_are_not_root() {
        assert_eq!(root(true, || panic!("sudo was asked")), Root::Already);
        assert_eq!(root(false, || true), Root::Sudo);
        assert_eq!(root(false, || false), Root::Unreachable);
    }

    #[test]
    fn no_question_can_be_asked() {
        let packages = install_arguments(&["tcpdump"]);
        let as_root = words(Root::Already, &packages);
        assert_eq!(as_root[0], "env");
        assert!(as_root.contains(&"DEBIAN_FRONTEND=noninteractive"));
        assert!(as_root.ends_with(&["install", "-y", "--no-install-recommends", "tcpdump"]));
        let with_sudo = words(Root::Sudo, &packages);
        assert_eq!(with_sudo[..2], ["sudo", "-n"]);
        assert_eq!(with_sudo[2..], as_root[..]);
    }

    #[test]
    fn a_person_gets_one_command() {
        assert_eq!(
            by_hand(&["chromium", "tcpdump"]),
            "sudo apt-get update && \
             sudo apt-get install -y --no-install-recommends chromium tcpdump"
        );
    }
}

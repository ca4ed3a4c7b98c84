//! Starts other programs: output streams through, a failure says what ran and what to try.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::setup::text_of;

/// A program that was started and did not do its work.
#[derive(Debug)]
pub(crate) struct Failed {
    command: String,
    status: ExitStatus,
    hint: &'static str,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` failed ({})", self.command, self.status)?;
        if !self.hint.is_empty() {
            write!(f, "\n  try: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failed {}

/// The repository's root, where every program is started.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}

/// `program` in the repository's root, without what cargo set for this one run.
///
/// Build scripts that watch `CARGO_MANIFEST_DIR` or `CARGO_PKG_*` would otherwise run again
/// each time somebody alternates between `cargo xtask` and plain `cargo`.
pub(crate) fn program(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(belongs_to_this_run) {
            command.env_remove(name);
        }
    }
    command
}

/// The cargo that runs this task, so that one toolchain builds everything.
pub(crate) fn cargo<I, S>(args: I) -> Command
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    command
}

/// Where cargo builds, whatever set it: environment, configuration or neither.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let text = text_of(&mut cargo(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata printed no JSON")?;
    let folder = metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
    Ok(PathBuf::from(folder))
}

/// Runs to the end with inherited output; `hint` is what a person can do about a failure.
pub(crate) fn run(command: &mut Command, hint: &'static str) -> Result<()> {
    let line = line(command);
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if status.success() {
        return Ok(());
    }
    Err(Failed { command: line, status, hint }.into())
}

/// What would be typed to run `command` again.
pub(crate) fn line(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut words = Vec::new();
    for (key, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", key.display(), quoted(value)));
        }
    }
    words.push(quoted(name));
    words.extend(command.get_args().map(quoted));
    words.join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn belongs_to_this_run(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || matches!(
            name,
            "CARGO_MANIFEST_DIR"
                | "CARGO_MANIFEST_PATH"
                | "CARGO_BIN_NAME"
                | "CARGO_CRATE_NAME"
                | "CARGO_PRIMARY_PACKAGE"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_pasted_into_a_shell() {
        let mut command = Command::new("/opt/toolchain/bin/cargo");
        command.args(["clippy", "it's", ""]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(line(&command), r"RUSTDOCFLAGS='-D warnings' cargo clippy 'it'\''s' ''");
    }

    #[test]
    fn the_target_dir_survives_and_the_manifest_dir_does_not() {
        assert!(!belongs_to_this_run("CARGO_TARGET_DIR"));
        assert!(!belongs_to_this_run("CARGO_HOME"));
        assert!(belongs_to_this_run("CARGO_MANIFEST_DIR"));
        assert!(belongs_to_this_run("CARGO_PKG_VERSION"));
    }

    #[test]
    fn a_failure_names_the_command_and_the_way_out() {
        let error = run(&mut Command::new("false"), "true").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("`false` failed"), "{text}");
        assert!(text.ends_with("try: true"), "{text}");
    }
}

//! Builds everything and runs the server in the foreground until it is told to stop.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::command::{cargo, line, program, run, target_dir};
use crate::report::duration;
use crate::{open, page, setup};

/// How often the server, the clock and the signals are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long a server that was told to stop may take.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// How to run the demo.
#[derive(Args)]
pub(crate) struct Options {
    /// Do not open the page; its address is printed all the same
    #[arg(long)]
    no_browser: bool,
    /// Stop by itself after this many seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
}

/// `cargo xtask demo`.
pub(crate) fn demo(options: &Options) -> Result<()> {
    step("1/3 set-up", setup::for_page)?;
    step("2/3 page", page::page)?;
    step("3/3 server", || run(&mut cargo(["build", "--release", "--package", "twolane"]), ""))?;
    let binary = target_dir()?.join("release/twolane");
    serve(&binary, options)
}

fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("==> {name}");
    let started = Instant::now();
    work().with_context(|| format!("{name} failed"))?;
    eprintln!("<== {name}: {}\n", duration(started.elapsed()));
    Ok(())
}

fn serve(binary: &Path, options: &Options) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let mut command = program(binary);
    // A group of its own: the terminal's Ctrl-C would reach the server once more beside ours.
    command.args(["serve", "--self-attach"]).stdin(Stdio::null()).process_group(0);
    let line = line(&command);
    let mut child = command.spawn().with_context(|| format!("cannot start `{line}`"))?;
    if !options.no_browser && open::has_screen() {
        let binary = binary.to_path_buf();
        thread::spawn(move || open::page(&binary));
    }
    let limit = options.seconds.map(Duration::from_secs);
    let status = wait(&mut child, &mut signals, limit)?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    eprintln!("demo ended");
    Ok(())
}

/// Passes every signal on, and ends what does not end itself.
fn wait(child: &mut Child, signals: &mut Signals, limit: Option<Duration>) -> Result<ExitStatus> {
    let pid =
        i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("the server has no process id")?;
    let mut stop_at = limit.map(|limit| Instant::now() + limit);
    let mut kill_at = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let now = Instant::now();
        let mut told = signals.pending().last().map(|signal| match signal {
            SIGINT => Signal::INT,
            _ => Signal::TERM,
        });
        if stop_at.is_some_and(|at| now >= at) {
            stop_at = None;
            told = Some(Signal::TERM);
        }
        if let Some(signal) = told {
            kill_process(pid, signal)?;
            kill_at.get_or_insert(now + STOP_TIMEOUT);
        }
        if kill_at.is_some_and(|at| now >= at) {
            child.kill()?;
            child.wait()?;
            bail!("the server did not stop within {STOP_TIMEOUT:?} and was killed");
        }
        thread::sleep(TICK);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_demo_with_a_limit_ends_its_server_with_sigterm() {
        let mut signals = Signals::new([SIGHUP]).unwrap();
        let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done";
        let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 6];
        let output = child.stdout.as_mut().unwrap();
        output.read_exact(&mut ready).unwrap();
        let status = wait(&mut child, &mut signals, Some(Duration::ZERO)).unwrap();
        assert_eq!(status.code(), Some(7));
    }

    #[test]
    fn a_server_that_ends_early_is_not_waited_for() {
        let mut signals = Signals::new([SIGHUP]).unwrap();
        let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        let status = wait(&mut child, &mut signals, None).unwrap();
        assert_eq!(status.code(), Some(3));
    }
}

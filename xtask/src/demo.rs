//! Builds everything and runs the server in the foreground until it is told to stop.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::command::{cargo, line, program, run, target_dir};
use crate::report::duration;
use crate::{open, page, setup};

/// How often the server, the clock and the signals are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long a server on this machine may take to accept.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

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
///
/// The run directory is the demo's own, so that a server of the same user is neither in its way nor disturbed.
pub(crate) fn demo(options: &Options) -> Result<()> {
    let target = target_dir()?;
    let run_dir = target.join("demo");
    // Known now rather than after minutes of building.
    refuse_taken(&run_dir)?;
    step("1/3 set-up", setup::for_page)?;
    step("2/3 page", page::page)?;
    // The build that the tests use: a released one takes minutes longer and serves a page no better.
    step("3/3 server", || run(&mut cargo(["build", "--package", "twolane"]), ""))?;
    serve(&target.join("debug/twolane"), &run_dir, options)
}

/// Whether a server answers where this run directory says: files alone may be what a killed one left behind.
fn refuse_taken(run_dir: &Path) -> Result<()> {
    let Ok(text) = fs::read(run_dir.join("ports.json")) else { return Ok(()) };
    let ports: Value = serde_json::from_slice(&text).unwrap_or_default();
    let address: Option<SocketAddr> = ports["providers"].as_str().and_then(|text| text.parse().ok());
    let Some(address) = address.filter(|address| address.ip().is_loopback()) else { return Ok(()) };
    if TcpStream::connect_timeout(&address, ANSWER_TIMEOUT).is_err() {
        return Ok(());
    }
    let dir = run_dir.display();
    bail!(
        "a demo already serves from {dir} (process {}, {address})\n  \
         try: `twolane open-page --run-dir {dir}` for its page, or stop it with Ctrl-C where it runs",
        ports["pid"]
    );
}

fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("==> {name}");
    let started = Instant::now();
    work().with_context(|| format!("{name} failed"))?;
    eprintln!("<== {name}: {}\n", duration(started.elapsed()));
    Ok(())
}

fn serve(binary: &Path, run_dir: &Path, options: &Options) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let mut command = program(binary);
    // A group of its own: the terminal's Ctrl-C would reach the server once more beside ours.
    command.args(["serve", "--self-attach", "--run-dir"]).arg(run_dir).stdin(Stdio::null()).process_group(0);
    let line = line(&command);
    let mut child = command.spawn().with_context(|| format!("cannot start `{line}`"))?;
    if !options.no_browser && open::has_screen() {
        let (binary, run_dir) = (binary.to_path_buf(), run_dir.to_path_buf());
        thread::spawn(move || open::page(&binary, &run_dir));
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
    use std::net::TcpListener;
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
    fn a_directory_whose_server_answers_is_refused_and_one_left_behind_is_not() {
        let dir = std::env::temp_dir().join(format!("twolane-xtask-demo-{}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        refuse_taken(&dir).unwrap();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let ports = format!("{{\"pid\":77,\"providers\":\"{address}\",\"http\":null}}\n");
        fs::write(dir.join("ports.json"), ports).unwrap();
        let said = refuse_taken(&dir).unwrap_err().to_string();
        assert!(said.contains("process 77") && said.contains("open-page --run-dir"), "{said}");
        drop(server);
        refuse_taken(&dir).unwrap();
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_server_that_ends_early_is_not_waited_for() {
        let mut signals = Signals::new([SIGHUP]).unwrap();
        let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        let status = wait(&mut child, &mut signals, None).unwrap();
        assert_eq!(status.code(), Some(3));
    }
}

//! What a server makes of what it was started with: an ignored signal, a limit of open files, variables.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::twolane;

/// A server that a shell became after `set_up`; ended whatever happens.
struct Served {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Served {
    fn after(set_up: &str, run_dir: &Path, more: &[&str]) -> Self {
        let program = twolane(&[]);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{set_up}\"$0\" \"$@\"")]).arg(program.get_program());
        command.args(["serve", "--run-dir"]).arg(run_dir).args(more);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr }
    }

    /// The banner, up to its last line, and what came before.
    fn banner(&mut self) -> String {
        let mut all = String::new();
        while !all.contains("\n  try ") {
            assert_ne!(self.stderr.read_line(&mut all).unwrap(), 0, "ended without a banner:\n{all}");
        }
        all
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn ended(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_closed_terminal_ends_a_server_and_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Served::after("exec env --default-signal=HUP ", dir.path(), &[]);
    server.banner();
    assert!(dir.path().join("providers.json").exists() && dir.path().join("tap-token").exists());
    server.signal(Signal::HUP);
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("SIGHUP: stopping"), "{said}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn the_commands_of_the_banner_find_a_server_in_a_directory_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let banner = Served::after("exec ", dir.path(), &[]).banner();
    let dir = dir.path().display();
    assert!(banner.contains(&format!("`twolane open-page --run-dir {dir}`")), "{banner}");
    assert!(banner.contains(&format!("twolane attach --connection-file {dir}/providers.json")), "{banner}");
}

#[test]
fn a_server_under_nohup_outlives_its_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Served::after("trap '' HUP; exec ", dir.path(), &["--no-http"]);
    server.banner();
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    assert_eq!(u64::from_str_radix(ignored.trim(), 16).unwrap() & 1, 1, "SIGHUP stays ignored");
    server.signal(Signal::HUP);
    server.signal(Signal::TERM);
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "one signal counts: {said}");
    assert!(said.contains("SIGTERM: stopping"), "{said}");
}

#[test]
fn the_limit_of_open_files_is_raised_as_far_as_it_goes() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Served::after("ulimit -Sn 100; ulimit -Hn 2000; exec ", dir.path(), &["--no-http"]);
    let banner = server.banner();
    assert!(!banner.contains("open files"), "{banner}");
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.child.id())).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().next(), Some("2000"));
}

#[test]
fn a_limit_below_what_the_settings_allow_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let banner = Served::after("ulimit -n 500; exec ", dir.path(), &["--no-http"]).banner();
    // 256 peers, 256 in their handshake, 1024 who wait, and 32 of the server's own.
    assert!(banner.contains("500 open at most, the settings allow for 1568"), "{banner}");
    let fits = Served::after(
        "ulimit -n 500; TWOLANE_WAITING_PEERS=100 TWOLANE_PENDING_PEERS=100 exec ",
        dir.path(),
        &["--no-http", "--peers", "50"],
    );
    assert!(!{ fits }.banner().contains("open files"));
}

#[test]
fn a_variable_that_sets_nothing_is_named_and_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let banner = Served::after("TWOLANE_DRIAN=1s exec ", dir.path(), &["--no-http"]).banner();
    assert!(banner.contains("warning: TWOLANE_DRIAN is set and sets nothing"), "{banner}");
    for name in ["config", "check-config"] {
        let output = twolane(&[name]).env("TWOLANE_DRIAN", "1s").env("TWOLANE_DRAIN", "1s").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("TWOLANE_DRIAN"), "{said}");
    }
}

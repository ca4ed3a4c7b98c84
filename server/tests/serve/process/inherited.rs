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
fn a_server_under_nohup_outlives_its_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Served::after("trap '' HUP; exec ", dir.path(), &["--no-http"]);
    server.banner();
    server.signal(Signal::HUP);
    server.signal(Signal::TERM);
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "one signal counts: {said}");
    assert!(said.contains("SIGTERM: stopping"), "{said}");
}

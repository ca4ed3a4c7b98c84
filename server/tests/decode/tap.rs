//! `twolane tap` of a real server while a run plays.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::process::{objects, run, stderr};

const SCRIPT: &str = "start = \"connect\"\n\
    [[event]]\nlane = \"control\"\npayload = { type = \"stream_start\" }\n\
    [[event]]\ntimes = 50\nlane = \"display\"\npayload = { type = \"text_delta\", message_id = \"m\", delta = \"word\" }\n\
    [[event]]\nlane = \"control\"\npayload = { type = \"finished\" }\n";

/// A process of ours that ends with the test.
struct Process {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Process {
    fn start(arguments: &[&str], run_dir: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
        command.args(arguments).arg("--run-dir").arg(run_dir).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).env("XDG_CONFIG_HOME", "/nonexistent");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TWOLANE_")) {
            command.env_remove(name);
        }
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr }
    }

    fn serve(folder: &Path) -> Self {
        Self::serve_with(folder, &[])
    }

    fn serve_with(folder: &Path, more: &[&str]) -> Self {
        let script = folder.join("script.toml");
        fs::write(&script, SCRIPT).unwrap();
        let arguments = ["serve", "--http", "127.0.0.1:0", "--script", script.to_str().unwrap()];
        let mut server = Self::start(&[&arguments, more].concat(), &folder.join("run"));
        server.said("try ");
        server
    }

    /// Reads standard error up to a line that holds `text`.
    fn said(&mut self, text: &str) {
        let mut all = String::new();
        while !all.contains(text) {
            assert_ne!(self.stderr.read_line(&mut all).unwrap(), 0, "ended without `{text}`:\n{all}");
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap(), signal).unwrap();
    }

    fn ended(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_is_tapped_while_a_run_plays_is_decoded_with_the_law_kept() {
    let folder = tempfile::tempdir().unwrap();
    let run_dir = folder.path().join("run");
    let _server = Process::serve(folder.path());
    let mut tap = Process::start(&["tap", "-o", "-"], &run_dir);
    tap.said("tapping the server at 127.0.0.1:");
    let attached = Process::start(&["attach", "--json", "--until", "last"], &run_dir);
    let mut bytes = Vec::new();
    let mut stdout = tap.child.stdout.take().unwrap();
    while !bytes.windows(10).any(|window| window == b"\"finished\"") {
        let mut chunk = [0; 4096];
        let read = stdout.read(&mut chunk).unwrap();
        assert_ne!(read, 0, "the tap ended before the run");
        bytes.extend_from_slice(&chunk[..read]);
    }
    assert_eq!(attached.ended().0, Some(0));
    tap.signal(Signal::TERM);
    stdout.read_to_end(&mut bytes).unwrap();
    let (code, said) = tap.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(" units, ") && said.contains(" 0 units lost; SIGTERM"), "{said}");

    let decoded = run(&["-", "--json"], &bytes);
    assert_eq!(decoded.status.code(), Some(0), "{}", stderr(&decoded));
    let units = objects(&decoded);
    let of = |lane: &str| units.iter().filter(|unit| unit["lane"] == lane).count();
    assert_eq!(units.iter().filter(|unit| unit["kind"] == "handshake").count(), 3);
    assert!(of("control") == 2 && of("display") > 0, "{units:?}");

    let path = folder.path().join("run.pcapng");
    fs::write(&path, &bytes).unwrap();
    let mut tcpdump = Command::new("tcpdump");
    let shown =
        tcpdump.args(["-tt", "-r"]).arg(&path).output().expect("`cargo xtask setup` installs tcpdump");
    assert!(shown.status.success(), "{}", stderr(&shown));
    assert!(stderr(&shown).contains("link-type 147"), "{}", stderr(&shown));
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert_eq!(shown.lines().filter(|line| line.starts_with('1')).count(), units.len());
}

#[test]
fn a_file_is_its_owners_alone_and_ends_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let run_dir = folder.path().join("run");
    let server = Process::serve(folder.path());
    let path = folder.path().join("run.pcapng");
    let mut tap = Process::start(&["tap", "-o", path.to_str().unwrap()], &run_dir);
    tap.said("tapping");
    server.signal(Signal::TERM);
    assert_eq!(server.ended().0, Some(0));
    let (code, said) = tap.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("the server ended"), "{said}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn without_a_server_or_its_token_it_is_3_and_an_older_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let run_dir = folder.path().join("run");
    let path = folder.path().join("run.pcapng");
    fs::write(&path, "older").unwrap();
    let arguments = ["tap", "-o", path.to_str().unwrap()];
    let (code, said) = Process::start(&arguments, &run_dir).ended();
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("twolane serve"), "{said}");

    let _server = Process::serve(folder.path());
    fs::write(run_dir.join("tap-token"), "another").unwrap();
    let (code, said) = Process::start(&arguments, &run_dir).ended();
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("401") && said.contains("tap-token"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), b"older");
}

#[test]
fn as_many_listen_at_once_as_the_configuration_says() {
    let folder = tempfile::tempdir().unwrap();
    let run_dir = folder.path().join("run");
    let config = folder.path().join("config.toml");
    fs::write(&config, "tap_listeners = 1\ntap_recent = \"0\"\n").unwrap();
    let _server = Process::serve_with(folder.path(), &["--config", config.to_str().unwrap()]);
    let mut first = Process::start(&["tap", "-o", "-"], &run_dir);
    first.said("tapping");
    let (code, said) = Process::start(&["tap", "-o", "-"], &run_dir).ended();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("503"), "{said}");
}

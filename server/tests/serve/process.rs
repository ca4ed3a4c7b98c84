//! The real process: its signals, its files, its refusals to start.

#[cfg(target_os = "linux")]
mod inherited;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;
use twolane::net::connection_file;

use crate::bench::{FINISHED, Process, Runner, gist, twolane};

const SLOW: &str = "start = \"connect\"\n\
    [[event]]\nlane = \"control\"\npayload = { type = \"step_started\" }\n\
    [[event]]\nafter_ms = 3600000\nlane = \"display\"\npayload = { type = \"display_reset\" }\n";

fn serve(dir: &Path, script: &str, more: &[&str]) -> Process {
    let file = dir.join("script.toml");
    fs::write(&file, format!("{script}{FINISHED}")).unwrap();
    let run_dir = dir.join("run");
    let arguments = ["--no-http", "--run-dir", run_dir.to_str().unwrap(), "--script", file.to_str().unwrap()];
    let mut server = Process::serve(&[&arguments, more].concat());
    server.said("try ");
    server
}

#[tokio::test]
async fn sigterm_ends_runs_says_goodbye_removes_the_files_and_exits_with_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let dir = tempfile::tempdir().unwrap();
        let server = serve(dir.path(), SLOW, &[]);
        let mut runner = Runner::attach(&dir.path().join("run/providers.json")).await;
        assert_eq!(gist(&runner.next().await.unwrap()).3, "step_started");
        server.signal(signal);
        assert_eq!(gist(&runner.next().await.unwrap()), (1, 1, true, "error".to_owned()));
        assert_eq!(gist(&runner.next().await.unwrap()).3, "Goodbye");
        assert!(runner.next().await.is_none());
        drop(runner);
        let (code, said) = server.ended();
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(fs::read_dir(dir.path().join("run")).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn a_second_signal_ends_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let text = "x".repeat(100_000);
    let flood = format!(
        "start = \"connect\"\n[[event]]\ntimes = 400\nlane = \"control\"\n\
         payload = {{ type = \"stream_start\", model = \"{text}\" }}\n"
    );
    let mut server = serve(dir.path(), &flood, &["--drain", "60m", "--stall-limit", "60m"]);
    // Reads nothing, so that there is something to wait for.
    let _runner = Runner::attach(&dir.path().join("run/providers.json")).await;
    server.said("authenticated");
    server.signal(Signal::TERM);
    server.said("stopping");
    server.signal(Signal::TERM);
    assert_eq!(server.ended().0, Some(1));
}

#[tokio::test]
async fn a_run_directory_serves_one_server_only() {
    let dir = tempfile::tempdir().unwrap();
    let first = serve(dir.path(), SLOW, &[]);
    let file = dir.path().join("run/providers.json");
    let before = fs::read(&file).unwrap();
    let second = Process::serve(&["--no-http", "--run-dir", dir.path().join("run").to_str().unwrap()]);
    let (code, said) = second.ended();
    assert_eq!(code, Some(1));
    assert!(said.contains("another server") && said.contains("--run-dir"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), before);
    // A file whose server is gone holds no place.
    first.signal(Signal::KILL);
    first.ended();
    assert!(file.exists());
    let third = serve(dir.path(), SLOW, &[]);
    assert_ne!(fs::read(&file).unwrap(), before);
    third.signal(Signal::TERM);
    assert_eq!(third.ended().0, Some(0));
}

#[test]
fn a_fixed_identity_is_what_the_file_carries() {
    let dir = tempfile::tempdir().unwrap();
    let key = dir.path().join("key.hex");
    fs::write(&key, "0b".repeat(32)).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let id = "000102030405060708090a0b0c0d0e0f";
    let _server = serve(dir.path(), SLOW, &["--key-file", key.to_str().unwrap(), "--daemon-id", id]);
    let file = dir.path().join("run/providers.json");
    assert_eq!(connection_file::read(&file).unwrap().daemon_id.to_string(), id);
    let text: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(text["key"], serde_json::Value::from(vec![11; 32]));
    let ports: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.path().join("run/ports.json")).unwrap()).unwrap();
    assert_eq!(ports["providers"], format!("127.0.0.1:{}", text["endpoints"][0]["port"]));
}

#[test]
fn what_cannot_be_served_is_refused_at_start_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let run_dir = dir.path().join("run").display().to_string();
    for (arguments, reason) in [
        (["--providers", "0.0.0.0:0"], "not a loopback address"),
        (["--providers", "localhost:0"], "not a literal address"),
        (["--http", "192.0.2.1:80"], "not a loopback address"),
        (["--wire-version", "3"], "1 or 2"),
        (["--script", "/nonexistent/script.toml"], "script.toml"),
        (["--key-file", "/nonexistent/key"], "/nonexistent/key"),
    ] {
        let output = twolane(&[&["serve", "--run-dir", &run_dir], &arguments[..]].concat()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason), "{said}");
    }
    assert!(!dir.path().join("run/providers.json").exists());
}

#[test]
fn a_page_that_cannot_be_listened_for_names_its_own_address() {
    let dir = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run_dir = dir.path().join("run").display().to_string();
    let output = twolane(&["serve", "--run-dir", &run_dir, "--http", &address]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("{address} (http)")) && said.contains("another port"), "{said}");
    assert_eq!(fs::read_dir(dir.path().join("run")).unwrap().count(), 0);
}

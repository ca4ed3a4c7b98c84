//! One sealed call, recorded: what is read of it without a key, and with the fixture's own.

use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::recording::{ETHERNET, Tcpdump};

const QUESTION: &str = "What is 6 times 7? \u{202e}42";

fn fixture(end: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../fixtures/captures/call-v3-loopback.{end}"))
}

fn twolane(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.env("XDG_STATE_HOME", folder).env("XDG_CONFIG_HOME", folder).stdin(Stdio::null());
    command
}

/// The fixture's key as a file of its owner alone.
fn key(folder: &Path) -> PathBuf {
    let path = folder.join("caller-1.key");
    fs::copy(fixture("key"), &path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

fn decoded(folder: &Path) -> Output {
    twolane(folder).args(["decode", "--json"]).arg(fixture("pcap")).output().unwrap()
}

fn opened(folder: &Path) -> Output {
    twolane(folder).arg("open").arg(fixture("pcap")).arg("--key-file").arg(key(folder)).output().unwrap()
}

/// Objects of a line each. What is stored of them is what is printed, to the byte.
fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_recorded_call_is_told_to_who_has_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let output = decoded(folder.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("2 connector messages"), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, fs::read_to_string(fixture("decoded.jsonl")).unwrap());
    let units = objects(&text);
    let [request, reply] = &units[..] else { panic!("{text}") };
    let ids = |unit: &Value| ["caller_runtime_id", "request_id", "service_id"].map(|name| unit[name].clone());
    assert_eq!(ids(request), ids(reply));
    assert_eq!(
        (&request["message"], &reply["message"], &reply["status"]),
        (&"request".into(), &"reply".into(), &"accepted".into())
    );
    assert!(!text.contains("6 times 7"));
}

#[test]
fn with_the_key_the_recorded_call_says_what_was_asked_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let output = opened(folder.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(text, fs::read_to_string(fixture("opened.jsonl")).unwrap());
    assert!(!text.contains('\u{202e}'), "what steers a terminal is escaped");
    let documents = objects(&text);
    let request = &documents[0]["document"]["request"];
    assert_eq!(
        (&request["input"][0]["UserText"]["text"], &request["model"]),
        (&QUESTION.into(), &"model-a".into())
    );
    let answer = &documents[1]["document"]["disposition"]["Transported"];
    let words = answer["events"].as_array().unwrap().iter();
    let words = words.map(|event| event["payload"]["TextDelta"]["text"].as_str().unwrap());
    assert_eq!(words.collect::<String>(), QUESTION);
    assert_eq!(answer["receipt"]["request_id"], documents[0]["request_id"]);
}

/// A process that ends with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server with the script that repeats what it is asked, and where its connector listens.
fn serve(folder: &Path) -> (Ends, SocketAddr) {
    let callers = folder.join("callers.toml");
    fs::write(&callers, "[[caller]]\nid = \"caller-1\"\nkey_files = [\"caller-1.key\"]\n").unwrap();
    fs::set_permissions(&callers, fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = twolane(folder);
    command.args(["serve", "--no-http", "--connector", "127.0.0.1:0", "--callers"]).arg(callers);
    command.arg("--run-dir").arg(folder.join("run")).arg("--data-dir").arg(folder.join("data"));
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let server = Ends(child);
    loop {
        let ports = fs::read(folder.join("run/ports.json")).unwrap_or_default();
        let ports: Value = serde_json::from_slice(&ports).unwrap_or_default();
        if let Some(address) = ports["connector"].as_str() {
            return (server, address.parse().unwrap());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[ignore = "writes fixtures: cargo test -p twolane --test captures -- --ignored sealed_call_written"]
fn sealed_call_written() {
    let folder = tempfile::tempdir().unwrap();
    let key = key(folder.path());
    let (_server, address) = serve(folder.path());
    let tcpdump = Tcpdump::start(ETHERNET, address.port());
    let mut call = twolane(folder.path());
    call.args(["call", "--connector", &address.to_string(), "--caller", "caller-1", "--key-file"]).arg(key);
    let answer = call.args(["--model", "model-a", QUESTION]).output().unwrap();
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    fs::write(fixture("pcap"), tcpdump.file()).unwrap();
    fs::write(fixture("decoded.jsonl"), decoded(folder.path()).stdout).unwrap();
    fs::write(fixture("opened.jsonl"), opened(folder.path()).stdout).unwrap();
}

//! `twolane open` over a recorded call of the real processes, and over whatever may be wrong with one.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use twolane_capture::Index;
use twolane_capture::units::Options;

use crate::call::{listens, serve_with};
use crate::caller::{Caller, ended};

const CALLERS: &str = "[[caller]]\nid = \"runner-1\"\nkey_files = [\"key\"]\nmodels = [\"model-a\"]\n";

/// A process that ends with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn twolane(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = twolane(arguments).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A process that refuses its arguments does not read.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

fn objects(output: &Output) -> Vec<Value> {
    ended(output).1.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Longer than what is shown of a body that is no text.
fn question() -> String {
    "Say it again.".repeat(500)
}

/// What a server's tap says of one call, as pcapng.
async fn recorded(caller: &Caller) -> Vec<u8> {
    caller.put("callers.toml", CALLERS);
    let _server = Ends(serve_with(caller, &["--http", "127.0.0.1:0"]));
    let question = question();
    let asked = ["--caller", "runner-1", "--model", "model-a", &question];
    let answer = caller.command(listens(caller).await, &asked).output().await.unwrap();
    assert_eq!(ended(&answer), (0, &*(question.clone() + "\n"), ""));
    let run_dir = caller.path("run");
    let mut tap = Ends(twolane(&["tap", "-o", "-", "--run-dir", run_dir.to_str().unwrap()]).spawn().unwrap());
    let (mut stdout, mut bytes) = (tap.0.stdout.take().unwrap(), Vec::new());
    let mut index = Index::new(Options::default());
    // Both messages, whole.
    while index.len() < 2 {
        let mut chunk = [0; 4096];
        let read = stdout.read(&mut chunk).unwrap();
        assert_ne!(read, 0, "the tap ended before the reply");
        index.push(&chunk[..read]).unwrap();
        bytes.extend_from_slice(&chunk[..read]);
    }
    kill_process(Pid::from_raw(i32::try_from(tap.0.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    stdout.read_to_end(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn a_recorded_call_is_decoded_without_a_key_and_opened_with_it() {
    let caller = Caller::new(1);
    let capture = recorded(&caller).await;
    let holds = |words: &[u8]| capture.windows(words.len()).any(|window| window == words);
    assert!(!holds(b"Say it again.") && !holds(crate::world::secret_text(1).as_bytes()), "the tap is sealed");

    let decoded = run(&["decode", "-", "--json"], &capture);
    assert_eq!((ended(&decoded).0, objects(&decoded).len()), (0, 2), "{}", ended(&decoded).2);
    for (unit, (direction, message, kind)) in
        objects(&decoded).iter().zip([("a>b", "request", "Invocation"), ("b>a", "reply", "Result")])
    {
        assert_eq!((&unit["direction"], &unit["message"]), (&direction.into(), &message.into()));
        assert_eq!((&unit["caller_runtime_id"], &unit["message_kind"]), (&"runner-1".into(), &kind.into()));
        assert_eq!(unit["connection"], 1);
    }
    let shown = run(&["decode", "-"], &capture);
    assert!(ended(&shown).1.contains("runner-1") && ended(&shown).2.contains("2 connector messages"));

    let (key, callers) = (caller.path("key"), caller.path("callers.toml"));
    for with in [["--key-file", key.to_str().unwrap()], ["--callers", callers.to_str().unwrap()]] {
        let opened = run(&[&["open", "-"], &with[..]].concat(), &capture);
        let (code, _, err) = ended(&opened);
        let [request, reply] = &objects(&opened)[..] else { panic!("{err}") };
        assert_eq!((code, err), (0, ""));
        assert_eq!(request["document"]["request"]["input"][0]["UserText"]["text"], question());
        let transported = &reply["document"]["disposition"]["Transported"];
        let events = transported["events"].as_array().unwrap().iter();
        let words: Vec<_> =
            events.map(|event| event["payload"]["TextDelta"]["text"].as_str().unwrap()).collect();
        assert_eq!(words.concat(), question());
        assert_eq!(transported["receipt"]["outcome"]["Completed"]["stop_reason"], "EndTurn");
        assert_eq!(request["request_id"], reply["document"]["request_id"]);
        assert_eq!(request["key_id"], crate::world::secret(1).id().to_string());
    }
    for unit in objects(&decoded) {
        let frame = unit["bytes_hex"].as_str().unwrap().as_bytes();
        let opened = run(&["open", "-", "--key-file", key.to_str().unwrap()], frame);
        assert_eq!((ended(&opened).0, &objects(&opened)[0]["request_id"]), (0, &unit["request_id"]));
    }
    let opened = run(&["open", "-", "--row", "1", "--key-file", key.to_str().unwrap()], &capture);
    let rows: Vec<_> = objects(&opened).iter().map(|object| object["index"].clone()).collect();
    assert_eq!((ended(&opened).0, rows), (0, vec![1.into()]));
}

/// The golden of this name, in hexadecimal, and the secret that it is sealed under.
fn golden(file: &str, name: &str) -> String {
    let path = format!("{}/../fixtures/connector/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let goldens: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let found = goldens.iter().find(|golden| golden["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    found["hex"].as_str().unwrap().to_owned()
}

const SECRET: &str = "the goldens' secret, of no use elsewhere\n";

#[test]
fn what_stays_closed_says_why_and_whose_it_is() {
    let caller = Caller::new(7);
    caller.put("right", SECRET);
    caller.put("others.toml", CALLERS);
    caller.put("callers.toml", &CALLERS.replace("runner-1", "caller-1"));
    let path = |name: &str| caller.path(name).to_str().unwrap().to_owned();
    let sealed = golden("sealed", "connector-sealed-invocation-full");
    let tail = |digits: &str| format!("{}{digits}", &sealed[..sealed.len() - digits.len()]);
    let cases = [
        (&sealed, "--key-file", path("right"), 0, ""),
        (&sealed, "--key-file", path("key"), 3, "caller \"caller-1\": wrong key"),
        (&sealed, "--callers", path("callers.toml"), 3, "caller \"caller-1\": wrong key"),
        (&sealed, "--callers", path("others.toml"), 3, "unknown caller \"caller-1\""),
        // A tag that is another; a character that is none.
        (&tail("41413d3d"), "--key-file", path("right"), 3, "the key is right, but"),
        (&tail("ff"), "--key-file", path("right"), 4, "no operation message"),
        (&sealed[..200].to_owned(), "--key-file", path("right"), 4, "damaged"),
    ];
    for (input, flag, with, code, words) in cases {
        let opened = run(&["open", "-", flag, &with], input.as_bytes());
        let (found, out, err) = ended(&opened);
        let said = format!("{out}{err}").replace("\\\"", "\"");
        assert!(
            found == code && said.contains(words),
            "{flag} {with}, expected {code} {words}: {found} {said}"
        );
        assert!(!said.contains(SECRET.trim_end()), "{said}");
    }
}

#[test]
fn a_failure_and_a_capture_of_something_else_are_told_apart() {
    let caller = Caller::new(7);
    let key = caller.path("key");
    let open = |input: &[u8]| run(&["open", "-", "--key-file", key.to_str().unwrap()], input);
    let failure = open(golden("failures", "connector-failure-NotAdmitted").as_bytes());
    let (code, _, err) = ended(&failure);
    assert_eq!((code, err), (1, ""));
    assert_eq!(objects(&failure)[0]["code"], "not-admitted");
    assert!(objects(&failure)[0]["fault"].as_str().unwrap().contains("nothing in it is sealed"));
    let peers = format!("{}/../fixtures/captures/peer-v1-loopback.pcap", env!("CARGO_MANIFEST_DIR"));
    let nothing = open(&std::fs::read(peers).unwrap());
    let (code, out, err) = ended(&nothing);
    assert!(code == 1 && out.is_empty() && err.contains("`twolane decode` shows what is"), "{err}");
}

#[test]
fn a_key_comes_from_a_file_of_its_owner_alone() {
    let caller = Caller::new(7);
    let bare = run(&["open", "-"], b"");
    assert!(ended(&bare).0 == 2 && ended(&bare).2.contains("--key-file"), "{}", ended(&bare).2);
    caller.put("short", "short");
    let path = caller.path("short");
    let short = run(&["open", "-", "--key-file", path.to_str().unwrap()], b"");
    assert!(ended(&short).0 == 2 && ended(&short).2.contains("keygen"), "{}", ended(&short).2);
}

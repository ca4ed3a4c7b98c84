//! `twolane call` and `twolane keygen` against the real service.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpSocket;

use crate::caller::{Caller, ended};
use crate::client::{opened, world};
use crate::peers::{Proxy, proxy};
use crate::world::{World, secret};

/// A port where nobody listens, and what keeps it so.
fn nowhere() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

async fn a_world(open: usize) -> (World, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (world(folder.path(), &[1], open).await, folder)
}

#[tokio::test]
async fn an_answer_is_the_text_alone_or_one_object_and_again_for_nothing() {
    let (world, _folder) = a_world(10).await;
    let caller = Caller::new(1);
    assert_eq!(ended(&caller.call(world.address, &["Hello"]).await), (0, "run 0\n", ""));
    let stored = caller.stored();
    let again = caller.resume(world.address, &stored[0], &["--json"]).await;
    let (code, out, err) = ended(&again);
    assert_eq!((code, err, out.lines().count()), (0, "", 1));
    let object: Value = serde_json::from_str(out).unwrap();
    assert_eq!((&object["kind"], &object["outcome"]), (&"call".into(), &"Completed".into()));
    assert_eq!((&object["text"], &object["caller"]), (&"run 0".into(), &"caller-1".into()));
    assert_eq!(object["events"][0]["payload"]["TextDelta"]["text"], "run 0");
    assert_eq!(object["receipt"]["outcome"]["output_tokens"], 2);
    assert_eq!(object["receipt"]["provider_request_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(object["stored"], stored[0].to_str().unwrap());
    assert_eq!((stored.len(), world.backend.runs()), (1, 1));
    assert_eq!(fs::metadata(&stored[0]).unwrap().mode() & 0o777, 0o600);
    world.stop().await;
}

#[tokio::test]
async fn seals_are_counted_where_the_request_is_also_when_it_is_resumed() {
    let (world, _folder) = a_world(10).await;
    let caller = Caller::new(1);
    let store = caller.path("elsewhere");
    let output = caller.call(world.address, &["--store", store.to_str().unwrap(), "Hello"]).await;
    assert_eq!(ended(&output).0, 0);
    let count = store.join(format!("seals-{}", secret(1).id()));
    assert_eq!(fs::read_to_string(&count).unwrap(), "1\n");
    let mut files = fs::read_dir(&store).unwrap().map(|file| file.unwrap().path());
    let request = files.find(|path| path.extension().is_some()).unwrap();
    assert_eq!(ended(&caller.resume(world.address, &request, &[]).await), (0, "run 0\n", ""));
    assert_eq!(fs::read_to_string(&count).unwrap(), "2\n");
    assert!(!caller.path("state").exists());
    world.stop().await;
}

#[tokio::test]
async fn a_document_is_asked_as_it_is_and_flags_stand_above_it() {
    let (world, _folder) = a_world(10).await;
    let caller = Caller::new(1);
    let document = r#"{"schema_id":"gamecult.model.provider_request.v3","request_id":"mine",
        "conversation_id":"c","model":"model-2","instructions":"x","input":[{"UserText":{"text":"hello"}}],
        "reasoning_effort":null,"reasoning_summary":null,"service_tier":null,"output_format_name":null,
        "previous_response_id":null,"tools":[],"tool_choice":"auto","parallel_tool_calls":false,
        "output_schema_json":null,"max_output_tokens":9,"prompt_cache_key":null}"#;
    let arguments = ["--caller", "caller-1", "--input", "-", "--model", "model-1", "--json"];
    let output = caller.call_with(world.address, &arguments, document).await;
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&object["text"], &object["request_id"]), (&"run 0".into(), &"mine".into()));
    assert_eq!(*world.backend.asked.lock().unwrap(), [("mine".to_owned(), 9)]);
    // Text that is JSON and no document is what the user says.
    let output = caller.call_with(world.address, &arguments[..6], "{\"a\":1}").await;
    assert_eq!(ended(&output), (0, "run 1\n", ""));
    let broken = document.replace("\"auto\"", "\"other\"");
    let output = caller.call_with(world.address, &arguments, &broken).await;
    let (code, out, err) = ended(&output);
    assert!(code == 2 && out.is_empty() && err.contains("- is no provider_request"), "{err}");
    assert_eq!((caller.stored().len(), world.backend.runs()), (2, 2));
    world.stop().await;
}

#[tokio::test]
async fn a_client_killed_before_it_sends_goes_on_with_what_it_stored() {
    let (world, _folder) = a_world(10).await;
    let caller = Caller::new(1);
    let arguments = ["--caller", "caller-1", "--model", "model-1", "Hello"];
    let (_socket, nowhere) = nowhere();
    let mut child = caller.command(nowhere, &arguments).spawn().unwrap();
    while caller.stored().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    child.kill().await.unwrap();
    let [stored] = &caller.stored()[..] else { panic!() };
    let Proxy { address, requests } = proxy(world.address, []).await;
    assert_eq!(ended(&caller.resume(address, stored, &[]).await), (0, "run 0\n", ""));
    assert_eq!(opened(&requests.lock().unwrap()[0]), fs::read(stored).unwrap());
    assert_eq!(world.backend.runs(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_client_killed_while_its_turn_runs_is_answered_by_the_same_run() {
    let (world, _folder) = a_world(0).await;
    let caller = Caller::new(1);
    let arguments = ["--caller", "caller-1", "--model", "model-1", "Hello"];
    let mut child = caller.command(world.address, &arguments).spawn().unwrap();
    while world.backend.runs() == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    child.kill().await.unwrap();
    let short = caller.resume(world.address, &caller.stored()[0], &["--within", "300ms"]).await;
    let (code, out, err) = ended(&short);
    assert!(code == 1 && out.is_empty() && err.contains("--resume"), "{err}");
    world.backend.gate.add_permits(1);
    assert_eq!(ended(&caller.resume(world.address, &caller.stored()[0], &[]).await), (0, "run 0\n", ""));
    assert_eq!(world.backend.runs(), 1);
    world.stop().await;
}

#[tokio::test]
async fn what_cannot_be_asked_says_why_and_sends_nothing() {
    let (world, _folder) = a_world(10).await;
    let caller = Caller::new(1);
    let long = "é".repeat(128) + "x";
    let first = caller.call(world.address, &["--request-id", "once", "Hello"]).await;
    assert_eq!(ended(&first).0, 0);
    let file = caller.stored()[0].to_str().unwrap().to_owned();
    caller.put("damaged", "no invocation");
    let damaged = caller.path("damaged").to_str().unwrap().to_owned();
    let [model, who] = [["--model", "model-1"], ["--caller", "caller-1"]];
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--caller", "caller-1", "Hello"], 2, "--model"),
        (&[model[0], model[1], "Hello"], 2, "--caller"),
        (&[model[0], model[1], who[0], who[1], "--request-id", &long, "Hello"], 2, "257 bytes"),
        (&[model[0], model[1], who[0], who[1], "--request-id", "once", "Hello"], 2, &file),
        (&[model[0], model[1], "--caller", " ", "Hello"], 2, "caller's id"),
        (&[model[0], model[1], who[0], who[1], ""], 2, "not empty"),
        (&[model[0], model[1], who[0], who[1]], 2, "PROMPT"),
        (&["--resume", &file, "--caller", "caller-2"], 2, "another caller"),
        (&["--resume", "/nowhere"], 2, "cannot read"),
        (&["--resume", &damaged], 4, "is no stored invocation"),
    ];
    for (arguments, code, words) in cases {
        let output = caller.command(world.address, arguments).output().await.unwrap();
        let found = ended(&output);
        assert!(
            found.0 == *code && found.1.is_empty() && found.2.contains(words),
            "{arguments:?}: {found:?}"
        );
    }
    assert_eq!((caller.stored().len(), world.backend.runs()), (1, 1));
    let away = caller.command("192.168.0.1:1".parse().unwrap(), &["--resume", &file]).output().await.unwrap();
    assert!(ended(&away).0 == 2 && ended(&away).2.contains("loopback"));
    world.stop().await;
}

#[tokio::test]
async fn who_is_not_there_or_not_admitted_is_told_apart() {
    let (world, _folder) = a_world(10).await;
    let caller = Caller::new(9);
    let output = caller.call(world.address, &["Hello"]).await;
    let (code, out, err) = ended(&output);
    assert!(code == 3 && out.is_empty() && err.contains("callers file"), "{err}");
    let (_socket, nowhere) = nowhere();
    let output = caller.call(nowhere, &["--within", "200ms", "Hello"]).await;
    let (code, out, err) = ended(&output);
    assert!(
        code == 3 && out.is_empty() && err.contains("cannot connect") && err.contains("--resume"),
        "{err}"
    );
    world.stop().await;
}

fn keygen(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_twolane")).arg("keygen").args(arguments).output().unwrap()
}

#[test]
fn a_secret_is_its_owners_alone_never_printed_and_never_lost_by_accident() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let file = path.to_str().unwrap();
    let made = keygen(&["-o", file]);
    let (secret, id) = (fs::read_to_string(&path).unwrap(), ended(&made).1.trim_end().to_owned());
    assert_eq!((ended(&made).0, ended(&made).2, id.len()), (0, "", 32));
    let key = twolane_client::SealKey::from_file(secret.as_bytes()).unwrap();
    assert_eq!(key.id().to_string(), id);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let again = keygen(&["-o", file]);
    assert!(ended(&again).0 == 1 && ended(&again).2.contains("--force"));
    assert_eq!(fs::read_to_string(&path).unwrap(), secret);
    assert_eq!(ended(&keygen(&["-o", file, "--force"])).0, 0);
    assert_ne!(fs::read_to_string(&path).unwrap(), secret);
    assert_eq!(ended(&keygen(&["-o", "-"])).0, 2);
}

/// A server of the real process, as its documentation says to start one.
fn serve(caller: &Caller) -> std::process::Child {
    serve_with(caller, &["--no-http"])
}

pub(crate) fn serve_with(caller: &Caller, more: &[&str]) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.args(["serve", "--connector", "127.0.0.1:0"]).args(more);
    for (flag, name) in [("--run-dir", "run"), ("--data-dir", "data"), ("--callers", "callers.toml")] {
        command.arg(flag).arg(caller.path(name));
    }
    command.env("TWOLANE_LOG", "error").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Where it listens, once it says so.
pub(crate) async fn listens(caller: &Caller) -> SocketAddr {
    loop {
        let ports = fs::read(caller.path("run/ports.json")).unwrap_or_default();
        let ports: Value = serde_json::from_slice(&ports).unwrap_or_default();
        if let Some(address) = ports["connector"].as_str() {
            return address.parse().unwrap();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn from_a_new_key_to_an_answer_that_outlives_its_server() {
    let caller = Caller::new(1);
    let key = caller.path("key");
    assert_eq!(ended(&keygen(&["--force", "-o", key.to_str().unwrap()])).0, 0);
    caller.put(
        "callers.toml",
        "[[caller]]\nid = \"runner-1\"\nkey_files = [\"key\"]\nmodels = [\"model-a\"]\n",
    );
    let mut server = serve(&caller);
    let arguments = ["--caller", "runner-1", "--model", "model-a", "--json", "Say it again."];
    let output = caller.command(listens(&caller).await, &arguments).output().await.unwrap();
    let (code, first, err) = ended(&output);
    assert_eq!((code, err), (0, ""));
    let object: Value = serde_json::from_str(first).unwrap();
    assert_eq!(
        (&object["text"], &object["receipt"]["transport"]),
        (&"Say it again.".into(), &"script".into())
    );
    server.kill().unwrap();
    server.wait().unwrap();
    fs::remove_file(caller.path("run/ports.json")).unwrap();
    let mut server = serve(&caller);
    let again = caller.resume(listens(&caller).await, &caller.stored()[0], &["--json"]).await;
    assert_eq!(ended(&again), (0, first, ""));
    server.kill().unwrap();
    server.wait().unwrap();
}

#[tokio::test]
async fn a_terminal_sees_that_it_waits_and_then_the_answer_alone() {
    let (world, _folder) = a_world(0).await;
    let caller = Caller::new(1);
    let mut line = format!("{} call --connector {}", env!("CARGO_BIN_EXE_twolane"), world.address);
    line += &format!(" --key-file {} --caller caller-1 --model model-1 Hello", caller.path("key").display());
    let mut script = tokio::process::Command::new("script");
    script.args(["-q", "-e", "-c", &line, "/dev/null"]).env("XDG_STATE_HOME", caller.path("state"));
    let mut child =
        script.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("every Linux system has script(1)");
    let mut screen = child.stdout.take().unwrap();
    let mut sent = Vec::new();
    while !String::from_utf8_lossy(&sent).contains("0 s  sent") {
        assert_ne!(screen.read_buf(&mut sent).await.unwrap(), 0, "{}", String::from_utf8_lossy(&sent));
    }
    world.backend.gate.add_permits(1);
    screen.read_to_end(&mut sent).await.unwrap();
    let sent = String::from_utf8(sent).unwrap();
    assert!(sent.ends_with("\r\x1b[Krun 0\r\n"), "{sent:?}");
    assert!(child.wait().await.unwrap().success());
    world.stop().await;
}

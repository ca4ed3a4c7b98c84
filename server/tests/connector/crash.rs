//! The real process, killed again and again in the middle of its work.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use twolane_core::connector::document::Refusal;
use twolane_core::connector::seal::SealKey;

use crate::ask::Ask;
use crate::history::History;
use crate::world::{Told, sealed, told_under};

/// How often the server is killed; more with this variable.
const ROUNDS_VARIABLE: &str = "TWOLANE_CRASH_ROUNDS";
const ROUNDS: usize = 100;

/// Callers at work.
const CLIENTS: usize = 4;

const SECRET: &str = "the secret of a crash, long enough for one";

/// Books its run before it answers, as a provider bills one.
const PROGRAM: &str = r#"#!/bin/sh
asked=$(cat)
# Killed before it was asked: no run.
[ -n "$asked" ] || exit 0
id=${asked#*'"request_id":"'}
echo "${id%%\"*}" >>"$1"
sleep "0.0$(($$ % 10))"
echo '{"TextDelta":{"text":"done"}}'
echo '{"Completed":{"stop_reason":"EndTurn"}}'
"#;

/// A server that is started and killed in one place.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        for (name, text, mode) in [
            ("key", SECRET, 0o600),
            (
                "callers.toml",
                "[[caller]]\nid = \"caller-1\"\nkey_files = [\"key\"]\nrunning = 8\npayload = 16384\n",
                0o600,
            ),
            ("program", PROGRAM, 0o700),
        ] {
            fs::write(place.path(name), text).unwrap();
            fs::set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self) -> Child {
        let exec = format!("{} {}", self.path("program").display(), self.path("book").display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
        command.args(["serve", "--no-http", "--connector", "127.0.0.1:0", "--connector-exec", &exec]);
        for (flag, name) in [("--run-dir", "run"), ("--data-dir", "data"), ("--callers", "callers.toml")] {
            command.arg(flag).arg(self.path(name));
        }
        command.env("TWOLANE_LOG", "error").stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Kills a server, which may not have come as far as its files.
    fn kill(&self, server: &mut Child) {
        server.kill().unwrap();
        server.wait().unwrap();
        let _ = fs::remove_file(self.path("run/ports.json"));
    }

    fn book(&self) -> String {
        fs::read_to_string(self.path("book")).unwrap_or_default()
    }
}

/// Where the server that runs now listens, by the file of its ports.
fn address(run_dir: &Path) -> Option<String> {
    let ports = fs::read(run_dir.join("ports.json")).ok()?;
    let ports: serde_json::Value = serde_json::from_slice(&ports).ok()?;
    ports.get("connector")?.as_str().map(str::to_owned)
}

async fn exchange(run_dir: &Path, frame: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(address(run_dir)?).await.ok()?;
    stream.write_all(frame).await.ok()?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.ok()?;
    let whole = reply.first_chunk().is_some_and(|len| u32::from_be_bytes(*len) as usize == reply.len() - 4);
    whole.then_some(reply)
}

fn key() -> SealKey {
    SealKey::from_secret(SECRET).unwrap()
}

/// Asks the same request until it has an answer that will not change, or the server is gone for good.
async fn ask(run_dir: &Path, ask: &Ask, history: &Mutex<History>) -> Option<Told> {
    for _ in 0..2000 {
        let frame = sealed(&ask.invocation(), &key());
        let reply = timeout(Duration::from_secs(20), exchange(run_dir, &frame)).await.ok().flatten();
        if let Some(bytes) = reply {
            let told = told_under(ask, &key(), &bytes);
            history.lock().unwrap().add(ask.request_id, told.clone(), bytes);
            match told {
                Told::Refused(Refusal::InFlight | Refusal::Capacity) => {}
                told => return Some(told),
            }
        }
        sleep(Duration::from_millis(10)).await;
    }
    None
}

async fn client(
    run_dir: PathBuf,
    history: Arc<Mutex<History>>,
    next: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
) {
    while !over.load(Ordering::Relaxed) {
        let name = format!("request-{}", next.fetch_add(1, Ordering::Relaxed));
        let request = Ask { expires_at_unix_ms: in_four_minutes(), ..Ask::new(name.leak(), "hello") };
        // And a retry, as of a caller that lost the answer.
        for _ in 0..2 {
            let told = ask(&run_dir, &request, &history).await.expect("a server that comes back");
            assert!(matches!(told, Told::Text(_) | Told::Refused(Refusal::Indeterminate)), "{told:?}");
        }
    }
}

fn in_four_minutes() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from((now + Duration::from_secs(240)).as_millis()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_no_turn_runs_twice_and_no_answer_changes_or_is_lost() {
    let rounds = std::env::var(ROUNDS_VARIABLE).map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let place = Place::new();
    let run_dir = place.path("run");
    let history = Arc::new(Mutex::new(History::default()));
    let (next, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            tokio::spawn(client(run_dir.clone(), Arc::clone(&history), Arc::clone(&next), Arc::clone(&over)))
        })
        .collect();
    let mut server = place.start();
    for round in 0..rounds {
        let booked = place.book().lines().count();
        // Work was begun, and then a while that differs from round to round.
        while place.book().lines().count() <= booked {
            sleep(Duration::from_millis(2)).await;
            assert!(!clients.iter().any(tokio::task::JoinHandle::is_finished), "a client failed");
        }
        sleep(Duration::from_millis((round as u64 * 37) % 120)).await;
        place.kill(&mut server);
        server = place.start();
    }
    over.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    // Every answer that was seen is there after one more life.
    place.kill(&mut server);
    let mut server = place.start();
    let answered = history.lock().unwrap().answered();
    for name in answered {
        let request = Ask { expires_at_unix_ms: in_four_minutes(), ..Ask::new(name.leak(), "hello") };
        ask(&run_dir, &request, &history).await.unwrap();
    }
    place.kill(&mut server);
    let history = history.lock().unwrap();
    history.check(&place.book()).unwrap();
    let (texts, indeterminate) = history.counts();
    println!("{rounds} kills: {texts} answered, {indeterminate} Indeterminate");
    assert!(
        texts >= rounds / 10 && indeterminate > 0,
        "{texts} answered, {indeterminate} Indeterminate: too tame"
    );
}

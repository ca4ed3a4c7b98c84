//! A place where the real server lives, is killed and lives again: its files, and the book of its provider.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::ask::Ask;
use crate::world::secret_text;

/// What the only caller may: the runs at once are few, so that a lost place is noticed.
const CALLERS: &str = r#"[[caller]]
id = "caller-1"
key_files = ["key-1", "key-2"]
models = ["model-1"]
running = RUNNING
payload = 16384
"#;

/// Books its run before it answers, as a provider bills one. A request whose id begins with `held` is answered once
/// the file `gate` is there; the others take a while that differs.
const PROGRAM: &str = r#"#!/bin/sh
asked=$(cat)
# Killed before it was asked: no run.
[ -n "$asked" ] || exit 0
id=${asked#*'"request_id":"'}
id=${id%%\"*}
echo "$id" >>"$1/book"
case $id in
held*) while [ -d "$1" ] && [ ! -e "$1/gate" ]; do sleep 0.01; done ;;
*) sleep "0.0$(($$ % 10))" ;;
esac
echo '{"TextDelta":{"text":"done"}}'
echo '{"Completed":{"stop_reason":"EndTurn"}}'
"#;

pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// Its caller may have so many runs at once.
    pub(crate) fn new(running_max: u32) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let callers = CALLERS.replace("RUNNING", &running_max.to_string());
        for (name, text, mode) in [
            ("key-1", secret_text(1).as_str(), 0o600),
            ("key-2", &secret_text(2), 0o600),
            ("callers.toml", &callers, 0o600),
            ("program", PROGRAM, 0o700),
        ] {
            fs::write(place.path(name), text).unwrap();
            fs::set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap();
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn start(&self) -> Child {
        let exec = format!("{} {}", self.path("program").display(), self.folder.path().display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
        command.args(["serve", "--no-http", "--connector", "127.0.0.1:0", "--connector-exec", &exec]);
        for (flag, name) in [("--run-dir", "run"), ("--data-dir", "data"), ("--callers", "callers.toml")] {
            command.arg(flag).arg(self.path(name));
        }
        command.env("TWOLANE_STOP_POINTS", self.folder.path().join("stop-points"));
        command.env("TWOLANE_LOG", "error").stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Kills a server, which may not have come as far as its files.
    pub(crate) fn kill(&self, server: &mut Child) {
        server.kill().unwrap();
        server.wait().unwrap();
    }

    /// The provider's book: the request of each run.
    pub(crate) fn book(&self) -> String {
        fs::read_to_string(self.path("book")).unwrap_or_default()
    }
}

/// Where the server that runs now listens, and its process, by the file of its ports.
pub(crate) fn ports(run_dir: &Path) -> Option<(String, u32)> {
    let ports = fs::read(run_dir.join("ports.json")).ok()?;
    let ports: serde_json::Value = serde_json::from_slice(&ports).ok()?;
    let pid = ports.get("pid")?.as_u64()?;
    Some((ports.get("connector")?.as_str()?.to_owned(), u32::try_from(pid).ok()?))
}

/// Sends a frame and reads the whole one that comes back; `None` where none does.
pub(crate) async fn exchange(address: &str, frame: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(frame).await.ok()?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.ok()?;
    let whole = reply.first_chunk().is_some_and(|len| u32::from_be_bytes(*len) as usize == reply.len() - 4);
    whole.then_some(reply)
}

/// A request that may be started for `time` from now.
pub(crate) fn ask_within(request_id: &str, time: Duration) -> Ask {
    let until = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + time;
    let expires_at_unix_ms = u64::try_from(until.as_millis()).unwrap();
    Ask { expires_at_unix_ms, ..Ask::new(request_id.to_owned().leak(), "hello") }
}

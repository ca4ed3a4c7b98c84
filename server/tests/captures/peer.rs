//! The server's process and a peer of it that keeps what it received.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use twolane::net::client;
use twolane::net::connection_file;
use twolane::net::inbox::{Found, Inbox};
use twolane::net::socket::Tuning;
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};

/// Far beyond what anything here takes, on a machine that is busy with other things.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

/// Bodies within one segment and over several, on both lanes; many deltas, no two of them of one message, so that a
/// server that is slow merges none.
fn script() -> String {
    let event = |lane: &str, payload: &str| {
        format!("[[event]]\nafter_ms = 1\nlane = \"{lane}\"\npayload = {payload}\n")
    };
    let delta = |at: usize, text: &str| {
        let kind = if at.is_multiple_of(2) { "text_delta" } else { "reasoning_delta" };
        event("display", &format!("{{ type = \"{kind}\", message_id = \"m{at}\", delta = \"{text}\" }}"))
    };
    let mut script = "start = \"request\"\n".to_owned();
    script += &event("control", "{ type = \"stream_start\", message_id = \"m\", model = \"model-1\" }");
    script.extend((0..90).map(|at| delta(at, "w\u{f6}rds, and \\\"quoted\\\" ones")));
    script += &delta(90, &"thought ".repeat(5000));
    script.extend((91..180).map(|at| delta(at, "more")));
    let text = "a long text ".repeat(20_000);
    script += &event(
        "control",
        &format!(
            "{{ type = \"assistant_message\", message = {{ message_id = \"m\", content = [{{ type = \"text\", text = \"{text}\" }}] }} }}"
        ),
    );
    script + &event("control", "{ type = \"finished\" }")
}

/// A server process that ends with the test.
pub(crate) struct Server {
    child: Child,
    /// Held open: what the server says from its start on is little, and read by nobody.
    _stderr: BufReader<ChildStderr>,
    folder: tempfile::TempDir,
    pub(crate) address: SocketAddr,
    version: Version,
}

impl Server {
    /// Serves on a free port of this loopback address.
    pub(crate) fn start(ip: &str, version: Version) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script.toml");
        fs::write(&file, script()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
        command.args(["serve", "--no-http", "--providers", &format!("{ip}:0")]);
        command.args(["--wire-version", &version.number().to_string(), "--script"]).arg(file);
        command.arg("--run-dir").arg(folder.path().join("run")).env("XDG_CONFIG_HOME", "/nonexistent");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TWOLANE_")) {
            command.env_remove(name);
        }
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        while !said.contains("try ") {
            assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "ended:\n{said}");
        }
        let address = connection_file::read(&folder.path().join("run/providers.json")).unwrap().addresses[0];
        Self { child, _stderr: stderr, folder, address, version }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("run/providers.json")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Frames as the peer sent and received them.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) sent: Vec<Vec<u8>>,
    pub(crate) received: Vec<Vec<u8>>,
}

/// Asks for a run, reads it to its end, closes its own side and reads what still comes.
pub(crate) fn ask(server: &Server) -> Seen {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime
        .block_on(async { tokio::time::timeout(BOUND, run(&server.file(), server.version)).await.unwrap() })
}

async fn run(file: &Path, version: Version) -> Seen {
    let known = connection_file::read(file).unwrap();
    let mut peer = client::connect(&known, Tuning::default(), BOUND).await.unwrap();
    let mut inbox = Inbox::new(peer.unread, u32::MAX);
    let mut seen = Seen { sent: vec![step_request(version)], received: Vec::new() };
    peer.stream.write_all(&seen.sent[0]).await.unwrap();
    loop {
        while let Some(found) = inbox.take().unwrap() {
            let Found::Frame(frame) = found else { panic!("no frame is over the limit") };
            seen.received.push(frame.bytes.to_vec());
            if frame.header.flags().is_last() {
                peer.stream.shutdown().await.unwrap();
            }
        }
        if inbox.read(&mut peer.stream).await.unwrap() == 0 {
            inbox.end().unwrap();
            return seen;
        }
    }
}

fn step_request(version: Version) -> Vec<u8> {
    let body = "{\"version\":1,\"run_id\":\"r\",\"step_id\":1,\"seq\":0,\"payload\":{\"type\":\"step_request\",\
                \"request\":{\"model\":\"m\",\"messages\":[]}}}";
    let header = Header::new(Parts {
        version,
        frame_type: FrameType::StreamData,
        flags: Flags::CONTROL,
        channel: 40_000,
        epoch: 0,
        corr: 1,
        len: u32::try_from(body.len()).unwrap(),
    });
    [&header.unwrap().encode()[..], body.as_bytes()].concat()
}

//! What the tests stand on: servers in this process and outside of it, conditions awaited under a generous bound.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use twolane::config::{Config, Environment, Layers};
use twolane::net::client;
use twolane::net::connection_file;
use twolane::net::inbox::{Found, Inbox, Taken};
use twolane::net::socket::Tuning;
use twolane::server::Server;
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};

/// Far beyond what anything here takes, on a machine that is busy with other things.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

pub(crate) const FINISHED: &str = "[[event]]\nlane = \"control\"\npayload = { type = \"finished\" }\n";

/// A server in this process, its files in a directory of its own.
pub(crate) struct Bench {
    pub(crate) server: Server,
    pub(crate) dir: TempDir,
}

impl Bench {
    pub(crate) async fn start(script: &str, settings: &[(&'static str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = config(dir.path(), script, settings);
        Self { server: Server::start(&config).await.unwrap(), dir }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.dir.path().join("run/providers.json")
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        let rows = self.server.endpoint().counters().rows();
        rows.into_iter().find(|(row, _)| *row == name).map(|(_, value)| value).unwrap()
    }

    /// Waits until a count has reached `at_least`.
    pub(crate) async fn counted(&self, name: &str, at_least: u64) {
        eventually(name, || self.count(name) >= at_least).await;
    }

    pub(crate) async fn runner(&self) -> Runner {
        Runner::attach(&self.file()).await
    }
}

pub(crate) fn config(dir: &Path, script: &str, settings: &[(&'static str, &str)]) -> Config {
    let file = dir.join("script.toml");
    std::fs::write(&file, script).unwrap();
    let mut layers = Layers::default()
        .flag("run_dir", Some(dir.join("run").display().to_string()))
        .flag("script", Some(file.display().to_string()))
        .flag("http", Some("off".to_owned()));
    for (key, value) in settings {
        layers = layers.flag(key, Some((*value).to_owned()));
    }
    layers.resolve(&Environment::with(&[])).unwrap().typed().unwrap()
}

pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn bounded<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(BOUND, what).await.expect("came to no end in time")
}

/// Reads until the server closes; what it sent.
pub(crate) async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    // A reset is an end too.
    let _ = bounded(stream.read_to_end(&mut rest)).await;
    rest
}

/// A client of our own library.
pub(crate) struct Runner {
    pub(crate) stream: TcpStream,
    inbox: Inbox,
}

impl Runner {
    pub(crate) async fn attach(file: &Path) -> Self {
        Self::attach_or_refused(file).await.expect("an authenticated connection")
    }

    /// The same; `None` where the server closed the connection instead.
    pub(crate) async fn attach_or_refused(file: &Path) -> Option<Self> {
        let known = connection_file::read(file).unwrap();
        let peer = client::connect(&known, Tuning::default(), BOUND).await.ok()?;
        Some(Self { stream: peer.stream, inbox: Inbox::new(peer.unread, u32::MAX) })
    }

    /// The next frame; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Taken> {
        loop {
            match self.inbox.take().unwrap() {
                Some(Found::Frame(frame)) => return Some(frame),
                Some(Found::Oversize(_)) => panic!("no frame is over the limit"),
                None => {}
            }
            if bounded(self.inbox.read(&mut self.stream)).await.unwrap_or(0) == 0 {
                self.inbox.end().unwrap();
                return None;
            }
        }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }
}

/// A frame with a body in an envelope.
pub(crate) fn control(version: Version, channel: u16, corr: u64, payload: &str) -> Vec<u8> {
    let body =
        format!("{{\"version\":1,\"run_id\":\"run_1\",\"step_id\":4,\"seq\":0,\"payload\":{payload}}}");
    frame(version, FrameType::StreamData, 2, channel, corr, body.as_bytes())
}

pub(crate) fn frame(
    version: Version,
    frame_type: FrameType,
    flags: u8,
    channel: u16,
    corr: u64,
    body: &[u8],
) -> Vec<u8> {
    let header = Header::new(Parts {
        version,
        frame_type,
        flags: Flags::from_bits(flags),
        channel,
        epoch: 0,
        corr,
        len: u32::try_from(body.len()).unwrap(),
    });
    let mut bytes = header.unwrap().encode().to_vec();
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) const STEP_REQUEST: &str =
    "{\"type\":\"step_request\",\"request\":{\"model\":\"m\",\"messages\":[]}}";

/// What a frame is, for comparing: channel, corr, whether it has LAST, and its payload's tag.
pub(crate) fn gist(frame: &Taken) -> (u16, u64, bool, String) {
    let header = &frame.header;
    let body: serde_json::Value = serde_json::from_slice(frame.body()).unwrap_or_default();
    let tag = body["payload"]["type"].as_str().unwrap_or(header.frame_type().name()).to_owned();
    (header.channel(), header.corr(), header.flags().is_last(), tag)
}

/// The real program.
pub(crate) fn twolane(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TWOLANE_")) {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// A server process that is ended whatever happens.
pub(crate) struct Process {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Process {
    pub(crate) fn serve(arguments: &[&str]) -> Self {
        let mut child = twolane(&[&["serve"], arguments].concat()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr }
    }

    /// Reads standard error up to a line that holds `text`.
    pub(crate) fn said(&mut self, text: &str) -> String {
        let mut all = String::new();
        loop {
            let start = all.len();
            assert_ne!(self.stderr.read_line(&mut all).unwrap(), 0, "ended without `{text}`:\n{all}");
            if all[start..].contains(text) {
                return all;
            }
        }
    }

    /// Its resident memory.
    pub(crate) fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches("kB").trim().parse().unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for the end: the exit code, and the rest of standard error.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
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

/// Bytes read behind a handshake that was driven by hand.
pub(crate) fn inbox(unread: &[u8]) -> Inbox {
    Inbox::new(BytesMut::from(unread), u32::MAX)
}

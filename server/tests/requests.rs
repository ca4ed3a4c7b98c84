//! What a provider endpoint makes of step requests that are wrong, out of order or too many, over real sockets.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use twolane::config::{Config, Environment, Layers};
use twolane::net::client;
use twolane::net::connection_file;
use twolane::net::inbox::{Found, Inbox, Taken};
use twolane::net::socket::Tuning;
use twolane::server::{PORTS_FILE, Server, StartFault};
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};

/// Far beyond what anything here takes.
const BOUND: Duration = Duration::from_secs(60);

const FINISHED: &str = "[[event]]\nlane = \"control\"\npayload = { type = \"finished\" }\n";
const REQUEST: &str = "{\"type\":\"step_request\",\"request\":{\"model\":\"m\",\"messages\":[]}}";

fn config(dir: &Path, start: &str, settings: &[(&'static str, &str)]) -> Config {
    let script = dir.join("script.toml");
    std::fs::write(&script, format!("start = \"{start}\"\n{FINISHED}")).unwrap();
    let mut layers = Layers::default()
        .flag("run_dir", Some(dir.join("run").display().to_string()))
        .flag("script", Some(script.display().to_string()))
        .flag("http", Some("off".to_owned()));
    for (key, value) in settings {
        layers = layers.flag(key, Some((*value).to_owned()));
    }
    layers.resolve(&Environment::with(&[])).unwrap().typed().unwrap()
}

struct Runner {
    stream: TcpStream,
    inbox: Inbox,
}

impl Runner {
    async fn attach(server: &Server) -> Self {
        let known = connection_file::read(server.connection_file()).unwrap();
        let peer = client::connect(&known, Tuning::default(), BOUND).await.unwrap();
        Self { stream: peer.stream, inbox: Inbox::new(peer.unread, u32::MAX) }
    }

    /// The next frame; `None` where the server closed.
    async fn next(&mut self) -> Option<Taken> {
        loop {
            if let Some(Found::Frame(frame)) = self.inbox.take().unwrap() {
                return Some(frame);
            }
            let read = timeout(BOUND, self.inbox.read(&mut self.stream)).await.expect("an answer in time");
            if read.unwrap_or(0) == 0 {
                return None;
            }
        }
    }
}

fn control(version: Version, (epoch, channel): (u32, u16), seq: u64, payload: &str) -> Vec<u8> {
    let body =
        format!("{{\"version\":1,\"run_id\":\"r\",\"step_id\":1,\"seq\":{seq},\"payload\":{payload}}}");
    let header = Header::new(Parts {
        version,
        frame_type: FrameType::StreamData,
        flags: Flags::CONTROL,
        channel,
        epoch,
        corr: 1,
        len: u32::try_from(body.len()).unwrap(),
    });
    let mut frame = header.unwrap().encode().to_vec();
    frame.extend_from_slice(body.as_bytes());
    frame
}

fn count(server: &Server, name: &str) -> u64 {
    let rows = server.endpoint().counters().rows();
    rows.into_iter().find(|(row, _)| *row == name).map(|(_, value)| value).unwrap()
}

#[tokio::test]
async fn a_step_request_without_a_request_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&config(dir.path(), "request", &[])).await.unwrap();
    for payload in ["{\"type\":\"step_request\"}", "{\"type\":\"step_request\",\"request\":7}"] {
        let mut runner = Runner::attach(&server).await;
        runner.stream.write_all(&control(Version::V1, (0, 1), 0, payload)).await.unwrap();
        assert!(runner.next().await.is_none(), "{payload}");
    }
}

#[tokio::test]
async fn a_request_out_of_order_is_counted_and_answered_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&config(dir.path(), "request", &[])).await.unwrap();
    let mut runner = Runner::attach(&server).await;
    for (seq, broken) in [(0, 0), (3, 1)] {
        runner.stream.write_all(&control(Version::V1, (0, 1), seq, REQUEST)).await.unwrap();
        assert!(runner.next().await.unwrap().header.flags().is_last());
        assert_eq!(count(&server, "law_broken"), broken);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generation_can_be_chosen_again_as_soon_as_its_last_was_read() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&config(dir.path(), "request", &[])).await.unwrap();
    let mut runner = Runner::attach(&server).await;
    for life in 0..500 {
        runner.stream.write_all(&control(Version::V1, (0, 1), 0, REQUEST)).await.unwrap();
        assert!(runner.next().await.is_some_and(|frame| frame.header.flags().is_last()), "life {life}");
    }
}

/// In version 2 there are 2^48 generations to ask for. Each request is answered with a refusal, which waits for room
/// where nobody reads: so must the peer.
#[tokio::test]
async fn a_peer_that_asks_on_and_on_and_reads_nothing_is_read_no_further() {
    const FAR_TOO_MUCH: usize = 16 << 20;
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), "connect", &[("control_queue", "64KiB"), ("wire_version", "2")]);
    let server = Server::start(&config).await.unwrap();
    let runner = Runner::attach(&server).await;
    let (mut sent, mut epoch) = (0, 0);
    loop {
        epoch += 1;
        let burst: Vec<u8> =
            (1..=500).flat_map(|channel| control(Version::V2, (epoch, channel), 0, REQUEST)).collect();
        let mut rest = &burst[..];
        while !rest.is_empty() {
            match runner.stream.try_write(rest) {
                Ok(written) => {
                    sent += written;
                    rest = &rest[written..];
                    assert!(sent < FAR_TOO_MUCH, "{sent} bytes of requests were read");
                }
                Err(fault) if fault.kind() == ErrorKind::WouldBlock => {
                    if timeout(Duration::from_secs(2), runner.stream.writable()).await.is_err() {
                        return;
                    }
                }
                Err(fault) => panic!("{fault}"),
            }
        }
    }
}

#[tokio::test]
async fn a_start_that_fails_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), "request", &[("http", "127.0.0.1:0")]);
    let in_the_way = dir.path().join("run/providers.json");
    std::fs::create_dir_all(&in_the_way).unwrap();
    assert!(matches!(Server::start(&config).await, Err(StartFault::Publish(_))));
    assert!(!dir.path().join("run").join(PORTS_FILE).exists());
    let left = std::fs::read_dir(dir.path().join("run")).unwrap().count();
    assert_eq!(left, 1, "only what was in the way");
}

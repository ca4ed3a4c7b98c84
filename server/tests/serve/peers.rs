//! Peers of other hands: their client against our server, their server against ours.

use std::path::Path;

use bytes::Buf as _;
use subc_protocol::{Flags, Frame, FrameType, Priority};
use subc_transport::{authenticate_client, authenticate_server, connection_file, read_frame, write_frame};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use twolane::net::connection_file as ours;
use twolane_core::envelope::Version;
use twolane_core::handshake::{ClientHandshake, ClientStep};

use crate::bench::{BOUND, Bench, FINISHED, Process, STEP_REQUEST, bounded, control, gist, inbox, twolane};

const TYPED: &str = "[[event]]\nlane = \"control\"\npayload = { type = \"stream_start\", model = \"m\" }\n\
    [[event]]\nafter_ms = 1\nword_ms = 2\nlane = \"display\"\n\
    payload = { type = \"text_delta\", message_id = \"m1\", delta = \"Grüße an alle, 東京 auch. \" }\n";

async fn their_client(file: &Path) -> TcpStream {
    let info = connection_file::read(file).unwrap();
    let address = format!("{}:{}", info.endpoints[0].host, info.endpoints[0].port);
    let mut stream = TcpStream::connect(address).await.unwrap();
    authenticate_client(&mut stream, &info, BOUND).await.unwrap();
    stream
}

async fn their_frames(stream: &mut TcpStream) -> Vec<Frame> {
    let mut frames = Vec::new();
    loop {
        let frame = bounded(read_frame(stream)).await.unwrap().expect("a frame");
        let is_last = frame.header.flags.is_last();
        frames.push(frame);
        if is_last {
            return frames;
        }
    }
}

#[tokio::test]
async fn their_client_reads_our_file_and_our_frames() {
    let bench = Bench::start(&format!("start = \"connect\"\n{TYPED}{FINISHED}"), &[]).await;
    let mut stream = their_client(&bench.file()).await;
    let frames = their_frames(&mut stream).await;
    let mut text = String::new();
    let (mut control_seq, mut display_seq) = (0, 0);
    for frame in &frames {
        assert_eq!((frame.header.ty, frame.header.channel, frame.header.corr), (FrameType::StreamData, 1, 1));
        let body: serde_json::Value = serde_json::from_slice(&frame.body).unwrap();
        let seq = match frame.header.flags.priority() {
            Some(Priority::Interactive) => &mut control_seq,
            Some(Priority::Background) => &mut display_seq,
            other => panic!("{other:?}"),
        };
        assert_eq!(body["seq"], *seq);
        *seq += 1;
        text.push_str(body["payload"]["delta"].as_str().unwrap_or_default());
    }
    assert_eq!(text, "Grüße an alle, 東京 auch. ");
    assert_eq!(control_seq, 2);
    bounded(bench.server.stop()).await;
}

#[tokio::test]
async fn their_step_request_is_answered_on_its_generation_and_corr() {
    let bench = Bench::start(&format!("start = \"request\"\n{TYPED}{FINISHED}"), &[]).await;
    let mut stream = their_client(&bench.file()).await;
    let body = control(Version::V1, 700, 9, STEP_REQUEST)[17..].to_vec();
    let request = Frame::build(FrameType::StreamData, Flags(2), 700, 9, body).unwrap();
    write_frame(&mut stream, &request).await.unwrap();
    for frame in their_frames(&mut stream).await {
        assert_eq!((frame.header.channel, frame.header.corr), (700, 9));
        let body: serde_json::Value = serde_json::from_slice(&frame.body).unwrap();
        assert_eq!((body["run_id"].as_str(), body["step_id"].as_u64()), (Some("run_1"), Some(4)));
    }
}

#[tokio::test]
async fn their_ping_is_answered_with_its_channel_and_corr() {
    let bench = Bench::start(&format!("start = \"request\"\n{FINISHED}"), &[]).await;
    let mut stream = their_client(&bench.file()).await;
    let ping = Frame::build(FrameType::Ping, Flags(2), 5, 77, Vec::new()).unwrap();
    write_frame(&mut stream, &ping).await.unwrap();
    let pong = bounded(read_frame(&mut stream)).await.unwrap().unwrap();
    assert_eq!((pong.header.ty, pong.header.channel, pong.header.corr), (FrameType::Pong, 5, 77));
    let goodbye = Frame::build(FrameType::Goodbye, Flags(2), 0, 0, Vec::new()).unwrap();
    write_frame(&mut stream, &goodbye).await.unwrap();
    assert!(bounded(read_frame(&mut stream)).await.unwrap().is_none());
    assert_eq!(bench.count("refused"), 0);
}

#[tokio::test]
async fn a_cancel_ends_the_run_with_last() {
    let slow = "[[event]]\nlane = \"control\"\npayload = { type = \"step_started\" }\n\
        [[event]]\nafter_ms = 3600000\nlane = \"display\"\npayload = { type = \"display_reset\" }\n";
    let bench = Bench::start(&format!("start = \"request\"\n{slow}{FINISHED}"), &[]).await;
    let mut runner = bench.runner().await;
    runner.send(&control(Version::V1, 3, 8, STEP_REQUEST)).await;
    assert_eq!(gist(&runner.next().await.unwrap()), (3, 8, false, "step_started".to_owned()));
    runner.send(&control(Version::V1, 3, 8, "{\"type\":\"cancel\"}")).await;
    assert_eq!(gist(&runner.next().await.unwrap()), (3, 8, true, "error".to_owned()));
}

#[tokio::test]
async fn a_frame_in_the_segment_of_message_3_is_not_lost() {
    let bench = Bench::start(&format!("start = \"request\"\n{FINISHED}"), &[]).await;
    let known = ours::read(&bench.file()).unwrap();
    let mut stream = TcpStream::connect(known.addresses[0]).await.unwrap();
    let mut handshake = ClientHandshake::new(&known.key, known.daemon_id, [7; 32]);
    stream.write_all(&handshake.hello()).await.unwrap();
    let mut unread = bytes::BytesMut::new();
    let auth = loop {
        let received = handshake.receive(&unread).unwrap();
        unread.advance(received.consumed);
        match received.step {
            ClientStep::Need(_) => assert_ne!(bounded(stream.read_buf(&mut unread)).await.unwrap(), 0),
            ClientStep::Authenticated { auth } => break auth,
        }
    };
    let mut segment = auth.to_vec();
    segment.extend_from_slice(&control(Version::V1, 2, 6, STEP_REQUEST));
    stream.write_all(&segment).await.unwrap();
    let mut inbox = inbox(&unread);
    let frame = loop {
        if let Some(twolane::net::inbox::Found::Frame(frame)) = inbox.take().unwrap() {
            break frame;
        }
        assert_ne!(bounded(inbox.read(&mut stream)).await.unwrap(), 0);
    };
    assert_eq!(gist(&frame), (2, 6, true, "finished".to_owned()));
}

/// A server of theirs that sends `frames` (flags and payload, seq as given) to one client.
async fn their_server(dir: &Path, frames: Vec<(u8, u64, &'static str)>) -> tokio::task::JoinHandle<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let info = connection_file::ConnectionInfo {
        schema: 1,
        endpoints: vec![connection_file::Endpoint {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        }],
        key: connection_file::generate_key().unwrap(),
        daemon_id: connection_file::generate_daemon_id().unwrap(),
        pid: std::process::id(),
        daemon_ver: "theirs".to_owned(),
    };
    connection_file::write_atomic(dir.join("theirs.json"), &info).unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        authenticate_server(&mut stream, &info.key, &info.daemon_id, "theirs", BOUND).await.unwrap();
        for (flags, seq, payload) in frames {
            let body = format!(
                "{{\"version\":1,\"run_id\":\"r\",\"step_id\":1,\"seq\":{seq},\"payload\":{payload}}}"
            );
            let frame = Frame::build(FrameType::StreamData, Flags(flags), 1, 1, body.into_bytes()).unwrap();
            write_frame(&mut stream, &frame).await.unwrap();
        }
        // Until the client has gone, so that nothing is lost to a reset.
        let _ = read_frame(&mut stream).await;
    })
}

async fn attach(dir: &Path, arguments: &[&str]) -> std::process::Output {
    let file = dir.join("theirs.json").display().to_string();
    let mut command = twolane(&[&["attach", "--json", "-f", &file], arguments].concat());
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

const RESET: &str = "{\"type\":\"display_reset\"}";
const LAST: (u8, u64, &str) = (10, 0, "{\"type\":\"finished\"}");

#[tokio::test]
async fn attach_reads_their_server_and_finds_the_law_kept() {
    let dir = tempfile::tempdir().unwrap();
    let gap = (4, 3, "{\"type\":\"display_gap\",\"dropped\":3}");
    let server = their_server(dir.path(), vec![(4, 0, RESET), gap, LAST]).await;
    let output = attach(dir.path(), &["--until", "last"]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verified: Vec<_> = lines.iter().take(3).map(|line| &line["verified"]).collect();
    assert_eq!(verified, [&serde_json::Value::Null, &true.into(), &true.into()]);
    let read: Vec<_> =
        lines.iter().filter(|line| line["kind"] == "frame" && line["direction"] == "b>a").collect();
    assert_eq!(read.len(), 3);
    assert_eq!(read[1]["lane"], "display");
    assert_eq!(read[1]["body"]["payload"]["dropped"], 3);
    let law = lines.last().unwrap();
    assert_eq!((&law["kind"], &law["ok"], &law["dropped"]), (&"law".into(), &true.into(), &3.into()));
    bounded(server).await.unwrap();
}

#[tokio::test]
async fn attach_finds_the_law_broken() {
    let dir = tempfile::tempdir().unwrap();
    let _server = their_server(dir.path(), vec![(4, 0, RESET), (4, 2, RESET), LAST]).await;
    let output = attach(dir.path(), &["--until", "last"]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("\"ok\":false") && text.contains("expected 1"), "{text}");
}

#[tokio::test]
async fn attach_counts_a_known_payload_without_what_it_must_have() {
    let dir = tempfile::tempdir().unwrap();
    let delta = (4, 0, "{\"type\":\"text_delta\",\"message_id\":\"m\"}");
    let _server = their_server(dir.path(), vec![delta, LAST]).await;
    let output = attach(dir.path(), &["--until", "last"]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let fault = lines.iter().find_map(|line| line.get("fault")).expect("a frame with its fault");
    assert!(fault["reason"].as_str().unwrap().contains("`delta`: missing"), "{fault}");
    assert_eq!(lines.last().unwrap()["faults"], 1, "{text}");
}

#[test]
fn both_versions_are_served_and_attached_to() {
    for version in ["1", "2"] {
        let dir = tempfile::tempdir().unwrap();
        let run_dir = dir.path().join("run").display().to_string();
        let script = dir.path().join("script.toml");
        std::fs::write(&script, format!("start = \"both\"\n{TYPED}{FINISHED}")).unwrap();
        let mut server = Process::serve(&[
            "--no-http",
            "--run-dir",
            &run_dir,
            "--wire-version",
            version,
            "--script",
            script.to_str().unwrap(),
        ]);
        server.said("try ");
        let output =
            twolane(&["attach", "--json", "--run-dir", &run_dir, "--until", "last"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains(&format!("\"version\":{version}")), "{text}");
        assert_eq!(text.contains("\"epoch\":0"), version == "2");
    }
}

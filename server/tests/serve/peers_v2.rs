//! Peers of other hands that speak version 2: their client against our server, their server against our client.

use std::path::Path;

use subc_protocol_v2::{AdmissionClass, Flags, Frame, FrameType, Priority};
use subc_transport_v2::connection_file::{
    self, ConnectionInfo, Endpoint, LocalEndpoint, read_for_client, write_atomic_with_local_endpoint,
};
use subc_transport_v2::{FrameIoError, authenticate_client, authenticate_server, read_frame, write_frame};
use tokio::net::{TcpListener, TcpStream};
use twolane::net::client;
use twolane::net::connection_file as ours;
use twolane::net::socket::Tuning;
use twolane_core::envelope::Version;

use crate::bench::{BOUND, Bench, FINISHED, STEP_REQUEST, bounded, control, frame, inbox, rest, twolane};

const RESET: &str = "[[event]]\nlane = \"display\"\npayload = { type = \"display_reset\" }\n";

const VERSION_2: &[(&str, &str)] = &[("wire_version", "2")];

async fn their_client(file: &Path) -> TcpStream {
    // Refuses a file that declares another version than 2.
    let info = read_for_client(file).unwrap();
    let mut stream =
        TcpStream::connect((info.endpoints[0].host.as_str(), info.endpoints[0].port)).await.unwrap();
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

fn step_request() -> Vec<u8> {
    control(Version::V1, 1, 1, STEP_REQUEST).split_off(17)
}

#[tokio::test]
async fn our_file_declares_version_2_and_display_is_sheddable() {
    let bench = Bench::start(&format!("start = \"connect\"\n{RESET}{FINISHED}"), VERSION_2).await;
    assert_eq!(connection_file::read(bench.file()).unwrap().wire_version, Some(2));
    let mut stream = their_client(&bench.file()).await;
    let frames = their_frames(&mut stream).await;
    let lanes: Vec<_> = frames
        .iter()
        .map(|frame| {
            (frame.header.flags.priority(), frame.header.flags.admission_class(), frame.header.epoch)
        })
        .collect();
    assert_eq!(
        lanes,
        [
            (Some(Priority::Background), Some(AdmissionClass::Sheddable), 0),
            (Some(Priority::Interactive), Some(AdmissionClass::Normal), 0),
        ]
    );
}

#[tokio::test]
async fn a_generation_is_the_pair_of_epoch_and_channel() {
    let slow = "[[event]]\nafter_ms = 3600000\nlane = \"display\"\npayload = { type = \"display_reset\" }\n";
    let started = "[[event]]\nlane = \"control\"\npayload = { type = \"step_started\" }\n";
    let bench = Bench::start(&format!("start = \"request\"\n{started}{slow}{FINISHED}"), VERSION_2).await;
    let mut stream = their_client(&bench.file()).await;
    // The same channel twice, live at once: told apart by the epoch, answered with it.
    for (epoch, corr) in [(3, 9), (4, 10)] {
        let flags = Flags::new(false, Priority::Interactive, false);
        let request = Frame::build(FrameType::StreamData, flags, 7, epoch, corr, step_request()).unwrap();
        write_frame(&mut stream, &request).await.unwrap();
        let answer = bounded(read_frame(&mut stream)).await.unwrap().unwrap().header;
        assert_eq!((answer.channel, answer.epoch, answer.corr), (7, epoch, corr));
    }
    assert_eq!(bench.count("refused"), 0);
    let again = Flags::new(false, Priority::Interactive, false);
    let again = Frame::build(FrameType::StreamData, again, 7, 3, 11, step_request()).unwrap();
    write_frame(&mut stream, &again).await.unwrap();
    assert!(rest(&mut stream).await.is_empty());
    bench.counted("refused", 1).await;
}

#[tokio::test]
async fn their_ping_is_answered_with_its_channel_epoch_and_corr() {
    let bench = Bench::start(&format!("start = \"request\"\n{FINISHED}"), VERSION_2).await;
    let mut stream = their_client(&bench.file()).await;
    let ping = Frame::build(FrameType::Ping, Flags(2), 5, 1234, 77, Vec::new()).unwrap();
    write_frame(&mut stream, &ping).await.unwrap();
    let pong = bounded(read_frame(&mut stream)).await.unwrap().unwrap().header;
    assert_eq!((pong.ty, pong.channel, pong.epoch, pong.corr), (FrameType::Pong, 5, 1234, 77));
}

#[tokio::test]
async fn a_version_1_frame_after_version_2_is_refused_and_closed() {
    let bench = Bench::start(&format!("start = \"request\"\n{FINISHED}"), VERSION_2).await;
    let mut stream = their_client(&bench.file()).await;
    let ping = Frame::build(FrameType::Ping, Flags(2), 5, 1, 77, Vec::new()).unwrap();
    write_frame(&mut stream, &ping).await.unwrap();
    assert!(bounded(read_frame(&mut stream)).await.unwrap().is_some());
    tokio::io::AsyncWriteExt::write_all(
        &mut stream,
        &frame(Version::V1, twolane_core::envelope::FrameType::Ping, 2, 0, 1, b""),
    )
    .await
    .unwrap();
    assert!(bounded(read_frame(&mut stream)).await.unwrap().is_none());
    bench.counted("refused", 1).await;
}

/// A client of version 1 does not know the key that declares version 2: the first frame tells it.
#[tokio::test]
async fn a_version_1_client_and_a_version_2_server_refuse_each_other() {
    let bench = Bench::start(&format!("start = \"both\"\n{FINISHED}"), VERSION_2).await;
    let info = subc_transport::connection_file::read(bench.file()).unwrap();
    let mut stream =
        TcpStream::connect((info.endpoints[0].host.as_str(), info.endpoints[0].port)).await.unwrap();
    subc_transport::authenticate_client(&mut stream, &info, BOUND).await.unwrap();
    let refused = bounded(subc_transport::read_frame(&mut stream)).await.unwrap_err().to_string();
    assert!(refused.contains("version") && refused.contains('2'), "{refused}");
    let ping = subc_protocol::Frame::build(
        subc_protocol::FrameType::Ping,
        subc_protocol::Flags(2),
        0,
        1,
        Vec::new(),
    );
    subc_transport::write_frame(&mut stream, &ping.unwrap()).await.unwrap();
    rest(&mut stream).await;
    bench.counted("refused", 1).await;
}

/// A server that has written nothing answers a client of version 1 in version 1, whatever its file declares.
#[tokio::test]
async fn a_version_2_server_that_wrote_nothing_answers_in_version_1() {
    let bench = Bench::start(&format!("start = \"request\"\n{FINISHED}"), VERSION_2).await;
    let mut runner = bench.runner().await;
    runner.send(&control(Version::V1, 7, 9, STEP_REQUEST)).await;
    assert_eq!(runner.next().await.unwrap().header.version(), Version::V1);
}

#[tokio::test]
async fn their_client_refuses_our_version_1_frames_by_name() {
    let bench = Bench::start(&format!("start = \"connect\"\n{FINISHED}"), &[]).await;
    // A file without a declared version is older than the key, so it is read.
    let mut stream = their_client(&bench.file()).await;
    match bounded(read_frame(&mut stream)).await {
        Err(FrameIoError::DecodeHeader(fault)) => assert!(fault.to_string().contains('1'), "{fault}"),
        other => panic!("{other:?}"),
    }
}

/// A server of theirs, its file with a local endpoint beside ours, that takes one client.
async fn their_server(file: &Path) -> (TcpListener, ConnectionInfo) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let info = ConnectionInfo {
        schema: 1,
        wire_version: Some(2),
        endpoints: vec![Endpoint {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        }],
        key: connection_file::generate_key().unwrap(),
        daemon_id: connection_file::generate_daemon_id().unwrap(),
        pid: std::process::id(),
        daemon_ver: "theirs".to_owned(),
    };
    let local = LocalEndpoint::Unix { path: "/nonexistent/socket".into() };
    write_atomic_with_local_endpoint(file, &info, Some(&local)).unwrap();
    (listener, info)
}

async fn accept(listener: TcpListener, info: ConnectionInfo) -> TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    authenticate_server(&mut stream, &info.key, &info.daemon_id, "theirs", BOUND).await.unwrap();
    stream
}

#[tokio::test]
async fn our_client_speaks_version_2_to_their_server_in_both_directions() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("theirs.json");
    let (listener, info) = their_server(&file).await;
    let known = ours::read(&file).unwrap();
    assert_eq!(known.version, Version::V2);
    let server = tokio::spawn(async move {
        let mut stream = accept(listener, info).await;
        let request = read_frame(&mut stream).await.unwrap().unwrap();
        let reply = request.header;
        let display =
            Flags::new(false, Priority::Background, false).with_admission_class(AdmissionClass::Sheddable);
        let frame = Frame::build(
            FrameType::StreamData,
            display,
            reply.channel,
            reply.epoch,
            reply.corr,
            request.body,
        );
        write_frame(&mut stream, &frame.unwrap()).await.unwrap();
        stream
    });
    let mut peer = bounded(client::connect(&known, Tuning::default(), BOUND)).await.unwrap();
    let sent = control(known.version, 7, 9, STEP_REQUEST);
    tokio::io::AsyncWriteExt::write_all(&mut peer.stream, &sent).await.unwrap();
    let mut inbox = inbox(&peer.unread);
    let frame = loop {
        if let Some(twolane::net::inbox::Found::Frame(frame)) = inbox.take().unwrap() {
            break frame;
        }
        assert_ne!(bounded(inbox.read(&mut peer.stream)).await.unwrap(), 0);
    };
    assert_eq!((frame.header.version(), frame.header.channel(), frame.header.corr()), (Version::V2, 7, 9));
    assert_eq!(frame.header.lane(), Ok(twolane_core::envelope::Lane::Display));
    assert_eq!(frame.body(), &sent[21..]);
    server.await.unwrap();
}

#[tokio::test]
async fn attach_reads_their_server_of_version_2() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("theirs.json");
    let (listener, info) = their_server(&file).await;
    let server = tokio::spawn(async move {
        let mut stream = accept(listener, info).await;
        for (flags, seq, payload) in
            [(0x24, 0, "{\"type\":\"display_reset\"}"), (0x0a, 0, "{\"type\":\"finished\"}")]
        {
            let body = format!(
                "{{\"version\":1,\"run_id\":\"r\",\"step_id\":1,\"seq\":{seq},\"payload\":{payload}}}"
            );
            let frame =
                Frame::build(FrameType::StreamData, Flags(flags), 1, 0, 1, body.into_bytes()).unwrap();
            write_frame(&mut stream, &frame).await.unwrap();
        }
        // Until the client has gone, so that nothing is lost to a reset.
        let _ = read_frame(&mut stream).await;
    });
    let mut command = twolane(&["attach", "--json", "--until", "last", "-f", file.to_str().unwrap()]);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("\"version\":2") && text.contains("\"ok\":true"), "{text}");
    bounded(server).await.unwrap();
}

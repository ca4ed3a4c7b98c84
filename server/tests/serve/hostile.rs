//! Peers that are slow, silent, wrong or greedy.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use twolane::net::client::{self, ConnectFault};
use twolane::net::connection_file;
use twolane::net::identity::Identity;
use twolane::net::socket::Tuning;
use twolane_core::body::{Body, DisplayEvent};
use twolane_core::envelope::{FrameType, Lane, Version};
use twolane_core::lanes::law::{Law, Verdict};

use crate::bench::{BOUND, Bench, FINISHED, STEP_REQUEST, bounded, control, frame, rest};

const IDLE: &str = "start = \"request\"\n[[event]]\nlane = \"control\"\npayload = { type = \"finished\" }\n";

#[tokio::test]
async fn a_byte_now_and_then_does_not_stretch_the_handshake() {
    let bench = Bench::start(IDLE, &[("handshake_limit", "400ms")]).await;
    let stream = TcpStream::connect(bench.server.providers()).await.unwrap();
    let started = Instant::now();
    let (mut read, mut write) = stream.into_split();
    let drip = async {
        // A hello of 200 bytes that would take 200 times as long as the limit.
        let mut hello = vec![b' '; 204];
        hello[..4].copy_from_slice(&200u32.to_le_bytes());
        let mut pace = tokio::time::interval(Duration::from_millis(50));
        for byte in hello {
            pace.tick().await;
            if write.write_all(&[byte]).await.is_err() {
                return;
            }
        }
    };
    let mut answer = Vec::new();
    let closed = async {
        let _ = read.read_to_end(&mut answer).await;
    };
    bounded(async {
        tokio::select! {
            () = drip => panic!("the whole hello was waited for"),
            () = closed => {}
        }
    })
    .await;
    assert!(answer.is_empty());
    assert!(started.elapsed() >= Duration::from_millis(400));
    bench.counted("unauthenticated", 1).await;
}

#[tokio::test]
async fn garbage_is_closed_without_a_byte() {
    let bench = Bench::start(IDLE, &[("handshake_limit", "60s")]).await;
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 4], &[0xff; 64], b"\x02\0\0\0{}", b"\x04\0\0\0null"]
    {
        let mut stream = TcpStream::connect(bench.server.providers()).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        assert!(rest(&mut stream).await.is_empty(), "{garbage:?}");
    }
    bench.counted("unauthenticated", 5).await;
}

#[tokio::test]
async fn another_key_or_another_process_is_told_apart() {
    let bench = Bench::start(IDLE, &[]).await;
    let known = connection_file::read(&bench.file()).unwrap();
    let other = Identity::fresh().unwrap();
    let mut wrong_key = known.clone();
    wrong_key.key = other.key;
    let mut wrong_daemon = known;
    wrong_daemon.daemon_id = other.daemon_id;
    for (known, name) in [(wrong_key, "proof_mismatch"), (wrong_daemon, "wrong_daemon")] {
        match client::connect(&known, Tuning::default(), BOUND).await {
            Err(ConnectFault::Unauthenticated { source, .. }) => assert_eq!(source.name(), name),
            other => panic!("{other:?}"),
        }
    }
    // Of the server's own trial of itself, and nobody else.
    assert_eq!(bench.count("authenticated"), 1);
}

#[tokio::test]
async fn three_hundred_silent_peers_do_not_keep_others_out() {
    let bench = Bench::start(&format!("start = \"connect\"\n{FINISHED}"), &[("handshake_limit", "1s")]).await;
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(TcpStream::connect(bench.server.providers()).await.unwrap());
    }
    bench.counted("accepted", 301).await;
    let mut runner = bounded(bench.runner()).await;
    assert!(runner.next().await.unwrap().header.flags().is_last());
    bench.counted("unauthenticated", 256).await;
}

#[tokio::test]
async fn peers_over_the_bound_are_closed_and_a_place_that_is_free_is_given() {
    let bench = Bench::start(IDLE, &[("peers", "1")]).await;
    // The trial of the server itself has to be over.
    crate::bench::eventually("an empty endpoint", || bench.count("open") == 0).await;
    let first = bench.runner().await;
    bench.counted("open", 1).await;
    let mut second = bench.runner().await;
    assert!(second.next().await.is_none());
    drop(first);
    crate::bench::eventually("a free place", || bench.count("open") == 0).await;
    let mut third = bench.runner().await;
    third.send(&control(Version::V1, 1, 1, STEP_REQUEST)).await;
    assert!(third.next().await.is_some());
}

#[tokio::test]
async fn what_a_provider_socket_does_not_carry_closes_the_connection() {
    let bench = Bench::start(IDLE, &[]).await;
    let v1 = Version::V1;
    let cancel = "{\"version\":1,\"run_id\":\"r\",\"step_id\":1,\"seq\":0,\"payload\":{\"type\":\"cancel\"}}";
    let data = |flags, corr, body: &str| frame(v1, FrameType::StreamData, flags, 1, corr, body.as_bytes());
    let mut changed_version = frame(v1, FrameType::Ping, 2, 0, 1, b"");
    changed_version.extend(frame(Version::V2, FrameType::Ping, 2, 0, 1, b""));
    let cases = [
        ("Hello", frame(v1, FrameType::Hello, 2, 0, 1, b"")),
        ("HelloAck", frame(v1, FrameType::HelloAck, 2, 0, 1, b"")),
        ("Push", frame(v1, FrameType::Push, 2, 1, 1, b"")),
        ("StreamEnd", frame(v1, FrameType::StreamEnd, 2, 1, 1, b"")),
        ("Request", frame(v1, FrameType::Request, 2, 1, 1, b"{}")),
        ("display", data(4, 1, cancel)),
        ("passive", data(0, 1, cancel)),
        ("binary", data(3, 1, cancel)),
        ("corr 0", data(2, 0, cancel)),
        ("not JSON", data(2, 1, "{\"version\":1,")),
        ("duplicate name", data(2, 1, &cancel.replace("\"seq\":0", "\"seq\":0,\"seq\":0"))),
        ("another schema", data(2, 1, &cancel.replace("\"version\":1", "\"version\":2"))),
        ("a provider's tag", data(2, 1, &cancel.replace("cancel", "finished"))),
        ("unknown type", vec![0, 0, 0, 0, 1, 12, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("unknown version", vec![0, 0, 0, 0, 9]),
        ("changed version", changed_version),
    ];
    for (at, (name, bytes)) in cases.into_iter().enumerate() {
        let mut runner = bench.runner().await;
        runner.send(&bytes).await;
        let rest = rest(&mut runner.stream).await;
        // Nothing but the Pong of the frame that was still good.
        assert_eq!(rest.len(), if name == "changed version" { 17 } else { 0 }, "{name}");
        // The server reads on for a while, so that its last frames are not lost to a reset: end that.
        drop(runner);
        bench.counted("refused", at as u64 + 1).await;
    }
}

#[tokio::test]
async fn a_live_generation_cannot_be_chosen_again() {
    let slow = "[[event]]\nafter_ms = 3600000\nlane = \"display\"\npayload = { type = \"display_reset\" }\n";
    let bench = Bench::start(&format!("start = \"request\"\n{slow}{FINISHED}"), &[]).await;
    let mut runner = bench.runner().await;
    runner.send(&control(Version::V1, 1, 1, STEP_REQUEST)).await;
    runner.send(&control(Version::V1, 1, 2, STEP_REQUEST)).await;
    assert!(rest(&mut runner.stream).await.is_empty());
    bench.counted("refused", 1).await;
}

#[tokio::test]
async fn a_request_over_the_limit_is_answered_and_the_stream_stays_in_step() {
    let bench = Bench::start(IDLE, &[]).await;
    let mut runner = bench.runner().await;
    let long = format!("{{\"type\":\"step_request\",\"x\":\"{}\"}}", "y".repeat(5 << 20));
    let long = control(Version::V1, 4, 6, &long);
    let short = control(Version::V1, 5, 7, STEP_REQUEST);
    let (mut read, mut write) = runner.stream.split();
    let mut answers = Vec::new();
    bounded(async {
        let send = async {
            write.write_all(&long).await.unwrap();
            write.write_all(&short).await.unwrap();
        };
        let receive = async {
            while answers.windows(8).filter(|window| window == b"\"payload").count() < 2 {
                assert_ne!(read.read_buf(&mut answers).await.unwrap(), 0);
            }
        };
        tokio::join!(send, receive)
    })
    .await;
    let text = String::from_utf8_lossy(&answers);
    assert!(text.contains("at most 4194304 are read") && text.contains("\"finished\""), "{text}");
}

#[tokio::test]
async fn a_peer_that_stops_reading_while_control_waits_is_closed() {
    let message = "x".repeat(100_000);
    let flood = format!(
        "start = \"connect\"\n[[event]]\ntimes = 400\nlane = \"control\"\n\
         payload = {{ type = \"stream_start\", model = \"{message}\" }}\n{FINISHED}"
    );
    let bench = Bench::start(&flood, &[("stall_limit", "500ms")]).await;
    let runner = bench.runner().await;
    bench.counted("stalled", 1).await;
    drop(runner);
}

#[tokio::test]
async fn a_flood_keeps_the_law_and_every_frame_is_read_or_accounted_for() {
    const FRAMES: u64 = 4000;
    let text = "d".repeat(1000);
    let mut flood = "start = \"connect\"\n".to_owned();
    for at in 0..FRAMES {
        // Two messages in turn, so that no delta joins the one before it.
        flood.push_str(&format!(
            "[[event]]\nlane = \"display\"\n\
             payload = {{ type = \"text_delta\", message_id = \"m{}\", delta = \"{text}\" }}\n",
            at % 2
        ));
    }
    flood.push_str("[[event]]\ntimes = 50\nlane = \"control\"\npayload = { type = \"step_started\" }\n");
    flood.push_str(FINISHED);
    let bench = Bench::start(&flood, &[]).await;
    let mut runner = bench.runner().await;
    let (mut control_law, mut display_law) = (Law::from_start(Lane::Control), Law::from_start(Lane::Display));
    let (mut control_frames, mut display_frames, mut dropped_total) = (0, 0, 0);
    loop {
        let frame = runner.next().await.unwrap();
        let body = Body::parse(frame.body()).unwrap();
        let verdict = if frame.header.lane() == Ok(Lane::Control) {
            control_frames += 1;
            control_law.check(body.seq, None)
        } else {
            let dropped = match DisplayEvent::read(&body.payload).unwrap() {
                DisplayEvent::DisplayGap { dropped } => Some(dropped),
                _ => None,
            };
            display_frames += u64::from(dropped.is_none());
            dropped_total += dropped.unwrap_or(0);
            display_law.check(body.seq, dropped)
        };
        assert_eq!(verdict, Verdict::Kept);
        if frame.header.flags().is_last() {
            break;
        }
    }
    assert_eq!(control_frames, 51);
    assert_eq!(display_frames + dropped_total, FRAMES);
    assert!(bench.count("frames_written") >= control_frames + display_frames);
}

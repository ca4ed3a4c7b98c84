//! What is refused, how, and what is not told apart.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use twolane::connector::listen::Bounds;
use twolane::store::{Change, Engine as _, RedbEngine};
use twolane_core::connector::document::{Refusal, Valid};
use twolane_core::limits::SEALS_MAX;

use crate::ask::Ask;
use crate::world::{FRAME_MAX, NOW_MS, Told, World, sealed, secret, told};

#[tokio::test]
async fn each_rule_has_its_refusal_and_a_repeated_one_is_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 10).await;
    let ask = |request_id| Ask::new(request_id, "hello");
    let cases = [
        (Ask { expires_at_unix_ms: NOW_MS - 1, ..ask("late") }, Refusal::Expired),
        (Ask { expires_at_unix_ms: NOW_MS + 300_001, ..ask("early") }, Refusal::Expired),
        (Ask { model: "model-2", ..ask("model") }, Refusal::Policy),
        (Ask { max_output_tokens: Some(101), ..ask("tokens") }, Refusal::Policy),
    ];
    for (ask, refusal) in &cases {
        let reply = world.ask(ask, 1).await;
        assert_eq!(told(ask, 1, &reply), Told::Refused(*refusal), "{ask:?}");
        assert_eq!(world.ask(ask, 1).await, reply, "{ask:?}");
    }
    assert_eq!(world.backend.runs(), 0);
    for (ask, _) in &cases {
        let good = Ask { max_output_tokens: Some(100), ..Ask::new(ask.request_id, "hello") };
        assert!(matches!(told(&good, 1, &world.ask(&good, 1).await), Told::Text(_)));
        let other = Ask::new(ask.request_id, "something else");
        assert_eq!(told(&other, 1, &world.ask(&other, 1).await), Told::Refused(Refusal::ReplayConflict));
    }
    world.stop().await;
}

#[tokio::test]
async fn a_caller_has_so_many_runs_at_once_and_another_caller_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let world = std::sync::Arc::new(World::start(folder.path(), &[1], 0).await);
    let mut running = Vec::new();
    for request_id in ["a", "b"] {
        let world = std::sync::Arc::clone(&world);
        running.push(tokio::spawn(async move { world.ask(&Ask::new(request_id, "hello"), 1).await }));
    }
    while world.backend.runs() < 2 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let third = Ask::new("c", "hello");
    assert_eq!(told(&third, 1, &world.ask(&third, 1).await), Told::Refused(Refusal::Capacity));
    let other = Ask { caller: "caller-2", ..third.clone() };
    world.backend.gate.add_permits(4);
    assert!(matches!(told(&other, 200, &world.ask(&other, 200).await), Told::Text(_)));
    for run in running {
        run.await.unwrap();
    }
    assert!(matches!(told(&third, 1, &world.ask(&third, 1).await), Told::Text(_)));
}

#[tokio::test]
async fn a_digest_that_was_put_in_place_of_another_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 10).await;
    let ask = Ask::new("request-1", "hello");
    let mut digest = ask.invocation().into_parts();
    digest.provider_request_sha256.0[0] ^= 1;
    let frame = sealed(&Valid::new(digest.clone()).unwrap(), &secret(1));
    let mut body = world.send(&frame).await.split_off(4);
    let reply = twolane_core::connector::answer::open_reply(&mut body, &secret(1), "caller-1", "request-1");
    let Ok(twolane_core::connector::answer::Reply::Sealed(plaintext)) = reply else { panic!("{reply:?}") };
    assert!(plaintext.ends_with(b"\xbaProviderDigestSubstitution"));
    assert_eq!(world.backend.runs(), 0);
    world.stop().await;
}

#[tokio::test]
async fn an_unknown_caller_and_a_wrong_key_get_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 10).await;
    let known = Ask::new("request-1", "hello");
    let unknown = Ask { caller: "caller-9", ..known.clone() };
    let wrong_key = world.ask(&known, 99).await;
    assert_eq!(told(&known, 1, &wrong_key), Told::Hint("not-admitted".to_owned()));
    assert_eq!(world.ask(&unknown, 1).await, wrong_key);
    // The key of another caller is a wrong key.
    assert_eq!(world.ask(&known, 200).await, wrong_key);
    let mut flipped = sealed(&known.invocation(), &secret(1));
    let at = flipped.len() - 8;
    flipped[at] = if flipped[at] == b'A' { b'B' } else { b'A' };
    assert_eq!(world.send(&flipped).await, wrong_key);
    let long = Ask { text: "x".repeat(20_000), ..known };
    assert_eq!(world.ask(&long, 1).await, wrong_key);
    assert_eq!(world.backend.runs(), 0);
    world.stop().await;
}

#[tokio::test]
async fn what_is_no_request_gets_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 10).await;
    let long = u32::try_from(FRAME_MAX + 1).unwrap();
    for bytes in [&b"\0\0\0\0"[..], &long.to_be_bytes(), b"\0\0\0\x03\x93\x01\x02", b"GET / HTTP/1.1\r\n\r\n"]
    {
        assert_eq!(world.send(bytes).await, b"");
    }
    assert!(matches!(told(&Ask::new("r", "x"), 1, &world.ask(&Ask::new("r", "x"), 1).await), Told::Text(_)));
    world.stop().await;
}

#[tokio::test]
async fn a_slow_request_ends_in_its_time_and_too_many_connections_are_closed() {
    let folder = tempfile::tempdir().unwrap();
    let sockets = Bounds { connections: 2, read_time: Duration::from_millis(300), ..Bounds::default() };
    let hands = World::start(tempfile::tempdir().unwrap().path(), &[1], 0).await.hands;
    let world = World::start_at(folder.path(), &[1], 10, hands, sockets).await;
    let mut slow =
        [TcpStream::connect(world.address).await.unwrap(), TcpStream::connect(world.address).await.unwrap()];
    let ask = Ask::new("r", "x");
    let mut byte = [0];
    // Both have their place once a third is closed at once.
    while world.ask(&ask, 1).await != b"" {}
    for stream in &mut slow {
        assert!(matches!(stream.read(&mut byte).await, Ok(0) | Err(_)));
    }
    assert!(matches!(told(&ask, 1, &world.ask(&ask, 1).await), Told::Text(_)));
    world.stop().await;
}

#[tokio::test]
async fn a_key_that_may_seal_no_more_starts_nothing_that_could_not_be_replied_to() {
    let folder = tempfile::tempdir().unwrap();
    let engine = RedbEngine::open(&folder.path().join("replay.redb")).unwrap();
    let used_up = Change::ReserveSeals { key_id: secret(1).id().0, count: SEALS_MAX, max: SEALS_MAX };
    engine.commit(&[used_up]).unwrap();
    drop(engine);
    let world = World::start(folder.path(), &[2, 1], 10).await;
    let ask = Ask::new("request-1", "hello");
    assert_eq!(told(&ask, 1, &world.ask(&ask, 1).await), Told::Nothing);
    assert_eq!(world.backend.runs(), 0);
    // Nothing was claimed: the same request runs under another key.
    assert_eq!(told(&ask, 2, &world.ask(&ask, 2).await), Told::Text("run 0".to_owned()));
    world.stop().await;
}

//! A retried request is answered byte for byte as before, and its provider runs once.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use twolane_core::connector::document::Refusal;
use twolane_core::connector::replay::Retention;

use crate::ask::Ask;
use crate::world::{NOW_MS, Told, World, sealed, secret, told};

/// Waits until `check` holds.
async fn until(check: impl Fn() -> bool) {
    for _ in 0..6000 {
        if check() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it never came to hold");
}

#[tokio::test]
async fn a_retry_is_answered_with_the_same_bytes_also_by_another_life_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 10).await;
    let ask = Ask::new("request-1", "hello");
    let first = world.ask(&ask, 1).await;
    assert_eq!(told(&ask, 1, &first), Told::Text("run 0".to_owned()));
    // The same request, sealed anew.
    assert_eq!(world.ask(&ask, 1).await, first);
    assert_eq!(world.backend.runs(), 1);
    assert_eq!(*world.backend.asked.lock().unwrap(), [("request-1".to_owned(), 100)]);
    world.stop().await;
    let world = World::start(folder.path(), &[1], 10).await;
    // A finished answer stays reachable after its request expired.
    world.hands.pass(200_000);
    assert_eq!(world.ask(&ask, 1).await, first);
    assert_eq!(world.backend.runs(), 0);
    world.stop().await;
}

#[tokio::test]
async fn of_many_at_once_one_runs_and_the_others_are_told_so_or_get_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let world = std::sync::Arc::new(World::start(folder.path(), &[1], 10).await);
    let ask = Ask::new("request-1", "hello");
    let asking = (0..40).map(|_| {
        let (world, ask) = (std::sync::Arc::clone(&world), ask.clone());
        tokio::spawn(async move { world.ask(&ask, 1).await })
    });
    let asking: Vec<_> = asking.collect();
    let mut replies = Vec::new();
    for asked in asking {
        let reply = asked.await.unwrap();
        match told(&ask, 1, &reply) {
            Told::Text(text) => {
                assert_eq!(text, "run 0");
                replies.push(reply);
            }
            Told::Refused(Refusal::InFlight) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(world.backend.runs(), 1);
    assert!(!replies.is_empty() && replies.iter().all(|reply| *reply == replies[0]));
}

#[tokio::test]
async fn a_caller_that_leaves_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 0).await;
    let ask = Ask::new("request-1", "hello");
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    stream.write_all(&sealed(&ask.invocation(), &secret(1))).await.unwrap();
    until(|| world.backend.runs() == 1).await;
    drop(stream);
    assert_eq!(told(&ask, 1, &world.ask(&ask, 1).await), Told::Refused(Refusal::InFlight));
    world.backend.gate.add_permits(1);
    let mut reply = world.ask(&ask, 1).await;
    while told(&ask, 1, &reply) == Told::Refused(Refusal::InFlight) {
        reply = world.ask(&ask, 1).await;
    }
    assert_eq!(told(&ask, 1, &reply), Told::Text("run 0".to_owned()));
    assert_eq!(world.backend.runs(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_run_whose_end_nobody_saw_is_indeterminate_and_never_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 0).await;
    let ask = Ask::new("request-1", "hello");
    // A life that ends in the middle of a run: its store is copied, as a crash would leave it.
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    stream.write_all(&sealed(&ask.invocation(), &secret(1))).await.unwrap();
    until(|| world.backend.runs() == 1).await;
    let crashed = tempfile::tempdir().unwrap();
    for file in ["replay.redb", "replay.journal"] {
        std::fs::copy(folder.path().join(file), crashed.path().join(file)).unwrap();
    }
    let next = World::start(crashed.path(), &[1], 10).await;
    for _ in 0..2 {
        assert_eq!(told(&ask, 1, &next.ask(&ask, 1).await), Told::Refused(Refusal::Indeterminate));
    }
    next.hands.pass(200_000);
    assert_eq!(told(&ask, 1, &next.ask(&ask, 1).await), Told::Refused(Refusal::Indeterminate));
    assert_eq!(next.backend.runs(), 0);
    next.stop().await;
    world.backend.gate.add_permits(1);
    world.stop().await;
}

#[tokio::test]
async fn a_stopping_server_stores_what_ends_and_takes_nothing_new() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 0).await;
    let ask = Ask::new("request-1", "hello");
    let running = {
        let frame = sealed(&ask.invocation(), &secret(1));
        let address = world.address;
        tokio::spawn(async move {
            use tokio::io::AsyncReadExt as _;
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(&frame).await.unwrap();
            let mut reply = Vec::new();
            stream.read_to_end(&mut reply).await.unwrap();
            reply
        })
    };
    until(|| world.backend.runs() == 1).await;
    let (service, backend) = (std::sync::Arc::clone(&world.service), std::sync::Arc::clone(&world.backend));
    let address = world.address;
    let stopping = tokio::spawn(world.stop());
    let late = Ask::new("request-2", "late");
    let refused = || async {
        let frame = sealed(&late.invocation(), &secret(1));
        match service.answer(&frame[4..]).await {
            twolane::connector::Answer::Frame(frame) => told(&late, 1, &frame),
            twolane::connector::Answer::Silent(reason) => panic!("{reason}"),
        }
    };
    // Once it listens no more it takes nothing new.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(refused().await, Told::Refused(Refusal::Capacity));
    backend.gate.add_permits(1);
    assert_eq!(told(&ask, 1, &running.await.unwrap()), Told::Text("run 0".to_owned()));
    stopping.await.unwrap();
    assert_eq!(backend.runs(), 1);
}

#[tokio::test]
async fn a_retry_under_another_key_gets_a_copy_that_stays_and_a_removed_key_retires_its_replies() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[2, 1], 10).await;
    let (ask, other) = (Ask::new("request-1", "hello"), Ask::new("request-2", "hello"));
    let under_1 = world.ask(&ask, 1).await;
    let only_1 = world.ask(&other, 1).await;
    let under_2 = world.ask(&ask, 2).await;
    assert_eq!(told(&ask, 2, &under_2), told(&ask, 1, &under_1));
    assert_ne!(under_1, under_2);
    assert_eq!((world.ask(&ask, 2).await, world.ask(&ask, 1).await), (under_2.clone(), under_1));
    assert_eq!(told(&other, 1, &only_1), Told::Text("run 1".to_owned()));
    world.stop().await;
    let world = World::start(folder.path(), &[2], 10).await;
    assert_eq!(world.ask(&ask, 2).await, under_2);
    assert_eq!(told(&other, 2, &world.ask(&other, 2).await), Told::Refused(Refusal::Retired));
    assert_eq!(world.backend.runs(), 0);
    world.stop().await;
}

#[tokio::test]
async fn an_old_reply_is_retired_and_the_same_bytes_are_expired_for_ever_after() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 10).await;
    let ask = Ask::new("request-1", "hello");
    world.ask(&ask, 1).await;
    let retention = Retention { finished_ms: 1000, tombstone_ms: 1000 };
    // It expires 100 s after the test's beginning.
    world.hands.pass(101_001);
    world.service.purge(retention).await;
    assert_eq!(told(&ask, 1, &world.ask(&ask, 1).await), Told::Refused(Refusal::Retired));
    world.hands.pass(1001);
    world.service.purge(retention).await;
    assert_eq!(told(&ask, 1, &world.ask(&ask, 1).await), Told::Refused(Refusal::Expired));
    assert_eq!(world.backend.runs(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_clock_that_leaps_starts_nothing_and_purges_nothing_until_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path(), &[1], 10).await;
    let (ask, mut late) = (Ask::new("request-1", "hello"), Ask::new("request-2", "late"));
    let reply = world.ask(&ask, 1).await;
    let leapt = NOW_MS + 3_600_000;
    world.hands.unix_ms.store(leapt, std::sync::atomic::Ordering::Relaxed);
    late.expires_at_unix_ms = leapt + 1000;
    assert_eq!(told(&late, 1, &world.ask(&late, 1).await), Told::Refused(Refusal::Capacity));
    world.service.purge(Retention { finished_ms: 0, tombstone_ms: 0 }).await;
    assert_eq!(world.ask(&ask, 1).await, reply);
    assert!(world.service.accept_clock().await);
    assert_eq!(told(&late, 1, &world.ask(&late, 1).await), Told::Text("run 1".to_owned()));
    // Set back by hand: what it shows is the time, though claims were marked later.
    world.hands.unix_ms.store(NOW_MS, std::sync::atomic::Ordering::Relaxed);
    assert!(world.service.accept_clock().await);
    let again = Ask::new("request-3", "again");
    assert_eq!(told(&again, 1, &world.ask(&again, 1).await), Told::Text("run 2".to_owned()));
    world.stop().await;
}

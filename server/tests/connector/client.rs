//! The client's library against the real service: the same bytes again, and one run whatever the connection does.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use twolane::connector::listen::Bounds as Sockets;
use twolane_client::{
    Again, Bounds, CallFault, Client, Digest, OwnedRequest, PrepareFault, Prepared, Refusal, Reply,
    SendFault, Store, Valid,
};
use twolane_core::connector::admit::{Caller, arrive, scratch_len};
use twolane_core::connector::document::{EventPayload, Outcome};
use twolane_core::connector::replay::Retention;

use crate::ask::{Ask, id};
use crate::peers::{Cut, Proxy, proxy};
use crate::world::{Hands, World, secret};

pub(crate) const LIFETIME: Duration = Duration::from_secs(240);
pub(crate) const WITHIN: Duration = Duration::from_secs(60);

/// A service whose clock shows the time at which it started.
pub(crate) async fn world(folder: &Path, keys: &[u8], open: usize) -> World {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let unix_ms = Arc::new(AtomicU64::new(u64::try_from(now).unwrap()));
    let hands = Hands { unix_ms, monotonic_ms: Arc::new(AtomicU64::new(5)) };
    World::start_at(folder, keys, open, hands, Sockets::default()).await
}

pub(crate) fn request(request_id: &str, text: &str) -> Valid<OwnedRequest> {
    let mut request = Ask::new("request-1", text).invocation().into_parts().request.into_parts();
    request.request_id = id(request_id);
    Valid::new(request).unwrap()
}

pub(crate) fn client(address: std::net::SocketAddr, folder: &Path, key: u8) -> Client {
    let store = Store::open(&folder.join("calls")).unwrap();
    Client::new(address, "caller-1", secret(key), store, Bounds::default()).unwrap()
}

pub(crate) fn prepare(client: &Client, request_id: &str, text: &str) -> Prepared {
    let request = request(request_id, text);
    let native = request.sha256().unwrap();
    client.prepare(request, native, LIFETIME).unwrap()
}

/// All that was said in a turn that the model ended.
pub(crate) fn said(reply: &Reply) -> String {
    let Reply::Transported(transported) = reply else { panic!("{reply:?}") };
    assert!(matches!(transported.receipt.outcome, Outcome::Completed(_)), "{reply:?}");
    let texts = transported.events.iter().map(|event| match &event.payload {
        EventPayload::TextDelta { text } => text.as_str(),
        EventPayload::ToolCall { .. } => panic!("a tool call"),
    });
    texts.collect()
}

/// What was sealed in a frame of the first caller.
pub(crate) fn opened(frame: &[u8]) -> Vec<u8> {
    let (body, key) = (&frame[4..], secret(1));
    let mut scratch = vec![0; scratch_len(body.len())];
    let terms = Caller { keys: &[&key], payload_max: 16_384 };
    arrive(body, &mut scratch).unwrap().open(terms, &secret(99), 1).unwrap().plaintext.to_vec()
}

#[tokio::test]
async fn what_is_sent_is_what_is_stored_each_time_under_a_nonce_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path(), &[1], 10).await;
    let Proxy { address, requests } = proxy(world.address, []).await;
    let client = client(address, folder.path(), 1);
    let prepared = prepare(&client, "request-1", "hello");
    assert_eq!(world.backend.runs(), 0);
    let first = client.send(&prepared).await.unwrap();
    assert_eq!(said(&first), "run 0");
    // Another process, which knows the file alone.
    let resumed = Prepared::resume(prepared.path()).unwrap();
    assert_eq!(client.send(&resumed).await.unwrap(), first);
    assert_eq!(world.backend.runs(), 1);
    let requests = requests.lock().unwrap().clone();
    assert_ne!(requests[0], requests[1]);
    let stored = std::fs::read(prepared.path()).unwrap();
    assert_eq!((opened(&requests[0]), opened(&requests[1])), (stored.clone(), stored));
    world.stop().await;
}

#[tokio::test]
async fn a_connection_cut_anywhere_costs_another_try_and_no_other_run() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path(), &[1], 1000).await;
    let whole = {
        let Proxy { address, requests } = proxy(world.address, []).await;
        let client = client(address, folder.path(), 1);
        client.send(&prepare(&client, "whole-00", "hello")).await.unwrap();
        let requests = requests.lock().unwrap();
        requests[0].len()
    };
    let places = [0, 1, 3, 4, 5, 200, whole / 2, whole - 1, whole];
    let of_request = places.map(|place| Cut { request: Some(place), reply: None });
    let of_reply = [0, 1, 3, 4, 5, 200, 400].map(|place| Cut { request: None, reply: Some(place) });
    for (number, cut) in (1..).zip(of_request.into_iter().chain(of_reply)) {
        let Proxy { address, requests } = proxy(world.address, [cut, cut]).await;
        let client = client(address, folder.path(), 1);
        let prepared = prepare(&client, &format!("whole-{number:02}"), "hello");
        let mut lost = 0;
        let reply = client.call(&prepared, WITHIN, |waiting| {
            lost += u32::from(matches!(waiting.reason, Again::Lost(_)));
        });
        let reply = reply.await.unwrap();
        assert_eq!((lost, said(&reply)), (2, format!("run {number}")), "{cut:?}");
        assert_eq!(world.backend.runs(), number + 1, "{cut:?}");
        assert!(requests.lock().unwrap().len() >= 3);
    }
    world.stop().await;
}

#[tokio::test]
async fn what_is_in_flight_is_waited_for_and_answered_as_to_who_asked_first() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path(), &[1], 0).await;
    let client = Arc::new(client(world.address, folder.path(), 1));
    let prepared = prepare(&client, "request-1", "hello");
    let first = {
        let (client, prepared) = (Arc::clone(&client), prepared.clone());
        tokio::spawn(async move { client.send(&prepared).await })
    };
    while world.backend.runs() == 0 {
        tokio::task::yield_now().await;
    }
    let mut seen = 0;
    let second = client.call(&prepared, WITHIN, |waiting| {
        assert!(matches!(waiting.reason, Again::InFlight), "{waiting:?}");
        if seen == 0 {
            world.backend.gate.add_permits(1);
        }
        seen += 1;
    });
    let second = second.await.unwrap();
    assert_eq!((said(&second), world.backend.runs()), ("run 0".to_owned(), 1));
    assert_eq!(first.await.unwrap().unwrap(), second);
    assert!(seen > 0);
    world.stop().await;
}

#[tokio::test]
async fn what_finds_no_room_is_sent_until_there_is_some_and_no_longer_than_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path(), &[1], 0).await;
    let client = Arc::new(client(world.address, folder.path(), 1));
    for request_id in ["a", "b"] {
        let (client, prepared) = (Arc::clone(&client), prepare(&client, request_id, "hello"));
        tokio::spawn(async move { client.send(&prepared).await });
    }
    while world.backend.runs() < 2 {
        tokio::task::yield_now().await;
    }
    let prepared = prepare(&client, "c", "hello");
    let ended = client.call(&prepared, Duration::from_secs(2), |_| {}).await;
    assert!(matches!(ended, Err(CallFault::OutOfTime { attempts: 2.., last: Again::Capacity })), "{ended:?}");
    let reply = client.call(&prepared, WITHIN, |waiting| {
        assert!(matches!(waiting.reason, Again::Capacity), "{waiting:?}");
        world.backend.gate.add_permits(3);
    });
    assert_eq!(said(&reply.await.unwrap()), "run 2");
    world.stop().await;
}

#[tokio::test]
async fn a_refusal_that_another_try_does_not_change_is_the_end_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path(), &[1], 10).await;
    let client = client(world.address, folder.path(), 1);
    let never = |waiting: &twolane_client::Waiting<'_>| panic!("{waiting:?}");
    let asks = |request: Valid<OwnedRequest>, lifetime| {
        client.prepare(request, Digest::of(b"native"), Duration::from_secs(lifetime)).unwrap()
    };
    let mut model = request("model", "hello").into_parts();
    model.model = id("model-2");
    let cases = [
        (asks(Valid::new(model).unwrap(), 240), Refusal::Policy),
        (asks(request("early", "hello"), 400), Refusal::Expired),
    ];
    for (prepared, refusal) in cases {
        assert_eq!(client.call(&prepared, WITHIN, never).await.unwrap(), Reply::Refused(refusal));
    }
    let first = prepare(&client, "request-1", "hello");
    said(&client.call(&first, WITHIN, never).await.unwrap());
    // The same id from elsewhere, for something else.
    let elsewhere = tempfile::tempdir().unwrap();
    let other = self::client(world.address, elsewhere.path(), 1);
    let other = prepare(&other, "request-1", "something else");
    assert_eq!(client.call(&other, WITHIN, never).await.unwrap(), Reply::Refused(Refusal::ReplayConflict));
    world.hands.pass(300_000);
    world.service.purge(Retention { finished_ms: 1, tombstone_ms: 1_000_000 }).await;
    assert_eq!(client.call(&first, WITHIN, never).await.unwrap(), Reply::Refused(Refusal::Retired));
    assert_eq!(world.backend.runs(), 1);
    world.stop().await;
}

#[tokio::test]
async fn an_id_is_dated_once_and_only_by_its_caller() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = "127.0.0.1:1".parse().unwrap();
    let client = client(nobody, folder.path(), 1);
    let prepared = prepare(&client, "request-1", "hello");
    let stored = std::fs::read(prepared.path()).unwrap();
    let again = client.prepare(request("request-1", "hello"), Digest::of(b"native"), LIFETIME);
    assert!(matches!(again, Err(PrepareFault::Used { path }) if path == prepared.path()));
    assert_eq!(std::fs::read(prepared.path()).unwrap(), stored);
    let store = Store::open(&folder.path().join("calls")).unwrap();
    let other = Client::new(nobody, "caller-2", secret(1), store, Bounds::default()).unwrap();
    assert!(matches!(other.send(&prepared).await, Err(SendFault::OtherCaller)));
    assert!(other.prepare(request("request-1", "hello"), Digest::of(b"native"), LIFETIME).is_ok());
    assert!(
        Client::new(
            "192.168.0.1:1".parse().unwrap(),
            "c",
            secret(1),
            Store::open(folder.path()).unwrap(),
            Bounds::default()
        )
        .is_err()
    );
}

//! Servers that answer with what is not the answer: the client believes none of it.

use std::sync::Arc;
use std::time::Duration;

use twolane_client::{Bounds, CallFault, Client, Lost, Prepared, Reply, SendFault, Store};
use twolane_core::connector::answer::{ResponseFault, ResultFault};
use twolane_core::connector::carriage::OperationRequest;
use twolane_core::connector::failure::Failure;

use crate::client::{client, prepare, said, world};
use crate::peers::{Does, server};
use crate::world::{World, secret};

/// A client with little patience at `address`, in the same folder.
fn hasty(address: std::net::SocketAddr, folder: &std::path::Path) -> Client {
    let store = Store::open(&folder.join("calls")).unwrap();
    let time = Duration::from_millis(200);
    let bounds = Bounds { frame_max: 65_536, wait_time: time, read_time: time, ..Bounds::default() };
    Client::new(address, "caller-1", secret(1), store, bounds).unwrap()
}

/// A request, and the genuine frame that answers it.
async fn genuine(world: &World, client: &Client, request_id: &str, text: &str) -> (Prepared, Vec<u8>) {
    let prepared = prepare(client, request_id, text);
    let frame = crate::world::sealed(prepared.invocation(), &secret(1));
    let reply = world.send(&frame).await;
    (prepared, reply)
}

#[tokio::test]
async fn nothing_but_the_sealed_and_bound_answer_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path(), &[1], 100).await;
    let asking = client(world.address, folder.path(), 1);
    let (prepared, reply) = genuine(&world, &asking, "request-1", "hello").await;
    let (_, of_another) = genuine(&world, &asking, "request-2", "hello").await;
    let elsewhere = tempfile::tempdir().unwrap();
    let other = self::world(elsewhere.path(), &[1], 100).await;
    let (_, other_text) =
        genuine(&other, &client(other.address, elsewhere.path(), 1), "request-1", "something else").await;

    let send = |frame: Vec<u8>| {
        let (prepared, folder) = (prepared.clone(), folder.path().to_owned());
        async move {
            let address = server(move |_| Does::Closes(frame.clone())).await;
            hasty(address, &folder).send(&prepared).await
        }
    };
    assert_eq!(said(&send(reply.clone()).await.unwrap()), "run 0");
    let found = send(of_another).await;
    assert!(matches!(found, Err(SendFault::Response(ResponseFault::Other("messageId")))), "{found:?}");
    // Sealed by the key's owner for the same ids, and bound to another text.
    let found = send(other_text).await;
    assert!(matches!(found, Err(SendFault::Result(ResultFault::Other("binding_sha256")))), "{found:?}");
    for garbage in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"\0\0\0\x04\xff\xff\xff\xff",
        b"\0\0\0\0",
        b"\0\0\0\x01\xc0",
    ] {
        let found = send(garbage.to_vec()).await;
        let faulty = matches!(found, Err(SendFault::Response(_) | SendFault::ReplyTooLong { .. }));
        assert!(faulty, "{garbage:?}: {found:?}");
    }
    world.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_flipped_bit_makes_another_answer_of_none() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path(), &[1], 100).await;
    let asking = client(world.address, folder.path(), 1);
    let (prepared, reply) = genuine(&world, &asking, "request-1", "hello").await;
    let genuine = asking.send(&prepared).await.unwrap();
    let mut place = 4;
    let flips = reply.clone();
    let address = server(move |_| {
        let mut flipped = flips.clone();
        flipped[place] ^= 1 << (place % 8);
        place += 1;
        Does::Closes(flipped)
    })
    .await;
    let hasty = Arc::new(hasty(address, folder.path()));
    let mut believed = 0;
    for place in 4..reply.len() {
        match hasty.send(&prepared).await {
            // Outside of the seal is the status, which means nothing.
            Ok(found) => {
                assert_eq!(found, genuine, "byte {place}");
                believed += 1;
            }
            Err(fault) => assert!(matches!(fault, SendFault::Response(_)), "byte {place}: {fault:?}"),
        }
    }
    assert!(believed <= "accepted".len(), "{believed} of {}", reply.len());
    world.stop().await;
}

#[tokio::test]
async fn a_hint_is_told_as_one_and_ends_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let address = server(|body| {
        let request = OperationRequest::read(body).unwrap();
        let mut frame = vec![0; 4];
        Failure::NotAdmitted.write(request.reply_to(), &mut frame).unwrap();
        let len = u32::try_from(frame.len() - 4).unwrap();
        frame[..4].copy_from_slice(&len.to_be_bytes());
        Does::Closes(frame)
    })
    .await;
    let hasty = hasty(address, folder.path());
    let prepared = prepare(&hasty, "request-1", "hello");
    let found = hasty.call(&prepared, Duration::from_secs(60), |waiting| panic!("{waiting:?}")).await;
    let Err(CallFault::Stopped(SendFault::Hint(hint))) = found else { panic!("{found:?}") };
    assert_eq!(hint.code, "not-admitted");
}

#[tokio::test]
async fn a_reply_without_end_ends_in_its_time_and_a_length_without_bound_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[u8], &str); 4] = [
        (b"", "waiting for the reply"),
        (b"\0", "reading the reply"),
        (b"\0\0\0\x40and so on", "reading the reply"),
        (b"\xff\xff\xff\xff", "4294967295"),
    ];
    for (number, (bytes, words)) in (0..).zip(cases) {
        let address = server(move |_| Does::Holds(bytes.to_vec())).await;
        let hasty = hasty(address, folder.path());
        let prepared = prepare(&hasty, &format!("request-{number}"), "hello");
        let fault = hasty.send(&prepared).await.unwrap_err();
        assert!(fault.to_string().contains(words), "{bytes:?}: {fault}");
    }
    for (number, closes) in (10..).zip([&b""[..], b"\0\0", b"\0\0\0\x40and"]) {
        let address = server(move |_| Does::Closes(closes.to_vec())).await;
        let hasty = hasty(address, folder.path());
        let prepared = prepare(&hasty, &format!("request-{number}"), "hello");
        let fault = hasty.send(&prepared).await.unwrap_err();
        assert!(matches!(fault, SendFault::Lost(Lost::Closed | Lost::Short { .. })), "{closes:?}: {fault}");
    }
}

#[tokio::test]
async fn ones_own_request_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let address = server(|body| {
        let mut frame = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
        frame.extend_from_slice(body);
        Does::Closes(frame)
    })
    .await;
    let hasty = hasty(address, folder.path());
    let prepared = prepare(&hasty, "request-1", "hello");
    let found: Result<Reply, _> = hasty.send(&prepared).await;
    assert!(matches!(found, Err(SendFault::Response(_))), "{found:?}");
}

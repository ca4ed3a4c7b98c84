//! Neither machine lets anybody in who does not hold the key, whatever is sent and however it is cut.

use twolane_core::handshake::message::{ClientAuth, ServerProof};
use twolane_core::handshake::{ClientHandshake, ClientStep, DaemonId, Key, ServerHandshake, ServerStep};
use twolane_core::limits::HANDSHAKE_PREFIX_LEN;

use crate::seeds::Seeds;

const KEY: [u8; 32] = [7; 32];
const DAEMON_ID: DaemonId = DaemonId([1; 16]);

/// The first byte says who is attacked and how the rest is cut. Odd modes send bytes; even ones change one byte of
/// a good handshake.
pub fn run(bytes: &[u8]) {
    let [mode, cut, rest @ ..] = bytes else { return };
    let cut = usize::from(*cut) + 1;
    match mode % 4 {
        0 => bytes_to_server(rest, cut),
        1 => bytes_to_client(rest, cut),
        2 => changed_auth(rest),
        _ => changed_proof(rest),
    }
}

/// Messages for both machines, and places to change.
pub fn seeds(seeds: &Seeds) -> Vec<Vec<u8>> {
    let streams = seeds.messages.iter().cloned().chain([seeds.messages.concat()]);
    let sent = streams.flat_map(|stream| [0, 1].map(|mode| [&[mode, 255], &stream[..]].concat()));
    sent.chain((0..200).flat_map(|place| [2, 3].map(|mode| vec![mode, 0, place, 1]))).collect()
}

fn key() -> Key {
    Key::new(&KEY).expect("a key")
}

fn server() -> ServerHandshake {
    ServerHandshake::new(&key(), DAEMON_ID, [2; 32], "9").expect("a short version")
}

fn client() -> ClientHandshake {
    ClientHandshake::new(&key(), DAEMON_ID, [3; 32])
}

fn bytes_to_server(bytes: &[u8], cut: usize) {
    let mut machine = server();
    let mut unread = Vec::new();
    for chunk in bytes.chunks(cut) {
        unread.extend_from_slice(chunk);
        loop {
            let received = match machine.receive(&unread) {
                Ok(received) => received,
                Err(fault) => return assert_eq!(machine.receive(&unread).map(drop), Err(fault)),
            };
            assert!(received.consumed <= unread.len());
            match received.step {
                ServerStep::Need(need) => break assert!(need > unread.len()),
                ServerStep::Prove(message) => assert!(!message.is_empty()),
                ServerStep::Authenticated => panic!("let in without the key"),
            }
            unread.drain(..received.consumed);
        }
    }
}

fn bytes_to_client(bytes: &[u8], cut: usize) {
    let mut machine = client();
    let mut unread = Vec::new();
    for chunk in bytes.chunks(cut) {
        unread.extend_from_slice(chunk);
        match machine.receive(&unread) {
            Ok(received) => match received.step {
                ClientStep::Need(need) => assert!(need > unread.len()),
                ClientStep::Authenticated { .. } => panic!("a server without the key was believed"),
            },
            Err(fault) => return assert_eq!(machine.receive(&unread).map(drop), Err(fault)),
        }
    }
}

/// Flips bits of a message at a place that the input names.
fn change(message: &mut [u8], rest: &[u8]) {
    let [place, bits, ..] = rest else { return };
    let places = message.len().max(1);
    if let Some(byte) = message.get_mut(usize::from(*place) * 7 % places) {
        *byte ^= bits;
    }
}

fn changed_auth(rest: &[u8]) {
    let (mut server, mut client) = (server(), client());
    let proof = match server.receive(&client.hello()).map(|received| received.step) {
        Ok(ServerStep::Prove(proof)) => proof,
        other => panic!("a good hello: {other:?}"),
    };
    let auth = match client.receive(&proof).map(|received| received.step) {
        Ok(ClientStep::Authenticated { auth }) => auth,
        other => panic!("a good proof: {other:?}"),
    };
    let mut changed = auth.to_vec();
    change(&mut changed, rest);
    let text =
        |message: &[u8]| ClientAuth::parse(&message[HANDSHAKE_PREFIX_LEN..]).map(|auth| auth.client_auth);
    if let Ok(received) = server.receive(&changed)
        && let ServerStep::Authenticated = received.step
    {
        let sent = text(&changed[..received.consumed]);
        assert_eq!(sent, text(&auth), "another proof was believed");
    }
}

fn changed_proof(rest: &[u8]) {
    let (mut server, mut client) = (server(), client());
    let mut hello = client.hello().to_vec();
    if rest.len() > 2 {
        change(&mut hello, &rest[1..]);
    }
    let Ok(received) = server.receive(&hello) else { return };
    let ServerStep::Prove(proof) = received.step else { return };
    let mut changed = proof.to_vec();
    change(&mut changed, rest);
    let covered = |message: &[u8]| {
        let proof = ServerProof::parse(&message[HANDSHAKE_PREFIX_LEN..]);
        proof.map(|proof| (proof.daemon_id, proof.server_nonce, proof.server_proof))
    };
    if let Ok(received) = client.receive(&changed)
        && let ClientStep::Authenticated { .. } = received.step
    {
        let read = covered(&changed[..received.consumed]);
        assert_eq!(read, covered(&proof), "another proof was believed");
    }
}

//! Bytes that were changed or made up.

use proptest::prelude::*;
use serde_json::Value;
use twolane_core::handshake::message::{ClientAuth, ClientHello, ServerProof, split};
use twolane_core::handshake::{ClientStep, Key, ServerStep};

use crate::vector::{Transcript, message};

/// Each message with one bit flipped, and which one.
fn flips(message: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..message.len() * 8).map(|bit| {
        let mut flipped = message.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        (bit, flipped)
    })
}

/// Whether `changed` is a message that says the same as `original`, the claim aside. Judged by another JSON reader.
fn differs_in_claim_only(original: &[u8], changed: &[u8], claim: &str) -> bool {
    if changed[..4] != original[..4] {
        return false;
    }
    let mut original: Value = serde_json::from_slice(&original[4..]).unwrap();
    let Ok(mut changed) = serde_json::from_slice::<Value>(&changed[4..]) else { return false };
    let claims =
        [&mut original, &mut changed].map(|value| value.as_object_mut().and_then(|o| o.remove(claim)));
    matches!(claims, [Some(Value::String(_)), Some(Value::String(_))]) && original == changed
}

/// Whether a whole handshake succeeds on both sides when the client's hello arrives as `hello`.
fn succeeds_with_hello(transcript: &Transcript, hello: &[u8]) -> bool {
    let (mut client, mut server) = (transcript.client(), transcript.server());
    let Ok(received) = server.receive(hello) else { return false };
    let ServerStep::Prove(proof) = received.step else { return false };
    let Ok(received) = client.receive(&proof) else { return false };
    let ClientStep::Authenticated { auth } = received.step else { return false };
    matches!(server.receive(&auth).unwrap().step, ServerStep::Authenticated)
}

#[test]
fn a_flipped_bit_of_the_hello_is_refused_or_changes_only_the_role() {
    let transcript = Transcript::read();
    let hello = &transcript.messages[0];
    let mut passed = 0;
    for (bit, flipped) in flips(hello) {
        let expected = differs_in_claim_only(hello, &flipped, "role");
        assert_eq!(succeeds_with_hello(&transcript, &flipped), expected, "bit {bit}");
        passed += usize::from(expected);
    }
    // `client` has 48 bits; the 6 top ones are refused, since they make invalid UTF-8.
    assert_eq!(passed, 42, "flips that changed only the role");
}

#[test]
fn a_flipped_bit_of_the_server_proof_is_refused_or_changes_only_the_version() {
    let transcript = Transcript::read();
    let proof = &transcript.messages[1];
    let mut passed = 0;
    for (bit, flipped) in flips(proof) {
        let expected = differs_in_claim_only(proof, &flipped, "daemon_ver");
        let mut client = transcript.client();
        let outcome = client.receive(&flipped);
        let accepted = matches!(&outcome, Ok(received) if !matches!(received.step, ClientStep::Need(_)));
        assert_eq!(accepted, expected, "bit {bit}");
        passed += usize::from(expected);
    }
    // `vector-1` has 64 bits; refused are the 8 top ones, and bit 5 of `-` and `1`, which makes control characters.
    assert_eq!(passed, 54, "flips that changed only the version");
}

#[test]
fn every_flipped_bit_of_the_client_auth_is_refused() {
    let transcript = Transcript::read();
    for (bit, flipped) in flips(&transcript.messages[2]) {
        let outcome = transcript.server_after_hello().receive(&flipped);
        let accepted = matches!(&outcome, Ok(received) if matches!(received.step, ServerStep::Authenticated));
        assert!(!accepted, "bit {bit}");
    }
}

#[test]
fn a_flip_to_a_longer_length_waits_and_is_never_taken_for_a_message() {
    let transcript = Transcript::read();
    for (bit, flipped) in flips(&transcript.messages[2]).take(32) {
        if let Ok(received) = transcript.server_after_hello().receive(&flipped) {
            let ServerStep::Need(len) = received.step else { panic!("bit {bit}") };
            assert!(len > flipped.len() && len <= 4100, "bit {bit} waits for {len}");
            assert_eq!(received.consumed, 0);
        }
    }
}

/// JSON-like text, so that parsers get past the first byte.
fn almost_json() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\u00",
        "\\",
        " ",
        "0",
        "1",
        "255",
        "256",
        "-1",
        "1e9",
        "null",
        "\"role\":\"x\"",
        "\"client_nonce\":[",
        "\"daemon_id\":[",
        "\"server_proof\":",
        "\"client_auth\":[1,2",
        "\"daemon_ver\":\"\\ud800",
        "\u{e4}",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat().into_bytes())
}

fn feed_everything(transcript: &Transcript, bytes: &[u8]) {
    let _ = split(bytes);
    let _ = ClientHello::parse(bytes);
    let _ = ServerProof::parse(bytes);
    let _ = ClientAuth::parse(bytes);
    let _ = Key::from_text(bytes);
    let client = transcript.client().receive(bytes);
    assert!(!matches!(client, Ok(received) if !matches!(received.step, ClientStep::Need(_))));
    let server = transcript.server_after_hello().receive(bytes);
    assert!(!matches!(server, Ok(received) if !matches!(received.step, ServerStep::Need(_))));
    let _ = transcript.server().receive(bytes);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_nor_authenticate(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let transcript = Transcript::read();
        feed_everything(&transcript, &bytes);
        feed_everything(&transcript, &message(&bytes));
    }

    #[test]
    fn almost_json_never_panics_nor_authenticates(json in almost_json()) {
        let transcript = Transcript::read();
        feed_everything(&transcript, &json);
        feed_everything(&transcript, &message(&json));
    }

    #[test]
    fn a_message_reads_the_same_with_anything_behind_it(rest in prop::collection::vec(any::<u8>(), 0..64)) {
        let transcript = Transcript::read();
        let bytes = [&transcript.messages[2][..], &rest].concat();
        let received = transcript.server_after_hello().receive(&bytes).unwrap();
        prop_assert!(matches!(received.step, ServerStep::Authenticated));
        prop_assert_eq!(&bytes[received.consumed..], &rest[..]);
    }
}

//! Keys: their bounds, their texts, and that nothing shows them.

use twolane_core::connection_file::ConnectionFileReason;
use twolane_core::handshake::message::{ClientAuth, ClientHello, ServerProof, verify_client_auth};
use twolane_core::handshake::{FieldReason, Key, KeyFault, KeyTextFault, KeyTextReason};
use twolane_core::scan::json::JsonReason;

use crate::vector::{Transcript, json_of};

#[test]
fn a_key_has_32_to_128_bytes() {
    assert_eq!(Key::new(&[]).unwrap_err(), KeyFault::TooShort { len: 0 });
    assert_eq!(Key::new(&[7; 31]).unwrap_err(), KeyFault::TooShort { len: 31 });
    assert!(Key::new(&[7; 32]).is_ok());
    assert!(Key::new(&[7; 128]).is_ok());
    assert_eq!(Key::new(&[7; 129]).unwrap_err(), KeyFault::TooLong { len: 129 });
}

/// Whether `key` is the key of the transcript.
fn is_the_transcripts(key: &Key) -> bool {
    let Transcript { client_nonce, server_nonce, daemon_id, client_auth, .. } = Transcript::read();
    verify_client_auth(key, &client_nonce, &server_nonce, &daemon_id, &client_auth)
}

#[test]
fn a_key_file_is_a_connection_file_hexadecimal_or_an_array() {
    let vectors: serde_json::Value =
        serde_json::from_str(include_str!("../../../fixtures/vectors/connection-file.json")).unwrap();
    let file = vectors["cases"]["file_0_15_0_full"].as_str().unwrap();
    let hex = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";
    let array = format!("{:?}", (0..32).collect::<Vec<_>>());
    for text in [file, hex, &array] {
        for text in [text.to_owned(), format!("{text}\n"), format!(" {text} \r\n")] {
            assert!(is_the_transcripts(&Key::from_text(text.as_bytes()).unwrap()), "{text}");
        }
    }
    assert!(!is_the_transcripts(&Key::from_text("f".repeat(64).as_bytes()).unwrap()));
    assert!(!is_the_transcripts(
        &Key::from_text(format!("{array} ").replace("31", "30").as_bytes()).unwrap()
    ));
}

#[test]
fn other_texts_are_refused_with_their_place() {
    let array = |len: usize| format!("{:?}", vec![1; len]);
    let cases: &[(&str, usize, KeyTextReason)] = &[
        ("", 0, KeyTextReason::Empty),
        (" \n", 2, KeyTextReason::Empty),
        ("secret!", 0, KeyTextReason::UnknownForm),
        ("\"00\"", 0, KeyTextReason::UnknownForm),
        ("0g", 1, KeyTextReason::NotHex),
        ("00 00", 2, KeyTextReason::NotHex),
        (&"0".repeat(63), 0, KeyTextReason::HexLength { found: 63 }),
        (&"0".repeat(66), 0, KeyTextReason::HexLength { found: 66 }),
        (&array(31), 0, KeyTextReason::Key(KeyFault::TooShort { len: 31 })),
        (&array(129), 0, KeyTextReason::Key(KeyFault::TooLong { len: 129 })),
        ("[1,256]", 3, KeyTextReason::Array(FieldReason::OutOfRange { member: "key", max: 255 })),
        ("[1,2", 4, KeyTextReason::Array(FieldReason::Json(JsonReason::UnexpectedEnd))),
        ("[1]2", 3, KeyTextReason::Array(FieldReason::Json(JsonReason::TrailingBytes))),
        ("{}", 1, KeyTextReason::File(ConnectionFileReason::Field(FieldReason::Missing("schema")))),
    ];
    for (text, offset, reason) in cases {
        let expected = KeyTextFault { offset: *offset, reason: *reason };
        assert_eq!(Key::from_text(text.as_bytes()).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn nothing_shows_a_key_a_nonce_or_a_proof() {
    let transcript = Transcript::read();
    let (mut client, mut server) = (transcript.client(), transcript.server());
    let hello = client.hello();
    let prove = server.receive(&hello).unwrap();
    let authenticated = client.receive(&transcript.messages[1]).unwrap();
    let [json_1, json_2, json_3] = transcript.messages.each_ref().map(|message| json_of(message));
    let shown = [
        format!("{:?}", transcript.key),
        format!("{client:?}"),
        format!("{server:?}"),
        format!("{hello:?}"),
        format!("{prove:?}"),
        format!("{authenticated:?}"),
        format!("{:?}", ClientHello::parse(json_1).unwrap()),
        format!("{:?}", ServerProof::parse(json_2).unwrap()),
        format!("{:?}", ClientAuth::parse(json_3).unwrap()),
    ];
    assert_eq!(shown[0], "Key(..)");
    for text in shown {
        // Each as a run of numbers or digits: of the key, the nonces and both proofs.
        for secret in ["1, 2, 3", "171", "abab", "205", "cdcd", "234", "ea06", "163", "a3bc", "10111213"] {
            assert!(!text.contains(secret), "{secret:?} in {text}");
        }
    }
}

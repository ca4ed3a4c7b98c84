//! What a message may look like.

use twolane_core::handshake::message::{
    ClientAuth, ClientHello, LengthFault, MessageFault, ServerProof, Sighted, split,
};
use twolane_core::handshake::{
    ClientStep, DaemonVerTooLong, FieldReason, HandshakeFault, HandshakeReason, ServerHandshake, ServerStep,
    Stage,
};
use twolane_core::limits::{CLAIM_KEPT_MAX, DAEMON_VER_WRITTEN_MAX, HANDSHAKE_MESSAGE_MAX};
use twolane_core::scan::json::JsonReason;

use crate::vector::{Transcript, file, json_of, message};

const NONCE: &str =
    "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,255]";

fn reason(json: &str) -> FieldReason {
    ClientHello::parse(json.as_bytes()).unwrap_err().reason
}

#[test]
fn hellos_are_accepted_and_refused_as_by_the_other_implementations() {
    let transcript = Transcript::read();
    let cases = file()["hello_decode_cases"].clone();
    let mut seen = (0, 0);
    for case in cases.as_array().unwrap() {
        let Some(hello) = case["hello_json"].as_str() else { continue };
        // A stall after the hello shows that the hello was accepted.
        let theirs = case["t0_15_0"].as_str().unwrap().contains("Timeout { stage: ClientAuth");
        let ours = match transcript.server().receive(&message(hello)) {
            Ok(received) => matches!(received.step, ServerStep::Prove(_)),
            Err(fault) => {
                assert_eq!(fault.stage, Stage::ClientHello, "{}", case["name"]);
                false
            }
        };
        assert_eq!(ours, theirs, "{}", case["name"]);
        if ours { seen.0 += 1 } else { seen.1 += 1 }
    }
    assert_eq!(seen, (3, 6), "accepted and refused cases of the vectors");
}

#[test]
fn a_length_is_refused_when_its_four_bytes_are_there() {
    let transcript = Transcript::read();
    let refused = |prefix: u32| transcript.server().receive(&prefix.to_le_bytes()).unwrap_err();
    let fault = |reason| HandshakeFault { stage: Stage::ClientHello, reason };
    assert_eq!(refused(0), fault(HandshakeReason::MessageEmpty));
    assert_eq!(refused(4097), fault(HandshakeReason::MessageTooLong { len: 4097 }));
    assert_eq!(refused(u32::MAX), fault(HandshakeReason::MessageTooLong { len: u32::MAX }));
    assert!(transcript.server().receive(&4097_u32.to_le_bytes()[..3]).is_ok());
    assert_eq!(split(&[0; 4]), Err(LengthFault::Empty));
    assert_eq!(split(&[1, 0, 0, 0]), Ok(Sighted::Need(5)));
    assert_eq!(split(b"\x01\0\0\0xyz"), Ok(Sighted::Message { consumed: 5, json: 4..5 }));
}

#[test]
fn a_message_of_the_largest_length_is_read() {
    let transcript = Transcript::read();
    let mut hello = json_of(&transcript.messages[0]).to_vec();
    hello.resize(HANDSHAKE_MESSAGE_MAX, b' ');
    let received = transcript.server().receive(&message(&hello)).unwrap();
    assert!(matches!(received.step, ServerStep::Prove(_)));
    assert_eq!(received.consumed, 4 + HANDSHAKE_MESSAGE_MAX);
    hello.push(b' ');
    assert!(transcript.server().receive(&message(&hello)).is_err());
}

#[test]
fn white_space_order_unknown_members_and_escaped_names_change_nothing() {
    let transcript = Transcript::read();
    let proof: serde_json::Value = serde_json::from_slice(json_of(&transcript.messages[1])).unwrap();
    let rewritten = format!(
        "\t{{ \"later\" : {{\"a\":[1,{{}}]}},\r\n \"server\\u005fproof\":{} , \"server_nonce\":{},\"daemon_ver\":{},\"daemon_id\":{} }} \n",
        proof["server_proof"], proof["server_nonce"], proof["daemon_ver"], proof["daemon_id"],
    );
    let step = transcript.client().receive(&message(rewritten)).unwrap().step;
    let ClientStep::Authenticated { auth } = step else { panic!("{step:?}") };
    assert_eq!(*auth, transcript.messages[2]);
}

#[test]
fn the_first_fault_is_named_with_its_member_and_place() {
    let cases: &[(&str, usize, FieldReason)] = &[
        ("", 0, FieldReason::Json(JsonReason::UnexpectedEnd)),
        ("[]", 0, FieldReason::NotAnObject),
        (" 7", 1, FieldReason::NotAnObject),
        ("{}", 1, FieldReason::Missing("client_nonce")),
        ("{}x", 2, FieldReason::Json(JsonReason::TrailingBytes)),
        ("{\"role\":\"a\",\"role\":\"a\"}", 12, FieldReason::Duplicate(Some("role"))),
        ("{\"role\":\"a\",\"\\u0072ole\":\"a\"}", 12, FieldReason::Duplicate(Some("role"))),
        ("{\"x\":1,\"x\":2}", 7, FieldReason::Duplicate(None)),
        ("{\"role\":null}", 8, FieldReason::WrongType { member: "role", expected: "a string" }),
        (
            "{\"client_nonce\":\"ab\"}",
            16,
            FieldReason::WrongType { member: "client_nonce", expected: "an array" },
        ),
        (
            "{\"client_nonce\":[1,\"2\"]}",
            19,
            FieldReason::WrongType { member: "client_nonce", expected: "an integer" },
        ),
        ("{\"client_nonce\":[256]}", 17, FieldReason::OutOfRange { member: "client_nonce", max: 255 }),
        ("{\"client_nonce\":[-1]}", 17, FieldReason::OutOfRange { member: "client_nonce", max: 255 }),
        ("{\"client_nonce\":[1.0]}", 17, FieldReason::OutOfRange { member: "client_nonce", max: 255 }),
        ("{\"client_nonce\":[1e0]}", 17, FieldReason::OutOfRange { member: "client_nonce", max: 255 }),
        (
            "{\"client_nonce\":[]}",
            16,
            FieldReason::WrongLength { member: "client_nonce", expected: 32, found: 0 },
        ),
    ];
    for (json, offset, reason) in cases {
        let expected = MessageFault { offset: *offset, reason: *reason };
        assert_eq!(ClientHello::parse(json.as_bytes()).unwrap_err(), expected, "{json}");
    }
}

#[test]
fn every_member_of_every_message_has_to_be_there_once() {
    let transcript = Transcript::read();
    type Reason = fn(&[u8]) -> Option<FieldReason>;
    let parse: [Reason; 3] = [
        |json| ClientHello::parse(json).err().map(|fault| fault.reason),
        |json| ServerProof::parse(json).err().map(|fault| fault.reason),
        |json| ClientAuth::parse(json).err().map(|fault| fault.reason),
    ];
    let names: [&[&str]; 3] = [
        &["client_nonce", "role"],
        &["daemon_id", "server_nonce", "daemon_ver", "server_proof"],
        &["client_auth"],
    ];
    for ((wire, names), parse) in transcript.messages.iter().zip(names).zip(parse) {
        let json = str::from_utf8(json_of(wire)).unwrap();
        assert_eq!(parse(json.as_bytes()), None);
        for name in names.iter().copied() {
            let without = json.replace(&format!("\"{name}\""), "\"other\"");
            assert_eq!(parse(without.as_bytes()), Some(FieldReason::Missing(name)));
            let value = serde_json::from_str::<serde_json::Value>(json).unwrap()[name].to_string();
            let twice = json.replacen('{', &format!("{{\"{name}\":{value},"), 1);
            assert_eq!(parse(twice.as_bytes()), Some(FieldReason::Duplicate(Some(name))));
            if value.starts_with('[') {
                let long = json.replace(&format!("\"{name}\":["), &format!("\"{name}\":[0,"));
                let short = json.replace(&value, &format!("[{}", &value[value.find(',').unwrap() + 1..]));
                for wrong in [long, short] {
                    let found = parse(wrong.as_bytes());
                    let Some(FieldReason::WrongLength { member, expected, found }) = found else {
                        panic!("{found:?}")
                    };
                    assert_eq!(member, name);
                    assert_eq!(found.abs_diff(expected), 1);
                }
            }
        }
    }
    assert_eq!(reason(&format!("{{\"client_nonce\":{NONCE}}}")), FieldReason::Missing("role"));
}

#[test]
fn claims_are_cut_between_characters_and_gate_nothing() {
    let transcript = Transcript::read();
    let long = "\u{e4}".repeat(CLAIM_KEPT_MAX);
    let mut server = transcript.server();
    let _ = server.receive(&message(format!("{{\"client_nonce\":{NONCE},\"role\":\"x{long}z\"}}"))).unwrap();
    let kept = server.role().unwrap();
    assert_eq!(kept, format!("x{}", "\u{e4}".repeat((CLAIM_KEPT_MAX - 1) / 2)));

    let proof =
        str::from_utf8(json_of(&transcript.messages[1])).unwrap().replace("vector-1", "\\n\\u0000\\\"");
    let mut client = transcript.client();
    let step = client.receive(&message(proof)).unwrap().step;
    assert!(matches!(step, ClientStep::Authenticated { .. }), "{step:?}");
    assert_eq!(client.daemon_ver(), Some("\n\0\""));
}

#[test]
fn claims_are_known_even_of_a_peer_that_fails() {
    let transcript = Transcript::read();
    let mut client = twolane_core::handshake::ClientHandshake::new(
        &transcript.key,
        transcript.daemon_id,
        transcript.server_nonce,
    );
    assert_eq!(client.daemon_ver(), None);
    assert!(client.receive(&transcript.messages[1]).is_err());
    assert_eq!(client.daemon_ver(), Some("vector-1"));
}

#[test]
fn any_version_of_up_to_64_bytes_is_written_as_json() {
    let transcript = Transcript::read();
    let versions = [
        "",
        "1.2.3 \"quoted\" \\ / \u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}",
        "\u{20ac}\u{1f600}",
        &"\u{1}".repeat(DAEMON_VER_WRITTEN_MAX),
    ];
    for version in versions {
        // Nonces of three digits each make the longest message.
        let mut server =
            ServerHandshake::new(&transcript.key, transcript.daemon_id, [0xff; 32], version).unwrap();
        let ServerStep::Prove(proof) = server.receive(&transcript.messages[0]).unwrap().step else {
            panic!()
        };
        let json: serde_json::Value = serde_json::from_slice(json_of(&proof)).unwrap();
        assert_eq!(json["daemon_ver"], version);
        assert!(str::from_utf8(&proof[4..]).unwrap().contains(&serde_json::to_string(version).unwrap()));
        let mut client = transcript.client();
        assert!(client.receive(&proof).is_ok());
        assert_eq!(client.daemon_ver(), Some(version));
    }
    let refused = ServerHandshake::new(&transcript.key, transcript.daemon_id, [0; 32], &"x".repeat(65));
    assert_eq!(refused.unwrap_err(), DaemonVerTooLong { len: 65 });
}

//! Dissection: every part of the wire has a named field with its bytes and value, and damage is named after what
//! could be read.
#![cfg(feature = "alloc")]

use twolane_core::body::{BodyReason, Tag};
use twolane_core::dissect::{FaultReason, Node, NodeKind, Stage, Tree};
use twolane_core::envelope::{FrameType, HeaderFault, Lane};
use twolane_core::frame::{EndFault, Part};
use twolane_core::handshake::message::LengthFault;
use twolane_core::scan::json::JsonReason;

const TEXT_DELTA: &str = r#"{"version":1,"run_id":"r","step_id":1,"seq":0,"payload":{"type":"text_delta","message_id":"m","delta":"a\n\u00e9"}}"#;

fn frame(flags: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len()).expect("a short body").to_le_bytes().to_vec();
    bytes.extend([1, 3, flags, 7, 0]);
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(body);
    bytes
}

fn message(json: &str) -> Vec<u8> {
    let mut bytes = u32::try_from(json.len()).expect("a short text").to_le_bytes().to_vec();
    bytes.extend(json.as_bytes());
    bytes
}

fn node<'a>(tree: &'a Tree, name: &str) -> &'a Node {
    tree.nodes.iter().find(|node| &*node.name == name).unwrap_or_else(|| panic!("no {name} in {tree:#?}"))
}

/// `depth name start..end value`, the way a person would check it.
fn rows(tree: &Tree) -> Vec<String> {
    let row = |node: &Node| {
        let mask = if node.mask == 0 { String::new() } else { format!("&{:02x}", node.mask) };
        format!("{} {} {}..{}{mask} {}", node.depth, node.name, node.start, node.end, node.value)
    };
    tree.nodes.iter().map(|node| row(node).trim_end().to_owned()).collect()
}

#[test]
fn a_version_1_frame_field_by_field() {
    let tree = Tree::frame(&frame(0x0a, b"[true]"));
    let expected = [
        "0 header 0..17",
        "1 len 0..4 6",
        "1 version 4..5 1",
        "1 type 5..6 StreamData (3)",
        "1 flags 6..7 0x0a",
        "2 binary 6..7&01 false",
        "2 priority 6..7&06 Interactive (1)",
        "2 last 6..7&08 true",
        "2 reserved 6..7&f0 0",
        "1 lane 5..7 control",
        "1 channel 7..9 7",
        "1 corr 9..17 1",
        "0 body 17..23",
        "1 [0] 18..22 true",
    ];
    assert_eq!((rows(&tree), tree.fault), (expected.map(str::to_owned).to_vec(), None));
}

#[test]
fn a_version_2_frame_has_an_epoch_and_four_more_bits() {
    let mut bytes = vec![0, 0, 0, 0, 2, 3, 0xe4, 7, 0];
    bytes.extend(9_u32.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    let tree = Tree::frame(&bytes);
    assert_eq!(tree.fault, None);
    let shown = ["admission", "daemon_origin", "subscription", "lane", "epoch", "corr"].map(|name| {
        format!("{}={} {}..{}", name, node(&tree, name).value, node(&tree, name).start, node(&tree, name).end)
    });
    let expected = [
        "admission=Sheddable (2) 6..7",
        "daemon_origin=true 6..7",
        "subscription=true 6..7",
        "lane=display 5..7",
        "epoch=9 9..13",
        "corr=1 13..21",
    ];
    assert_eq!(shown, expected.map(str::to_owned));
    assert!(tree.nodes.iter().all(|node| &*node.name != "body"), "an empty body has no field");
}

#[test]
fn a_damaged_header_is_told_raw_and_then_its_fault() {
    let mut version = frame(2, b"{}");
    version[4] = 3;
    let tree = Tree::frame(&version);
    assert_eq!(rows(&tree)[..3], ["0 header 0..5", "1 len 0..4 2", "1 version 4..5 3"].map(str::to_owned));
    assert_eq!(node(&tree, "unread").start..node(&tree, "unread").end, 5..19);
    let fault = tree.fault.expect("a fault");
    assert_eq!(
        (fault.offset, fault.reason),
        (4, FaultReason::Header(HeaderFault::UnknownVersion { found: 3 }))
    );

    for (at, byte, offset, reason) in [
        (5, 12, 5, HeaderFault::UnknownType { found: 12 }),
        (6, 0x12, 6, HeaderFault::ReservedFlags { bits: 0x12 }),
        (6, 0x06, 6, HeaderFault::IllegalPriority { bits: 0x06 }),
        (5, 7, 0, HeaderFault::PureHeaderWithBody { frame_type: FrameType::Ping, len: 2 }),
    ] {
        let mut bytes = frame(2, b"{}");
        bytes[at] = byte;
        let tree = Tree::frame(&bytes);
        let fault = tree.fault.expect("a fault");
        assert_eq!((fault.offset, fault.reason), (offset, FaultReason::Header(reason)));
        assert_eq!(&*node(&tree, "corr").value, "1", "all fields are still shown");
        assert_eq!(
            &*node(&tree, "unread").value,
            "2 bytes",
            "the body is not, where the header cannot be trusted"
        );
    }
}

#[test]
fn a_frame_cut_anywhere_names_the_part() {
    let whole = frame(4, TEXT_DELTA.as_bytes());
    for cut in 0..whole.len() {
        let (part, expected, actual) = match cut {
            0..5 => (Part::Prefix, 5, cut),
            5..17 => (Part::Header, 17, cut),
            _ => (Part::Body, TEXT_DELTA.len(), cut - 17),
        };
        let fault = Tree::frame(&whole[..cut]).fault.expect("a fault");
        assert_eq!(
            (fault.offset, fault.reason),
            (cut, FaultReason::Cut(EndFault { part, expected, actual }))
        );
    }
    let tree = Tree::frame(&whole[..whole.len() - 4]);
    assert_eq!(&*node(&tree, "message_id").value, "m", "what came is shown");
}

#[test]
fn bytes_behind_a_frame_and_a_body_over_the_bound_are_faults() {
    let mut bytes = frame(2, b"{}");
    bytes.extend(b"xy");
    let fault = Tree::frame(&bytes).fault.expect("a fault");
    assert_eq!((fault.offset, fault.reason), (19, FaultReason::TrailingBytes { count: 2 }));
    let len = 64 * 1024 * 1024 + 1;
    let mut bytes = frame(2, b"{}");
    bytes[..4].copy_from_slice(&u32::to_le_bytes(len));
    let fault = Tree::frame(&bytes).fault.expect("a fault");
    assert_eq!((fault.offset, fault.reason), (0, FaultReason::BodyTooLong { len }));
}

#[test]
fn a_body_of_the_schema_has_meanings_and_decoded_values() {
    let tree = Tree::body(TEXT_DELTA.as_bytes());
    assert_eq!(tree.fault, None);
    assert_eq!(node(&tree, "body").meaning, "body envelope");
    assert_eq!(&*node(&tree, "payload").value, "text_delta");
    let delta = node(&tree, "delta");
    assert_eq!((&*delta.value, delta.depth, delta.kind), ("a\né", 2, NodeKind::String));
    let bytes = |from: u32, to: u32| &TEXT_DELTA[from as usize..to as usize];
    assert_eq!(bytes(delta.start, delta.end), r#""delta":"a\n\u00e9""#, "the field spans its name");
    assert_eq!(bytes(delta.value_start, delta.end), r#""a\n\u00e9""#);
    assert!(
        ["version", "run_id", "step_id", "seq", "message_id", "delta"]
            .iter()
            .all(|name| !node(&tree, name).meaning.is_empty())
    );
}

#[test]
fn a_broken_rule_of_the_schema_is_a_fault_behind_the_whole_tree() {
    let wrong_lane = FaultReason::Body {
        member: Some("type"),
        reason: BodyReason::WrongLane { tag: Tag::TextDelta, lane: Lane::Control },
    };
    let tree = Tree::frame(&frame(2, TEXT_DELTA.as_bytes()));
    let fault = tree.fault.expect("a display event on the control lane");
    assert_eq!(fault.reason, wrong_lane);
    let place = TEXT_DELTA.find("\"text_delta\"").expect("the tag");
    assert_eq!(fault.offset, 17 + place);
    assert_eq!(
        fault.to_string(),
        format!("byte {}: `type`: text_delta never travels on the control lane", 17 + place)
    );

    let fault_of = |text: &str| Tree::body(text.as_bytes()).fault.map(|fault| fault.reason);
    let body = |member: Option<&'static str>, reason| Some(FaultReason::Body { member, reason });
    let version = r#"{"version":2,"payload":{}}"#;
    assert_eq!(fault_of(version), body(Some("version"), BodyReason::UnsupportedVersion { found: 2 }));
    let missing = r#"{"version":1,"run_id":"r","step_id":1,"seq":0,"payload":{"type":"display_gap"}}"#;
    assert_eq!(fault_of(missing), body(Some("dropped"), BodyReason::Missing));
    let twice = r#"{"version":1,"seq":1,"seq":2,"payload":{}}"#;
    assert_eq!(fault_of(twice), body(Some("seq"), BodyReason::DuplicateName));
    // Towards a caller the usage is optional, and a frame by itself does not say who reads it.
    let finished = r#"{"version":1,"run_id":"r","step_id":1,"seq":0,"payload":{"type":"step_finished","finish_reason":"stop"}}"#;
    assert_eq!(fault_of(finished), None);
}

#[test]
fn a_body_outside_the_schema_is_plain_json_without_a_fault() {
    for text in [r#"{"version":1}"#, r#"{"op":"x","version":"2.0"}"#, "[1]", "3", "\"x\"", "null"] {
        let tree = Tree::body(text.as_bytes());
        assert_eq!(tree.fault, None, "{text}");
        assert!(tree.nodes.iter().all(|node| node.meaning.is_empty()), "{text}");
    }
    let mut request = frame(2, br#"{"version":7,"payload":1}"#);
    request[5] = 0;
    assert_eq!(Tree::frame(&request).fault, None, "only lanes owe the schema anything");
}

#[test]
fn what_is_not_json_is_bytes_and_a_fault_only_where_it_begins_like_json() {
    for text in [&b"hello"[..], b"12 34", b"\"cut", b"\x00\x01", b"   "] {
        let tree = Tree::body(text);
        assert_eq!(
            (tree.nodes.len(), tree.nodes[0].kind, tree.fault),
            (1, NodeKind::Bytes, None),
            "{text:?}"
        );
    }
    let tree = Tree::body(br#" {"a":1,"b":tru}"#);
    let fault = tree.fault.expect("a fault");
    assert_eq!((fault.offset, fault.reason), (15, FaultReason::Json(JsonReason::ExpectedValue)));
    assert_eq!(rows(&tree), ["0 body 0..16", "1 a 2..7 1", "1 unread 7..16 9 bytes"].map(str::to_owned));
    let marked = Tree::body(b"\xef\xbb\xbf{}").fault.map(|fault| fault.reason);
    assert_eq!(marked, Some(FaultReason::Json(JsonReason::ByteOrderMark)));
    let binary = Tree::frame(&frame(0x03, b"{oops"));
    assert_eq!((node(&binary, "body").kind, binary.fault), (NodeKind::Bytes, None), "BINARY is no text");
}

#[test]
fn a_handshake_message_shows_its_byte_strings_as_hex() {
    let nonce: Vec<String> = (0..32_u8).map(|byte| byte.to_string()).collect();
    let text = format!(r#"{{"client_nonce":[{}],"role":"client"}}"#, nonce.join(","));
    let tree = Tree::handshake(&message(&text), Stage::ClientHello);
    assert_eq!(tree.fault, None);
    let shown = node(&tree, "client_nonce");
    let hex: String = (0..32_u8).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!((&*shown.value, shown.kind), (&*hex, NodeKind::Bytes));
    assert_eq!(&*node(&tree, "role").value, "client");
    let names: Vec<&str> = tree.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["len", "ClientHello", "client_nonce", "role"]);
}

#[test]
fn a_damaged_handshake_message_shows_what_came_and_its_fault() {
    let fault_of = |bytes: &[u8], stage| Tree::handshake(bytes, stage).fault.expect("a fault");
    let short = fault_of(&message(r#"{"client_auth":[1,2]}"#), Stage::ClientAuth);
    assert_eq!(short.offset, 4 + 15);
    assert!(short.to_string().contains("2 elements, expected 32"), "{short}");
    let other = fault_of(&message(r#"{"client_auth":[1]}"#), Stage::ClientHello);
    assert!(other.to_string().contains("client_nonce"), "{other}");
    let empty = fault_of(&[0, 0, 0, 0], Stage::ClientAuth);
    assert_eq!((empty.offset, empty.reason), (0, FaultReason::HandshakeLength(LengthFault::Empty)));
    let long = fault_of(&[1, 16, 0, 0, b'{'], Stage::ClientAuth);
    assert_eq!(long.reason, FaultReason::HandshakeLength(LengthFault::TooLong { len: 4097 }));
    let cut = fault_of(&message(r#"{"role":"client""#)[..12], Stage::ClientHello);
    assert_eq!((cut.offset, cut.reason), (12, FaultReason::CutMessage { expected: 20, actual: 12 }));
}

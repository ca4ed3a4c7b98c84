//! Dissection: every byte of the wire has a named field, and damage is named after what could be read.
#![cfg(feature = "alloc")]

use twolane_core::dissect::{NodeKind, Tree};

fn frame_v1(flags: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len()).expect("a short body").to_le_bytes().to_vec();
    bytes.extend([1, 3, flags, 7, 0]);
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(body);
    bytes
}

#[test]
fn a_frame_is_a_header_and_a_body() {
    let body =
        br#"{"version":1,"run_id":"r","step_id":1,"seq":0,"payload":{"type":"display_gap","dropped":3}}"#;
    let tree = Tree::frame(&frame_v1(0x04, body));
    assert_eq!(tree.fault, None);
    let top: Vec<&str> = tree.nodes.iter().filter(|node| node.depth == 0).map(|node| &*node.name).collect();
    assert_eq!(top, ["header", "body"]);
    let lane = tree.nodes.iter().find(|node| &*node.name == "lane").expect("a lane");
    assert_eq!((&*lane.value, lane.kind), ("display", NodeKind::Derived));
    let dropped = tree.nodes.iter().find(|node| &*node.name == "dropped").expect("a member");
    assert_eq!((&*dropped.value, dropped.depth), ("3", 2));
}

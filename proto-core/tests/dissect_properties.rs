//! Dissection of whatever bytes: no panic, every byte covered, children inside their parents, output bounded.
#![cfg(feature = "alloc")]

use proptest::prelude::*;
use twolane_core::dissect::{NodeKind, Stage, Tree};
use twolane_core::limits::TREE_NODES_MAX;

const BODIES: &[&str] = &[
    r#"{"version":1,"run_id":"run-7f","step_id":1,"seq":0,"payload":{"type":"text_delta","message_id":"m","delta":"d\u00e9p"}}"#,
    r#" {"payload":{"message":{"content":[{"type":"text","text":"é🔎"}],"message_id":"m"},"type":"assistant_message"},"run_id":"r","seq":2,"step_id":1,"version":1} "#,
    r#"{"op":"session.send","params":[1,2.5,null,{"a":[]}]}"#,
    "not json",
    "",
];

fn frame(version: u8, frame_type: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len()).expect("a short body").to_le_bytes().to_vec();
    bytes.extend([version, frame_type, flags, 3, 0]);
    if version == 2 {
        bytes.extend(5_u32.to_le_bytes());
    }
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A frame of either version with some bytes changed, maybe cut or with bytes behind it.
fn damaged_frame() -> impl Strategy<Value = Vec<u8>> {
    let whole =
        (1..=2_u8, 0..12_u8, prop_oneof![Just(2_u8), Just(4), Just(10), any::<u8>()], 0..BODIES.len())
            .prop_map(|(version, frame_type, flags, body)| {
                frame(version, frame_type, flags, BODIES[body].as_bytes())
            });
    let edits = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (whole, edits, any::<prop::sample::Index>(), 0..4_u8).prop_map(|(mut bytes, edits, place, change)| {
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        match change {
            0 => bytes.truncate(place.index(bytes.len())),
            1 => bytes.extend(b"more"),
            _ => {}
        }
        bytes
    })
}

fn damaged_message() -> impl Strategy<Value = Vec<u8>> {
    let ints = |count: usize| vec!["7"; count].join(",");
    let texts = [
        format!(r#"{{"client_nonce":[{}],"role":"client"}}"#, ints(32)),
        format!(
            r#"{{"daemon_id":[{}],"server_nonce":[{}],"daemon_ver":"1","server_proof":[{}]}}"#,
            ints(16),
            ints(32),
            ints(32)
        ),
        format!(r#"{{"client_auth":[{}]}}"#, ints(32)),
    ];
    let edits = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    (0..3_usize, edits, any::<prop::sample::Index>(), any::<bool>()).prop_map(
        move |(which, edits, place, cut)| {
            let mut bytes = u32::try_from(texts[which].len()).expect("short").to_le_bytes().to_vec();
            bytes.extend(texts[which].as_bytes());
            for (at, byte) in edits {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if cut {
                bytes.truncate(place.index(bytes.len()));
            }
            bytes
        },
    )
}

/// The laws of every tree; `len` bytes were dissected.
fn keeps_the_laws(tree: &Tree, len: usize) -> Result<(), TestCaseError> {
    prop_assert!(tree.nodes.len() <= TREE_NODES_MAX);
    let mut covered = vec![false; len];
    let mut parents: Vec<(u32, u32)> = Vec::new();
    for node in &tree.nodes {
        let depth = usize::from(node.depth);
        prop_assert!(depth <= parents.len(), "no depth is left out before {:?}", node);
        parents.truncate(depth);
        prop_assert!(node.start <= node.value_start && node.value_start <= node.end, "{:?}", node);
        prop_assert!(node.end as usize <= len, "{:?} ends after {} bytes", node, len);
        if let Some((start, end)) = parents.last() {
            prop_assert!(*start <= node.start && node.end <= *end, "{:?} outside of its parent", node);
        }
        prop_assert_eq!(node.mask != 0, node.kind == NodeKind::Bits);
        parents.push((node.start, node.end));
        covered[node.start as usize..node.end as usize].fill(true);
    }
    let hole = covered.iter().position(|covered| !covered);
    prop_assert_eq!(hole, None, "a byte without a field");
    if let Some(fault) = tree.fault {
        prop_assert!(fault.offset <= len, "{}", fault);
        prop_assert!(!fault.to_string().is_empty());
    } else {
        prop_assert!(tree.nodes.iter().all(|node| node.kind != NodeKind::Unread), "unread without a fault");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_bytes_are_a_tree(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        keeps_the_laws(&Tree::frame(&bytes), bytes.len())?;
        keeps_the_laws(&Tree::body(&bytes), bytes.len())?;
        for stage in [Stage::ClientHello, Stage::ServerProof, Stage::ClientAuth] {
            keeps_the_laws(&Tree::handshake(&bytes, stage), bytes.len())?;
        }
    }

    #[test]
    fn any_json_like_text_is_a_tree(text in "[\\[\\]{}:,\"ab1 \\\\]{0,60}") {
        keeps_the_laws(&Tree::body(text.as_bytes()), text.len())?;
    }

    #[test]
    fn a_damaged_frame_is_a_tree(bytes in damaged_frame()) {
        keeps_the_laws(&Tree::frame(&bytes), bytes.len())?;
    }

    #[test]
    fn a_damaged_message_is_a_tree(bytes in damaged_message()) {
        for stage in [Stage::ClientHello, Stage::ServerProof, Stage::ClientAuth] {
            keeps_the_laws(&Tree::handshake(&bytes, stage), bytes.len())?;
        }
    }
}

#[test]
fn a_hostile_body_makes_a_bounded_tree() {
    const LEN: usize = 4 * 1024 * 1024;
    let mut pairs = b"[".to_vec();
    pairs.extend(b"[[]],".repeat(TREE_NODES_MAX));
    for body in [b"[".repeat(LEN), pairs] {
        keeps_the_laws(&Tree::body(&body), body.len()).expect("a lawful tree");
    }
    let mut zeros = b"[".to_vec();
    zeros.extend(b"0,".repeat(LEN / 2 - 1));
    zeros.extend(b"0]");
    let frame = frame(1, 3, 2, &zeros);
    let tree = Tree::frame(&frame);
    keeps_the_laws(&tree, frame.len()).expect("a lawful tree");
    let last = tree.nodes.last().expect("nodes");
    assert_eq!((tree.nodes.len(), last.kind, last.depth), (TREE_NODES_MAX, NodeKind::Elided, 1));
    assert_eq!(&*last.value, &format!("{} bytes", last.end - last.start));
    assert!(last.end as usize == frame.len() - 1 && tree.fault.is_none());
}

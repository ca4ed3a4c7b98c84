//! Any bytes make a tree: no byte without a field, children inside their parents, at most so many fields.

use twolane_core::dissect::{NodeKind, Stage, Tree};
use twolane_core::limits::TREE_NODES_MAX;

use crate::seeds::Seeds;

/// The first byte says what the rest is taken for.
pub fn run(bytes: &[u8]) {
    let Some((&what, bytes)) = bytes.split_first() else { return };
    let tree = match what % 5 {
        0 => Tree::frame(bytes),
        1 => Tree::body(bytes),
        2 => Tree::handshake(bytes, Stage::ClientHello),
        3 => Tree::handshake(bytes, Stage::ServerProof),
        _ => Tree::handshake(bytes, Stage::ClientAuth),
    };
    keeps_the_laws(&tree, bytes.len());
}

/// Frames, bodies and messages, each as what it is.
pub fn seeds(seeds: &Seeds) -> Vec<Vec<u8>> {
    let frames = seeds.frames.iter().map(|frame| (0, frame));
    let bodies = seeds.texts.iter().map(|text| (1, text));
    let messages = seeds.messages.iter().flat_map(|message| [(2, message), (3, message), (4, message)]);
    frames.chain(bodies).chain(messages).map(|(what, bytes)| [&[what], &bytes[..]].concat()).collect()
}

/// No byte without a field, children inside their parents.
pub(crate) fn keeps_the_laws(tree: &Tree, len: usize) {
    assert!(tree.nodes.len() <= TREE_NODES_MAX);
    let mut parents: Vec<(u32, u32)> = Vec::new();
    let mut told = 0;
    for node in &tree.nodes {
        let depth = usize::from(node.depth);
        assert!(depth <= parents.len(), "no depth is left out before {node:?}");
        parents.truncate(depth);
        assert!(node.start <= node.value_start && node.value_start <= node.end, "{node:?}");
        assert!(node.end as usize <= len, "{node:?} ends after {len} bytes");
        if let Some((start, end)) = parents.last() {
            assert!(*start <= node.start && node.end <= *end, "{node:?} outside of its parent");
        } else {
            assert!(node.start <= told, "a byte without a field before {node:?}");
            told = told.max(node.end);
        }
        assert_eq!(node.mask != 0, node.kind == NodeKind::Bits);
        parents.push((node.start, node.end));
    }
    assert_eq!(told as usize, len, "bytes without a field at the end");
    match tree.fault {
        Some(fault) => assert!(fault.offset <= len && !fault.to_string().is_empty(), "{fault}"),
        None => {
            assert!(tree.nodes.iter().all(|node| node.kind != NodeKind::Unread), "unread without a fault")
        }
    }
}

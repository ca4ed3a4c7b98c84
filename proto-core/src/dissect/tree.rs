//! The fields of a dissection as a flat list.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::fault::Fault;
use super::field::{Field, NodeKind, Sink};
use super::{Stage, body, connector, document, frame, handshake};
use crate::limits::TREE_NODES_MAX;

/// The fields of a dissection in pre-order, at most [`TREE_NODES_MAX`] of them.
///
/// ```
/// use twolane_core::dissect::{Node, NodeKind, Stage, Tree};
///
/// let tree = Tree::frame(&[0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
/// let corr: &Node = tree.nodes.last().unwrap();
/// assert_eq!((&*corr.name, &*corr.value, corr.depth, corr.kind), ("corr", "5", 1, NodeKind::Integer));
/// assert_eq!((corr.start, corr.end, tree.fault), (9, 17, None));
///
/// // Parts by themselves, whole or not.
/// assert_eq!(Tree::body(b"[1, 2]").nodes.len(), 3);
/// assert!(Tree::handshake(&[2, 0], Stage::ClientHello).fault.is_some());
/// assert!(Tree::connector(&[0, 0, 0, 1, 0xc0]).fault.is_some());
/// assert!(Tree::document(&[0x81]).fault.is_some());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The fields; the parent of a node is the nearest earlier one of lower depth.
    pub nodes: Vec<Node>,
    /// What is wrong with the bytes.
    pub fault: Option<Fault>,
}

/// One field. Offsets count from the start of the bytes dissected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Containers around it.
    pub depth: u16,
    /// Offset of its first byte, of its name where the wire carries one.
    pub start: u32,
    /// Offset of the first byte of its value.
    pub value_start: u32,
    /// Offset after its last byte.
    pub end: u32,
    /// Its bits in the one byte that it spans; 0 where it is whole bytes.
    pub mask: u8,
    /// What it is.
    pub kind: NodeKind,
    /// Its name, decoded.
    pub name: Box<str>,
    /// Its value, decoded and whole; empty where the children are the value.
    pub value: Box<str>,
    /// What it means by the rules of the wire; empty where no rule gives it a meaning.
    pub meaning: &'static str,
}

impl Tree {
    /// Dissects the bytes of one frame, header first.
    pub fn frame(bytes: &[u8]) -> Self {
        Builder::run(|builder| frame(bytes, builder))
    }

    /// Dissects a body by itself.
    pub fn body(bytes: &[u8]) -> Self {
        Builder::run(|builder| body(bytes, 0, builder))
    }

    /// Dissects one handshake message, its length prefix first.
    pub fn handshake(bytes: &[u8], stage: Stage) -> Self {
        Builder::run(|builder| handshake(bytes, stage, builder))
    }

    /// Dissects one connector frame, its length prefix first.
    pub fn connector(bytes: &[u8]) -> Self {
        Builder::run(|builder| connector(bytes, builder))
    }

    /// Dissects a document of the connector by itself.
    pub fn document(bytes: &[u8]) -> Self {
        Builder::run(|builder| document(bytes, builder))
    }
}

/// Builds a tree; past the limit it only keeps how many bytes are not shown.
#[derive(Default)]
struct Builder {
    tree: Tree,
    /// Containers that are open; the place of each in the list, `None` where it is not shown.
    open: Vec<Option<usize>>,
    /// From the first to after the last byte that is not shown.
    elided: Option<(usize, usize)>,
}

impl Builder {
    fn run(dissect: impl FnOnce(&mut Self)) -> Tree {
        let mut builder = Self::default();
        dissect(&mut builder);
        builder.finish()
    }

    fn finish(mut self) -> Tree {
        if let Some((start, end)) = self.elided {
            self.tree.nodes.push(Node {
                depth: 1,
                start: narrow(start),
                value_start: narrow(start),
                end: narrow(end),
                mask: 0,
                kind: NodeKind::Elided,
                name: "not shown".into(),
                value: super::field::FieldValue::Size(end.saturating_sub(start)).to_string().into(),
                meaning: "fields past the limit of one tree",
            });
        }
        self.tree
    }

    /// Adds a node and gives its place, or notes that it is not shown.
    fn push(&mut self, field: &Field<'_>, end: usize) -> Option<usize> {
        let place = self.tree.nodes.len();
        if place + 1 >= TREE_NODES_MAX || self.elided.is_some() {
            let (start, last) = self.elided.unwrap_or((field.start, end));
            self.elided = Some((start, last.max(end)));
            return None;
        }
        self.tree.nodes.push(Node {
            depth: u16::try_from(self.open.len()).unwrap_or(u16::MAX),
            start: narrow(field.start),
            value_start: narrow(field.value_start),
            end: narrow(end),
            mask: field.mask,
            kind: field.kind,
            name: field.name.to_string().into(),
            value: field.value.to_string().into(),
            meaning: field.meaning,
        });
        Some(place)
    }
}

impl Sink for Builder {
    fn open(&mut self, field: Field<'_>) {
        let place = self.push(&field, field.start);
        self.open.push(place);
    }

    fn close(&mut self, end: usize) {
        match self.open.pop() {
            Some(Some(place)) => {
                if let Some(node) = self.tree.nodes.get_mut(place) {
                    node.end = narrow(end);
                }
            }
            Some(None) => {
                if let Some((_, last)) = &mut self.elided {
                    *last = end.max(*last);
                }
            }
            None => {}
        }
    }

    fn leaf(&mut self, field: Field<'_>, end: usize) {
        let _ = self.push(&field, end);
    }

    fn fault(&mut self, fault: Fault) {
        self.tree.fault = Some(fault);
    }
}

/// Offsets over 4 GiB do not occur on the wire; they stay at the top.
fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

//! One unit taken apart, packed for the page.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use twolane_capture::row::Kind;
use twolane_capture::summary::Gap;
use twolane_capture::units::{Unit, UnitFault};
use twolane_core::dissect::{Node, Tree};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::STAGES;

/// Words of one record: depth, start, start of the value, end, kind and mask (kind in bits 0-7,
/// mask in bits 8-15), and where name, value and meaning begin in the text. Each of the three ends
/// where the next begins, the last one with the text.
const WORDS: usize = 8;

/// The fields of a unit in pre-order, as fixed records and one UTF-8 text, and what is wrong.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Detail {
    records: Vec<u32>,
    text: String,
    fault: Option<String>,
    fault_byte: Option<u32>,
}

#[wasm_bindgen]
impl Detail {
    /// The records, eight words each.
    #[must_use]
    pub fn records(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.records)
    }

    /// The text that the records point into.
    #[must_use]
    pub fn text(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.text).into_bytes()
    }

    /// What is wrong or missing, as one sentence without a full stop.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.fault.clone()
    }

    /// The offending byte, counted from the start of the unit.
    #[must_use]
    pub fn fault_byte(&self) -> Option<u32> {
        self.fault_byte
    }
}

/// Takes bytes apart that no capture surrounds. `kind` is `frame`, a stage of the handshake by its
/// name, `connector` or `document`; nothing for any other.
#[wasm_bindgen]
#[must_use]
pub fn dissect(kind: &str, bytes: &[u8]) -> Option<Detail> {
    let stage = STAGES.into_iter().find(|stage| stage.name() == kind);
    let tree = match (stage, kind) {
        (Some(stage), _) => Tree::handshake(bytes, stage),
        (None, "frame") => Tree::frame(bytes),
        (None, "connector") => Tree::connector(bytes),
        (None, "document") => Tree::document(bytes),
        (None, _) => return None,
    };
    Some(Detail::of_bytes(&tree))
}

impl Detail {
    /// Takes `unit` apart.
    pub(crate) fn of(unit: &Unit<'_>) -> Self {
        let tree = tree(unit);
        let mut detail = Self::pack(&tree);
        detail.judge(unit, &tree);
        detail
    }

    /// What bytes say by themselves.
    pub(crate) fn of_bytes(tree: &Tree) -> Self {
        let mut detail = Self::pack(tree);
        detail.judge_bytes(tree);
        detail
    }

    fn pack(tree: &Tree) -> Self {
        let mut detail = Self::default();
        detail.records.reserve_exact(tree.nodes.len() * WORDS);
        for node in &tree.nodes {
            detail.push(node);
        }
        detail
    }

    fn push(&mut self, node: &Node) {
        let kind = u32::from(node.kind as u8) | (u32::from(node.mask) << 8);
        self.records.extend([u32::from(node.depth), node.start, node.value_start, node.end, kind]);
        for text in [&*node.name, &*node.value, node.meaning] {
            self.records.push(narrow(self.text.len()));
            self.text.push_str(text);
        }
    }

    /// The unit's own fault says more than its bytes alone can; then its bytes; then the seq law.
    fn judge(&mut self, unit: &Unit<'_>, tree: &Tree) {
        if let Some(fault) = unit.fault {
            let byte = unit.fault_byte().and_then(|byte| u32::try_from(byte).ok());
            self.fault_byte = byte;
            self.fault = Some(match byte {
                Some(byte) => format!("byte {byte}: {fault}"),
                None => fault.to_string(),
            });
        } else if tree.fault.is_some() {
            self.judge_bytes(tree);
        } else if let Some(breach) = unit.breach {
            self.fault = Some(format!("the seq law is broken: {breach}"));
        } else if unit.row.kind == Kind::Gap {
            self.fault = Some(Gap(&unit.row).to_string());
        }
    }

    fn judge_bytes(&mut self, tree: &Tree) {
        self.fault_byte = tree.fault.map(|fault| narrow(fault.offset));
        self.fault = tree.fault.map(|fault| fault.to_string());
    }
}

/// The fields of a unit; none where its bytes are no unit by themselves.
fn tree(unit: &Unit<'_>) -> Tree {
    match (unit.row.kind, unit.stage(), unit.fault) {
        (Kind::Frame, _, _) | (Kind::Fault, _, Some(UnitFault::Frame(_))) => Tree::frame(unit.row.bytes),
        (Kind::Handshake, Some(stage), _) => Tree::handshake(unit.row.bytes, stage),
        (Kind::Connector, _, _) => Tree::connector(unit.row.bytes),
        _ => Tree::default(),
    }
}

/// Offsets over 4 GiB do not occur in a unit; they stay at the top.
fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

//! What a table says of a unit's content, in one line.

use core::fmt::Write as _;

use twolane_capture::row::Kind;
use twolane_capture::units::Unit;
use twolane_core::dissect::{self, Fault, Field, FieldName, NodeKind, Sink};

use crate::STAGES;

/// Characters of a line; no screen shows more.
const LINE_MAX: usize = 240;

/// The line of `unit`: what is wrong first, then its payload's members.
pub(crate) fn summary(unit: &Unit<'_>) -> String {
    let mut line = String::new();
    if let Some(fault) = unit.fault {
        let _ = write!(line, "{fault}");
    } else if let Some(breach) = unit.breach {
        let _ = write!(line, "{breach}");
    } else if unit.row.kind == Kind::Gap {
        let _ = write!(line, "{} bytes are not in the capture", unit.row.len);
    }
    match unit.verified() {
        Some(true) => line.push_str("proof verified"),
        Some(false) => line.push_str("proof wrong under this key"),
        None => {}
    }
    if unit.row.kind == Kind::Frame && unit.row.flags().is_last() {
        separate(&mut line);
        line.push_str("LAST");
    }
    let mut members = Members { line, depth: 0, within: None };
    match (unit.row.kind, unit.stage()) {
        (Kind::Frame, _) => dissect::frame(unit.row.bytes, &mut members),
        (Kind::Handshake, Some(stage)) => dissect::handshake(unit.row.bytes, stage, &mut members),
        _ => {}
    }
    members.line
}

fn separate(line: &mut String) {
    if !line.is_empty() {
        line.push_str("  ");
    }
}

/// Collects the members of the payload, or of a handshake message, that are no containers.
struct Members {
    line: String,
    depth: usize,
    /// The depth of the container whose members count, while it is open.
    within: Option<usize>,
}

impl Members {
    fn is_full(&self) -> bool {
        self.line.len() >= LINE_MAX
    }
}

impl Sink for Members {
    fn open(&mut self, field: Field<'_>) {
        let is_payload = match field.name {
            FieldName::Member(name) => name.as_plain() == Some("payload") && field.kind == NodeKind::Object,
            FieldName::Known(name) => STAGES.iter().any(|stage| stage.name() == name),
            FieldName::Index(_) => false,
        };
        if self.within.is_none() && is_payload {
            self.within = Some(self.depth);
        }
        self.depth += 1;
    }

    fn close(&mut self, _end: usize) {
        self.depth = self.depth.saturating_sub(1);
        if self.within == Some(self.depth) {
            self.within = None;
        }
    }

    fn leaf(&mut self, field: Field<'_>, _end: usize) {
        let is_type = matches!(field.name, FieldName::Member(name) if name.as_plain() == Some("type"));
        if self.within.is_none() || self.is_full() || is_type {
            return;
        }
        separate(&mut self.line);
        let mut cut = Cut(&mut self.line);
        let _ = if field.kind == NodeKind::String {
            write!(cut, "{}: \"{}\"", field.name, field.value)
        } else {
            write!(cut, "{}: {}", field.name, field.value)
        };
    }

    fn fault(&mut self, fault: Fault) {
        if self.line.is_empty() {
            let _ = write!(self.line, "{fault}");
        }
    }
}

/// Writes up to [`LINE_MAX`] and shows line breaks as one space, so that a line stays one line.
struct Cut<'a>(&'a mut String);

impl core::fmt::Write for Cut<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for character in text.chars() {
            if self.0.len() >= LINE_MAX {
                return Err(core::fmt::Error);
            }
            self.0.push(if character.is_control() { ' ' } else { character });
        }
        Ok(())
    }
}

//! Every field of a unit with the bytes it stands in.

use std::fmt::Write as _;

use twolane_capture::row::Kind;
use twolane_capture::summary::Gap;
use twolane_capture::units::Unit;
use twolane_core::dissect::Tree;

use super::text::push_safe;

/// Characters of one value.
const VALUE_MAX: usize = 160;

/// Bytes of a unit without fields that are dumped.
const DUMP_MAX: usize = 256;

/// Bytes of one line of a dump.
const DUMP_LINE: usize = 16;

/// Appends the fields of a unit, one a line: offsets in the unit, name, value, meaning. Writing to a String cannot fail.
pub(super) fn fields(unit: &Unit<'_>, out: &mut String) {
    let row = &unit.row;
    let tree = match (row.kind, unit.stage()) {
        (Kind::Frame, _) => Tree::frame(row.bytes),
        (Kind::Handshake, Some(stage)) => Tree::handshake(row.bytes, stage),
        (Kind::Connector, _) => Tree::connector(row.bytes),
        (Kind::Gap, _) => {
            let _ = writeln!(out, "  {:>15}  {}\n", "", Gap(row));
            return;
        }
        _ => {
            dump(row.bytes, out);
            out.push('\n');
            return;
        }
    };
    for node in &tree.nodes {
        let range = format!("{}..{}", node.start, node.end);
        let _ = write!(out, "  {range:>15}  ");
        out.extend(std::iter::repeat_n("  ", usize::from(node.depth)));
        push_safe(node.name.chars(), VALUE_MAX, out);
        if !node.value.is_empty() {
            out.push_str(": ");
            push_safe(node.value.chars(), VALUE_MAX, out);
        }
        if !node.meaning.is_empty() {
            let _ = write!(out, "  ({})", node.meaning);
        }
        out.push('\n');
    }
    if let Some(fault) = tree.fault {
        let _ = writeln!(out, "  {:>15}  FAULT {fault}", "");
    }
    out.push('\n');
}

fn dump(bytes: &[u8], out: &mut String) {
    let shown = bytes.get(..bytes.len().min(DUMP_MAX)).unwrap_or_default();
    for (number, line) in shown.chunks(DUMP_LINE).enumerate() {
        let _ = write!(out, "  {:>15}  ", number * DUMP_LINE);
        for byte in line {
            let _ = write!(out, "{byte:02x} ");
        }
        let padding = 3 * DUMP_LINE.saturating_sub(line.len());
        let _ = write!(out, "{:padding$} ", "");
        out.extend(line.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' }));
        out.push('\n');
    }
    if bytes.len() > shown.len() {
        let _ = writeln!(out, "  {:>15}  and {} bytes more", "", bytes.len() - shown.len());
    }
}

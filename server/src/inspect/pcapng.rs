//! What a listener is told, as blocks of a pcapng file.

use twolane_capture::tap::{self, Kind, Label};

use super::tap::Entry;

/// Adds one entry to a file that [`twolane_capture::tap::section`] began.
pub(crate) fn write(entry: &Entry, out: &mut Vec<u8>) {
    match entry {
        Entry::Unit(unit) => {
            let label = label(unit.conn, unit.endpoint, unit.kind);
            tap::packet(out, unit.time_ns, unit.direction, label, &unit.bytes);
        }
        Entry::Lost(loss) => {
            let label = label(loss.conn, loss.endpoint, Kind::Frame);
            tap::lost(out, loss.time_ns, loss.direction, label, loss.units, loss.bytes);
        }
        // Nothing passed before: the file is whole.
        Entry::Joined { units: 0, .. } => {}
        Entry::Joined { time_ns, units, bytes } => tap::joined(out, *time_ns, *units, *bytes),
    }
}

fn label(conn: u64, endpoint: &'static str, kind: Kind) -> Label<'static> {
    Label { connection: u32::try_from(conn).unwrap_or(u32::MAX), endpoint, kind }
}

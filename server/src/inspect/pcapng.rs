//! What a listener is told, as blocks of a pcapng file.

use twolane_capture::tap::{self, Kind, Label};

use super::tap::Entry;

/// Adds one entry to a file that [`twolane_capture::tap::section`] began.
pub(crate) fn write(entry: &Entry, out: &mut Vec<u8>) {
    match entry {
        Entry::Unit(unit) => {
            let label = label(unit.conn, unit.endpoint, unit.kind);
            match unit.skipped_bytes {
                0 => tap::packet(out, unit.time_ns, unit.direction, label, &unit.bytes),
                _ => tap::lost(out, unit.time_ns, unit.direction, label, 1, unit.wire_bytes()),
            }
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

#[cfg(test)]
mod tests {
    use twolane_capture::Direction;

    use super::super::tap::{Bounds, Tap};
    use super::*;

    /// Whoever looks sees that the frame was there, and takes the seq of what follows as it is.
    #[tokio::test]
    async fn a_frame_that_was_skipped_is_a_gap_of_its_length() {
        let tap = Tap::new(Bounds { recent_bytes: 1000, queue_bytes: 1000, ..Bounds::default() });
        tap.offer_skipped(3, "providers", Direction::AToB, &[0; 17], 5 << 20);
        let (mut listener, mut entries) = (tap.listen().unwrap(), Vec::new());
        listener.batch(tokio::time::Instant::now(), &mut entries).await;
        let Some(Entry::Unit(unit)) = entries.last() else { panic!("a unit, not {entries:?}") };
        let (mut written, mut lost) = (Vec::new(), Vec::new());
        write(&entries[1], &mut written);
        let label = label(3, "providers", Kind::Frame);
        tap::lost(&mut lost, unit.time_ns, Direction::AToB, label, 1, (5 << 20) + 17);
        assert_eq!(written, lost);
    }
}

//! Puts the packets of a tapped unit that took several together again.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bytes::{count, size};
use crate::limits::MAX_RECORD_BYTES;
use crate::piece::{Direction, Piece, SegmentSink};
use crate::tap::{MAX_PACKET_BYTES, Part, loss};

/// A tapped packet on its way out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit<'a> {
    pub(crate) time_ns: Option<u64>,
    pub(crate) connection: u32,
    pub(crate) direction: Direction,
    pub(crate) comment: Option<&'a str>,
    pub(crate) bytes: &'a [u8],
}

impl Unit<'_> {
    fn say(&self, missing_after: u64, out: &mut dyn SegmentSink) {
        let packet = Piece::Packet { bytes: self.bytes, comment: self.comment };
        out.piece(self.time_ns, self.connection, self.direction, packet);
        self.say_missing(missing_after, out);
    }

    fn say_missing(&self, bytes: u64, out: &mut dyn SegmentSink) {
        if bytes > 0 {
            let missing = Piece::Missing { bytes };
            out.piece(self.time_ns, self.connection, self.direction, missing);
        }
    }
}

/// The first parts of a unit.
#[derive(Debug)]
struct Begun {
    time_ns: Option<u64>,
    connection: u32,
    direction: Direction,
    label: String,
    bytes: Vec<u8>,
    last: Part,
}

/// At most one unit is in parts at a time: its writer adds them to the file at once.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    begun: Option<Begun>,
}

impl Parts {
    /// Takes a packet, the end of which was cut by `cut` bytes.
    pub(crate) fn packet(&mut self, unit: Unit<'_>, cut: u64, out: &mut dyn SegmentSink) {
        if let (Some((label, units, how)), true) = (unit.comment.and_then(loss), unit.bytes.is_empty()) {
            self.give_up(out);
            let lost = Piece::Lost { label, units, bytes: cut, how };
            return out.piece(unit.time_ns, unit.connection, unit.direction, lost);
        }
        let part = unit.comment.and_then(Part::parse);
        let Some((label, part)) =
            part.filter(|(_, part)| size(part.of).saturating_sub(1) <= MAX_RECORD_BYTES / MAX_PACKET_BYTES)
        else {
            self.give_up(out);
            return unit.say(cut, out);
        };
        let continues = self.begun.as_ref().is_some_and(|begun| {
            begun.connection == unit.connection
                && begun.direction == unit.direction
                && begun.label == label
                && begun.last.of == part.of
                && begun.last.number.checked_add(1) == Some(part.number)
        });
        if !continues {
            self.give_up(out);
        }
        if part.number > 1 && !continues {
            let before = count(MAX_PACKET_BYTES).saturating_mul(u64::from(part.number).saturating_sub(1));
            unit.say_missing(before, out);
            return unit.say(cut.saturating_add(still_missing(part)), out);
        }
        let begun = self.begun.get_or_insert_with(|| Begun {
            time_ns: unit.time_ns,
            connection: unit.connection,
            direction: unit.direction,
            label: label.into(),
            bytes: Vec::new(),
            last: part,
        });
        let room = MAX_RECORD_BYTES.saturating_sub(begun.bytes.len());
        let fits = unit.bytes.get(..room).unwrap_or(unit.bytes);
        begun.bytes.extend_from_slice(fits);
        begun.last = part;
        let lost = count(unit.bytes.len().saturating_sub(fits.len()));
        let cut = cut.saturating_add(lost);
        if cut > 0 || part.number == part.of {
            self.end(cut, out);
        }
    }

    /// No further part will come.
    pub(crate) fn give_up(&mut self, out: &mut dyn SegmentSink) {
        self.end(0, out);
    }

    fn end(&mut self, cut: u64, out: &mut dyn SegmentSink) {
        let Some(begun) = self.begun.take() else {
            return;
        };
        let unit = Unit {
            time_ns: begun.time_ns,
            connection: begun.connection,
            direction: begun.direction,
            comment: Some(&begun.label),
            bytes: &begun.bytes,
        };
        unit.say(cut.saturating_add(still_missing(begun.last)), out);
    }
}

/// The least that the parts after this one can hold: all are full but the last, which is not
/// empty.
fn still_missing(last: Part) -> u64 {
    let parts = u64::from(last.of.saturating_sub(last.number));
    match parts.checked_sub(1) {
        None => 0,
        Some(full) => count(MAX_PACKET_BYTES).saturating_mul(full).saturating_add(1),
    }
}

//! Packets of a capture file to pieces: TCP is followed, our own tap is handed on.

use crate::bytes::count;
use crate::ip;
use crate::link;
use crate::outlet::Numbers;
use crate::parts::{Parts, Unit};
use crate::piece::{Direction, SegmentSink};
use crate::record::{Flow, Ignored, Record, Skip};
use crate::tap::Label;
use crate::tcp::Tracker;

/// What is known from the packets so far.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    tracker: Tracker,
    numbers: Numbers,
    ignored: Ignored,
    parts: Parts,
    /// Added to the connection numbers of tapped packets: every section of a file is a run of a
    /// server that counted from the start again.
    tap_base: u32,
}

impl Packets {
    pub(crate) fn ignored(&self) -> &Ignored {
        &self.ignored
    }

    /// A new section of the file begins.
    pub(crate) fn section(&mut self, out: &mut dyn SegmentSink) {
        self.parts.give_up(out);
        self.tap_base = self.numbers.last();
    }

    pub(crate) fn record(&mut self, record: &Record<'_>, out: &mut dyn SegmentSink) {
        if record.link == link::number::USER0 {
            self.tapped(record, out);
        } else if let Err(skip) = self.captured(record, out) {
            self.ignored.count(skip);
        }
    }

    /// The file ends.
    pub(crate) fn finish(&mut self, out: &mut dyn SegmentSink) {
        self.parts.give_up(out);
        self.tracker.finish(&mut self.numbers, out);
    }

    fn captured(&mut self, record: &Record<'_>, out: &mut dyn SegmentSink) -> Result<(), Skip> {
        let packet = link::ip_packet(record.link, record.data)?;
        let wire_len = ip::wire_len(record.wire_len, record.data.len(), packet.len());
        let segment = ip::segment(packet, wire_len)?;
        self.tracker.segment(&segment, record.time_ns, &mut self.numbers, out)
    }

    fn tapped(&mut self, record: &Record<'_>, out: &mut dyn SegmentSink) {
        let label = record.comment.and_then(Label::parse);
        // Connection 0 is none, in every section.
        let number = match label {
            Some(label) if label.connection > 0 => self.tap_base.saturating_add(label.connection),
            _ => 0,
        };
        self.numbers.give(number);
        // A tap sits at the side that accepts connections: what comes in is from `a`.
        let direction = match record.flow {
            Some(Flow::Outbound) => Direction::BToA,
            Some(Flow::Inbound) | None => Direction::AToB,
        };
        let unit = Unit {
            time_ns: record.time_ns,
            connection: number,
            direction,
            comment: record.comment,
            bytes: record.data,
        };
        let captured = count(record.data.len());
        let cut = u64::from(record.wire_len).saturating_sub(captured);
        self.parts.packet(unit, cut, out);
    }
}

//! Where a direction's units go out.

use twolane_core::handshake::Key;
use twolane_core::lanes::law::Breach;

use super::{Options, Unit, UnitFault, UnitSink};
use crate::piece::{Direction, Loss};
use crate::row::{Kind, NO_TIME, Row, mark};

/// The sink, with what is the same for every unit of one piece.
pub(super) struct Outlet<'o, S> {
    pub(super) sink: &'o mut S,
    pub(super) next_index: &'o mut u64,
    pub(super) key: Option<&'o Key>,
    pub(super) options: Options,
    pub(super) connection: u32,
    pub(super) direction: Direction,
    pub(super) time_ns: Option<u64>,
}

impl<S: UnitSink> Outlet<'_, S> {
    /// An empty row of this piece's connection, direction and time.
    pub(super) fn row<'a>(&self, kind: Kind, offset: u64, bytes: &'a [u8]) -> Row<'a> {
        let row = Row::empty(kind, self.connection, self.direction);
        Row { offset, bytes, time_ns: self.time_ns.unwrap_or(NO_TIME), ..row }
    }

    /// Hands on one unit.
    pub(super) fn emit(&mut self, mut row: Row<'_>, fault: Option<UnitFault>, breach: Option<Breach>) {
        row.fault = fault.map_or(0, |fault| fault.code());
        if let Some(UnitFault::Oversize { .. } | UnitFault::End { .. } | UnitFault::Hole { .. }) = fault {
            row.marks |= mark::CUT;
        }
        let unit = Unit { index: *self.next_index, row, fault, breach };
        *self.next_index += 1;
        self.sink.unit(&unit);
    }

    /// A gap of `missing` bytes.
    pub(super) fn gap(&mut self, offset: u64, missing: u64) {
        let row = Row { len: missing, ..self.row(Kind::Gap, offset, &[]) };
        self.emit(row, None, None);
    }

    /// A gap of whole units that a tap did not write, `bytes` long together.
    pub(super) fn lost(&mut self, offset: u64, units: u64, bytes: u64, how: Loss) {
        let marks = match how {
            Loss::Overrun => 0,
            Loss::Earlier => mark::EARLIER,
        };
        let row = Row { len: bytes, dropped: units, marks, ..self.row(Kind::Gap, offset, &[]) };
        self.emit(row, None, None);
    }

    /// A place that is not read; `bytes` is at most a sample of it.
    pub(super) fn fault(&mut self, offset: u64, len: u64, bytes: &[u8], marks: u8, fault: UnitFault) {
        let row = Row { len, marks, ..self.row(Kind::Fault, offset, bytes) };
        self.emit(row, Some(fault), None);
    }
}

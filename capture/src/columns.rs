//! Units as packed columns, one array a value, and all their bytes in one arena.

use alloc::vec::Vec;

use crate::piece::Direction;
use crate::row::{Kind, LawMark, NO_TIME, Row};

/// The values of all units so far, in order. Every column has [`Columns::len`] entries.
///
/// The columns are lent as slices, so that the page reads them out of the module's memory as typed arrays and no
/// object is made for a unit. A slice is good until the next unit is pushed.
#[derive(Debug, Default)]
pub struct Columns {
    arena: Vec<u8>,
    /// Where each unit's bytes end in the arena; they begin where those of the unit before end.
    ends: Vec<u64>,
    kinds: Vec<u8>,
    versions: Vec<u8>,
    types: Vec<u8>,
    flags: Vec<u8>,
    lanes: Vec<u8>,
    tags: Vec<u8>,
    channels: Vec<u16>,
    epochs: Vec<u32>,
    corrs: Vec<u64>,
    seqs: Vec<u64>,
    dropped: Vec<u64>,
    connections: Vec<u32>,
    directions: Vec<u8>,
    times: Vec<u64>,
    offsets: Vec<u64>,
    lens: Vec<u32>,
    faults: Vec<u8>,
    laws: Vec<u8>,
    marks: Vec<u8>,
    base_ns: Option<u64>,
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        $($(#[$doc])* #[must_use] pub fn $name(&self) -> &[$kind] { &self.$name })*
    };
}

impl Columns {
    columns! {
        /// [`Kind`] numbers.
        kinds: u8,
        /// Envelope versions; 0 where it is no frame.
        versions: u8,
        /// Frame types' codes; 255 where it is no frame.
        types: u8,
        /// Flag bits.
        flags: u8,
        /// 0 none, 1 control, 2 display.
        lanes: u8,
        /// Payload tags' codes; 0 for none known, 0xf0 to 0xf2 for the three handshake messages,
        /// 0xe0 to 0xe2 for a connector's request, reply and failure.
        tags: u8,
        /// Channels.
        channels: u16,
        /// Epochs.
        epochs: u32,
        /// Correlations.
        corrs: u64,
        /// Seqs; 2^64-1 where there is none.
        seqs: u64,
        /// `dropped` of display gaps, units of gaps where a tap counted them; 0 elsewhere.
        dropped: u64,
        /// Connections, from 1.
        connections: u32,
        /// 0 for a to b, 1 for b to a.
        directions: u8,
        /// Nanoseconds after [`Columns::base_ns`]; 2^64-1 where the source has none. A time before the base,
        /// which segments captured out of order may give, is 0.
        times: u64,
        /// Places in the direction's stream, in bytes.
        offsets: u64,
        /// Lengths as in [`Row::len`]; 2^32-1 stands for it and all above.
        lens: u32,
        /// Fault numbers; 0 for none.
        faults: u8,
        /// [`LawMark`] numbers.
        laws: u8,
        /// Bits of [`crate::row::mark`].
        marks: u8,
        /// All units' bytes.
        arena: u8,
        /// Where each unit's bytes end in the arena.
        ends: u64,
    }

    /// Units so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is no unit yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Time of the first unit that has one, in nanoseconds since 1970; the times count from it.
    #[must_use]
    pub fn base_ns(&self) -> Option<u64> {
        self.base_ns
    }

    /// Makes room for the units of about so many bytes of capture.
    pub fn reserve_bytes(&mut self, bytes: usize) {
        self.arena.reserve(bytes);
    }

    /// Appends one unit.
    pub fn push(&mut self, row: &Row<'_>) {
        self.arena.extend_from_slice(row.bytes);
        self.ends.push(u64::try_from(self.arena.len()).unwrap_or(u64::MAX));
        self.kinds.push(row.kind.code());
        self.versions.push(row.version);
        self.types.push(row.frame_type);
        self.flags.push(row.flags);
        self.lanes.push(row.lane);
        self.tags.push(row.tag);
        self.channels.push(row.channel);
        self.epochs.push(row.epoch);
        self.corrs.push(row.corr);
        self.seqs.push(row.seq);
        self.dropped.push(row.dropped);
        self.connections.push(row.connection);
        self.directions.push(u8::from(row.direction == Direction::BToA));
        self.offsets.push(row.offset);
        self.lens.push(u32::try_from(row.len).unwrap_or(u32::MAX));
        self.faults.push(row.fault);
        self.laws.push(row.law as u8);
        self.marks.push(row.marks);
        let relative = match row.time_ns() {
            None => NO_TIME,
            Some(time) => time.saturating_sub(*self.base_ns.get_or_insert(time)),
        };
        self.times.push(relative);
    }

    /// Unit `i` as a row; `None` past the end.
    #[must_use]
    pub fn row(&self, i: usize) -> Option<Row<'_>> {
        let kind = *self.kinds.get(i)?;
        let direction = if *self.directions.get(i)? == 0 { Direction::AToB } else { Direction::BToA };
        let relative = *self.times.get(i)?;
        Some(Row {
            kind: Kind::ALL.into_iter().find(|known| known.code() == kind)?,
            version: *self.versions.get(i)?,
            frame_type: *self.types.get(i)?,
            flags: *self.flags.get(i)?,
            lane: *self.lanes.get(i)?,
            tag: *self.tags.get(i)?,
            channel: *self.channels.get(i)?,
            epoch: *self.epochs.get(i)?,
            corr: *self.corrs.get(i)?,
            seq: *self.seqs.get(i)?,
            dropped: *self.dropped.get(i)?,
            connection: *self.connections.get(i)?,
            direction,
            time_ns: if relative == NO_TIME { NO_TIME } else { relative.saturating_add(self.base_ns?) },
            offset: *self.offsets.get(i)?,
            len: u64::from(*self.lens.get(i)?),
            fault: *self.faults.get(i)?,
            law: *LawMark::ALL.get(usize::from(*self.laws.get(i)?))?,
            marks: *self.marks.get(i)?,
            bytes: self.bytes(i)?,
        })
    }

    /// The bytes of unit `i`; `None` past the end.
    #[must_use]
    pub fn bytes(&self, i: usize) -> Option<&[u8]> {
        let end = usize::try_from(*self.ends.get(i)?).ok()?;
        let start = match i.checked_sub(1) {
            None => 0,
            Some(before) => usize::try_from(*self.ends.get(before)?).ok()?,
        };
        self.arena.get(start..end)
    }

    /// Puts the verdict on a handshake message's proof in the place of an earlier one.
    pub(crate) fn remark(&mut self, i: usize, clear: u8, set: u8) {
        if let Some(marks) = self.marks.get_mut(i) {
            *marks = (*marks & !clear) | set;
        }
    }
}

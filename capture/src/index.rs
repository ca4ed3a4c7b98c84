//! A capture as an index: pushed in chunks, held as [`Columns`], with what is rare beside them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use twolane_core::handshake::Key;
use twolane_core::lanes::law::Breach;

use crate::columns::Columns;
use crate::keyed::Keyed;
use crate::piece::{CloseReason, Direction, Ends, Opening};
use crate::row::{CONTROL, Kind, LawMark, NO_LANE, Row, mark};
use crate::source::{Format, Source, SourceFault};
use crate::units::{Note, Options, Transcript, Unit, UnitFault, UnitSink, Units, stage_of, verified};

/// One direction of a connection, besides its units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The connection, counted from 1.
    pub connection: u32,
    /// The direction.
    pub direction: Direction,
    /// Whether its first byte is in the capture; `None` for a tap.
    pub how: Option<Opening>,
    /// The addresses, where the source has them.
    pub ends: Option<Ends>,
    /// The endpoint's name, where a tap gives it.
    pub endpoint: Option<String>,
    /// Why it ended; `None` while it is open.
    pub closed: Option<CloseReason>,
}

/// What a capture adds up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames, damaged ones included.
    pub frames: u64,
    /// Units with a fault.
    pub faults: u64,
    /// Frames that break the seq law.
    pub breaches: u64,
    /// Bytes that the capture lacks.
    pub missing: u64,
    /// Whole units that a tap was too slow for.
    pub lost: u64,
    /// Whole units that passed before a tap was joined; their bytes are not among the missing ones.
    pub earlier: u64,
    /// Frames on a lane whose body is of another schema: without a seq that the law could judge.
    pub unruled: u64,
    /// Ends of generations: control frames with LAST.
    pub ended: u64,
    /// Display frames that display gaps account for.
    pub dropped: u64,
    /// Handshake messages.
    pub messages: u64,
    /// Messages of the connector.
    pub sealed: u64,
    /// Handshake messages whose proof is right under the key.
    pub verified: u64,
    /// Those whose proof is wrong under the key.
    pub refuted: u64,
}

impl Totals {
    /// Counts one unit.
    pub fn add(&mut self, row: &Row<'_>) {
        self.frames += u64::from(row.kind == Kind::Frame);
        self.faults += u64::from(row.fault != 0);
        self.breaches += u64::from(row.law == LawMark::Broken);
        self.messages += u64::from(row.kind == Kind::Handshake);
        self.sealed += u64::from(row.kind == Kind::Connector);
        self.count_verdict(verified(row));
        match row.kind {
            Kind::Gap if row.is_marked(mark::EARLIER) => {
                self.earlier = self.earlier.saturating_add(row.dropped);
            }
            Kind::Gap => {
                self.missing = self.missing.saturating_add(row.len);
                self.lost = self.lost.saturating_add(row.dropped);
            }
            Kind::Frame => {
                self.unruled += u64::from(row.fault == 0 && row.lane != NO_LANE && row.law == LawMark::None);
                self.ended += u64::from(row.lane == CONTROL && row.flags().is_last());
                self.dropped = self.dropped.saturating_add(row.dropped);
            }
            Kind::Handshake | Kind::Connector | Kind::Fault => {}
        }
    }

    /// Whether nothing that was read breaks the law of the lanes: every frame on a lane has a seq that follows, and
    /// no unit has a fault.
    #[must_use]
    pub fn is_law_kept(&self) -> bool {
        self.breaches == 0 && self.faults == 0 && self.unruled == 0
    }

    fn count_verdict(&mut self, verdict: Option<bool>) {
        match verdict {
            Some(true) => self.verified += 1,
            Some(false) => self.refuted += 1,
            None => {}
        }
    }
}

/// A capture read so far.
#[derive(Debug)]
pub struct Index {
    source: Source,
    units: Units<Shelf>,
}

/// Where the units of an index are kept.
#[derive(Debug, Default)]
struct Shelf {
    columns: Columns,
    totals: Totals,
    /// By unit number, which only grows: found by halving.
    faults: Vec<(u64, UnitFault)>,
    breaches: Vec<(u64, Breach)>,
    messages: Vec<usize>,
    ways: Vec<Way>,
    /// Places in `ways`, by connection and direction.
    known: Keyed<usize>,
}

impl Index {
    /// An empty index of a capture whose format is found out.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self::of(Source::new(), options)
    }

    /// An empty index of a capture in `format`.
    #[must_use]
    pub fn with_format(format: Format, options: Options) -> Self {
        Self::of(Source::with_format(format), options)
    }

    fn of(source: Source, options: Options) -> Self {
        Self { source, units: Units::new(Shelf::default(), options) }
    }

    /// Makes room for a capture of about so many bytes.
    pub fn reserve_bytes(&mut self, bytes: usize) {
        self.units.sink_mut().columns.reserve_bytes(bytes);
    }

    /// Reads the next bytes of the capture.
    ///
    /// # Errors
    ///
    /// The file breaks its format; what was read before stays.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), SourceFault> {
        self.source.push(bytes, &mut self.units)
    }

    /// Says that nothing follows.
    ///
    /// # Errors
    ///
    /// The file ends inside a record or broke its format before; what was read stays.
    pub fn finish(&mut self) -> Result<(), SourceFault> {
        self.source.finish(&mut self.units)
    }

    /// Sets the key and judges all handshakes under it, those read before too.
    pub fn set_key(&mut self, key: Option<&Key>) {
        self.units.set_key(key.cloned());
        self.units.sink_mut().judge_messages(key);
    }

    /// What the capture's bytes are; `None` until enough of them were seen.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.source.format()
    }

    /// Units so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns().len()
    }

    /// Whether there is no unit yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns().is_empty()
    }

    /// The units' values.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.units.sink().columns
    }

    /// Sums over all units so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.units.sink().totals
    }

    /// Every direction of every connection, in the order in which they were first seen.
    #[must_use]
    pub fn ways(&self) -> &[Way] {
        &self.units.sink().ways
    }

    /// Unit `i`; `None` past the end.
    #[must_use]
    pub fn unit(&self, i: usize) -> Option<Unit<'_>> {
        let shelf = self.units.sink();
        let index = u64::try_from(i).ok()?;
        Some(Unit {
            index,
            row: shelf.columns.row(i)?,
            fault: beside(&shelf.faults, index),
            breach: beside(&shelf.breaches, index),
        })
    }
}

/// The entry for a unit in a list ordered by unit number.
fn beside<T: Copy>(list: &[(u64, T)], index: u64) -> Option<T> {
    let place = list.binary_search_by_key(&index, |(at, _)| *at).ok()?;
    list.get(place).map(|(_, value)| *value)
}

impl Shelf {
    fn way(&mut self, connection: u32, direction: Direction) -> Option<&mut Way> {
        let own = u64::from(connection) << 1 | u64::from(direction == Direction::BToA);
        let place = *self.known.find_or(own, self.ways.len())?;
        if place == self.ways.len() {
            self.ways.push(Way {
                connection,
                direction,
                how: None,
                ends: None,
                endpoint: None,
                closed: None,
            });
        }
        self.ways.get_mut(place)
    }

    fn judge_messages(&mut self, key: Option<&Key>) {
        self.totals.verified = 0;
        self.totals.refuted = 0;
        let mut transcripts: Keyed<Transcript> = Keyed::default();
        for &i in &self.messages {
            let Some(row) = self.columns.row(i) else { continue };
            if stage_of(&row).is_none() {
                continue;
            }
            let transcript = transcripts.find_or(u64::from(row.connection), Transcript::default());
            let verdict = transcript.and_then(|transcript| transcript.verify(row.body(), key));
            let set = match verdict {
                Some(true) => mark::VERIFIED,
                Some(false) => mark::REFUTED,
                None => 0,
            };
            self.columns.remark(i, mark::VERIFIED | mark::REFUTED, set);
            self.totals.count_verdict(verdict);
        }
    }
}

impl UnitSink for Shelf {
    fn unit(&mut self, unit: &Unit<'_>) {
        if unit.row.kind == Kind::Handshake {
            self.messages.push(self.columns.len());
        }
        if let Some(fault) = unit.fault {
            self.faults.push((unit.index, fault));
        }
        if let Some(breach) = unit.breach {
            self.breaches.push((unit.index, breach));
        }
        self.totals.add(&unit.row);
        self.columns.push(&unit.row);
    }

    fn note(&mut self, connection: u32, direction: Direction, note: Note<'_>) {
        let Some(way) = self.way(connection, direction) else { return };
        match note {
            Note::Opened { how, ends } => {
                way.how = Some(how);
                way.ends = ends;
            }
            Note::Endpoint(name) => way.endpoint = Some(name.to_string()),
            Note::Closed { reason } => way.closed = Some(reason),
        }
    }
}

//! A capture's units, in this process.

use twolane_capture::row::{Kind, LawMark};
use twolane_capture::units::{Options, Unit, UnitFault, UnitSink, Units};
use twolane_capture::{Direction, Source, SourceFault};

/// One unit, owned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) direction: Direction,
    pub(crate) kind: Kind,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) marks: u8,
    pub(crate) law: LawMark,
    pub(crate) fault: Option<UnitFault>,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Default)]
struct Keeper(Vec<Kept>);

impl UnitSink for Keeper {
    fn unit(&mut self, unit: &Unit<'_>) {
        let row = unit.row;
        self.0.push(Kept {
            direction: row.direction,
            kind: row.kind,
            offset: row.offset,
            len: row.len,
            marks: row.marks,
            law: row.law,
            fault: unit.fault,
            bytes: row.bytes.to_vec(),
        });
    }
}

/// All units of a file, and how its reading ended.
pub(crate) fn read(file: &[u8]) -> (Vec<Kept>, Result<(), SourceFault>) {
    let mut units = Units::new(Keeper::default(), Options::default());
    let mut source = Source::new();
    let pushed = source.push(file, &mut units);
    let finished = source.finish(&mut units);
    (units.into_sink().0, pushed.and(finished))
}

/// The units of one direction.
pub(crate) struct Way {
    pub(crate) units: Vec<Kept>,
}

impl Way {
    pub(crate) fn of(units: &[Kept], direction: Direction) -> Self {
        Self { units: units.iter().filter(|unit| unit.direction == direction).cloned().collect() }
    }
}

impl Kept {
    /// Bytes of the stream that this unit stands for.
    pub(crate) fn covers(&self) -> u64 {
        match (self.kind, self.fault) {
            (Kind::Gap, _) => self.len,
            (
                _,
                Some(
                    UnitFault::Passed { bytes }
                    | UnitFault::Remainder { bytes }
                    | UnitFault::Undecoded { bytes },
                ),
            ) => bytes,
            (_, Some(UnitFault::Frame(_))) => 0,
            _ => self.bytes.len() as u64,
        }
    }

    /// Whether it is a whole frame or message.
    pub(crate) fn is_sound(&self) -> bool {
        matches!(self.kind, Kind::Frame | Kind::Handshake) && self.fault.is_none()
    }
}

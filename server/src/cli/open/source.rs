//! The messages of the connector in a capture, a byte stream or a text.

use std::collections::VecDeque;
use std::path::Path;

use twolane_capture::Source;
use twolane_capture::row::Kind;
use twolane_capture::units::{Options, Unit, UnitFault, UnitSink, Units};
use twolane_core::connector::carriage::{CarriageFault, CarriageReason};
use twolane_core::limits::CONNECTOR_PREFIX_LEN;
use twolane_core::scan::msgpack::MsgpackReason;

use super::super::Failure;
use super::super::decode::input::{Input, Next};

/// Messages in order, each as soon as it is there.
pub(super) struct Messages {
    input: Input,
    source: Source,
    units: Units<Found>,
    is_at_end: bool,
}

/// What was found and not yet taken.
#[derive(Debug, Default)]
struct Found {
    /// Number of the unit and its bytes, length prefix first.
    messages: VecDeque<(u64, Vec<u8>)>,
    is_damaged: bool,
    only: Option<u64>,
}

impl UnitSink for Found {
    fn unit(&mut self, unit: &Unit<'_>) {
        if self.only.is_some_and(|only| only != unit.index) {
            return;
        }
        match (unit.row.kind, unit.fault) {
            // A broken rule is the message's own: it says so itself.
            (Kind::Connector, None | Some(UnitFault::Carriage(_))) => {
                self.messages.push_back((unit.index, unit.row.bytes.to_vec()));
            }
            (Kind::Connector | Kind::Gap, _) | (_, Some(_)) => self.is_damaged = true,
            _ => {}
        }
    }
}

impl Messages {
    /// All messages of `path`; of the units only number `only`, where one is named.
    pub(super) fn open(path: &Path, only: Option<u64>) -> Result<Self, Failure> {
        let units = Units::new(Found { only, ..Found::default() }, Options::default());
        Ok(Self { input: Input::open(path)?, source: Source::new(), units, is_at_end: false })
    }

    /// The next one; `None` at the end, and where a signal ends the reading.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>, Failure> {
        loop {
            let message = self.units.sink_mut().messages.pop_front();
            if message.is_some() || self.is_at_end {
                return Ok(message);
            }
            let pushed = match self.input.next()? {
                Next::Chunk(chunk) => self.source.push(chunk, &mut self.units),
                Next::End | Next::Interrupted(_) => {
                    self.is_at_end = true;
                    self.source.finish(&mut self.units)
                }
            };
            if pushed.is_err() {
                self.is_at_end = true;
                self.units.sink_mut().is_damaged = true;
            }
        }
    }

    /// Whether something could not be read so far, or not whole.
    pub(super) fn is_damaged(&mut self) -> bool {
        self.units.sink_mut().is_damaged
    }
}

/// A message without its length prefix.
pub(super) fn body(bytes: &[u8]) -> Result<&[u8], CarriageFault> {
    let reason = CarriageReason::Msgpack(MsgpackReason::UnexpectedEnd);
    bytes.get(CONNECTOR_PREFIX_LEN..).ok_or(CarriageFault { offset: bytes.len(), reason })
}

//! All connections of a source.

use twolane_core::handshake::Key;

use super::outlet::Outlet;
use super::side::{Shared, Side};
use super::{Note, Options, UnitSink};
use crate::keyed::Keyed;
use crate::piece::{Direction, Piece, SegmentSink};
use crate::tap::Label;

/// Reads pieces into units and hands them to `S`.
///
/// It keeps, for each direction that is open, the bytes of the one unit that is not complete, and never more of it
/// than have arrived.
#[derive(Debug)]
pub struct Units<S> {
    sink: S,
    options: Options,
    key: Option<Key>,
    next_index: u64,
    connections: Keyed<Connection>,
}

#[derive(Debug, Default)]
struct Connection {
    a_to_b: Side,
    b_to_a: Side,
    shared: Shared,
    open: u8,
}

impl<S: UnitSink> Units<S> {
    /// A reader without a key.
    #[must_use]
    pub fn new(sink: S, options: Options) -> Self {
        Self { sink, options, key: None, next_index: 0, connections: Keyed::default() }
    }

    /// The same with the key that handshakes are verified under, from their next message on.
    #[must_use]
    pub fn with_key(mut self, key: Key) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets or takes away the key for the messages to come.
    pub fn set_key(&mut self, key: Option<Key>) {
        self.key = key;
    }

    /// Units handed on so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.next_index
    }

    /// Where the units go.
    #[must_use]
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// Where the units go, to change it.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Ends the reader. Whatever source fed it closes its directions itself.
    #[must_use]
    pub fn into_sink(self) -> S {
        self.sink
    }
}

impl<S: UnitSink> SegmentSink for Units<S> {
    fn piece(&mut self, time_ns: Option<u64>, connection: u32, direction: Direction, piece: Piece<'_>) {
        if let (0, Piece::Lost { .. }) = (connection, piece) {
            self.connections.values_mut().iter_mut().for_each(|connection| connection.shared.lose_all());
        }
        let version = self.options.version;
        let number = u64::from(connection);
        let Some(entry) = self.connections.find_or(number, Connection::default()) else { return };
        entry.shared.version = entry.shared.version.or(version);
        let side = match direction {
            Direction::AToB => &mut entry.a_to_b,
            Direction::BToA => &mut entry.b_to_a,
        };
        let mut outlet = Outlet {
            sink: &mut self.sink,
            next_index: &mut self.next_index,
            key: self.key.as_ref(),
            options: self.options,
            connection,
            direction,
            time_ns,
        };
        match piece {
            Piece::Opened { how, ends } => {
                entry.open += 1;
                side.open(how, &mut entry.shared, direction);
                self.sink.note(connection, direction, Note::Opened { how, ends });
            }
            Piece::Bytes(bytes) => side.bytes(bytes, &mut entry.shared, &mut outlet),
            Piece::Missing { bytes } => side.missing(bytes, &mut entry.shared, &mut outlet),
            Piece::Packet { bytes, comment } => {
                let label = comment.and_then(Label::parse);
                if let Some(label) = label
                    && side.takes_name()
                {
                    outlet.sink.note(connection, direction, Note::Endpoint(label.endpoint));
                }
                side.packet(bytes, label.map(|label| label.kind), &mut entry.shared, &mut outlet);
            }
            Piece::Lost { label, units, bytes, how } => {
                if side.takes_name() {
                    outlet.sink.note(connection, direction, Note::Endpoint(label.endpoint));
                }
                side.lost(units, bytes, how, &mut entry.shared, &mut outlet);
            }
            Piece::Closed { reason } => {
                side.close(&mut entry.shared, &mut outlet);
                self.sink.note(connection, direction, Note::Closed { reason });
                entry.open = entry.open.saturating_sub(1);
                if entry.open == 0 {
                    self.connections.remove(number);
                }
            }
        }
    }
}

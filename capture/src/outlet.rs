//! Where the pieces of one direction go, and how connections come by their numbers.

use crate::piece::{Direction, Ends, Piece, SegmentSink};

/// Numbers connections, over all parts of a capture.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    last: u32,
}

impl Numbers {
    /// The highest number given.
    pub(crate) fn last(&self) -> u32 {
        self.last
    }

    /// Counts `number` as given.
    pub(crate) fn give(&mut self, number: u32) {
        self.last = self.last.max(number);
    }

    fn next(&mut self) -> u32 {
        self.last = self.last.saturating_add(1);
        self.last
    }
}

/// Where the pieces of one direction go.
pub(crate) struct Outlet<'o> {
    pub(crate) out: &'o mut dyn SegmentSink,
    pub(crate) numbers: &'o mut Numbers,
    /// Given at the first piece: a connection that says nothing takes no number.
    pub(crate) number: &'o mut Option<u32>,
    pub(crate) direction: Direction,
    pub(crate) ends: Ends,
    /// The time of the packet at hand.
    pub(crate) time_ns: Option<u64>,
}

impl Outlet<'_> {
    pub(crate) fn say(&mut self, time_ns: Option<u64>, piece: Piece<'_>) {
        let number = *self.number.get_or_insert_with(|| self.numbers.next());
        self.out.piece(time_ns, number, self.direction, piece);
    }
}

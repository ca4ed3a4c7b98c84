//! What `attach` reads and writes, shown as `decode` shows a capture of it.

use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use twolane_capture::units::Units;
use twolane_capture::{CloseReason, Direction, Opening, Piece, SegmentSink as _};

use super::Failure;
use super::decode::Printer;
use crate::inspect::tap::{Entry, Listener};

/// Our connection's number.
const CONNECTION: u32 = 1;

/// The two directions of our connection.
pub(super) struct Shown {
    units: Units<Printer>,
}

impl Shown {
    /// Begins with the handshakes that a tap on them told `listener`; the last one is that of the connection.
    pub(super) async fn begin(units: Units<Printer>, listener: Option<Listener>) -> Self {
        let mut shown = Self { units };
        let mut told = Vec::new();
        if let Some(mut listener) = listener {
            listener.batch(Instant::now(), &mut told).await;
        }
        for direction in [Direction::AToB, Direction::BToA] {
            shown.piece(now_ns(), direction, Piece::Opened { how: Opening::Syn, ends: None });
        }
        let messages = told.iter().filter_map(|entry| match entry {
            Entry::Unit(message) => Some(message),
            Entry::Joined { .. } | Entry::Lost(_) => None,
        });
        // An address before the last one led to nobody who could be authenticated.
        let last = messages.clone().next_back().map(|message| message.conn);
        for message in messages.filter(|message| Some(message.conn) == last) {
            shown.piece(message.time_ns, message.direction, Piece::Bytes(&message.bytes));
        }
        shown
    }

    /// The next bytes of a direction.
    pub(super) fn bytes(&mut self, direction: Direction, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.piece(now_ns(), direction, Piece::Bytes(bytes));
        }
    }

    /// Writes what is held. False where nobody reads it any more.
    pub(super) fn flush(&mut self) -> Result<bool, Failure> {
        self.units.sink_mut().flush()
    }

    /// Nothing follows; says whether the law was kept.
    pub(super) fn end(mut self) -> Result<bool, Failure> {
        for direction in [Direction::AToB, Direction::BToA] {
            self.piece(now_ns(), direction, Piece::Closed { reason: CloseReason::Fin });
        }
        self.units.sink_mut().conclude();
        self.flush()?;
        Ok(self.units.sink().totals.is_law_kept())
    }

    fn piece(&mut self, time_ns: u64, direction: Direction, piece: Piece<'_>) {
        self.units.piece(Some(time_ns), CONNECTION, direction, piece);
    }
}

/// Nanoseconds since 1970; 0 for a clock before it.
fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

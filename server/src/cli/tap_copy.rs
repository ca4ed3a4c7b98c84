//! A server's tap, read and written again: whole packets only, so that the copy may end at any time.

use std::fmt::Write as _;

use twolane_capture::summary::Counted;
use twolane_capture::tap::{self, Label};
use twolane_capture::{Direction, Format, Loss, Piece, SegmentSink, Source, SourceFault};

/// What was read, counted, and what waits to be written.
pub(super) struct Copied {
    source: Source,
    kept: Kept,
}

struct Kept {
    /// Only this endpoint's traffic, where one is named.
    endpoint: Option<String>,
    out: Vec<u8>,
    units: u64,
    bytes: u64,
    lost: u64,
    earlier: u64,
    /// Units of other endpoints than the one that is named.
    others: u64,
}

impl Copied {
    /// A copy that begins a file.
    pub(super) fn new(endpoint: Option<String>) -> Self {
        let mut out = Vec::new();
        tap::section(&mut out);
        let kept = Kept { endpoint, out, units: 0, bytes: 0, lost: 0, earlier: 0, others: 0 };
        Self { source: Source::with_format(Format::PcapNg), kept }
    }

    /// Reads the next bytes of the server's file, cut anywhere.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), SourceFault> {
        self.source.push(bytes, &mut self.kept)
    }

    /// The packets to be written.
    pub(super) fn take_out(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.kept.out)
    }

    /// What was written so far, in one line.
    pub(super) fn tally(&self) -> String {
        let Kept { endpoint, units, bytes, lost, earlier, others, .. } = &self.kept;
        let mut line = format!("{}, {}", Counted(*units, "unit"), Counted(*bytes, "byte"));
        // Writing to a String cannot fail.
        let _ = write!(line, ", {} lost", Counted(*lost, "unit"));
        if *earlier > 0 {
            let _ = write!(line, ", {} before the tap was joined", Counted(*earlier, "unit"));
        }
        if let Some(endpoint) = endpoint {
            let _ = write!(line, ", {} of other endpoints than {endpoint}", Counted(*others, "unit"));
        }
        line
    }
}

impl Kept {
    fn is_wanted(&self, label: &Label<'_>) -> bool {
        // Connection 0 may be any endpoint's.
        label.connection == 0 || self.endpoint.as_ref().is_none_or(|name| name == label.endpoint)
    }
}

impl SegmentSink for Kept {
    fn piece(&mut self, time_ns: Option<u64>, _connection: u32, direction: Direction, piece: Piece<'_>) {
        let time_ns = time_ns.unwrap_or(0);
        match piece {
            Piece::Packet { bytes, comment } => match comment.and_then(Label::parse) {
                Some(label) if self.is_wanted(&label) => {
                    self.units += 1;
                    self.bytes = self.bytes.saturating_add(bytes.len() as u64);
                    tap::packet(&mut self.out, time_ns, direction, label, bytes);
                }
                _ => self.others += 1,
            },
            Piece::Lost { label, units, .. } if !self.is_wanted(&label) => {
                self.others = self.others.saturating_add(units);
            }
            Piece::Lost { label, units, bytes, how: Loss::Overrun } => {
                self.lost = self.lost.saturating_add(units);
                tap::lost(&mut self.out, time_ns, direction, label, units, bytes);
            }
            Piece::Lost { units, bytes, how: Loss::Earlier, .. } => {
                self.earlier = self.earlier.saturating_add(units);
                tap::joined(&mut self.out, time_ns, units, bytes);
            }
            // A server's tap holds whole units and no TCP.
            Piece::Missing { .. } | Piece::Opened { .. } | Piece::Bytes(_) | Piece::Closed { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let label = |connection, endpoint| Label { connection, endpoint, kind: tap::Kind::Frame };
        let long = vec![7; 600_000];
        let mut file = Vec::new();
        tap::section(&mut file);
        tap::joined(&mut file, 1, 5, 50);
        tap::packet(&mut file, 2, Direction::AToB, label(1, "providers"), b"one");
        tap::packet(&mut file, 3, Direction::BToA, label(2, "sessions"), b"two");
        tap::packet(&mut file, 4, Direction::BToA, label(1, "providers"), &long);
        tap::lost(&mut file, 5, Direction::AToB, label(0, "-"), 9, 90);
        tap::lost(&mut file, 6, Direction::BToA, label(2, "sessions"), 3, 30);
        file
    }

    #[test]
    fn a_copy_is_the_file_whatever_pieces_it_comes_in() {
        for chunk in [1, 1000, usize::MAX] {
            let (mut copied, mut out) = (Copied::new(None), Vec::new());
            for chunk in file().chunks(chunk.min(file().len())) {
                copied.take(chunk).unwrap();
                out.extend(copied.take_out());
            }
            assert!(out == file(), "{chunk}");
        }
    }

    #[test]
    fn one_endpoint_is_kept_with_what_may_have_been_its_own() {
        let mut copied = Copied::new(Some("providers".to_owned()));
        copied.take(&file()).unwrap();
        let tally = copied.tally();
        assert_eq!(
            tally,
            "2 units, 600,003 bytes, 9 units lost, 5 units before the tap was joined, 4 units of other endpoints than providers"
        );
        assert!(!copied.take_out().windows(8).any(|window| window == b"sessions"));
    }
}

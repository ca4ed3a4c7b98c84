//! A source of bytes: sniffs what they are, reads them as that, hands on pieces.

use crate::piece::{CloseReason, Direction, Opening, Piece, SegmentSink};

/// What kind of text or file the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A pcap file of either byte order, in microseconds or nanoseconds.
    Pcap,
    /// A pcapng file, our own tap's included.
    PcapNg,
    /// Hexadecimal text: plain, or as `xxd` and `hexdump -C` print it.
    Hex,
    /// Base64 text.
    Base64,
    /// One direction of a byte stream as it is.
    Raw,
}

/// Why a source cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// Nothing at all was pushed.
    #[error("the source is empty")]
    Empty,
}

/// A source cannot be read on: where and why. What was read before was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("at byte {offset} of the capture: {reason}")]
pub struct SourceFault {
    /// Offset in the file: of the bad character in a text, of the record in a capture.
    pub offset: u64,
    /// What is wrong there.
    pub reason: Reason,
}

/// Reads a capture that is pushed to it.
#[derive(Debug, Default)]
pub struct Source {
    format: Option<Format>,
    offset: u64,
    opened: bool,
}

impl Source {
    /// A source that finds out by itself what it is.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A source known to be of `format`.
    #[must_use]
    pub fn with_format(format: Format) -> Self {
        Self { format: Some(format), ..Self::default() }
    }

    /// What the bytes are; `None` until enough of them were seen.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// Bytes of the file that were read as whole records.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads the next bytes of the file.
    ///
    /// # Errors
    ///
    /// The file breaks its format. The source stays failed: every later call gives the same fault.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl SegmentSink) -> Result<(), SourceFault> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.format.get_or_insert(Format::Raw);
        if !self.opened {
            self.opened = true;
            let opened = Piece::Opened { how: Opening::Stream, ends: None };
            out.piece(None, 1, Direction::AToB, opened);
        }
        self.offset = self.offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        out.piece(None, 1, Direction::AToB, Piece::Bytes(bytes));
        Ok(())
    }

    /// Says that nothing follows: flushes what was held back and closes every direction.
    ///
    /// # Errors
    ///
    /// The file ends inside a record, or [`Source::push`] had failed; all that was whole has been
    /// delivered and closed nonetheless.
    pub fn finish(&mut self, out: &mut impl SegmentSink) -> Result<(), SourceFault> {
        if !self.opened {
            return Err(SourceFault { offset: 0, reason: Reason::Empty });
        }
        let closed = Piece::Closed { reason: CloseReason::EndOfCapture };
        out.piece(None, 1, Direction::AToB, closed);
        Ok(())
    }
}

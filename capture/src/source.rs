//! A source of bytes: sniffs what they are, reads them as that, hands on pieces.

use alloc::vec::Vec;

use crate::base64::Base64;
use crate::bytes::count;
use crate::limits::SNIFF_BYTES;
use crate::packets::Packets;
use crate::pcap::{self, Pcap};
use crate::pcapng::{self, PcapNg};
use crate::piece::{CloseReason, Direction, Opening, Piece, SegmentSink};
use crate::record::{Ignored, Step};
use crate::text::Hex;

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
    /// The source ends inside a record, or a group of base64 characters.
    #[error("the source ends inside a record: {have} of {need} bytes")]
    Truncated {
        /// Bytes of the record that are there.
        have: u64,
        /// Bytes it takes, as far as that can be told from those.
        need: u64,
    },
    /// The header of a pcap file was expected.
    #[error("not the header of a pcap file")]
    NotPcap,
    /// The first block of a section of a pcapng file was expected.
    #[error("not the beginning of a pcapng section")]
    NotPcapNg,
    /// A record over [`crate::MAX_RECORD_BYTES`]: more likely a damaged file.
    #[error("a record of {len} bytes is longer than any that can be")]
    RecordTooLong {
        /// Its announced length in bytes.
        len: u64,
    },
    /// A pcapng block whose length is not one, or is not the same at both of its ends.
    #[error("a block's lengths contradict each other")]
    BlockLength,
    /// A pcapng block that is too short for its own fields.
    #[error("a block is too short for its fields")]
    BlockBody,
    /// A packet of an interface that the section does not describe.
    #[error("a packet of interface {number}, which is not described")]
    UnknownInterface {
        /// The interface's number.
        number: u32,
    },
    /// More interfaces than [`crate::MAX_INTERFACES`] in a section.
    #[error("too many interfaces in one section")]
    TooManyInterfaces,
    /// A character that does not stand in hexadecimal text.
    #[error("not a hexadecimal digit")]
    NotHex,
    /// A digit without its other half.
    #[error("half a byte: an odd number of hexadecimal digits")]
    OddDigits,
    /// A dump's offset that does not go on from the line before, or a `*` that it does not end.
    #[error("the dump's offset does not follow from the line before")]
    DumpOffset,
    /// A line of a dump over [`crate::MAX_DUMP_LINE_BYTES`].
    #[error("a line of the dump is too long")]
    DumpLineTooLong,
    /// A character that does not stand in base64 text, or not there.
    #[error("not base64")]
    NotBase64,
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

/// What reads the bytes.
#[derive(Debug)]
enum Reader {
    /// Both texts are tried on what is held.
    Sniffing {
        hex: Option<Hex>,
        base64: Option<Base64>,
    },
    /// Before and after its header.
    Pcap(Option<Pcap>),
    PcapNg(PcapNg),
    Hex(Hex),
    Base64(Base64),
    Raw,
}

/// Reads a capture that is pushed to it.
#[derive(Debug)]
pub struct Source {
    reader: Reader,
    /// An unfinished record, or what is being sniffed.
    held: Vec<u8>,
    /// Bytes that the unfinished record takes.
    need: usize,
    offset: u64,
    packets: Packets,
    /// The stream of a source that is one was announced.
    opened: bool,
    fault: Option<SourceFault>,
    finished: bool,
}

impl Default for Source {
    fn default() -> Self {
        Self::new()
    }
}

impl Source {
    /// A source that finds out by itself what it is.
    #[must_use]
    pub fn new() -> Self {
        Self::reading(Reader::Sniffing { hex: Some(Hex::new()), base64: Some(Base64::default()) })
    }

    /// A source known to be of `format`.
    #[must_use]
    pub fn with_format(format: Format) -> Self {
        Self::reading(reader(format))
    }

    fn reading(reader: Reader) -> Self {
        Self {
            reader,
            held: Vec::new(),
            need: 0,
            offset: 0,
            packets: Packets::default(),
            opened: false,
            fault: None,
            finished: false,
        }
    }

    /// What the bytes are; `None` until enough of them were seen.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        match self.reader {
            Reader::Sniffing { .. } => None,
            Reader::Pcap(_) => Some(Format::Pcap),
            Reader::PcapNg(_) => Some(Format::PcapNg),
            Reader::Hex(_) => Some(Format::Hex),
            Reader::Base64(_) => Some(Format::Base64),
            Reader::Raw => Some(Format::Raw),
        }
    }

    /// Bytes of the file used up: whole records of a capture, characters of a text.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match &self.reader {
            Reader::Hex(hex) => hex.offset(),
            Reader::Base64(base64) => base64.offset(),
            Reader::Sniffing { .. } | Reader::Pcap(_) | Reader::PcapNg(_) | Reader::Raw => self.offset,
        }
    }

    /// Packets of the capture that were not used, by reason.
    #[must_use]
    pub fn ignored_packets(&self) -> &Ignored {
        self.packets.ignored()
    }

    /// Reads the next bytes of the file. After [`Source::finish`] nothing is read any more.
    ///
    /// # Errors
    ///
    /// The file breaks its format. The source stays failed: every later call gives the same fault.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl SegmentSink) -> Result<(), SourceFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if self.finished {
            return Ok(());
        }
        let result = if let Reader::Sniffing { .. } = self.reader {
            self.sniff(bytes, out)
        } else {
            self.read(bytes, out)
        };
        self.fault = result.err();
        result
    }

    /// Says that nothing follows: flushes what was held back and closes every direction.
    ///
    /// # Errors
    ///
    /// The file ends inside a record, or [`Source::push`] had failed; all that was whole has been
    /// delivered and closed nonetheless.
    pub fn finish(&mut self, out: &mut impl SegmentSink) -> Result<(), SourceFault> {
        if self.finished {
            return self.fault.map_or(Ok(()), Err);
        }
        if let Reader::Sniffing { .. } = self.reader
            && !self.held.is_empty()
        {
            if let Reader::Sniffing { hex, .. } = &mut self.reader
                && let Some(text) = hex
                && text.end_first_line(&mut |_| {}).is_err_and(is_no_hex)
            {
                *hex = None;
            }
            let format = self.text_format();
            self.fault = self.settle_on(format, out).err();
        }
        self.finished = true;
        if self.fault.is_none() {
            self.fault = self.finish_reader(out).err();
        }
        self.packets.finish(out);
        if self.opened {
            let reason = CloseReason::EndOfCapture;
            out.piece(None, 1, Direction::AToB, Piece::Closed { reason });
        }
        self.fault.map_or(Ok(()), Err)
    }

    fn sniff(&mut self, bytes: &[u8], out: &mut dyn SegmentSink) -> Result<(), SourceFault> {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            self.held.push(*byte);
            if let Some(format) = self.sniff_byte(*byte) {
                self.settle_on(format, out)?;
                return self.read(rest, out);
            }
        }
        Ok(())
    }

    /// Looks at the byte that was held last; says the format once it is certain.
    fn sniff_byte(&mut self, byte: u8) -> Option<Format> {
        let Reader::Sniffing { hex, base64 } = &mut self.reader else {
            return None;
        };
        if let Some(text) = hex
            && text.push(&[byte], &mut |_| {}).is_err_and(is_no_hex)
        {
            *hex = None;
        }
        if let Some(text) = base64
            && text.push(&[byte], &mut |_| {}).is_err()
        {
            *base64 = None;
        }
        let is_text = hex.is_some() || base64.is_some();
        if let Ok(first) = <[u8; 4]>::try_from(self.held.as_slice()) {
            if pcap::magic(first).is_some() {
                return Some(Format::Pcap);
            }
            if u32::from_le_bytes(first) == pcapng::block::SECTION {
                return Some(Format::PcapNg);
            }
        }
        if self.held.len() < 4 {
            // The magics begin with characters that are no text.
            return None;
        }
        if !is_text {
            return Some(Format::Raw);
        }
        (self.held.len() >= SNIFF_BYTES).then(|| self.text_format())
    }

    fn text_format(&self) -> Format {
        match &self.reader {
            Reader::Sniffing { hex: Some(_), .. } => Format::Hex,
            Reader::Sniffing { base64: Some(_), .. } => Format::Base64,
            _ => Format::Raw,
        }
    }

    fn settle_on(&mut self, format: Format, out: &mut dyn SegmentSink) -> Result<(), SourceFault> {
        self.reader = reader(format);
        let held = core::mem::take(&mut self.held);
        self.read(&held, out)
    }

    fn read(&mut self, bytes: &[u8], out: &mut dyn SegmentSink) -> Result<(), SourceFault> {
        let opened = &mut self.opened;
        match &mut self.reader {
            Reader::Raw => {
                self.offset = self.offset.saturating_add(count(bytes.len()));
                stream(opened, bytes, out);
                Ok(())
            }
            Reader::Hex(hex) => hex.push(bytes, &mut |bytes| stream(opened, bytes, out)),
            Reader::Base64(base64) => base64.push(bytes, &mut |bytes| stream(opened, bytes, out)),
            Reader::Pcap(_) | Reader::PcapNg(_) => self.read_records(bytes, out),
            Reader::Sniffing { .. } => Ok(()),
        }
    }

    fn finish_reader(&mut self, out: &mut dyn SegmentSink) -> Result<(), SourceFault> {
        let opened = &mut self.opened;
        match &mut self.reader {
            Reader::Hex(hex) => hex.finish(&mut |bytes| stream(opened, bytes, out))?,
            Reader::Base64(base64) => base64.finish()?,
            Reader::Sniffing { .. } => return self.fail(Reason::Empty),
            Reader::Pcap(_) | Reader::PcapNg(_) | Reader::Raw => {}
        }
        if self.held.is_empty() {
            return Ok(());
        }
        self.fail(Reason::Truncated { have: count(self.held.len()), need: count(self.need) })
    }

    fn fail(&self, reason: Reason) -> Result<(), SourceFault> {
        Err(SourceFault { offset: self.offset, reason })
    }

    /// Reads as many whole records as there are; what is left of the bytes is held.
    fn read_records(&mut self, bytes: &[u8], out: &mut dyn SegmentSink) -> Result<(), SourceFault> {
        let mut rest = bytes;
        while !self.held.is_empty() {
            let wanted = self.need.saturating_sub(self.held.len());
            let Some((head, after)) = rest.split_at_checked(wanted) else {
                self.held.extend_from_slice(rest);
                return Ok(());
            };
            self.held.extend_from_slice(head);
            rest = after;
            let held = core::mem::take(&mut self.held);
            if self.read_record(&held, out)? == 0 {
                self.held = held;
            }
        }
        while !rest.is_empty() {
            let used = self.read_record(rest, out)?;
            if used == 0 {
                self.held.extend_from_slice(rest);
                break;
            }
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(())
    }

    /// Reads one record; says how many bytes it took, or 0 and sets `need`.
    fn read_record(&mut self, bytes: &[u8], out: &mut dyn SegmentSink) -> Result<usize, SourceFault> {
        let step = match &mut self.reader {
            Reader::Pcap(Some(pcap)) => pcap.step(bytes),
            Reader::Pcap(header) => match bytes.get(..pcap::HEADER_LEN) {
                None => Ok(Step::Need(pcap::HEADER_LEN)),
                Some(bytes) => Pcap::open(bytes).map(|pcap| {
                    *header = Some(pcap);
                    Step::Done { used: bytes.len(), record: None }
                }),
            },
            Reader::PcapNg(pcapng) => pcapng.step(bytes),
            _ => return Ok(0),
        };
        let step = step.map_err(|reason| SourceFault { offset: self.offset, reason })?;
        let used = match step {
            Step::Need(need) => {
                self.need = need;
                return Ok(0);
            }
            Step::Section { used } => {
                self.packets.section(out);
                used
            }
            Step::Done { used, record } => {
                if let Some(record) = record {
                    self.packets.record(&record, out);
                }
                used
            }
        };
        self.offset = self.offset.saturating_add(count(used));
        Ok(used)
    }
}

/// Half a byte, or an offset that does not follow, are faults of a text that is hexadecimal
/// nonetheless.
fn is_no_hex(fault: SourceFault) -> bool {
    fault.reason == Reason::NotHex
}

fn reader(format: Format) -> Reader {
    match format {
        Format::Pcap => Reader::Pcap(None),
        Format::PcapNg => Reader::PcapNg(PcapNg::new()),
        Format::Hex => Reader::Hex(Hex::new()),
        Format::Base64 => Reader::Base64(Base64::default()),
        Format::Raw => Reader::Raw,
    }
}

/// The next bytes of a source that is one stream.
fn stream(opened: &mut bool, bytes: &[u8], out: &mut dyn SegmentSink) {
    if bytes.is_empty() {
        return;
    }
    if !*opened {
        *opened = true;
        let how = Opening::Stream;
        out.piece(None, 1, Direction::AToB, Piece::Opened { how, ends: None });
    }
    out.piece(None, 1, Direction::AToB, Piece::Bytes(bytes));
}

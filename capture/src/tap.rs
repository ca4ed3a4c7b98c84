//! Our own tap: pcapng with one packet a unit, link type USER0 (147).
//!
//! These functions make the bytes; where they go is the business of the caller:
//! [`section`] begins a file, [`packet`] adds a unit. Times are in nanoseconds, directions as the
//! side that accepts connections sees them, and every packet carries its [`Label`] as a comment.
//!
//! Readers of pcapng refuse packets over 256 KiB as damage, so a longer unit is written as several
//! packets in a row whose labels end in ` part=I/N`; [`crate::Source`] puts them together again.
//! What a tap was too slow for is written by [`lost`], what passed before it began by [`joined`].

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use crate::limits::{MAX_ENDPOINT_BYTES, MAX_PACKET_BYTES};

use crate::link;
use crate::pcapng::{BYTE_ORDER_MAGIC, block, option, padding};
use crate::piece::{Direction, Loss};

/// The unit's direction in a packet's flags.
const FLAGS_INBOUND: u32 = 1;
const FLAGS_OUTBOUND: u32 = 2;
/// 10^-9 s.
const RESOLUTION_NANOSECONDS: u8 = 9;
/// pcapng 1.0, of unknown length.
const VERSION: [u16; 2] = [1, 0];
const UNKNOWN_LEN: u64 = u64::MAX;

/// What a tapped unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One frame of a lane or provider socket: header and body.
    Frame,
    /// One handshake message with its length prefix.
    Handshake,
    /// One connector packet with its length prefix.
    Connector,
}

impl Kind {
    /// The word in the label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Handshake => "handshake",
            Self::Connector => "connector",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Frame, Self::Handshake, Self::Connector].into_iter().find(|kind| kind.name() == name)
    }
}

/// A packet's label: `twolane conn=N endpoint=NAME kind=frame|handshake|connector`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label<'a> {
    /// The connection's number in its server.
    pub connection: u32,
    /// The endpoint's name.
    pub endpoint: &'a str,
    /// What the packet is.
    pub kind: Kind,
}

impl<'a> Label<'a> {
    /// Reads a packet's comment; `None` if it is not a label of ours. Words after the fourth are
    /// left for later versions.
    #[must_use]
    pub fn parse(comment: &'a str) -> Option<Self> {
        let mut words = comment.split(' ');
        if words.next()? != "twolane" {
            return None;
        }
        Some(Self {
            connection: words.next()?.strip_prefix("conn=")?.parse().ok()?,
            endpoint: words.next()?.strip_prefix("endpoint=")?,
            kind: Kind::from_name(words.next()?.strip_prefix("kind=")?)?,
        })
    }

    fn write(&self) -> String {
        let endpoint = self.endpoint;
        let endpoint = endpoint.get(..endpoint.floor_char_boundary(MAX_ENDPOINT_BYTES)).unwrap_or_default();
        // A blank would end the name's word.
        let endpoint = endpoint.replace(char::is_whitespace, "_");
        let (connection, kind) = (self.connection, self.kind.name());
        format!("twolane conn={connection} endpoint={endpoint} kind={kind}")
    }
}

/// Which of the packets of one unit a packet is, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) number: u32,
    pub(crate) of: u32,
}

impl Part {
    /// The label of a part without the words that say so, and which part it is.
    pub(crate) fn parse(comment: &str) -> Option<(&str, Self)> {
        let (label, part) = comment.rsplit_once(' ')?;
        let (number, of) = part.strip_prefix("part=")?.split_once('/')?;
        let part = Self { number: number.parse().ok()?, of: of.parse().ok()? };
        (1..=part.of).contains(&part.number).then_some((label, part))
    }
}

/// The label of a packet that stands for whole units, with how many and why.
pub(crate) fn loss(comment: &str) -> Option<(Label<'_>, u64, Loss)> {
    let (label, tail) = comment.rsplit_once(' ')?;
    let (units, how) = match (tail.strip_prefix("lost="), tail.strip_prefix("joined=")) {
        (Some(units), _) => (units, Loss::Overrun),
        (None, Some(units)) => (units, Loss::Earlier),
        (None, None) => return None,
    };
    let units = units.parse().ok().filter(|units| *units > 0)?;
    Some((Label::parse(label)?, units, how))
}

/// Writes the beginning of a file: a section with one interface.
pub fn section(out: &mut Vec<u8>) {
    write_block(out, block::SECTION, |body| {
        body.extend_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
        for number in VERSION {
            body.extend_from_slice(&number.to_le_bytes());
        }
        body.extend_from_slice(&UNKNOWN_LEN.to_le_bytes());
    });
    write_block(out, block::INTERFACE, |body| {
        body.extend_from_slice(&link::number::USER0.to_le_bytes());
        body.extend_from_slice(&[0, 0]);
        body.extend_from_slice(&field(MAX_PACKET_BYTES).to_le_bytes());
        write_option(body, option::IF_TSRESOL, &[RESOLUTION_NANOSECONDS]);
        write_option(body, option::END, &[]);
    });
}

/// Writes one unit, of at most 64 MiB and its header, in as many packets as it takes. `time_ns`
/// counts from 1970; [`Direction::AToB`] is what the tapping side received.
pub fn packet(out: &mut Vec<u8>, time_ns: u64, direction: Direction, label: Label<'_>, bytes: &[u8]) {
    let comment = label.write();
    if bytes.len() <= MAX_PACKET_BYTES {
        return write_packet(out, time_ns, direction, &comment, bytes);
    }
    let of = bytes.len().div_ceil(MAX_PACKET_BYTES);
    for (number, chunk) in (1..=of).zip(bytes.chunks(MAX_PACKET_BYTES)) {
        let comment = format!("{comment} part={number}/{of}");
        write_packet(out, time_ns, direction, &comment, chunk);
    }
}

/// Writes that `units` of one direction, together `bytes` long, passed unread at this place: an
/// empty packet of that original length, whose label ends in ` lost=UNITS`. [`crate::Source`] hands
/// on [`crate::Piece::Lost`]; other readers see a packet of which nothing was captured.
pub fn lost(out: &mut Vec<u8>, time_ns: u64, direction: Direction, label: Label<'_>, units: u64, bytes: u64) {
    write_absent(out, time_ns, direction, &format!("{} lost={units}", label.write()), bytes);
}

/// Writes that the tap was joined after `units`, together `bytes` long, had passed: as [`lost`]
/// does, under connection 0, with a label that ends in ` joined=UNITS`.
pub fn joined(out: &mut Vec<u8>, time_ns: u64, units: u64, bytes: u64) {
    let label = Label { connection: 0, endpoint: "-", kind: Kind::Frame };
    write_absent(out, time_ns, Direction::AToB, &format!("{} joined={units}", label.write()), bytes);
}

/// A packet's original length is below 4 GiB; what is over that is not said in bytes.
fn write_absent(out: &mut Vec<u8>, time_ns: u64, direction: Direction, comment: &str, bytes: u64) {
    write_cut_packet(out, time_ns, direction, comment, &[], low(bytes));
}

fn write_packet(out: &mut Vec<u8>, time_ns: u64, direction: Direction, comment: &str, bytes: &[u8]) {
    write_cut_packet(out, time_ns, direction, comment, bytes, field(bytes.len()));
}

fn write_cut_packet(
    out: &mut Vec<u8>,
    time_ns: u64,
    direction: Direction,
    comment: &str,
    bytes: &[u8],
    original_len: u32,
) {
    let flags = match direction {
        Direction::AToB => FLAGS_INBOUND,
        Direction::BToA => FLAGS_OUTBOUND,
    };
    let [time_high, time_low] = [time_ns >> 32, time_ns & 0xffff_ffff];
    write_block(out, block::ENHANCED_PACKET, |body| {
        let interface = 0u32;
        let len = field(bytes.len());
        for number in [interface, low(time_high), low(time_low), len, original_len] {
            body.extend_from_slice(&number.to_le_bytes());
        }
        body.extend_from_slice(bytes);
        pad(body, bytes.len());
        write_option(body, option::COMMENT, comment.as_bytes());
        write_option(body, option::EPB_FLAGS, &flags.to_le_bytes());
        write_option(body, option::END, &[]);
    });
}

/// Writes a block around its body; both of its lengths are known only once that is there.
fn write_block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let len = field(out.len().saturating_sub(start).saturating_add(4)).to_le_bytes();
    out.extend_from_slice(&len);
    let place = start.saturating_add(4)..start.saturating_add(8);
    if let Some(place) = out.get_mut(place) {
        place.copy_from_slice(&len);
    }
}

fn write_option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let len = u16::try_from(value.len()).unwrap_or(u16::MAX);
    let value = value.get(..usize::from(len)).unwrap_or(value);
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&len.to_le_bytes());
    body.extend_from_slice(value);
    pad(body, value.len());
}

fn pad(body: &mut Vec<u8>, len: usize) {
    let padding: &[u8] = [0; 3].get(..padding(len)).unwrap_or_default();
    body.extend_from_slice(padding);
}

/// A length as the file counts it; a packet's is at most [`MAX_PACKET_BYTES`].
fn field(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

fn low(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

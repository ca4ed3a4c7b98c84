//! What a listener is told, as blocks of a pcapng file.
//!
//! | told | block |
//! |---|---|
//! | a unit | a packet labelled `twolane conn=N endpoint=NAME kind=KIND` |
//! | a gap | an empty packet of that label and ` lost=UNITS`; its original length is the bytes lost |
//! | joined after `UNITS` | the same with `conn=0 endpoint=-` and ` joined=UNITS` |
//!
//! So a reader that knows nothing of gaps still shows a packet whose bytes are not in the
//! capture. What comes in is from the side that opened the connection.

use twolane_capture::Direction;
use twolane_capture::tap::Kind;

use super::tap::{Entry, Loss, Unit};

/// The section header and the one interface: where every file begins.
pub(crate) fn section(out: &mut Vec<u8>) {
    block(out, SECTION_HEADER, |out| {
        out.extend(0x1A2B_3C4D_u32.to_le_bytes());
        out.extend(1_u16.to_le_bytes());
        out.extend(0_u16.to_le_bytes());
        out.extend(u64::MAX.to_le_bytes());
        option(out, option_code::APPLICATION, concat!("twolane ", env!("CARGO_PKG_VERSION")).as_bytes());
        option(out, option_code::END, &[]);
    });
    block(out, INTERFACE, |out| {
        out.extend(LINK_TYPE_USER0.to_le_bytes());
        out.extend(0_u16.to_le_bytes());
        out.extend(0_u32.to_le_bytes());
        option(out, option_code::INTERFACE_NAME, b"twolane");
        option(out, option_code::TIME_RESOLUTION, &[9]);
        option(out, option_code::END, &[]);
    });
}

/// Whatever a listener is told.
pub(crate) fn entry(entry: &Entry, out: &mut Vec<u8>) {
    match entry {
        Entry::Unit(unit) => self::unit(unit, out),
        Entry::Lost(loss) => lost(loss, out),
        Entry::Joined { units: 0, .. } => {}
        Entry::Joined { time_ns, units, bytes } => {
            let label = format!("twolane conn=0 endpoint=- kind=frame joined={units}");
            absent(out, *time_ns, Direction::AToB, *bytes, &label, None);
        }
    }
}

fn unit(unit: &Unit, out: &mut Vec<u8>) {
    let label = label(unit.conn, unit.endpoint, unit.kind);
    let len = u32::try_from(unit.bytes.len()).unwrap_or(u32::MAX);
    packet(out, unit.time_ns, unit.direction, &unit.bytes, len, &label, None);
}

fn lost(loss: &Loss, out: &mut Vec<u8>) {
    let mut label = label(loss.conn, loss.endpoint, Kind::Frame);
    label.push_str(&format!(" lost={}", loss.units));
    absent(out, loss.time_ns, loss.direction, loss.bytes, &label, Some(loss.units));
}

fn label(conn: u64, endpoint: &str, kind: Kind) -> String {
    format!("twolane conn={conn} endpoint={endpoint} kind={}", kind.name())
}

/// An empty packet that was `bytes` long. A block holds no longer length than 4 GiB; what is over
/// is left out of it, and the number of units stays right.
fn absent(
    out: &mut Vec<u8>,
    time_ns: u64,
    direction: Direction,
    bytes: u64,
    label: &str,
    dropped: Option<u64>,
) {
    let len = u32::try_from(bytes).unwrap_or(u32::MAX);
    packet(out, time_ns, direction, &[], len, label, dropped);
}

fn packet(
    out: &mut Vec<u8>,
    time_ns: u64,
    direction: Direction,
    bytes: &[u8],
    original_len: u32,
    label: &str,
    dropped: Option<u64>,
) {
    let [t0, t1, t2, t3, t4, t5, t6, t7] = time_ns.to_le_bytes();
    let flags: u32 = match direction {
        Direction::AToB => 0b01,
        Direction::BToA => 0b10,
    };
    block(out, PACKET, |out| {
        out.extend(0_u32.to_le_bytes());
        out.extend([t4, t5, t6, t7, t0, t1, t2, t3]);
        out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(original_len.to_le_bytes());
        out.extend_from_slice(bytes);
        pad(out, bytes.len());
        option(out, option_code::FLAGS, &flags.to_le_bytes());
        if let Some(dropped) = dropped {
            option(out, option_code::DROPPED, &dropped.to_le_bytes());
        }
        option(out, option_code::COMMENT, label.as_bytes());
        option(out, option_code::END, &[]);
    });
}

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const LINK_TYPE_USER0: u16 = 147;

mod option_code {
    pub(super) const END: u16 = 0;
    pub(super) const COMMENT: u16 = 1;
    pub(super) const FLAGS: u16 = 2;
    pub(super) const INTERFACE_NAME: u16 = 2;
    pub(super) const APPLICATION: u16 = 4;
    pub(super) const DROPPED: u16 = 4;
    pub(super) const TIME_RESOLUTION: u16 = 9;
}

/// A block: its type, its length, its body, its length again.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let len = u32::try_from(out.len() - start + 4).unwrap_or(u32::MAX).to_le_bytes();
    if let Some(place) = out.get_mut(start + 4..start + 8) {
        place.copy_from_slice(&len);
    }
    out.extend(len);
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend(u16::try_from(value.len()).unwrap_or(u16::MAX).to_le_bytes());
    out.extend_from_slice(value);
    pad(out, value.len());
}

fn pad(out: &mut Vec<u8>, len: usize) {
    out.extend(std::iter::repeat_n(0, len.wrapping_neg() % 4));
}

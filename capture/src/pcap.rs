//! The pcap file format: a header of 24 bytes, then records of a 16-byte header and a packet.
//!
//! This and `pcapng.rs` are written by hand: the registry's reader without a C library
//! (pcap-parser 0.17) needs std, pulls from a reader of its own instead of being pushed to, and
//! costs 10.4 KB of compressed WebAssembly.

use crate::bytes::{Bytes, Order, count, size};
use crate::limits::MAX_RECORD_BYTES;
use crate::record::{Record, Step};
use crate::source::Reason;

pub(crate) const HEADER_LEN: usize = 24;
const RECORD_HEADER_LEN: usize = 16;

const MAGIC_MICROSECONDS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;

/// Reads records; made from the file's header.
#[derive(Debug)]
pub(crate) struct Pcap {
    order: Order,
    nanoseconds_per_unit: u64,
    link: u16,
}

/// What the first four bytes of a pcap file say of it: byte order, and nanoseconds per unit of
/// the fraction of a time.
pub(crate) fn magic(bytes: [u8; 4]) -> Option<(Order, u64)> {
    [Order::Little, Order::Big].into_iter().find_map(|order| match Bytes::new(&bytes, order).u32()? {
        MAGIC_MICROSECONDS => Some((order, 1_000)),
        MAGIC_NANOSECONDS => Some((order, 1)),
        _ => None,
    })
}

impl Pcap {
    /// Reads a file's header of [`HEADER_LEN`] bytes.
    pub(crate) fn open(header: &[u8]) -> Result<Self, Reason> {
        let first = header.first_chunk().ok_or(Reason::NotPcap)?;
        let (order, nanoseconds_per_unit) = magic(*first).ok_or(Reason::NotPcap)?;
        let mut fields = Bytes::new(header, order);
        // Magic, version, time zone, accuracy, snap length.
        fields.take(20).ok_or(Reason::NotPcap)?;
        let link = fields.u32().ok_or(Reason::NotPcap)?;
        // The upper half says how long a frame check sequence the packets carry; the lengths
        // inside the packets leave it out by themselves.
        let link = u16::try_from(link & 0xffff).map_err(|_| Reason::NotPcap)?;
        Ok(Self { order, nanoseconds_per_unit, link })
    }

    pub(crate) fn step<'a>(&self, bytes: &'a [u8]) -> Result<Step<'a>, Reason> {
        let mut fields = Bytes::new(bytes, self.order);
        let (Some(seconds), Some(fraction), Some(captured), Some(wire_len)) =
            (fields.u32(), fields.u32(), fields.u32(), fields.u32())
        else {
            return Ok(Step::Need(RECORD_HEADER_LEN));
        };
        let captured = size(captured);
        if captured > MAX_RECORD_BYTES {
            return Err(Reason::RecordTooLong { len: count(captured) });
        }
        let used = RECORD_HEADER_LEN.saturating_add(captured);
        let Some(data) = fields.take(captured) else {
            return Ok(Step::Need(used));
        };
        let fraction_ns = u64::from(fraction).saturating_mul(self.nanoseconds_per_unit);
        let time_ns = u64::from(seconds)
            .checked_mul(1_000_000_000)
            .and_then(|seconds_ns| seconds_ns.checked_add(fraction_ns));
        let record = Some(Record { time_ns, link: self.link, data, wire_len, flow: None, comment: None });
        Ok(Step::Done { used, record })
    }
}

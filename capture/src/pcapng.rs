//! The pcapng file format: blocks of a type and a length, in sections that each have a byte order
//! and interfaces of their own. Blocks that hold no packet are skipped.

use alloc::vec::Vec;

use crate::bytes::{Bytes, Order, count, size};
use crate::limits::{MAX_INTERFACES, MAX_RECORD_BYTES};
use crate::record::{Flow, Record, Step};
use crate::source::Reason;

/// Block types.
pub(crate) mod block {
    pub(crate) const SECTION: u32 = 0x0a0d_0d0a;
    pub(crate) const INTERFACE: u32 = 1;
    /// What enhanced packets were before pcapng was finished.
    pub(crate) const OLD_PACKET: u32 = 2;
    pub(crate) const SIMPLE_PACKET: u32 = 3;
    pub(crate) const ENHANCED_PACKET: u32 = 6;
}

/// Option codes.
pub(crate) mod option {
    pub(crate) const END: u16 = 0;
    pub(crate) const COMMENT: u16 = 1;
    pub(crate) const EPB_FLAGS: u16 = 2;
    pub(crate) const IF_TSRESOL: u16 = 9;
    pub(crate) const IF_TSOFFSET: u16 = 14;
}

pub(crate) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Type, length and the length again.
const FRAME_LEN: usize = 12;
/// Type, length and the byte-order magic, without which the length of a section cannot be read.
const SECTION_PREFIX_LEN: usize = 12;
const SECTION_MIN_LEN: usize = 28;
const NANOSECONDS: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy)]
struct Interface {
    link: u16,
    /// 0: unlimited.
    snap_len: u32,
    resolution: u8,
    offset_s: i64,
}

/// Reads blocks.
#[derive(Debug)]
pub(crate) struct PcapNg {
    order: Order,
    interfaces: Vec<Interface>,
    begun: bool,
}

impl PcapNg {
    pub(crate) fn new() -> Self {
        Self { order: Order::Little, interfaces: Vec::new(), begun: false }
    }

    pub(crate) fn step<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, Reason> {
        let Some(head) = bytes.get(..SECTION_PREFIX_LEN) else {
            return Ok(Step::Need(SECTION_PREFIX_LEN));
        };
        // The section's type reads the same in both orders.
        let is_section = Bytes::new(head, Order::Little).u32() == Some(block::SECTION);
        let order = if is_section {
            section_order(head).ok_or(Reason::NotPcapNg)?
        } else if self.begun {
            self.order
        } else {
            return Err(Reason::NotPcapNg);
        };
        let mut fields = Bytes::new(bytes, order);
        let kind = fields.u32().ok_or(Reason::BlockLength)?;
        let len = size(fields.u32().ok_or(Reason::BlockLength)?);
        let least = if is_section { SECTION_MIN_LEN } else { FRAME_LEN };
        if len < least || !len.is_multiple_of(4) {
            return Err(Reason::BlockLength);
        }
        if len > MAX_RECORD_BYTES {
            return Err(Reason::RecordTooLong { len: count(len) });
        }
        let Some(body) = fields.take(len.saturating_sub(FRAME_LEN)) else {
            return Ok(Step::Need(len));
        };
        let Some(trailer) = fields.u32() else {
            return Ok(Step::Need(len));
        };
        if size(trailer) != len {
            return Err(Reason::BlockLength);
        }
        if is_section {
            self.order = order;
            self.interfaces.clear();
            self.begun = true;
            return Ok(Step::Section { used: len });
        }
        let record = self.block(kind, Bytes::new(body, order))?;
        Ok(Step::Done { used: len, record })
    }

    /// The packet in a block, if it is one that holds one.
    fn block<'a>(&mut self, kind: u32, mut body: Bytes<'a>) -> Result<Option<Record<'a>>, Reason> {
        match kind {
            block::INTERFACE => {
                if self.interfaces.len() >= MAX_INTERFACES {
                    return Err(Reason::TooManyInterfaces);
                }
                let interface = interface(body).ok_or(Reason::BlockBody)?;
                self.interfaces.push(interface);
                Ok(None)
            }
            block::ENHANCED_PACKET => {
                let number = body.u32().ok_or(Reason::BlockBody)?;
                self.packet(number, body).map(Some)
            }
            block::OLD_PACKET => {
                let number = body.u16().ok_or(Reason::BlockBody)?;
                // How many packets were dropped before this one.
                body.take(2).ok_or(Reason::BlockBody)?;
                self.packet(u32::from(number), body).map(Some)
            }
            block::SIMPLE_PACKET => self.simple_packet(body).map(Some),
            _ => Ok(None),
        }
    }

    /// What both kinds of timed packet have after the interface's number.
    fn packet<'a>(&self, number: u32, mut body: Bytes<'a>) -> Result<Record<'a>, Reason> {
        let interface = self.interface(number)?;
        let high = body.u32().ok_or(Reason::BlockBody)?;
        let low = body.u32().ok_or(Reason::BlockBody)?;
        let captured = size(body.u32().ok_or(Reason::BlockBody)?);
        let wire_len = body.u32().ok_or(Reason::BlockBody)?;
        let data = body.take(captured).ok_or(Reason::BlockBody)?;
        body.take(padding(captured)).ok_or(Reason::BlockBody)?;
        let mut record = Record {
            time_ns: interface.time_ns((u64::from(high) << 32) | u64::from(low)),
            link: interface.link,
            data,
            wire_len,
            flow: None,
            comment: None,
        };
        while let Some((code, value)) = next_option(&mut body) {
            match code {
                option::COMMENT if record.comment.is_none() => {
                    record.comment = core::str::from_utf8(value.rest()).ok();
                }
                option::EPB_FLAGS => record.flow = flow(value),
                _ => {}
            }
        }
        Ok(record)
    }

    fn simple_packet<'a>(&self, mut body: Bytes<'a>) -> Result<Record<'a>, Reason> {
        let interface = self.interface(0)?;
        let wire_len = body.u32().ok_or(Reason::BlockBody)?;
        let snap_len = match interface.snap_len {
            0 => wire_len,
            snap_len => snap_len.min(wire_len),
        };
        let data = body.take(size(snap_len)).ok_or(Reason::BlockBody)?;
        Ok(Record { time_ns: None, link: interface.link, data, wire_len, flow: None, comment: None })
    }

    fn interface(&self, number: u32) -> Result<&Interface, Reason> {
        self.interfaces.get(size(number)).ok_or(Reason::UnknownInterface { number })
    }
}

fn section_order(head: &[u8]) -> Option<Order> {
    [Order::Little, Order::Big].into_iter().find(|order| {
        let mut fields = Bytes::new(head, *order);
        fields.take(8).is_some() && fields.u32() == Some(BYTE_ORDER_MAGIC)
    })
}

fn interface(mut body: Bytes<'_>) -> Option<Interface> {
    let link = body.u16()?;
    body.take(2)?;
    let mut interface = Interface {
        link,
        snap_len: body.u32()?,
        // Microseconds.
        resolution: 6,
        offset_s: 0,
    };
    while let Some((code, mut value)) = next_option(&mut body) {
        match code {
            option::IF_TSRESOL => interface.resolution = value.u8()?,
            option::IF_TSOFFSET => interface.offset_s = value.u64()?.cast_signed(),
            _ => {}
        }
    }
    Some(interface)
}

impl Interface {
    /// A time in this interface's units as nanoseconds since 1970, if they can express it.
    fn time_ns(&self, units: u64) -> Option<u64> {
        let exponent = u32::from(self.resolution & 0x7f);
        let (seconds, fraction_ns) = if self.resolution & 0x80 == 0 {
            let per_second = 10u64.checked_pow(exponent)?;
            let seconds = units.checked_div(per_second)?;
            let fraction = units.checked_rem(per_second)?;
            let fraction_ns = match exponent.checked_sub(9) {
                None | Some(0) => fraction.checked_mul(NANOSECONDS.checked_div(per_second)?)?,
                Some(_) => fraction.checked_div(per_second.checked_div(NANOSECONDS)?)?,
            };
            (seconds, fraction_ns)
        } else {
            let seconds = units.checked_shr(exponent)?;
            let fraction = units.checked_sub(seconds.checked_shl(exponent)?)?;
            // Below 2^32, so that the product fits.
            let excess = exponent.saturating_sub(32);
            let fraction = fraction.checked_shr(excess)?;
            let scaled = fraction.checked_mul(NANOSECONDS)?;
            (seconds, scaled.checked_shr(exponent.saturating_sub(excess))?)
        };
        seconds.checked_add_signed(self.offset_s)?.checked_mul(NANOSECONDS)?.checked_add(fraction_ns)
    }
}

/// The next option of a block, whose value ends where its length says. Options that run over the
/// end of their block are left out: the packet before them is whole.
fn next_option<'a>(body: &mut Bytes<'a>) -> Option<(u16, Bytes<'a>)> {
    let code = body.u16()?;
    let len = usize::from(body.u16()?);
    if code == option::END {
        return None;
    }
    let value = body.sub(len)?;
    // The last option's padding may be missing in files of careless writers.
    let _ = body.take(padding(len));
    Some((code, value))
}

fn flow(mut value: Bytes<'_>) -> Option<Flow> {
    match value.u32()? & 0b11 {
        0b01 => Some(Flow::Inbound),
        0b10 => Some(Flow::Outbound),
        _ => None,
    }
}

/// Bytes that follow `len` bytes up to a multiple of four.
pub(crate) fn padding(len: usize) -> usize {
    len.wrapping_neg() % 4
}

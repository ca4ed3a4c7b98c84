//! From an IP packet to the TCP segment in it. Checksums are not looked at: on loopback they are
//! left to hardware that does not exist, and captures are full of wrong ones.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::bytes::{Bytes, size};
use crate::limits::MAX_EXTENSIONS;
use crate::record::Skip;

/// Address and port of one side. An IPv4 address is held as the IPv6 address it maps to, so that
/// comparing two ends is comparing bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    address: [u8; 16],
    pub(crate) port: u16,
}

impl End {
    pub(crate) fn socket_addr(self) -> SocketAddr {
        SocketAddr::new(IpAddr::from(self.address).to_canonical(), self.port)
    }
}

/// One TCP segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub(crate) source: End,
    pub(crate) destination: End,
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
    /// What was captured of its bytes.
    pub(crate) data: &'a [u8],
    /// Bytes after `data` that the snap length cut off.
    pub(crate) cut: u32,
}

/// A payload that may have been cut: what is there, and how long it was.
#[derive(Debug, Clone, Copy)]
struct Payload<'a> {
    bytes: &'a [u8],
    len: usize,
}

const PROTOCOL_TCP: u8 = 6;
const IPV4_MORE_FRAGMENTS_OR_OFFSET: u16 = 0x3fff;
const IPV6_HEADER_LEN: usize = 40;
const IPV6_MORE_FRAGMENTS_OR_OFFSET: u16 = 0xfff9;
const FLAG_FIN: u8 = 0x01;
const FLAG_SYN: u8 = 0x02;
const FLAG_RST: u8 = 0x04;
const FLAG_ACK: u8 = 0x10;

/// The segment in an IP packet that was `wire_len` bytes long, padding included.
pub(crate) fn segment(packet: &[u8], wire_len: usize) -> Result<Segment<'_>, Skip> {
    let short = if packet.len() < wire_len { Skip::HeadersCut } else { Skip::Malformed };
    let first = *packet.first().ok_or(short)?;
    let (source, destination, payload) = match first >> 4 {
        4 => ipv4(packet, wire_len, short)?,
        6 => ipv6(packet, wire_len, short)?,
        _ => return Err(Skip::NotIp),
    };
    tcp(source, destination, payload, short)
}

type Inner<'a> = (Address, Address, Payload<'a>);

type Address = [u8; 16];

fn ipv4(packet: &[u8], wire_len: usize, short: Skip) -> Result<Inner<'_>, Skip> {
    let mut header = Bytes::network(packet);
    let first = header.u8().ok_or(short)?;
    header.take(1).ok_or(short)?;
    let total_len = usize::from(header.u16().ok_or(short)?);
    header.take(2).ok_or(short)?;
    let fragment = header.u16().ok_or(short)?;
    header.take(1).ok_or(short)?;
    let protocol = header.u8().ok_or(short)?;
    header.take(2).ok_or(short)?;
    let source = mapped(header.array4().ok_or(short)?);
    let destination = mapped(header.array4().ok_or(short)?);
    if protocol != PROTOCOL_TCP {
        return Err(Skip::NotTcp);
    }
    if fragment & IPV4_MORE_FRAGMENTS_OR_OFFSET != 0 {
        return Err(Skip::Fragment);
    }
    // A sender that leaves segmentation to hardware writes 0 for packets over 64 KiB.
    let total_len = if total_len == 0 { wire_len } else { total_len };
    let header_len = usize::from(first & 0x0f).saturating_mul(4);
    if header_len < 20 {
        return Err(Skip::Malformed);
    }
    let len = total_len.checked_sub(header_len).ok_or(Skip::Malformed)?;
    let bytes = packet.get(header_len..).ok_or(short)?;
    Ok((source, destination, Payload { bytes, len }))
}

fn mapped(address: [u8; 4]) -> Address {
    Ipv4Addr::from(address).to_ipv6_mapped().octets()
}

fn ipv6(packet: &[u8], wire_len: usize, short: Skip) -> Result<Inner<'_>, Skip> {
    let mut header = Bytes::network(packet);
    header.take(4).ok_or(short)?;
    let payload_len = usize::from(header.u16().ok_or(short)?);
    let mut next = header.u8().ok_or(short)?;
    header.take(1).ok_or(short)?;
    let source = header.array16().ok_or(short)?;
    let destination = header.array16().ok_or(short)?;
    // 0: a jumbogram, or left to hardware as above.
    let mut len = if payload_len == 0 { wire_len.saturating_sub(IPV6_HEADER_LEN) } else { payload_len };
    for _ in 0..=MAX_EXTENSIONS {
        if next == PROTOCOL_TCP {
            let bytes = header.rest();
            return Ok((source, destination, Payload { bytes, len }));
        }
        let extension_len = extension(next, header, short)?;
        next = *header.rest().first().ok_or(short)?;
        header.take(extension_len).ok_or(short)?;
        len = len.checked_sub(extension_len).ok_or(Skip::Malformed)?;
    }
    Err(Skip::NotTcp)
}

/// How long the extension header numbered `number` is.
fn extension(number: u8, mut header: Bytes<'_>, short: Skip) -> Result<usize, Skip> {
    header.take(1).ok_or(short)?;
    let len = usize::from(header.u8().ok_or(short)?);
    match number {
        // Hop by hop, routing, destination options, mobility.
        0 | 43 | 60 | 135 => Ok(len.saturating_add(1).saturating_mul(8)),
        // Authentication counts in units of four bytes.
        51 => Ok(len.saturating_add(2).saturating_mul(4)),
        44 => {
            let offset = header.u16().ok_or(short)?;
            if offset & IPV6_MORE_FRAGMENTS_OR_OFFSET == 0 { Ok(8) } else { Err(Skip::Fragment) }
        }
        _ => Err(Skip::NotTcp),
    }
}

fn tcp(
    source: Address,
    destination: Address,
    payload: Payload<'_>,
    short: Skip,
) -> Result<Segment<'_>, Skip> {
    // What follows the payload is the link's padding.
    let bytes = payload.bytes.get(..payload.len).unwrap_or(payload.bytes);
    let mut header = Bytes::network(bytes);
    let source_port = header.u16().ok_or(short)?;
    let destination_port = header.u16().ok_or(short)?;
    let seq = header.u32().ok_or(short)?;
    let ack = header.u32().ok_or(short)?;
    let header_len = usize::from(header.u8().ok_or(short)? >> 4).saturating_mul(4);
    let flags = header.u8().ok_or(short)?;
    if header_len < 20 {
        return Err(Skip::Malformed);
    }
    let len = payload.len.checked_sub(header_len).ok_or(Skip::Malformed)?;
    // Where the cut is inside the options, all the data is cut.
    let data = bytes.get(header_len..).unwrap_or_default();
    let cut = len.saturating_sub(data.len());
    Ok(Segment {
        source: End { address: source, port: source_port },
        destination: End { address: destination, port: destination_port },
        seq,
        ack: (flags & FLAG_ACK != 0).then_some(ack),
        syn: flags & FLAG_SYN != 0,
        fin: flags & FLAG_FIN != 0,
        rst: flags & FLAG_RST != 0,
        data,
        cut: u32::try_from(cut).map_err(|_| Skip::Malformed)?,
    })
}

/// The length of an IP packet on the wire, given that of the link's packet and what was captured
/// of both.
pub(crate) fn wire_len(link_wire_len: u32, link_captured: usize, ip_captured: usize) -> usize {
    size(link_wire_len).saturating_sub(link_captured.saturating_sub(ip_captured))
}

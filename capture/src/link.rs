//! Link layers: from a captured packet to the IP packet in it.
//!
//! Written by hand: of the registry's packet readers none knows loopback frames and Linux cooked
//! version 2, and the one without std (etherparse 0.21) adds 5.7 KB of compressed WebAssembly for
//! Ethernet, IP and TCP alone, a fifth of what the whole page may have. The tests build their packets
//! with it.

use crate::bytes::{Bytes, Order};
use crate::limits::MAX_VLAN_TAGS;
use crate::record::Skip;

/// Link type numbers of the registry kept at tcpdump.org.
pub(crate) mod number {
    pub(crate) const NULL: u16 = 0;
    pub(crate) const ETHERNET: u16 = 1;
    /// Raw IP as BSD and OpenBSD systems number it in files.
    pub(crate) const RAW_BSD: u16 = 12;
    pub(crate) const RAW_OPENBSD: u16 = 14;
    pub(crate) const RAW: u16 = 101;
    pub(crate) const LOOP: u16 = 108;
    pub(crate) const LINUX_SLL: u16 = 113;
    /// First of the numbers for private use: our own tap.
    pub(crate) const USER0: u16 = 147;
    pub(crate) const IPV4: u16 = 228;
    pub(crate) const IPV6: u16 = 229;
    pub(crate) const LINUX_SLL2: u16 = 276;
}

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const ETHERTYPE_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];

const FAMILY_INET: u32 = 2;
/// `AF_INET6` of Linux, NetBSD and OpenBSD, FreeBSD, and macOS.
const FAMILY_INET6: [u32; 4] = [10, 24, 28, 30];

/// The IP packet in a packet of that link type, with whatever trails it.
pub(crate) fn ip_packet(link: u16, packet: &[u8]) -> Result<&[u8], Skip> {
    match link {
        number::ETHERNET => {
            let mut frame = Bytes::network(packet);
            frame.take(12).ok_or(Skip::HeadersCut)?;
            ethertype(frame)
        }
        number::NULL | number::LOOP => loopback(packet),
        number::LINUX_SLL => {
            let mut cooked = Bytes::network(packet);
            cooked.take(14).ok_or(Skip::HeadersCut)?;
            ethertype(cooked)
        }
        number::LINUX_SLL2 => {
            let mut cooked = Bytes::network(packet);
            let protocol = cooked.u16().ok_or(Skip::HeadersCut)?;
            cooked.take(18).ok_or(Skip::HeadersCut)?;
            payload(protocol, cooked)
        }
        number::RAW | number::RAW_BSD | number::RAW_OPENBSD | number::IPV4 | number::IPV6 => Ok(packet),
        _ => Err(Skip::LinkType),
    }
}

fn ethertype(mut rest: Bytes<'_>) -> Result<&[u8], Skip> {
    let protocol = rest.u16().ok_or(Skip::HeadersCut)?;
    payload(protocol, rest)
}

fn payload(mut protocol: u16, mut rest: Bytes<'_>) -> Result<&[u8], Skip> {
    for _ in 0..MAX_VLAN_TAGS {
        if !ETHERTYPE_VLAN.contains(&protocol) {
            break;
        }
        rest.take(2).ok_or(Skip::HeadersCut)?;
        protocol = rest.u16().ok_or(Skip::HeadersCut)?;
    }
    match protocol {
        ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => Ok(rest.rest()),
        _ => Err(Skip::NotIp),
    }
}

/// The family stands in the byte order of the capturing machine, which the file need not share; no
/// family has a number over 65,535, so the wrong order shows itself.
fn loopback(packet: &[u8]) -> Result<&[u8], Skip> {
    let mut frame = Bytes::new(packet, Order::Little);
    let family = frame.u32().ok_or(Skip::HeadersCut)?;
    let family = if family > 0xffff { family.swap_bytes() } else { family };
    if family == FAMILY_INET || FAMILY_INET6.contains(&family) { Ok(frame.rest()) } else { Err(Skip::NotIp) }
}

//! A pcap file as packets that can be taken away, cut, doubled and moved; and what TCP says in each.

use std::collections::HashMap;
use std::ops::Range;

use twolane_capture::Direction;

const FILE_HEAD: usize = 24;
const PACKET_HEAD: usize = 16;
const LINK_ETHERNET: u32 = 1;
const LINK_COOKED_V1: u32 = 113;

/// A file as tcpdump writes it on this machine: little-endian, all packets of one connection.
#[derive(Clone)]
pub(crate) struct File {
    head: Vec<u8>,
    pub(crate) packets: Vec<Packet>,
}

/// One packet with its record's head.
#[derive(Clone)]
pub(crate) struct Packet {
    head: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) tcp: Tcp,
}

/// What the headers of a packet say.
#[derive(Clone, Copy)]
pub(crate) struct Tcp {
    ports: (u16, u16),
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    /// Where the data begins in the packet, and how long it was on the wire.
    pub(crate) data_at: usize,
    pub(crate) data_len: usize,
}

impl File {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let (head, mut rest) = bytes.split_at(FILE_HEAD);
        let link = u32::from_le_bytes(head[20..24].try_into().unwrap());
        let mut packets = Vec::new();
        while !rest.is_empty() {
            let len = usize::try_from(u32::from_le_bytes(rest[8..12].try_into().unwrap())).unwrap();
            let (packet, more) = rest.split_at(PACKET_HEAD + len);
            let (head, data) = packet.split_at(PACKET_HEAD);
            packets.push(Packet { head: head.to_vec(), data: data.to_vec(), tcp: Tcp::parse(link, data) });
            rest = more;
        }
        Self { head: head.to_vec(), packets }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        for packet in &self.packets {
            bytes.extend_from_slice(&packet.head[..8]);
            bytes.extend_from_slice(&u32::try_from(packet.data.len()).unwrap().to_le_bytes());
            bytes.extend_from_slice(&packet.head[12..]);
            bytes.extend_from_slice(&packet.data);
        }
        bytes
    }

    /// Whether bytes of one place are in two packets.
    pub(crate) fn has_repeats(&self) -> bool {
        let mut ends = HashMap::new();
        self.packets.iter().filter(|packet| packet.tcp.data_len > 0).any(|packet| {
            let len = u32::try_from(packet.tcp.data_len).unwrap();
            let end = packet.tcp.seq.wrapping_add(len);
            let last = ends.insert(packet.tcp.ports, end);
            last.is_some_and(|last| last != packet.tcp.seq)
        })
    }

    /// The port of the side that opened the connection.
    pub(crate) fn opener(&self) -> u16 {
        self.packets[0].tcp.ports.0
    }

    /// The port of the other side.
    pub(crate) fn server(&self) -> u16 {
        self.packets[0].tcp.ports.1
    }
}

impl Packet {
    pub(crate) fn direction(&self, opener: u16) -> Direction {
        if self.tcp.ports.0 == opener { Direction::AToB } else { Direction::BToA }
    }

    /// Bytes of its data that were captured.
    pub(crate) fn captured(&self) -> usize {
        self.tcp.data_len.min(self.data.len().saturating_sub(self.tcp.data_at))
    }

    /// Keeps so many bytes of its data, as a snap length does.
    pub(crate) fn cut(&mut self, keep: usize) {
        self.data.truncate(self.tcp.data_at + keep);
    }
}

impl Tcp {
    fn parse(link: u32, packet: &[u8]) -> Self {
        let ip = match link {
            LINK_ETHERNET => 14,
            LINK_COOKED_V1 => 16,
            _ => 20,
        };
        let word = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        let long = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().unwrap());
        let (tcp, end) = if packet[ip] >> 4 == 4 {
            (ip + 4 * usize::from(packet[ip] & 0x0f), ip + usize::from(word(ip + 2)))
        } else {
            (ip + 40, ip + 40 + usize::from(word(ip + 4)))
        };
        let data_at = tcp + 4 * usize::from(packet[tcp + 12] >> 4);
        let flags = packet[tcp + 13];
        Self {
            ports: (word(tcp), word(tcp + 2)),
            seq: long(tcp + 4),
            ack: long(tcp + 8),
            syn: flags & 0x02 != 0,
            fin: flags & 0x01 != 0,
            data_at,
            data_len: end - data_at,
        }
    }
}

/// What of one direction a file holds. Places count from its first byte on the wire.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// The place at which a reader begins, once it knows one.
    pub(crate) origin: Option<u64>,
    /// The end of what is known to have been sent.
    pub(crate) end: u64,
    has_fin: bool,
    /// Captured, in the order of packets.
    captured: Vec<Range<u64>>,
}

impl Coverage {
    /// Of a direction whose SYN had the number before `first_seq`; `fin` is where it ends on the wire.
    pub(crate) fn of(file: &File, opener: u16, direction: Direction, first_seq: u32, fin: u64) -> Self {
        let mut coverage = Self::default();
        let mut acked = 0;
        for packet in &file.packets {
            let tcp = packet.tcp;
            if packet.direction(opener) == direction {
                let at = if tcp.syn { 0 } else { u64::from(tcp.seq.wrapping_sub(first_seq)) };
                if tcp.syn || tcp.fin || tcp.data_len > 0 {
                    coverage.origin.get_or_insert(at);
                }
                let captured = packet.captured() as u64;
                if captured > 0 {
                    coverage.captured.push(at..at + captured);
                }
                if tcp.data_len > 0 {
                    coverage.end = coverage.end.max(at + tcp.data_len as u64);
                }
                coverage.has_fin |= tcp.fin;
            } else if tcp.ack != 0 {
                let at = u64::from(tcp.ack.wrapping_sub(first_seq));
                coverage.origin.get_or_insert(at);
                acked = acked.max(at);
            }
        }
        // The acknowledgement of a FIN that was not seen looks like that of one byte more.
        coverage.end = coverage.end.max(if coverage.has_fin { fin } else { acked });
        coverage
    }

    /// Whether more may have been sent than the file tells of.
    pub(crate) fn is_cut_off(&self) -> bool {
        !self.has_fin
    }

    /// What is missing between the origin and the end.
    pub(crate) fn holes(&self) -> Vec<Range<u64>> {
        let mut captured = self.captured.clone();
        captured.sort_by_key(|range| range.start);
        let (mut holes, mut at) = (Vec::new(), self.origin.unwrap_or(0));
        for range in captured {
            if range.start > at {
                holes.push(at..range.start);
            }
            at = at.max(range.end);
        }
        if at < self.end {
            holes.push(at..self.end);
        }
        holes
    }
}

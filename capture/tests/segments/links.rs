//! Every link layer, both versions of IP, and what is not TCP.

use etherparse::{PacketBuilder, VlanId};
use twolane_capture::{CloseReason, Ignored, Opening};

use crate::scene::{A, A_PORT, B, B_PORT, Event, a, bytes, pcap, read, read_in};

fn hello() -> [Event; 3] {
    [Event::Opened(Opening::Joined), bytes("hello"), Event::Closed(CloseReason::EndOfCapture)]
}

fn ipv4() -> Vec<u8> {
    a(1, "hello").ip()
}

fn ipv6() -> Vec<u8> {
    let mut packet = Vec::new();
    let ip = PacketBuilder::ipv6([1; 16], [2; 16], 64);
    let tcp = ip.tcp(A_PORT, B_PORT, 1, 1_000);
    tcp.write(&mut packet, b"hello").expect("a packet in memory");
    packet
}

fn framed(head: &[u8], packet: &[u8]) -> Vec<u8> {
    [head, packet].concat()
}

#[test]
fn every_link_type() {
    let ether = || PacketBuilder::ethernet2([1; 6], [2; 6]);
    let build = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut packet = Vec::new();
        write(&mut packet);
        packet
    };
    let plain = build(&|out| {
        let tcp = ether().ipv4(A, B, 64).tcp(A_PORT, B_PORT, 1, 9);
        tcp.write(out, b"hello").expect("a packet in memory");
    });
    let vlan = build(&|out| {
        let (outer, inner) = (VlanId::ZERO, VlanId::ZERO);
        let tcp = ether().double_vlan(outer, inner).ipv4(A, B, 64);
        let tcp = tcp.tcp(A_PORT, B_PORT, 1, 9);
        tcp.write(out, b"hello").expect("a packet in memory");
    });
    let cooked = build(&|out| {
        let sll = PacketBuilder::linux_sll(etherparse::LinuxSllPacketType::HOST, 6, [0; 8]);
        let tcp = sll.ipv4(A, B, 64).tcp(A_PORT, B_PORT, 1, 9);
        tcp.write(out, b"hello").expect("a packet in memory");
    });
    let mut cooked2 = vec![0; 20];
    cooked2[..2].copy_from_slice(&0x86ddu16.to_be_bytes());
    let padded = framed(&plain, &[0xee; 6]);
    let table: &[(&str, u32, Vec<u8>)] = &[
        ("ethernet", 1, plain),
        ("ethernet with padding", 1, padded),
        ("ethernet with two tags", 1, vlan),
        (
            "ethernet, upper bits of the link type set",
            0x2400_0001,
            framed(&[0; 12], &framed(&[8, 0], &ipv4())),
        ),
        ("loopback, little-endian", 0, framed(&[2, 0, 0, 0], &ipv4())),
        ("loopback, big-endian", 0, framed(&[0, 0, 0, 2], &ipv4())),
        ("loopback of macOS, IPv6", 0, framed(&[30, 0, 0, 0], &ipv6())),
        ("loopback of OpenBSD", 108, framed(&[0, 0, 0, 24], &ipv6())),
        ("Linux cooked", 113, cooked),
        ("Linux cooked version 2", 276, framed(&cooked2, &ipv6())),
        ("raw IP", 101, ipv6()),
        ("raw IP of BSD", 12, ipv4()),
        ("raw IP of OpenBSD", 14, ipv4()),
        ("raw IPv4", 228, ipv4()),
        ("raw IPv6", 229, ipv6()),
    ];
    for (name, link, packet) in table {
        let heard = read(&pcap(*link, std::slice::from_ref(packet)));
        assert_eq!(heard.a_to_b(), hello(), "{name}");
    }
}

#[test]
fn ipv6_extension_headers_are_passed_over() {
    let plain = ipv6();
    let mut packet = plain[..40].to_vec();
    let extensions: [(u8, &[u8]); 4] = [
        (0, &[60, 0, 1, 4, 0, 0, 0, 0]),
        (60, &[51, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        (51, &[44, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        // A fragment that is the whole packet.
        (44, &[6, 0, 0, 0, 0, 0, 0, 9]),
    ];
    packet[6] = extensions[0].0;
    for (_, extension) in extensions {
        packet.extend_from_slice(extension);
    }
    packet.extend_from_slice(&plain[40..]);
    let len = u16::try_from(packet.len() - 40).expect("short");
    packet[4..6].copy_from_slice(&len.to_be_bytes());
    assert_eq!(read(&pcap(101, &[packet])).a_to_b(), hello());
}

#[test]
fn ipv4_options_are_passed_over() {
    let plain = ipv4();
    let mut packet = plain[..20].to_vec();
    packet[0] = 0x47;
    packet.extend_from_slice(&[1; 8]);
    packet.extend_from_slice(&plain[20..]);
    let len = u16::try_from(packet.len()).expect("short");
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    assert_eq!(read(&pcap(101, &[packet])).a_to_b(), hello());
}

#[test]
fn a_length_left_to_hardware_is_that_of_the_packet() {
    let (mut four, mut six) = (ipv4(), ipv6());
    four[2..4].fill(0);
    six[4..6].fill(0);
    for packet in [four, six] {
        assert_eq!(read(&pcap(101, &[packet])).a_to_b(), hello());
    }
}

#[test]
fn what_is_of_no_use_is_counted_by_reason() {
    let mut fragment = ipv4();
    fragment[6] = 0x20;
    let mut udp = ipv4();
    udp[9] = 17;
    let mut bad_header_len = ipv4();
    bad_header_len[0] = 0x42;
    let mut bad_data_offset = ipv4();
    bad_data_offset[32] = 0x10;
    let short = ipv4()[..30].to_vec();
    let none = Ignored::default();
    let table = [
        (101, fragment, Ignored { fragment: 1, ..none }),
        (101, udp, Ignored { not_tcp: 1, ..none }),
        (101, bad_header_len, Ignored { malformed: 1, ..none }),
        (101, bad_data_offset, Ignored { malformed: 1, ..none }),
        (101, short, Ignored { malformed: 1, ..none }),
        (101, vec![0x50; 40], Ignored { not_ip: 1, ..none }),
        (1, framed(&[0; 12], &[8, 6, 0, 1]), Ignored { not_ip: 1, ..none }),
        (0, vec![7, 0, 0, 0], Ignored { not_ip: 1, ..none }),
        (9_999, ipv4(), Ignored { link_type: 1, ..none }),
    ];
    for (link, packet, expected) in table {
        let (heard, result, source) = read_in(&pcap(link, &[packet]), 64);
        assert_eq!(result, Ok(()));
        assert!(heard.pieces.is_empty());
        assert_eq!(*source.ignored_packets(), expected);
    }
}

#[test]
fn no_damage_to_any_byte_of_a_packet_panics() {
    for packet in [ipv4(), ipv6()] {
        for at in 0..packet.len() {
            for bit in 0..8 {
                let mut damaged = packet.clone();
                damaged[at] ^= 1 << bit;
                read(&pcap(101, &[damaged, packet.clone()]));
            }
            read(&pcap(101, &[packet[..at].to_vec(), packet.clone()]));
        }
    }
}

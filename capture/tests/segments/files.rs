//! The two capture file formats: both byte orders, every clock, every cut.

use proptest::prelude::*;
use twolane_capture::{CloseReason, Format, MAX_INTERFACES, Opening, Reason, Source};

use crate::scene::{Event, Heard, a, after_opening, b, bytes, capture, opening, read, read_in};

const PEERS: &[u8] = include_bytes!("../../../fixtures/captures/peer-v1-loopback.pcap");

/// A pcapng block in one of the byte orders.
fn block(big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut padded = body.to_vec();
    padded.resize(body.len().next_multiple_of(4), 0);
    let len = number(big, u32::try_from(padded.len() + 12).expect("short"));
    [&number(big, kind)[..], &len, &padded, &len].concat()
}

fn number(big: bool, number: u32) -> [u8; 4] {
    if big { number.to_be_bytes() } else { number.to_le_bytes() }
}

fn section(big: bool) -> Vec<u8> {
    let magic = number(big, 0x1a2b_3c4d);
    let version = if big { [0, 1, 0, 0] } else { [1, 0, 0, 0] };
    block(big, 0x0a0d_0d0a, &[&magic[..], &version, &[0xff; 8]].concat())
}

fn half(big: bool, number: u16) -> [u8; 2] {
    if big { number.to_be_bytes() } else { number.to_le_bytes() }
}

fn option(big: bool, code: u16, value: &[u8]) -> Vec<u8> {
    let len = u16::try_from(value.len()).expect("short");
    let mut option = [&half(big, code)[..], &half(big, len), value].concat();
    option.resize(option.len().next_multiple_of(4), 0);
    option
}

/// Raw IP.
fn interface(big: bool, options: &[u8]) -> Vec<u8> {
    let body = [&half(big, 101)[..], &[0, 0], &number(big, 0), options].concat();
    block(big, 1, &body)
}

fn enhanced(big: bool, interface: u32, time: u64, data: &[u8], wire_len: usize) -> Vec<u8> {
    let high = u32::try_from(time >> 32).expect("half");
    let low = u32::try_from(time & 0xffff_ffff).expect("half");
    let captured = u32::try_from(data.len()).expect("short");
    let wire_len = u32::try_from(wire_len).expect("short");
    let fields = [interface, high, low, captured, wire_len];
    let mut body: Vec<u8> = fields.iter().flat_map(|field| number(big, *field)).collect();
    body.extend_from_slice(data);
    block(big, 6, &body)
}

fn whole(big: bool, time: u64, data: &[u8]) -> Vec<u8> {
    enhanced(big, 0, time, data, data.len())
}

#[test]
fn pcapng_of_both_byte_orders_and_several_sections() {
    for (first, second) in [(false, true), (true, false)] {
        let file = [
            section(first),
            interface(first, &[]),
            // Name resolution, to be skipped.
            block(first, 4, &[1, 2, 3, 4]),
            whole(first, 1, &a(1, "hello ").ip()),
            section(second),
            interface(second, &[]),
            whole(second, 2, &a(7, "world").ip()),
        ]
        .concat();
        let (heard, result, source) = read_in(&file, 7);
        assert_eq!(result, Ok(()));
        assert_eq!(source.format(), Some(Format::PcapNg));
        assert_eq!(heard.a_to_b()[1], bytes("hello world"));
        assert_eq!(heard.pieces[1].0, Some(1_000));
        assert_eq!(source.offset(), u64::try_from(file.len()).expect("short"));
    }
}

#[test]
fn pcapng_clocks() {
    let billion = 1_000_000_000;
    /// Resolution and offset in seconds as options say them, a time, and its nanoseconds.
    type Clock<'a> = (&'a [u8], Option<i64>, u64, Option<u64>);
    let table: &[Clock<'_>] = &[
        (&[], None, 1_500_000, Some(billion + 500_000_000)),
        (&[9], None, billion + 7, Some(billion + 7)),
        (&[0], None, 3, Some(3 * billion)),
        (&[12], None, 2_000_000_001_999, Some(2 * billion + 1)),
        (&[0x80 | 1], None, 3, Some(billion + 500_000_000)),
        (&[0x80 | 40], None, 3 << 39, Some(billion + 500_000_000)),
        (&[6], Some(-1), 1_500_000, Some(500_000_000)),
        (&[0], Some(5), 3, Some(8 * billion)),
        // Not to be expressed: no time is better than a wrong one.
        (&[0], None, u64::MAX, None),
        (&[6], Some(-2), 1_500_000, None),
        (&[20], None, 1, None),
    ];
    for (resolution, offset, time, expected) in table {
        let mut options = Vec::new();
        if !resolution.is_empty() {
            options.extend(option(false, 9, resolution));
        }
        if let Some(offset) = offset {
            options.extend(option(false, 14, &offset.to_le_bytes()));
        }
        let packet = whole(false, *time, &a(1, "x").ip());
        let heard = read(&[section(false), interface(false, &options), packet].concat());
        assert_eq!(heard.pieces[0].0, *expected, "{resolution:?} {offset:?} {time}");
    }
}

#[test]
fn pcapng_packets_of_the_other_kinds() {
    let packet = a(1, "simple").ip();
    let len = u32::try_from(packet.len()).expect("short");
    let simple = block(false, 3, &[&len.to_le_bytes()[..], &packet].concat());
    let packet = a(7, " old").ip();
    let fields = [0, 0, 9, u32::try_from(packet.len()).expect("short")];
    let mut body: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
    body.extend(u32::try_from(packet.len()).expect("short").to_le_bytes());
    body.extend(&packet);
    let old = block(false, 2, &body);
    let heard = read(&[section(false), interface(false, &[]), simple, old].concat());
    assert_eq!(heard.a_to_b()[1], bytes("simple old"));
    assert_eq!(heard.pieces[1].0, None);
    assert_eq!(heard.pieces[2].0, Some(9_000));
}

#[test]
fn pcap_of_every_magic() {
    let packet = a(1, "x").ip();
    let len = u32::try_from(packet.len()).expect("short");
    for (magic, expected) in [(0xa1b2_c3d4, 3_000_005_000), (0xa1b2_3c4d, 3_000_000_005)] {
        for big in [false, true] {
            let fields = [magic, 0x0004_0002, 0, 0, 65_535, 101, 3, 5, len, len];
            let mut file: Vec<u8> = fields.iter().flat_map(|field| number(big, *field)).collect();
            file.extend_from_slice(&packet);
            let heard = read(&file);
            assert_eq!(heard.a_to_b()[1], bytes("x"));
            assert_eq!(heard.pieces[0].0, Some(expected));
        }
    }
}

#[test]
fn what_the_snap_length_cut_off_is_missing() {
    let packet = a(1, "0123456789").ip();
    let next = a(11, "next").ip();
    let cut = |at: usize| {
        let cut = enhanced(false, 0, 1, &packet[..at], packet.len());
        let next = whole(false, 2, &next);
        let file = [section(false), interface(false, &[]), cut, next].concat();
        let (heard, result, source) = read_in(&file, 4096);
        assert_eq!(result, Ok(()));
        (heard.a_to_b(), *source.ignored_packets())
    };
    let joined = Event::Opened(Opening::Joined);
    let end = Event::Closed(CloseReason::EndOfCapture);
    let (events, _) = cut(packet.len() - 4);
    let expected = [joined.clone(), bytes("012345"), Event::Missing(4), bytes("next"), end.clone()];
    assert_eq!(events, expected);
    // Inside the TCP header's last fields.
    let (events, _) = cut(36);
    assert_eq!(events, [joined, Event::Missing(10), bytes("next"), end]);
    let (_, ignored) = cut(30);
    assert_eq!((ignored.headers_cut, ignored.total()), (1, 1));
}

#[test]
fn held_segments_keep_what_the_snap_length_cut_off() {
    let mut packets: Vec<_> = opening().iter().map(|segment| segment.ip()).collect();
    let mut file = [section(false), interface(false, &[])].concat();
    let late = a(1_004, "defghi").ip();
    for packet in packets.drain(..) {
        file.extend(whole(false, 1, &packet));
    }
    file.extend(enhanced(false, 0, 1, &late[..late.len() - 2], late.len()));
    file.extend(whole(false, 1, &a(1_001, "abc").ip()));
    file.extend(whole(false, 1, &a(1_010, "j").ip()));
    let heard = read(&file);
    let expected = [bytes("abcdefg"), Event::Missing(2), bytes("j")];
    assert_eq!(heard.a_to_b()[1..4], expected);
}

#[test]
fn a_file_cut_anywhere_delivers_what_is_whole() {
    let good = after_opening(&[a(1_001, "abc"), b(5_001, "xyz").ack(1_004)]);
    let mut segments = opening();
    segments.extend([a(1_001, "abc"), b(5_001, "xyz").ack(1_004)]);
    let file = capture(&segments);
    let mut ends = vec![24];
    for segment in &segments {
        ends.push(ends[ends.len() - 1] + 16 + segment.ip().len());
    }
    let is_close = |event: &Event| matches!(event, Event::Closed(_));
    let said =
        |heard: Heard| -> Vec<_> { heard.pieces.into_iter().filter(|piece| !is_close(&piece.3)).collect() };
    let all = said(good);
    let mut most = 0;
    for cut in 4..=file.len() {
        let (heard, result, _) = read_in(&file[..cut], cut);
        let pieces = said(heard);
        assert_eq!(pieces, all[..pieces.len()], "cut at {cut}");
        assert!(pieces.len() >= most);
        most = pieces.len();
        let start = ends.iter().rev().find(|end| **end <= cut).copied().unwrap_or(0);
        if cut == start {
            assert_eq!(result, Ok(()), "cut at {cut}");
            continue;
        }
        let fault = result.expect_err("a cut record");
        assert_eq!(fault.offset, u64::try_from(start).expect("short"), "cut at {cut}");
        let have = u64::try_from(cut - start).expect("short");
        let Reason::Truncated { have: found, need } = fault.reason else {
            panic!("{fault}");
        };
        assert_eq!(found, have);
        assert!(need > have);
    }
    assert_eq!(most, all.len());
}

#[test]
fn faults_name_the_record() {
    let head = [section(false), interface(false, &[])].concat();
    let at = u64::try_from(head.len()).expect("short");
    let mut odd_lengths = whole(false, 1, &a(1, "x").ip());
    let last = odd_lengths.len() - 4;
    odd_lengths[last] ^= 4;
    let huge = [6u32.to_le_bytes(), 0x7fff_fff0u32.to_le_bytes(), [0; 4]].concat();
    let short = block(false, 6, &[0; 8]);
    let past_the_end = enhanced(false, 0, 0, &[], 0);
    let mut past_the_end = past_the_end;
    past_the_end[20] = 200;
    let table: &[(&str, Vec<u8>, Reason)] = &[
        ("lengths differ", odd_lengths, Reason::BlockLength),
        ("no block is that short", [6, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0].to_vec(), Reason::BlockLength),
        ("not a multiple of four", [6, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0].to_vec(), Reason::BlockLength),
        ("too long", huge, Reason::RecordTooLong { len: 0x7fff_fff0 }),
        ("too short for its fields", short, Reason::BlockBody),
        ("data past the block", past_the_end, Reason::BlockBody),
        ("no such interface", enhanced(false, 3, 0, &[], 0), Reason::UnknownInterface { number: 3 }),
        ("no byte order", block(false, 0x0a0d_0d0a, &[9; 16]), Reason::NotPcapNg),
    ];
    for (name, tail, reason) in table {
        let before = whole(false, 1, &a(1, "before").ip());
        let offset = at + u64::try_from(before.len()).expect("short");
        let file = [&head[..], &before, tail].concat();
        let (heard, result, _) = read_in(&file, 64);
        let fault = result.expect_err(name);
        assert_eq!((fault.offset, fault.reason), (offset, *reason), "{name}");
        assert_eq!(heard.a_to_b()[1], bytes("before"), "{name}");
    }
    let many = interface(false, &[]).repeat(MAX_INTERFACES + 1);
    let (_, result, _) = read_in(&[section(false), many].concat(), 4096);
    assert_eq!(result.map_err(|fault| fault.reason), Err(Reason::TooManyInterfaces));
    let mut file = capture(&[a(1, "x")]);
    file[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
    let (_, result, _) = read_in(&file, 4096);
    let reason = Reason::RecordTooLong { len: u64::from(u32::MAX) };
    assert_eq!(result.map_err(|fault| (fault.offset, fault.reason)), Err((24, reason)));
}

#[test]
fn a_growing_file_yields_each_packet_as_it_completes() {
    let segments = [a(1, "one"), a(4, "two")];
    let file = capture(&segments);
    let first_end = 24 + 16 + segments[0].ip().len();
    let mut heard = Heard::default();
    let mut source = Source::new();
    for (at, byte) in file.iter().enumerate() {
        source.push(&[*byte], &mut heard).expect("a good file");
        let expected = usize::from(at + 1 >= first_end) * 2 + usize::from(at + 1 == file.len());
        assert_eq!(heard.pieces.len(), expected, "after byte {at}");
    }
}

#[test]
fn nothing_is_read_after_the_end() {
    let mut heard = Heard::default();
    let mut source = Source::with_format(Format::Raw);
    source.push(b"x", &mut heard).expect("raw");
    source.finish(&mut heard).expect("raw");
    let pieces = heard.pieces.len();
    source.push(b"y", &mut heard).expect("ignored");
    source.finish(&mut heard).expect("again");
    assert_eq!(heard.pieces.len(), pieces);
    let (_, result, _) = read_in(b"", 1);
    assert_eq!(result.map_err(|fault| fault.reason), Err(Reason::Empty));
}

proptest! {
    #[test]
    fn any_chunks_give_the_same_pieces(cuts in prop::collection::vec(1usize..3_000, 1..60)) {
        for file in [capture(&opening()), PEERS.to_vec()] {
            let mut heard = Heard::default();
            let mut source = Source::new();
            let mut rest = &file[..];
            for cut in &cuts {
                let (head, tail) = rest.split_at(*cut.min(&rest.len()));
                source.push(head, &mut heard).expect("a good file");
                rest = tail;
            }
            source.push(rest, &mut heard).expect("a good file");
            source.finish(&mut heard).expect("a good file");
            prop_assert_eq!(&heard, &read(&file));
        }
    }

    #[test]
    fn no_bytes_panic(file in prop::collection::vec(any::<u8>(), 0..600), magic in 0usize..4, chunk in 1usize..50) {
        let magics: [&[u8]; 4] = [&[], &PEERS[..24], &section(false), &section(true)];
        let file = [magics[magic], &file].concat();
        let (whole, result, _) = read_in(&file, file.len().max(1));
        let (chunked, again, _) = read_in(&file, chunk);
        prop_assert_eq!(result, again);
        prop_assert_eq!(whole.a_to_b(), chunked.a_to_b());
    }

    #[test]
    fn damaged_captures_never_panic(at in 24usize..PEERS.len(), byte: u8, chunk in 1usize..5_000) {
        let mut file = PEERS.to_vec();
        file[at] = byte;
        let (whole, result, _) = read_in(&file, file.len());
        let (chunked, again, _) = read_in(&file, chunk);
        prop_assert_eq!(result, again);
        prop_assert_eq!(whole, chunked);
    }
}

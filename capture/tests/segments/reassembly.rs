//! TCP segments of every disorder to the bytes that were sent.

use twolane_capture::{
    ACK_GRACE_PACKETS, CloseReason, Direction, MAX_CONNECTIONS, MAX_HELD_BYTES, MAX_REORDER_PACKETS, Opening,
};

use crate::scene::{
    A_PORT, B_PORT, Event, Seg, a, after_opening, b, bytes, capture, opening, pcap, read, read_in,
};

const SYN: Event = Event::Opened(Opening::Syn);
const JOINED: Event = Event::Opened(Opening::Joined);
const FIN: Event = Event::Closed(CloseReason::Fin);
const END: Event = Event::Closed(CloseReason::EndOfCapture);

#[test]
fn a_whole_connection() {
    let heard = after_opening(&[
        a(1_001, "hello").ack(5_001),
        b(5_001, "welcome").ack(1_006),
        a(1_006, "").flags("F").ack(5_008),
        b(5_008, "!").flags("F").ack(1_007),
        a(1_007, "").ack(5_010),
    ]);
    assert_eq!(heard.a_to_b(), [SYN, bytes("hello"), FIN]);
    assert_eq!(heard.b_to_a(), [SYN, bytes("welcome!"), FIN]);
    assert_eq!(heard.guessed, [false, false]);
    let times: Vec<_> = heard.pieces.iter().map(|piece| piece.0).collect();
    let second = 1_000_000_000;
    let expected = [0, 1, 3, 4, 5, 6, 6].map(|at| Some(at * second));
    assert_eq!(times, expected);
}

#[test]
fn disorder_within_a_direction() {
    let table: &[(&str, &[Seg], &str)] = &[
        ("reordered", &[a(1_004, "def"), a(1_001, "abc"), a(1_007, "g")], "abcdefg"),
        ("backwards", &[a(1_003, "c"), a(1_002, "b"), a(1_001, "a")], "abc"),
        ("duplicated", &[a(1_001, "abc"), a(1_001, "abc"), a(1_004, "d")], "abcd"),
        ("duplicated ahead", &[a(1_002, "b"), a(1_002, "b"), a(1_001, "a")], "ab"),
        ("overlapping what is out", &[a(1_001, "abc"), a(1_002, "XYd")], "abcd"),
        ("overlapping what is held", &[a(1_003, "cd"), a(1_001, "abXYe")], "abcde"),
        ("between two held", &[a(1_002, "b"), a(1_004, "d"), a(1_001, "aXcXe")], "abcde"),
        ("keep-alive of one byte", &[a(1_001, "abc"), a(1_003, "?"), a(1_004, "d")], "abcd"),
        ("keep-alive of none", &[a(1_001, "abc"), a(1_003, ""), a(1_004, "d")], "abcd"),
    ];
    for (name, segments, expected) in table {
        let heard = after_opening(segments);
        assert_eq!(heard.a_to_b(), [SYN, bytes(expected), END], "{name}");
    }
}

#[test]
fn every_packet_twice_is_as_once() {
    let mut once = opening();
    once.extend([
        a(1_001, "one"),
        b(5_001, "two").ack(1_004),
        a(1_004, "three").flags("F").ack(5_004),
        b(5_004, "").flags("F").ack(1_010),
        a(1_010, "").ack(5_005),
    ]);
    let twice: Vec<_> = once.iter().flat_map(|segment| [*segment; 2]).collect();
    let (once, twice) = (read(&capture(&once)), read(&capture(&twice)));
    let events = |heard: &crate::scene::Heard| -> Vec<_> {
        let pieces = heard.pieces.iter();
        pieces.map(|piece| (piece.1, piece.2, piece.3.clone())).collect()
    };
    assert_eq!(events(&once), events(&twice));
    assert_eq!(once.a_to_b(), [SYN, bytes("onethree"), FIN]);
}

#[test]
fn sequence_numbers_wrap_around() {
    let start = u32::MAX - 2;
    let syn = Seg { ack: None, ..a(start, "").flags("S") };
    let segments = [syn, a(1, "defg"), a(u32::MAX - 1, "abc"), a(5, "").flags("F")];
    let heard = read(&capture(&segments));
    assert_eq!(heard.a_to_b(), [SYN, bytes("abcdefg"), FIN]);
}

#[test]
fn a_hole_is_declared_some_packets_after_the_other_side_acknowledged_it() {
    let mut segments = vec![a(1_001, "abc"), a(1_009, "ijk"), b(5_001, "").ack(1_012)];
    for _ in 0..ACK_GRACE_PACKETS {
        segments.push(b(5_001, "").ack(1_012));
    }
    segments.push(a(1_012, "l"));
    let heard = after_opening(&segments);
    let expected = [SYN, bytes("abc"), Event::Missing(5), bytes("ijkl"), END];
    assert_eq!(heard.a_to_b(), expected);
    // By then already, not at the end.
    let declared = (5 + ACK_GRACE_PACKETS) * 1_000_000_000;
    assert_eq!((heard.pieces[3].0, &heard.pieces[3].3), (Some(declared), &Event::Missing(5)));
    // The bytes behind the hole keep the time they were captured at.
    assert_eq!(heard.pieces[4].0, Some(4_000_000_000));
}

#[test]
fn an_acknowledgement_between_bytes_that_changed_places_loses_nothing() {
    let heard = after_opening(&[a(1_004, "def"), b(5_001, "x").ack(1_007), a(1_001, "abc")]);
    assert_eq!(heard.a_to_b(), [SYN, bytes("abcdef"), END]);
}

#[test]
fn a_lost_tail_is_declared_after_some_packets_or_at_the_end() {
    let lost = [a(1_001, "abc"), b(5_001, "").ack(1_010)];
    let expected = [SYN, bytes("abc"), Event::Missing(6), END];
    assert_eq!(after_opening(&lost).a_to_b(), expected);
    let mut more = lost.to_vec();
    for _ in 0..ACK_GRACE_PACKETS {
        more.push(b(5_001, "").ack(1_010));
    }
    more.push(a(1_004, "late!!g"));
    let expected = [SYN, bytes("abc"), Event::Missing(6), bytes("g"), END];
    assert_eq!(after_opening(&more).a_to_b(), expected);
}

#[test]
fn an_acknowledgement_captured_before_its_bytes_loses_nothing() {
    let heard = after_opening(&[
        b(5_001, "x").ack(1_004),
        a(1_001, "abc"),
        b(5_002, "y").ack(1_007),
        a(1_004, "def"),
    ]);
    assert_eq!(heard.a_to_b(), [SYN, bytes("abcdef"), END]);
}

#[test]
fn a_hole_is_declared_after_a_stated_number_of_packets() {
    let mut segments = vec![a(1_002, "b")];
    let keep_alive = b(5_000, "");
    let count = usize::try_from(MAX_REORDER_PACKETS).expect("small");
    segments.resize(count, keep_alive);
    let mut late = segments.clone();
    late.push(a(1_001, "a"));
    assert_eq!(after_opening(&late).a_to_b(), [SYN, bytes("ab"), END]);
    segments.extend([keep_alive, a(1_001, "a")]);
    let heard = after_opening(&segments);
    assert_eq!(heard.a_to_b(), [SYN, Event::Missing(1), bytes("b"), END]);
}

#[test]
fn a_hole_is_declared_when_too_much_is_held_behind_it() {
    let payload: &'static str = Box::leak("x".repeat(60_000).into_boxed_str());
    let count = u32::try_from(MAX_HELD_BYTES / payload.len()).expect("small") + 1;
    let mut segments: Vec<_> = (0..count).map(|n| a(1_002 + n * 60_000, payload)).collect();
    segments.push(a(1_001, "a"));
    let heard = after_opening(&segments);
    let all = payload.repeat(usize::try_from(count).expect("small"));
    let expected = [SYN, Event::Missing(1), bytes(&all), END];
    assert!(heard.a_to_b() == expected, "the hole, then all that was held");
    segments.remove(0);
    segments.insert(0, a(1_001, "a"));
    assert_eq!(after_opening(&segments).a_to_b()[1], bytes("a"));
}

#[test]
fn a_fin_ahead_of_lost_bytes() {
    let heard = after_opening(&[a(1_001, "ab"), a(1_006, "").flags("F")]);
    assert_eq!(heard.a_to_b(), [SYN, bytes("ab"), Event::Missing(3), FIN]);
}

#[test]
fn a_reset_closes_both_directions() {
    let heard = after_opening(&[a(1_001, "ab"), a(1_005, "ef"), b(5_001, "").flags("R"), a(1_003, "cd")]);
    let reset = Event::Closed(CloseReason::Reset);
    let expected = [SYN, bytes("ab"), Event::Missing(2), bytes("ef"), reset.clone()];
    assert_eq!(heard.a_to_b(), expected);
    assert_eq!(heard.b_to_a(), [SYN, reset]);
}

#[test]
fn a_capture_that_joins_in_the_middle_guesses_the_sides_by_port() {
    let heard = read(&capture(&[b(700, "from b").ack(300), a(300, "from a").ack(706)]));
    assert_eq!(heard.a_to_b(), [JOINED, bytes("from a"), END]);
    assert_eq!(heard.b_to_a(), [JOINED, bytes("from b"), END]);
    assert_eq!(heard.guessed, [true, true]);
}

#[test]
fn an_acknowledgement_says_where_the_other_direction_begins() {
    // The SYN's answer and the first bytes of `b` are not in the capture.
    let heard = read(&capture(&[opening()[0], a(1_001, ""), b(5_004, "def"), a(1_001, "").ack(5_007)]));
    assert_eq!(heard.b_to_a(), [JOINED, Event::Missing(3), bytes("def"), END]);
}

#[test]
fn a_direction_of_which_nothing_was_captured_is_missing() {
    let heard = after_opening(&[b(5_001, "x").ack(1_001), b(5_002, "y").ack(9_001)]);
    assert_eq!(heard.a_to_b(), [SYN, Event::Missing(8_000), END]);
}

#[test]
fn ports_used_again_are_another_connection() {
    let syn = Seg { ack: None, ..a(90_000, "").flags("S") };
    let heard = after_opening(&[
        a(1_001, "old"),
        syn,
        b(70_000, "").flags("S").ack(90_001),
        a(90_001, "new").ack(70_001),
        syn,
    ]);
    let replaced = Event::Closed(CloseReason::Replaced);
    assert_eq!(heard.a_to_b(), [SYN, bytes("old"), replaced.clone()]);
    assert_eq!(heard.b_to_a(), [SYN, replaced]);
    let second = heard.direction(2, Direction::AToB);
    assert_eq!(second, [SYN, bytes("new"), END]);
    assert_eq!(heard.direction(2, Direction::BToA), [SYN, END]);
    assert!(heard.direction(3, Direction::AToB).is_empty());
}

#[test]
fn the_side_that_answers_a_syn_is_b_even_where_the_syn_is_lost() {
    let heard = read(&capture(&[b(5_000, "").flags("S"), a(1_001, "x")]));
    assert_eq!(heard.a_to_b(), [JOINED, bytes("x"), END]);
    assert_eq!(heard.b_to_a(), [SYN, END]);
    assert_eq!(heard.guessed, [false, false]);
}

#[test]
fn segments_that_cannot_belong_are_counted() {
    let mut segments = opening();
    segments.extend([
        a(1_001u32.wrapping_add((1 << 30) + 1), "far"),
        a(1_001, "").flags("F"),
        a(1_002, "after"),
    ]);
    let (heard, result, source) = read_in(&capture(&segments), 4096);
    assert_eq!(result, Ok(()));
    assert_eq!(heard.a_to_b(), [SYN, FIN]);
    let ignored = source.ignored_packets();
    assert_eq!((ignored.out_of_window, ignored.after_close), (1, 1));
    assert_eq!(ignored.total(), 2);
}

#[test]
fn one_connection_too_many_closes_the_idlest() {
    let from_port = |port: u16, second: bool| {
        let mut packet = Vec::new();
        let tcp = etherparse::PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
        let tcp = tcp.tcp(port, B_PORT, if second { 101 } else { 100 }, 1_000);
        tcp.write(&mut packet, b"x").expect("a packet in memory");
        packet
    };
    let connections = u16::try_from(MAX_CONNECTIONS).expect("small");
    let mut packets: Vec<_> = (0..connections).map(|n| from_port(A_PORT - 20_000 + n, false)).collect();
    // The first is not idle, the second is.
    packets.push(from_port(A_PORT - 20_000, true));
    packets.push(from_port(A_PORT, false));
    let heard = read(&pcap(101, &packets));
    let forgotten = Event::Closed(CloseReason::Forgotten);
    assert_eq!(heard.a_to_b(), [JOINED, bytes("xx"), END]);
    let second = heard.direction(2, Direction::AToB);
    assert_eq!(second, [JOINED, bytes("x"), forgotten]);
    let newest = heard.direction(u32::from(connections) + 1, Direction::AToB);
    assert_eq!(newest, [JOINED, bytes("x"), END]);
}

//! Our own tap, written and read back, and read by another's tool.

use std::process::Command;

use twolane_capture::tap::{Kind, Label, MAX_PACKET_BYTES, joined, lost, packet, section};
use twolane_capture::{Direction, Loss, Source};

use crate::scene::{Event, Heard, read, read_in};

const LABEL: Label<'_> = Label { connection: 7, endpoint: "local", kind: Kind::Frame };
const COMMENT: &str = "twolane conn=7 endpoint=local kind=frame";

fn unit(bytes: &[u8], comment: &str) -> Event {
    Event::Packet(bytes.to_vec(), Some(comment.into()))
}

fn tapped(units: &[(u64, Direction, Label<'_>, &[u8])]) -> Vec<u8> {
    let mut file = Vec::new();
    section(&mut file);
    for (time_ns, direction, label, bytes) in units {
        packet(&mut file, *time_ns, *direction, *label, bytes);
    }
    file
}

#[test]
fn units_come_back_as_they_were_written() {
    let handshake = Label { connection: 8, endpoint: "other", kind: Kind::Handshake };
    let time_ns = 1_790_000_000_123_456_789;
    let file = tapped(&[
        (time_ns, Direction::AToB, LABEL, b"12345"),
        (time_ns + 1, Direction::BToA, handshake, b""),
        (time_ns + 2, Direction::BToA, LABEL, b"1234"),
    ]);
    for chunk in [1, file.len()] {
        let (heard, result, source) = read_in(&file, chunk);
        assert_eq!(result, Ok(()));
        assert_eq!(source.ignored_packets().total(), 0);
        let other = "twolane conn=8 endpoint=other kind=handshake";
        let expected = [
            (Some(time_ns), 7, Direction::AToB, unit(b"12345", COMMENT)),
            (Some(time_ns + 1), 8, Direction::BToA, unit(b"", other)),
            (Some(time_ns + 2), 7, Direction::BToA, unit(b"1234", COMMENT)),
        ];
        assert_eq!(heard.pieces, expected);
    }
}

#[test]
fn a_later_section_has_numbers_of_its_own() {
    let file = tapped(&[(1, Direction::AToB, LABEL, b"x")]);
    let heard = read(&file.repeat(2));
    let numbers: Vec<_> = heard.pieces.iter().map(|piece| piece.1).collect();
    assert_eq!(numbers, [7, 14]);
}

#[test]
fn what_a_tap_did_not_write_comes_back_with_its_count() {
    let mut file = tapped(&[]);
    joined(&mut file, 1, 12, 4321);
    packet(&mut file, 2, Direction::BToA, LABEL, b"x");
    lost(&mut file, 3, Direction::BToA, LABEL, 3, 0);
    // What the units of a later section follow is no connection of an earlier one.
    let heard = read(&file.repeat(2));
    let section = |number| {
        [
            (Some(1), 0, Direction::AToB, Event::Lost(12, 4321, Loss::Earlier)),
            (Some(2), number, Direction::BToA, unit(b"x", COMMENT)),
            (Some(3), number, Direction::BToA, Event::Lost(3, 0, Loss::Overrun)),
        ]
    };
    assert_eq!(heard.pieces, [section(7), section(14)].concat());
}

#[test]
fn labels() {
    assert_eq!(Label::parse(COMMENT), Some(LABEL));
    assert_eq!(Label::parse(&format!("{COMMENT} later=word")), Some(LABEL));
    for broken in [
        "",
        "twolane",
        "tulane conn=7 endpoint=local kind=frame",
        "twolane conn=x endpoint=local kind=frame",
        "twolane conn=7 endpoint=local kind=song",
        "twolane endpoint=local conn=7 kind=frame",
    ] {
        assert_eq!(Label::parse(broken), None, "{broken}");
    }
    let spaced = Label { endpoint: "my endpoint", ..LABEL };
    let heard = read(&tapped(&[(1, Direction::AToB, spaced, b"x")]));
    let comment = "twolane conn=7 endpoint=my_endpoint kind=frame";
    assert_eq!(heard.pieces[0].3, unit(b"x", comment));
}

#[test]
fn a_long_unit_is_one_again() {
    for len in [MAX_PACKET_BYTES, MAX_PACKET_BYTES + 1, 3 * MAX_PACKET_BYTES, 1_000_000] {
        let long: Vec<u8> = (0..len).map(|n| u8::try_from(n % 251).expect("small")).collect();
        let file = tapped(&[(5, Direction::BToA, LABEL, &long), (6, Direction::BToA, LABEL, b"next")]);
        let heard = read(&file);
        let events = heard.direction(7, Direction::BToA);
        assert!(events == [unit(&long, COMMENT), unit(b"next", COMMENT)], "{len}");
        assert_eq!(heard.pieces[0].0, Some(5));
    }
}

#[test]
fn a_long_unit_that_lacks_parts_says_so() {
    let long = vec![1; 2 * MAX_PACKET_BYTES + 10];
    let mut all = tapped(&[]);
    let head = all.len();
    packet(&mut all, 1, Direction::AToB, LABEL, &long);
    let block = u32::from_le_bytes(all[head + 4..head + 8].try_into().expect("4 bytes"));
    let first_end = head + usize::try_from(block).expect("small");
    let least = u64::try_from(MAX_PACKET_BYTES).expect("small");
    // Only the first part, then another unit.
    let mut file = all[..first_end].to_vec();
    packet(&mut file, 2, Direction::AToB, LABEL, b"next");
    let events = read(&file).direction(7, Direction::AToB);
    let first = unit(&long[..MAX_PACKET_BYTES], COMMENT);
    let expected = [first, Event::Missing(least + 1), unit(b"next", COMMENT)];
    assert!(events == expected);
    // All but the first part.
    let file = [&all[..head], &all[first_end..]].concat();
    let events = read(&file).direction(7, Direction::AToB);
    assert_eq!(events[0], Event::Missing(least));
    let Event::Packet(bytes, Some(comment)) = &events[1] else {
        panic!("a part by itself");
    };
    assert_eq!(bytes.len(), MAX_PACKET_BYTES);
    assert_eq!(*comment, format!("{COMMENT} part=2/3"));
    // The file ends after the first part.
    let events = read(&all[..first_end]).direction(7, Direction::AToB);
    assert_eq!(events.len(), 2);
}

#[test]
fn tcpdump_reads_the_tap() {
    let long = vec![7; MAX_PACKET_BYTES + 1];
    let file = tapped(&[
        (1_500_000_000_000_000_001, Direction::AToB, LABEL, b"hello"),
        (1_500_000_000_000_000_002, Direction::BToA, LABEL, &long),
    ]);
    let name = format!("twolane-tap-{}.pcapng", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, file).expect("a temporary file");
    let output = Command::new("tcpdump")
        .args(["-tt", "--nano", "-r"])
        .arg(&path)
        .output()
        .expect("tcpdump, which `cargo xtask setup` installs");
    std::fs::remove_file(&path).expect("the temporary file");
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{faults}");
    assert!(faults.contains("link-type 147"), "{faults}");
    let lines = String::from_utf8_lossy(&output.stdout);
    let times: Vec<_> = lines.lines().filter(|line| line.starts_with('1')).collect();
    assert_eq!(times.len(), 3, "{lines}");
    assert!(times[0].starts_with("1500000000.000000001"), "{lines}");
}

#[test]
fn a_tap_cut_anywhere_gives_its_whole_units() {
    let units: [(u64, Direction, Label<'_>, &[u8]); 2] =
        [(1, Direction::AToB, LABEL, b"12345"), (2, Direction::BToA, LABEL, b"67")];
    let file = tapped(&units);
    let mut most = 0;
    for cut in 4..=file.len() {
        let mut heard = Heard::default();
        let mut source = Source::new();
        source.push(&file[..cut], &mut heard).expect("good so far");
        let result = source.finish(&mut heard);
        let whole = source.offset() == u64::try_from(cut).expect("short");
        assert_eq!(result.is_ok(), whole, "cut at {cut}");
        assert!(heard.pieces.len() >= most);
        most = heard.pieces.len();
    }
    assert_eq!(most, 2);
}

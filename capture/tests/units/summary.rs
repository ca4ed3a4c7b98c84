//! The line that the table and the page show.

use twolane_capture::summary::{line, what};
use twolane_capture::tap::{self, Label};
use twolane_capture::units::Options;
use twolane_capture::{Direction, Format, Index};
use twolane_core::envelope::{Flags, Version};

use crate::wire::{delta, finished, frame, gap, handshake, key, payload};

fn index_of(format: Format, bytes: &[u8]) -> Index {
    let mut index = Index::with_format(format, Options::default());
    index.push(bytes).unwrap();
    index.finish().unwrap();
    index
}

/// What the units of one direction are, and their lines.
fn lines(bytes: &[u8], room: usize) -> Vec<(&'static str, String)> {
    let index = index_of(Format::Raw, bytes);
    (0..index.len()).map_while(|i| index.unit(i)).map(|unit| (what(&unit.row), line(&unit, room))).collect()
}

fn line_of(bytes: &[u8]) -> String {
    lines(bytes, 200).remove(0).1
}

#[test]
fn a_frame_is_its_tag_and_the_members_of_its_payload() {
    let seen = lines(&[delta(0), gap(3, 3), finished(0)].concat(), 200);
    let expected = [
        ("text_delta", "message_id: \"m\"  delta: \"words of some length\""),
        ("display_gap", "dropped: 3"),
        ("finished", "LAST"),
    ];
    assert_eq!(seen, expected.map(|(what, line)| (what, line.to_owned())));
}

#[test]
fn a_tag_that_nobody_knows_is_shown_as_it_is_spelled() {
    let unknown = frame(Flags::CONTROL, 3, &payload(0, r#"{"type":"song","verse":{"line":2}}"#));
    assert_eq!(lines(&unknown, 200), [("StreamData", "type: \"song\"  line: 2".to_owned())]);
}

#[test]
fn what_is_wrong_comes_first() {
    let cut = &delta(0)[..60];
    assert!(line_of(cut).starts_with("FAULT the stream ends inside the body"), "{}", line_of(cut));
    let broken = &lines(&[delta(0), delta(2)].concat(), 200)[1].1;
    assert!(broken.starts_with("LAW BROKEN seq is 2, expected 1  message_id"), "{broken}");
    let joined = line_of(&delta(4));
    assert!(joined.starts_with("(joined here)  message_id"), "{joined}");
    assert!(line_of(&frame(Flags::CONTROL, 3, &payload(0, "{}"))).starts_with("FAULT `type`: missing"));
}

#[test]
fn a_handshake_shows_who_is_there_and_nothing_that_no_eye_compares() {
    let mut index = index_of(Format::Raw, &handshake().concat());
    let said = |index: &Index, i| line(&index.unit(i).unwrap(), 200);
    assert_eq!(said(&index, 0), "role: \"client\"");
    assert_eq!(said(&index, 1), format!("daemon_id: {}  daemon_ver: \"test\"", "05".repeat(16)));
    assert_eq!(what(&index.unit(1).unwrap().row), "ServerProof");
    index.set_key(Some(&key(1)));
    assert_eq!(said(&index, 2), "verified");
    index.set_key(Some(&key(2)));
    assert!(said(&index, 1).starts_with("NOT VERIFIED"));
}

#[test]
fn what_a_tap_did_not_write_is_counted_in_units_and_bytes() {
    let label = Label { connection: 1, endpoint: "providers", kind: tap::Kind::Frame };
    let mut file = Vec::new();
    tap::section(&mut file);
    tap::joined(&mut file, 1, 1, 70);
    tap::lost(&mut file, 2, Direction::BToA, label, 12, 4321);
    tap::lost(&mut file, 2, Direction::BToA, label, 1, 1_000_001);
    let index = index_of(Format::PcapNg, &file);
    let said: Vec<_> = (0..3).map(|i| line(&index.unit(i).unwrap(), 200)).collect();
    let expected = [
        "1 unit passed before the tap was joined, 70 bytes",
        "12 units lost by the tap, 4,321 bytes",
        "1 unit lost by the tap, 1,000,001 bytes",
    ];
    assert_eq!(said, expected);
    let totals = index.totals();
    assert_eq!((totals.lost, totals.earlier, totals.missing), (13, 1, 1_004_322));
    assert_eq!(
        index.ways().iter().filter_map(|way| way.endpoint.as_deref()).collect::<Vec<_>>(),
        ["-", "providers"]
    );
}

#[test]
fn other_bodies_are_text_or_hexadecimal() {
    assert_eq!(line_of(&frame(Flags::CONTROL, 3, br#"{"other": "schema"}"#)), r#"{"other": "schema"}"#);
    assert_eq!(line_of(&frame(Flags::CONTROL, 3, &[0xee, 0, 1])), "ee0001");
    let long = frame(Flags::CONTROL, 3, "é".repeat(300).as_bytes());
    assert_eq!(lines(&long, 9), [("StreamData", format!("{}…", "é".repeat(8)))]);
}

#[test]
fn a_line_fits_its_room_and_cannot_steer_what_shows_it() {
    let text = r#"{"type":"text_delta","message_id":"m","delta":"\u001b[2J\u202eabc"}"#;
    let hostile = frame(Flags::display(Version::V1), 3, &payload(0, text));
    assert_eq!(lines(&hostile, 200)[0].1, r#"message_id: "m"  delta: "\u{1b}[2J\u{202e}abc""#);
    let whole = lines(&hostile, 200)[0].1.chars().count();
    for room in 0..=whole {
        let line = &lines(&hostile, room)[0].1;
        assert!(line.chars().count() <= room, "{room}: {line}");
        assert_eq!(line.ends_with('…'), room > 0 && room < whole, "{room}: {line}");
    }
}

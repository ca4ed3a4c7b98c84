//! The page's face over a recorded capture.

use twolane_capture::Direction;
use twolane_capture::tap::{Kind, Label, lost, section};
use twolane_wasm::{Detail, Inspector, Keyring, dissect, names};

const CAPTURE: &[u8] = include_bytes!("../../fixtures/captures/peer-v1-loopback.pcap");

fn opened() -> Inspector {
    let mut inspector = Inspector::new(false);
    for chunk in CAPTURE.chunks(1000) {
        assert_eq!(inspector.push(chunk), None);
    }
    assert_eq!(inspector.finish(), None);
    inspector
}

/// The unit of `inspector` whose summary holds `words`.
fn unit_with(inspector: &Inspector, words: &str) -> u32 {
    (0..inspector.len()).find(|unit| inspector.summary(*unit).contains(words)).expect("no such unit")
}

#[test]
fn a_capture_is_held_with_its_format_and_all_its_units() {
    let inspector = opened();
    assert_eq!(inspector.len(), 44);
    assert_eq!(inspector.format(), "pcap");
    assert!(inspector.base_ns().is_some());
}

#[test]
fn a_unit_is_taken_apart_into_records_that_point_into_one_text() {
    let inspector = opened();
    let unit = unit_with(&inspector, "delta: \"Let me \"");
    let mut detail = inspector.detail(unit);
    assert_eq!(detail.fault(), None);
    let (records, text) = (detail.records(), detail.text());
    assert_eq!(records.len() % 8, 0);
    let name = |record: &[u32]| {
        String::from_utf8(text[record[5] as usize..record[6] as usize].to_vec()).expect("names are UTF-8")
    };
    let channel = records.chunks(8).find(|record| name(record) == "channel").expect("no field channel");
    assert_eq!(channel[1..4], [7, 7, 9]);
    assert_eq!(text[channel[6] as usize..channel[7] as usize], *b"3");
    let last = records.chunks(8).map(|record| record[3] as usize).max();
    assert_eq!(last, Some(inspector.unit_bytes(unit).len()));
}

#[test]
fn a_filter_chooses_units_and_a_bad_one_changes_nothing() {
    let mut inspector = opened();
    assert!(inspector.set_filter("kind=handshake").is_none());
    assert_eq!(inspector.matching(0, 44), [0, 1, 2]);
    assert_eq!(inspector.matching(1, 1000), [1, 2]);
    let fault = inspector.set_filter("kind=handshake and colour=red").expect("red is no colour here");
    assert_eq!(fault.offset, 19);
    assert_eq!(inspector.matching(0, 44), [0, 1, 2]);
}

#[test]
fn a_key_given_afterwards_verifies_the_handshake() {
    let mut inspector = opened();
    assert!(inspector.set_key("00").is_some());
    let key: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(inspector.set_key(&key), None);
    assert_eq!((inspector.verified(), inspector.refuted()), (2.0, 0.0));
    assert_eq!(inspector.set_key(&key.replace("1f", "20")), None);
    assert_eq!((inspector.verified(), inspector.refuted()), (0.0, 2.0));
    assert_eq!(inspector.set_key(""), None);
    assert_eq!((inspector.verified(), inspector.refuted()), (0.0, 0.0));
}

#[test]
fn a_fault_names_its_byte_and_what_was_read_before_is_there() {
    let mut inspector = Inspector::new(false);
    assert_eq!(inspector.push(b"00 00 00 00 01 63 02 03 00 01 00 00 00 00 00 00 00"), None);
    assert_eq!(inspector.finish(), None);
    let mut detail = inspector.detail(0);
    assert_eq!(detail.fault_byte(), Some(5));
    assert!(detail.fault().expect("a type of 99 is a fault").starts_with("byte 5: "));
    assert!(!detail.records().is_empty());
}

#[test]
fn what_a_tap_did_not_write_is_told_in_the_list_and_beside_the_fields() {
    let label = Label { connection: 1, endpoint: "providers", kind: Kind::Frame };
    let mut file = Vec::new();
    section(&mut file);
    lost(&mut file, 1, Direction::BToA, label, 12, 4321);
    let mut inspector = Inspector::new(false);
    assert_eq!(inspector.push(&file), None);
    let told = "12 units lost by the tap, 4,321 bytes";
    assert_eq!(inspector.summary(0), told);
    assert_eq!(inspector.detail(0).fault().as_deref(), Some(told));
}

#[test]
fn nothing_is_there_past_the_end() {
    let inspector = opened();
    assert_eq!(inspector.summary(44), "");
    assert!(inspector.unit_bytes(u32::MAX).is_empty());
    assert!(inspector.detail(44).records().is_empty());
    assert!(inspector.matching(44, u32::MAX).is_empty());
}

#[test]
fn bytes_without_a_capture_are_taken_apart_by_kind() {
    let ping = [0, 0, 0, 0, 1, 7, 2, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    let mut detail = dissect("frame", &ping).expect("a frame is a kind");
    assert_eq!(detail.fault(), None);
    assert!(!detail.records().is_empty());
    assert!(dissect("ServerProof", &ping).expect("a message is a kind").fault().is_some());
    assert!(dissect("letter", &ping).is_none());
}

#[test]
fn every_code_has_its_word_or_none() {
    let names = names();
    let lines: Vec<Vec<&str>> = names.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.len() == 256));
    assert_eq!((lines[0][3], lines[0][255]), ("StreamData", ""));
    assert_eq!((lines[1][1], lines[1][0xf1]), ("text_delta", "ServerProof"));
    assert_eq!((lines[2][0], lines[2][1]), ("", "header"));
}

const CALL: &[u8] = include_bytes!("../../fixtures/captures/call-v3-loopback.pcap");
const CALL_KEY: &[u8] = include_bytes!("../../fixtures/captures/call-v3-loopback.key");

/// Whether a field of this name has this value.
fn says(detail: &mut Detail, name: &str, value: &str) -> bool {
    let (records, text) = (detail.records(), detail.text());
    let part = |from: u32, to: u32| core::str::from_utf8(&text[from as usize..to as usize]).expect("UTF-8");
    records.chunks(8).any(|record| part(record[5], record[6]) == name && part(record[6], record[7]) == value)
}

#[test]
fn a_sealed_call_is_named_and_taken_apart_without_a_key_and_opened_with_one() {
    let mut inspector = Inspector::new(false);
    assert_eq!((inspector.push(CALL), inspector.finish()), (None, None));
    assert_eq!(inspector.len(), 2);
    assert!(inspector.summary(0).starts_with("caller_runtime_id: \"caller-1\""), "{}", inspector.summary(0));
    let mut detail = inspector.detail(0);
    assert_eq!(detail.fault(), None);
    assert!(says(&mut detail, "operation", "invoke"));
    assert!(says(&mut inspector.detail(1), "message_kind", "Result"));

    let mut keyring = Keyring::new();
    let fault = keyring.open(&inspector.unit_bytes(0)).fault().expect("there is no key");
    assert!(fault.contains("wrong key"), "{fault}");
    assert!(keyring.add(b"short".to_vec()).is_some_and(|fault| fault.contains("32")));
    assert_eq!(keyring.add(vec![b'x'; 40]), None);
    assert!(keyring.open(&inspector.unit_bytes(0)).fault().is_some());
    assert_eq!(
        (keyring.add(CALL_KEY.to_vec()), keyring.add(CALL_KEY.to_vec()), keyring.len()),
        (None, None, 2)
    );
    for (unit, schema) in
        [(0, "gamecult.model.transport_invocation.v3"), (1, "gamecult.model.transport_result.v3")]
    {
        let opened = keyring.open(&inspector.unit_bytes(unit));
        assert_eq!((opened.fault(), opened.detail().fault()), (None, None));
        assert!(says(&mut opened.detail(), "schema_id", schema));
        assert_eq!(opened.bytes()[1..11], *b"\xa9schema_id");
        assert_eq!(opened.key_id().len(), 32);
    }
    keyring.clear();
    assert_eq!(keyring.len(), 0);
    assert!(keyring.open(&inspector.unit_bytes(1)).fault().is_some());
}

#[test]
fn what_is_no_message_is_not_opened() {
    let mut keyring = Keyring::new();
    assert_eq!(keyring.add(CALL_KEY.to_vec()), None);
    for bytes in [&b""[..], b"\0\0\0\x01", b"\0\0\0\x01\x80", &[0xff; 100]] {
        let fault = keyring.open(bytes).fault().expect("it is no message");
        assert!(fault.starts_with("no operation message"), "{fault}");
    }
}

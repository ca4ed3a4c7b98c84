//! A connection of the connector: one message each way, and whatever may be wrong with it.

use twolane_capture::row::{CONNECTOR_TAG, Kind, NO_TAG, Row, mark};
use twolane_capture::summary::{line, what};
use twolane_capture::tap::{self, Label};
use twolane_capture::units::{Options, Part, UnitFault};
use twolane_capture::{CloseReason, Direction, Filter, Format, Index, Opening, Piece};
use twolane_core::envelope::HeaderFault;
use twolane_core::frame::FrameReason;

use crate::wire::{Kept, Script, delta, handshake};

const SEALED: &str = include_str!("../../../fixtures/connector/sealed.json");
const FAILURES: &str = include_str!("../../../fixtures/connector/failures.json");
const DAMAGED: &str = include_str!("../../../fixtures/connector/damaged.json");

fn cases(file: &str) -> Vec<(String, Vec<u8>, serde_json::Value)> {
    let cases: Vec<serde_json::Value> = serde_json::from_str(file).unwrap();
    let bytes = |text: &str| {
        let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    };
    let case = |case: &serde_json::Value| {
        let name = case["name"].as_str().unwrap().strip_prefix("connector-").unwrap().to_owned();
        (name, bytes(case["hex"].as_str().unwrap()), case["fault"].clone())
    };
    cases.iter().map(case).collect()
}

fn golden(file: &str, name: &str) -> Vec<u8> {
    cases(file).into_iter().find(|case| case.0 == name).unwrap_or_else(|| panic!("no {name}")).1
}

fn request() -> Vec<u8> {
    golden(SEALED, "sealed-invocation-full")
}

fn reply() -> Vec<u8> {
    golden(SEALED, "sealed-completed")
}

/// Bytes of the stream that the units account for, each once.
fn accounted(units: &[Kept]) -> u64 {
    units
        .iter()
        .map(|unit| match (unit.kind, unit.fault) {
            (Kind::Gap, _) => unit.len,
            (_, Some(UnitFault::Passed { bytes } | UnitFault::Undecoded { bytes })) => bytes,
            (_, Some(UnitFault::Remainder { bytes })) => bytes,
            (_, Some(UnitFault::SecondMessage)) => 0,
            _ => unit.bytes.len() as u64,
        })
        .sum()
}

#[test]
fn a_request_and_its_reply_are_one_unit_each_way() {
    let mut script = Script::new(Opening::Syn).bytes(&request());
    script.say(Direction::BToA, Piece::Opened { how: Opening::Syn, ends: None });
    script.say(Direction::BToA, Piece::Bytes(&reply()));
    script.say(Direction::BToA, Piece::Closed { reason: CloseReason::EndOfCapture });
    let units = script.end();
    let seen: Vec<_> = units.iter().map(|unit| (unit.kind, unit.tag, unit.direction, unit.offset)).collect();
    let expected = [
        (Kind::Connector, CONNECTOR_TAG, Direction::AToB, 0),
        (Kind::Connector, CONNECTOR_TAG + 1, Direction::BToA, 0),
    ];
    assert_eq!(seen, expected);
    assert_eq!((&units[0].bytes, &units[1].bytes), (&request(), &reply()));
    assert_eq!(units[0].len, request().len() as u64 - 4);
    assert!(units.iter().all(|unit| unit.fault.is_none() && unit.marks == 0), "{units:?}");
}

#[test]
fn every_golden_is_recognised_and_any_cut_of_its_bytes_gives_the_same_unit() {
    for (name, bytes, fault) in cases(SEALED).into_iter().chain(cases(FAILURES)) {
        let whole = Script::new(Opening::Stream).bytes(&bytes).end();
        assert_eq!((whole.len(), whole[0].kind, whole[0].fault), (1, Kind::Connector, None), "{name}");
        assert!(fault.is_null());
        let step = (bytes.len() / 40).max(1);
        for split in (1..30).chain((30..bytes.len()).step_by(step)) {
            let (first, second) = bytes.split_at(split);
            let cut = Script::new(Opening::Stream).bytes(first).bytes(second).end();
            assert_eq!(cut, whole, "{name} split at {split}");
        }
        let single = bytes.chunks(1).fold(Script::new(Opening::Stream), |script, byte| script.bytes(byte));
        assert_eq!(single.end(), whole, "{name}");
    }
}

#[test]
fn a_message_that_breaks_a_rule_names_the_byte_that_does() {
    let mut judged = 0;
    for (name, bytes, fault) in cases(DAMAGED) {
        let units = Script::new(Opening::Stream).bytes(&bytes).end();
        let Some(UnitFault::Carriage(found)) = units[0].fault else { continue };
        assert_eq!(found.offset as u64, fault["offset"].as_u64().unwrap(), "{name}");
        assert_eq!(found.reason.to_string(), fault["reason"].as_str().unwrap(), "{name}");
        judged += 1;
    }
    assert_eq!(judged, 6, "all but those that are cut, too long, or begin as no message");
}

#[test]
fn an_end_inside_a_message_is_its_own() {
    let bytes = request();
    let expected = bytes.len() as u64 - 4;
    for len in [5, 9, 30, 600, bytes.len() - 1] {
        let units = Script::new(Opening::Syn).bytes(&bytes[..len]).end();
        let fault = UnitFault::End { part: Part::Message, expected, actual: len as u64 - 4 };
        assert_eq!((units.len(), units[0].kind, units[0].fault), (1, Kind::Connector, Some(fault)), "{len}");
        assert_eq!((units[0].marks, &units[0].bytes[..]), (mark::CUT, &bytes[..len]));
    }
}

#[test]
fn every_hole_of_a_message_is_accounted_for() {
    let bytes = request();
    for start in (0..40).chain((40..bytes.len()).step_by(37)) {
        for len in [1, 4, 60, 900] {
            let end = (start + len).min(bytes.len());
            let script = Script::new(Opening::Syn).bytes(&bytes[..start]).missing((end - start) as u64);
            let units = script.bytes(&bytes[end..]).end();
            assert_eq!(accounted(&units), bytes.len() as u64, "hole {start}..{end}");
            if start > 4 {
                let (expected, actual) = (bytes.len() as u64 - 4, start as u64 - 4);
                let hole = UnitFault::Hole { part: Part::Message, expected, actual };
                assert_eq!((units[0].kind, units[0].fault), (Kind::Connector, Some(hole)), "{start}..{end}");
                assert!(units[1..].iter().all(|unit| unit.kind != Kind::Connector), "{start}..{end}");
            }
        }
    }
}

#[test]
fn a_source_that_ends_behind_a_hole_names_the_message() {
    let bytes = request();
    let units = Script::new(Opening::Syn).bytes(&bytes[..100]).missing(50).bytes(&bytes[150..400]).end();
    let expected = bytes.len() as u64 - 4;
    let last = units.last().unwrap().fault;
    assert_eq!(last, Some(UnitFault::End { part: Part::Message, expected, actual: 396 }));
    assert_eq!(accounted(&units), 400);
}

#[test]
fn bytes_behind_the_one_message_are_a_fault_of_their_sender() {
    let stream = [request(), request()].concat();
    let (at, rest) = (request().len() as u64, request().len() as u64);
    for cut in [1, 700, request().len(), stream.len()] {
        let script = Script::new(Opening::Syn);
        let units = stream.chunks(cut).fold(script, |script, bytes| script.bytes(bytes)).end();
        let seen: Vec<_> = units.iter().map(|unit| (unit.kind, unit.offset, unit.fault)).collect();
        let expected = [
            (Kind::Connector, 0, None),
            (Kind::Fault, at, Some(UnitFault::SecondMessage)),
            (Kind::Fault, at, Some(UnitFault::Undecoded { bytes: rest })),
        ];
        assert_eq!(seen, expected, "cut {cut}");
        assert_eq!(units[1].bytes, stream[request().len()..][..1]);
    }
}

#[test]
fn a_reply_behind_the_joining_of_a_capture_is_found() {
    let units = Script::new(Opening::Joined).bytes(&reply()).end();
    assert_eq!((units.len(), units[0].kind, units[0].marks), (1, Kind::Connector, 0));
    let units = Script::new(Opening::Joined).bytes(&reply()[300..]).end();
    let bytes = reply().len() as u64 - 300;
    assert_eq!((units.len(), units[0].fault), (1, Some(UnitFault::Passed { bytes })));
}

#[test]
fn a_message_over_the_limit_is_passed_over_by_its_length() {
    let options = Options { body_limit: 1000, ..Options::default() };
    let bytes = request();
    let len = u32::try_from(bytes.len() - 4).unwrap();
    for cut in [1, 13, bytes.len()] {
        let script = Script::with(Opening::Syn, options);
        let units = bytes.chunks(cut).fold(script, |script, bytes| script.bytes(bytes)).end();
        assert_eq!(units.len(), 1);
        assert_eq!(
            (units[0].fault, units[0].marks),
            (Some(UnitFault::Oversize { len, limit: 1000 }), mark::CUT)
        );
        assert_eq!(units[0].bytes, bytes[..4]);
    }
}

#[test]
fn on_lanes_nothing_is_taken_for_a_message_of_the_connector() {
    let [hello, _, auth] = handshake();
    let unknown = UnitFault::Frame(FrameReason::Header(HeaderFault::UnknownVersion { found: 0x87 }));
    for before in [[hello, auth].concat(), delta(0)] {
        let units = Script::new(Opening::Syn).bytes(&before).bytes(&request()).end();
        assert!(units.iter().all(|unit| unit.kind != Kind::Connector), "{units:?}");
        assert!(units.iter().any(|unit| unit.fault == Some(unknown)), "{units:?}");
    }
}

#[test]
fn a_map_of_something_else_is_no_message_of_the_connector() {
    for front in
        [&[0x81, 0xa1, b'x'][..], &[0x80, 0xa9], &[0x8b, 0xa9], &[0x91, 0xa9], &[0x87, 0xa9, b's', b'x']]
    {
        let bytes = [&[0, 0, 0, 40][..], front, &[0; 40]].concat();
        let units = Script::new(Opening::Syn).bytes(&bytes).end();
        assert!(matches!(units[0].fault, Some(UnitFault::Frame(_))), "{front:?}: {units:?}");
    }
}

fn tapped(packets: &[(Direction, &[u8])]) -> Index {
    let label = Label { connection: 1, endpoint: "connector", kind: tap::Kind::Connector };
    let mut file = Vec::new();
    tap::section(&mut file);
    for (direction, bytes) in packets {
        tap::packet(&mut file, 1, *direction, label, bytes);
    }
    let mut index = Index::with_format(Format::PcapNg, Options::default());
    index.push(&file).unwrap();
    index.finish().unwrap();
    index
}

#[test]
fn a_tapped_message_is_judged_as_one_of_a_stream() {
    let (request, reply) = (request(), reply());
    let cut = &request[..200];
    let longer = [&reply[..], b"more"].concat();
    let index = tapped(&[
        (Direction::AToB, &request),
        (Direction::BToA, &reply),
        (Direction::AToB, cut),
        (Direction::BToA, &longer),
        (Direction::AToB, &golden(DAMAGED, "damaged-duplicate-key")),
        (Direction::AToB, &request[..3]),
    ]);
    let faults: Vec<_> = (0..index.len()).map(|i| index.unit(i).unwrap().fault).collect();
    let expected = request.len() as u64 - 4;
    assert_eq!(faults[..2], [None, None]);
    assert_eq!(faults[2], Some(UnitFault::Hole { part: Part::Message, expected, actual: 196 }));
    assert_eq!(faults[3..5], [None, Some(UnitFault::Trailing { bytes: 4 })]);
    assert!(matches!(faults[5], Some(UnitFault::Carriage(fault)) if fault.offset == 1170), "{faults:?}");
    assert_eq!(faults[6], Some(UnitFault::Hole { part: Part::LengthPrefix, expected: 4, actual: 3 }));
    assert_eq!(index.totals().sealed, 6);
    assert_eq!(index.unit(2).unwrap().row.tag, NO_TAG);
}

#[test]
fn a_line_says_what_is_outside_of_the_seal() {
    let index = tapped(&[
        (Direction::AToB, &request()),
        (Direction::BToA, &reply()),
        (Direction::BToA, &golden(FAILURES, "failure-NotAdmitted")),
    ]);
    let said: Vec<_> = (0..3)
        .map(|i| {
            let unit = index.unit(i).unwrap();
            (what(&unit.row), line(&unit, 200))
        })
        .collect();
    let ids = r#"caller_runtime_id: "caller-1"  request_id: "request-1""#;
    assert_eq!(said[0].0, "request");
    assert!(said[0].1.starts_with(&format!("{ids}  Invocation: ")), "{said:?}");
    assert_eq!(said[1].0, "reply");
    assert!(said[1].1.starts_with(&format!("{ids}  Result: ")), "{said:?}");
    let failure = r#"status: "denied"  code: "not-admitted"  messageId: "request-1""#;
    assert_eq!(said[2], ("failure", failure.to_owned()));
}

#[test]
fn filters_know_the_ids_that_are_outside_of_the_seal() {
    let bytes = request();
    let mut row = Row::empty(Kind::Connector, 1, Direction::AToB);
    row.bytes = &bytes;
    row.tag = CONNECTOR_TAG;
    let passes = |text: &str, row: &Row<'_>| Filter::parse(text).unwrap().matches(row);
    for text in ["request=request-1", "caller=caller-1", "caller~ller", "request!=other", "caller!~other"] {
        assert!(passes(text, &row), "{text}");
    }
    for text in ["request=request", "caller!=caller-1", "caller~request", "tag=reply", "tag=none"] {
        assert!(!passes(text, &row), "{text}");
    }
    assert!(passes("tag=request kind=connector", &row));
    let frame = Row::empty(Kind::Frame, 1, Direction::AToB);
    for text in ["request=request-1", "request!=request-1", "caller!~x"] {
        assert!(!passes(text, &frame), "a frame has no such id: {text}");
    }
}

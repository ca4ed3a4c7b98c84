//! The filter language.

use twolane_capture::filter::{Filter, FilterFault, FilterReason};
use twolane_capture::row::{CONTROL, Kind, LawMark, Row, mark};
use twolane_capture::{Direction, units};

fn sample() -> Row<'static> {
    let mut row = Row::empty(Kind::Frame, 1, Direction::BToA);
    row.version = 1;
    row.frame_type = 3;
    row.flags = 0x0a;
    row.lane = CONTROL;
    row.tag = 20;
    row.channel = 3;
    row.corr = 42;
    row.seq = 10;
    row.len = 1001;
    row.law = LawMark::Kept;
    row.bytes = b"0123456789abcdefg{\"say\":\"a (needle)\"}";
    row
}

fn passes(text: &str) -> bool {
    Filter::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}")).matches(&sample())
}

#[test]
fn every_name_tests_its_column() {
    let true_ones = [
        "",
        "kind=frame",
        "lane=control",
        "type=StreamData",
        "type=streamdata",
        "tag=finished",
        "dir=b>a",
        "law=kept",
        "fault=none",
        "verified=none",
        "gen=3",
        "channel=0x3",
        "epoch=0",
        "corr=42",
        "seq=10",
        "dropped=0",
        "version=1",
        "flags=0x0a",
        "conn=1",
        "len>1000",
        "offset<1",
        "last",
        "text~needle",
        "text~\"a (needle)\"",
        "text!~haystack",
        "seq>=10",
        "seq<=10",
        "seq!=9",
        "NOT guess",
        "not cut",
    ];
    for text in true_ones {
        assert!(passes(text), "{text}");
    }
    let false_ones = [
        "kind=gap",
        "lane=display",
        "lane!=control",
        "type=Ping",
        "tag=text_delta",
        "dir=a>b",
        "law=broken",
        "fault=any",
        "verified=yes",
        "gen=4",
        "corr<42",
        "seq>10",
        "len>1001",
        "guess",
        "not last",
        "text~0123",
    ];
    for text in false_ones {
        assert!(!passes(text), "{text}");
    }
}

#[test]
fn and_binds_closer_than_or_and_may_be_left_out() {
    assert!(passes("gen=3 or gen=9 and seq=9"));
    assert!(!passes("(gen=3 or gen=9) and seq=9"));
    assert!(!passes("gen=9 and seq=9 or corr=1"));
    assert!(passes("gen=9 or corr=42 seq=10"));
    assert!(passes("not (gen=9 or corr=1) lane = control"));
    assert!(!passes("not gen=3 or gen=9"));
    assert!(passes("not not (gen=3)(seq=10)"));
}

#[test]
fn a_number_that_is_not_there_passes_no_test() {
    let gap = Row::empty(Kind::Gap, 1, Direction::AToB);
    for text in ["seq=1", "seq!=1", "seq<1", "corr!=1", "gen=0", "version!=1"] {
        assert!(!Filter::parse(text).unwrap().matches(&gap), "{text}");
    }
    assert!(Filter::parse("len=0 kind=gap").unwrap().matches(&gap));
}

#[test]
fn marks_and_verdicts_are_seen() {
    let mut row = Row::empty(Kind::Handshake, 1, Direction::AToB);
    row.marks = mark::REFUTED | mark::GUESS | mark::CUT;
    row.tag = 0xf1;
    row.fault = units::UnitFault::Trailing { bytes: 1 }.code();
    let text = "verified=no guess cut tag=serverproof fault=trailing fault=any fault!=end";
    assert!(Filter::parse(text).unwrap().matches(&row));
}

#[test]
fn faults_name_the_place_and_what_was_expected() {
    let fault = |text: &str| {
        let FilterFault { offset, reason } = Filter::parse(text).unwrap_err();
        (offset, reason)
    };
    assert_eq!(fault("lane"), (4, FilterReason::ExpectedOperator("= or !=")));
    assert_eq!(fault("  lane=up"), (7, FilterReason::ExpectedValue("control, display or none")));
    assert_eq!(fault("size=3"), (0, FilterReason::UnknownName));
    assert_eq!(fault("seq=1 or"), (8, FilterReason::ExpectedTest));
    assert_eq!(fault("(seq=1"), (6, FilterReason::ExpectedClose));
    assert_eq!(fault("seq=1)"), (5, FilterReason::UnexpectedClose));
    assert_eq!(fault("text~\"x"), (5, FilterReason::UnclosedQuote));
    assert_eq!(fault("text~\"\"").0, 5);
    assert_eq!(fault("text=x"), (4, FilterReason::ExpectedOperator("~ or !~")));
    assert_eq!(fault("seq=1 &"), (6, FilterReason::UnexpectedCharacter));
    assert_eq!(fault("seq=-1").0, 4);
    assert_eq!(fault("seq=18446744073709551616").0, 4);
    assert_eq!(fault(&"(".repeat(40)), (32, FilterReason::TooDeep));
    assert_eq!(fault(&"not ".repeat(40)), (128, FilterReason::TooDeep));
    assert_eq!(fault(&"a".repeat(5000)), (4096, FilterReason::TooLong));
    assert_eq!(fault("corr=1 or and"), (10, FilterReason::ExpectedTest));
}

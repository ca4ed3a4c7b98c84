//! Holes, ends and broken headers: what is lost is said, to the byte.

use twolane_capture::Opening;
use twolane_capture::row::{Kind, LawMark, mark};
use twolane_capture::units::{Options, Part, UnitFault};
use twolane_core::envelope::HeaderFault;
use twolane_core::frame::FrameReason;

use crate::wire::{Kept, Script, delta, handshake};

/// Bytes of the stream that the units account for, each once; a search's evidence is within its count.
fn accounted(units: &[Kept]) -> u64 {
    units
        .iter()
        .map(|unit| match (unit.kind, unit.fault) {
            (Kind::Gap, _) => unit.len,
            (
                _,
                Some(
                    UnitFault::Passed { bytes }
                    | UnitFault::Undecoded { bytes }
                    | UnitFault::Remainder { bytes },
                ),
            ) => bytes,
            (_, Some(UnitFault::Frame(_))) => 0,
            _ => unit.bytes.len() as u64,
        })
        .sum()
}

#[test]
fn a_hole_inside_a_body_leaves_the_stream_in_step() {
    let stream = [delta(0), delta(1), delta(2)].concat();
    let frame = delta(0).len();
    for (start, end) in [(20, 30), (17, 18), (30, frame), (17, frame)] {
        let units = Script::new(Opening::Syn)
            .bytes(&stream[..start])
            .missing((end - start) as u64)
            .bytes(&stream[end..])
            .end();
        let body = (frame - 17) as u64;
        let hole = UnitFault::Hole { part: Part::Body, expected: body, actual: (start - 17) as u64 };
        assert_eq!((units[0].kind, units[0].fault), (Kind::Frame, Some(hole)));
        assert_eq!(
            (units[1].kind, units[1].len, units[1].offset),
            (Kind::Gap, (end - start) as u64, start as u64)
        );
        let frames: Vec<_> =
            units.iter().filter(|unit| unit.fault.is_none() && unit.kind == Kind::Frame).collect();
        assert_eq!(frames.len(), 2, "hole {start}..{end}");
        assert!(frames.iter().all(|unit| unit.marks & mark::GUESS == 0));
        assert_eq!(accounted(&units), stream.len() as u64);
    }
}

#[test]
fn a_hole_that_hides_a_boundary_is_followed_by_a_guess() {
    let stream = [delta(0), delta(1), delta(2), delta(3)].concat();
    let frame = delta(0).len();
    for (start, end) in [(30, frame + 5), (3, 9), (10, 2 * frame - 9), (frame, frame + 1), (frame, 2 * frame)]
    {
        let units = Script::new(Opening::Syn)
            .bytes(&stream[..start])
            .missing((end - start) as u64)
            .bytes(&stream[end..])
            .end();
        let whole: Vec<_> =
            units.iter().filter(|unit| unit.fault.is_none() && unit.kind == Kind::Frame).collect();
        let after: Vec<_> = whole.iter().filter(|unit| unit.offset > start as u64).collect();
        assert_eq!(after[0].marks & mark::GUESS, mark::GUESS, "hole {start}..{end}");
        assert!(after[1..].iter().all(|unit| unit.marks == 0), "only the boundary itself is guessed");
        assert_eq!(after.last().unwrap().seq, 3);
        assert_eq!(accounted(&units), stream.len() as u64, "hole {start}..{end}");
    }
}

#[test]
fn bytes_between_two_holes_of_one_body_are_said_in_their_place() {
    let stream = [delta(0), delta(1), delta(2)].concat();
    let frame = delta(0).len();
    // The second hole ends in the body, at its end, behind it; and the source ends between the two.
    for second_end in [70, frame, frame + 20, 60] {
        let script = Script::new(Opening::Syn).bytes(&stream[..30]).missing(10).bytes(&stream[40..60]);
        let script = if second_end > 60 { script.missing(second_end as u64 - 60) } else { script };
        let units = if second_end > 60 { script.bytes(&stream[second_end..]) } else { script }.end();
        let remainder = (units[2].offset, units[2].fault);
        assert_eq!(remainder, (40, Some(UnitFault::Remainder { bytes: 20 })), "second hole to {second_end}");
        let len = if second_end > 60 { stream.len() } else { 60 };
        assert_eq!(accounted(&units), len as u64, "second hole to {second_end}");
    }
}

#[test]
fn frames_lost_in_a_hole_do_not_break_the_law() {
    let stream = [delta(0), delta(1), delta(2), delta(3)].concat();
    let frame = delta(0).len();
    let units = Script::new(Opening::Syn)
        .bytes(&stream[..frame])
        .missing(frame as u64)
        .bytes(&stream[2 * frame..])
        .end();
    let laws: Vec<_> = units.iter().map(|unit| unit.law).collect();
    assert_eq!(laws, [LawMark::Kept, LawMark::None, LawMark::Joined, LawMark::Kept]);
}

#[test]
fn a_stream_joined_in_the_middle_is_searched_for_a_boundary() {
    let stream = [delta(4), delta(5), delta(6)].concat();
    for start in 1..delta(4).len() {
        let units = Script::new(Opening::Joined).bytes(&stream[start..]).end();
        let passed = (delta(4).len() - start) as u64;
        assert_eq!(units[0].fault, Some(UnitFault::Passed { bytes: passed }), "from {start}");
        assert_eq!((units[1].seq, units[1].marks, units[1].law), (5, mark::GUESS, LawMark::Joined));
        assert_eq!((units[2].seq, units[2].marks, units[2].law), (6, 0, LawMark::Kept));
    }
}

#[test]
fn a_search_gives_the_same_units_for_any_split() {
    let stream = &[delta(4), delta(5), delta(6), delta(7)].concat()[11..];
    let whole = Script::new(Opening::Joined).bytes(stream).end();
    for chunk in 1..stream.len() {
        let units =
            stream.chunks(chunk).fold(Script::new(Opening::Joined), |script, bytes| script.bytes(bytes));
        assert_eq!(units.end(), whole, "chunks of {chunk}");
    }
}

#[test]
fn bytes_of_something_else_are_counted_and_sampled() {
    let stream = vec![b'x'; 100_000];
    let units = Script::new(Opening::Joined).bytes(&stream).end();
    assert_eq!(units.len(), 1);
    assert_eq!(units[0].fault, Some(UnitFault::Passed { bytes: 100_000 }));
    assert_eq!(units[0].bytes.len(), 256);
}

#[test]
fn a_broken_header_ends_the_direction_with_its_reason_and_a_count() {
    let stream = [delta(0), vec![0, 0, 0, 0, 9, 1, 1, 1], delta(1)].concat();
    let at = delta(0).len() as u64;
    for chunk in [1, 5, stream.len()] {
        let units =
            stream.chunks(chunk).fold(Script::new(Opening::Syn), |script, bytes| script.bytes(bytes)).end();
        let fault = UnitFault::Frame(FrameReason::Header(HeaderFault::UnknownVersion { found: 9 }));
        assert_eq!((units[1].kind, units[1].offset, units[1].fault), (Kind::Fault, at, Some(fault)));
        assert_eq!(fault.offset(), 4);
        let rest = stream.len() as u64 - at;
        assert_eq!((units[2].offset, units[2].fault), (at, Some(UnitFault::Undecoded { bytes: rest })));
        assert_eq!(units.len(), 3);
    }
}

#[test]
fn resynchronising_finds_the_next_frames_and_marks_the_guess() {
    let options = Options { resync: true, ..Options::default() };
    let stream = [delta(0), vec![0, 0, 0, 0, 9, 1, 1, 1], delta(1), delta(2)].concat();
    let units = Script::with(Opening::Syn, options).bytes(&stream).end();
    assert_eq!(units[2].fault, Some(UnitFault::Passed { bytes: 8 }));
    assert_eq!((units[3].seq, units[3].marks), (1, mark::GUESS));
    assert_eq!((units[4].seq, units[4].marks), (2, 0));
}

#[test]
fn an_end_inside_a_frame_names_the_part_and_the_bytes() {
    let frame = delta(0);
    let body = (frame.len() - 17) as u64;
    let cases = [
        (2, Kind::Fault, Part::Prefix, 5, 2),
        (5, Kind::Fault, Part::Header, 17, 5),
        (16, Kind::Fault, Part::Header, 17, 16),
        (17, Kind::Frame, Part::Body, body, 0),
        (40, Kind::Frame, Part::Body, body, 23),
    ];
    for (len, kind, part, expected, actual) in cases {
        let units = Script::new(Opening::Syn).bytes(&frame).bytes(&frame[..len]).end();
        assert_eq!(units[1].kind, kind, "cut at {len}");
        assert_eq!(units[1].fault, Some(UnitFault::End { part, expected, actual }));
        assert_eq!(units[1].bytes, frame[..len]);
        assert_eq!(units[1].marks, mark::CUT);
    }
}

#[test]
fn an_end_inside_a_handshake_message_is_its_own() {
    let [hello, ..] = handshake();
    let units = Script::new(Opening::Syn).bytes(&hello[..9]).end();
    let expected = hello.len() as u64 - 4;
    let fault = UnitFault::End { part: Part::Message, expected, actual: 5 };
    assert_eq!((units[0].kind, units[0].fault), (Kind::Handshake, Some(fault)));
}

#[test]
fn every_cut_of_a_stream_is_accounted_for() {
    let [hello, _, auth] = handshake();
    let stream = [hello, auth, delta(0), delta(1)].concat();
    for how in [Opening::Syn, Opening::Stream, Opening::Joined] {
        for cut in 0..stream.len() {
            let units = Script::new(how).bytes(&stream[..cut]).end();
            assert_eq!(accounted(&units), cut as u64, "{how:?} cut at {cut}");
        }
    }
}

#[test]
fn every_hole_of_a_stream_is_accounted_for() {
    let [hello, _, auth] = handshake();
    let stream = [hello, auth, delta(0), delta(1)].concat();
    for start in 0..stream.len() {
        for len in [1, 4, 13, 60, 200] {
            let end = (start + len).min(stream.len());
            let script = Script::new(Opening::Syn).bytes(&stream[..start]).missing((end - start) as u64);
            let units = script.bytes(&stream[end..]).end();
            assert_eq!(accounted(&units), stream.len() as u64, "hole {start}..{end}");
        }
    }
}

#[test]
fn behind_a_frame_nothing_is_taken_for_a_handshake_message() {
    let [hello, ..] = handshake();
    let embedding = crate::wire::frame(twolane_core::envelope::Flags::CONTROL, 3, &hello);
    let first = delta(0);
    let rest = [delta(1), delta(2), delta(3)].concat();
    let script = Script::new(Opening::Syn).bytes(&first).missing(10).bytes(&embedding[10..]).bytes(&rest);
    let units = script.end();
    assert!(units.iter().all(|unit| unit.kind != Kind::Handshake));
    assert_eq!(units[2].fault, Some(UnitFault::Passed { bytes: (embedding.len() - 10) as u64 }));
}

#[test]
fn what_a_search_takes_for_a_boundary_does_not_depend_on_where_the_bytes_are_cut() {
    let ping = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
    // Three legal headers in a chain, but the body of the third is no JSON: its first byte refutes the place.
    let mut decoy = delta(0);
    decoy[17] = b'x';
    let stream = [&ping[..], &ping, &decoy, &delta(1), &delta(2), &delta(3)].concat();
    let places = |split: usize| -> Vec<(u64, u8)> {
        let (first, second) = stream.split_at(split);
        let units = Script::new(Opening::Stream).missing(100).bytes(first).bytes(second).end();
        units.iter().map(|unit| (unit.offset, unit.marks)).collect()
    };
    let whole = places(0);
    assert!(whole.iter().any(|(_, marks)| marks & mark::GUESS != 0), "{whole:?}");
    for split in 1..stream.len() {
        assert_eq!(places(split), whole, "split at {split}");
    }
}

//! The seq law, as a reader of captures checks it.

use twolane_capture::row::{Kind, LawMark};
use twolane_capture::tap::Label;
use twolane_capture::units::{Options, Units};
use twolane_capture::{Direction, Loss, Opening, Piece, SegmentSink};
use twolane_core::envelope::Flags;
use twolane_core::lanes::law::Breach;

use crate::wire::{Keeper, Kept, Script, delta, finished, frame, gap, payload};

fn laws(how: Opening, frames: &[Vec<u8>]) -> Vec<LawMark> {
    Script::new(how).bytes(&frames.concat()).end().iter().map(|unit| unit.law).collect()
}

#[test]
fn gaps_account_for_what_was_shed() {
    let frames = [delta(0), gap(3, 3), delta(4)];
    assert_eq!(laws(Opening::Syn, &frames), [LawMark::Kept; 3]);
}

#[test]
fn a_breach_is_attached_to_its_frame_and_reported_once() {
    let units = Script::new(Opening::Syn).bytes(&[delta(0), delta(2), delta(3)].concat()).end();
    assert_eq!(units[1].breach, Some(Breach::Seq { expected: 1, found: 2 }));
    assert_eq!(units[2].breach, None);
}

#[test]
fn a_stream_seen_from_its_beginning_starts_at_0_and_another_where_it_starts() {
    assert_eq!(laws(Opening::Syn, &[delta(5)]), [LawMark::Broken]);
    assert_eq!(laws(Opening::Stream, &[delta(5), delta(6)]), [LawMark::Joined, LawMark::Kept]);
    assert_eq!(laws(Opening::Stream, &[delta(0), delta(1)]), [LawMark::Kept, LawMark::Kept]);
}

#[test]
fn lanes_and_generations_are_numbered_by_themselves() {
    let other = |seq| frame(Flags::CONTROL, 4, &payload(seq, r#"{"type":"step_started"}"#));
    assert_eq!(laws(Opening::Syn, &[delta(0), other(0), delta(1), other(1)]), [LawMark::Kept; 4]);
}

#[test]
fn a_generation_that_ended_may_begin_anew() {
    let frames = [delta(0), finished(0), delta(0), finished(0), delta(0)];
    assert_eq!(laws(Opening::Syn, &frames), [LawMark::Kept; 5]);
    assert_eq!(laws(Opening::Syn, &[delta(0), delta(0)])[1], LawMark::Broken);
}

#[test]
fn the_end_that_one_side_says_ends_the_other_sides_numbers_too() {
    let request = frame(Flags::CONTROL, 3, &payload(0, r#"{"type":"step_request","request":{}}"#));
    let mut units = Units::new(Keeper::default(), Options::default());
    for (direction, bytes) in
        [(Direction::AToB, &request), (Direction::BToA, &finished(0)), (Direction::AToB, &request)]
    {
        units.piece(None, 1, direction, Piece::Bytes(bytes));
    }
    assert!(units.sink().0.iter().all(|unit| unit.law == LawMark::Kept));
}

const COMMENT: &str = "twolane conn=1 endpoint=providers kind=frame";

/// A tap's first frame, what it did not write in `connection`, and a later frame.
fn with_loss(connection: u32, lost: Piece<'_>) -> Vec<Kept> {
    let mut units = Units::new(Keeper::default(), Options::default());
    let (first, later) = (delta(0), delta(5));
    let packet = |bytes| Piece::Packet { bytes, comment: Some(COMMENT) };
    units.piece(None, 1, Direction::BToA, packet(&first));
    units.piece(None, connection, Direction::BToA, lost);
    units.piece(None, 1, Direction::BToA, packet(&later));
    units.into_sink().0
}

#[test]
fn units_that_a_tap_passed_over_are_counted_and_no_breach() {
    let label = Label::parse(COMMENT).unwrap();
    for connection in [0, 1] {
        let lost = Piece::Lost { label, units: 4, bytes: 400, how: Loss::Overrun };
        let units = with_loss(connection, lost);
        let kinds: Vec<_> = units.iter().map(|unit| unit.kind).collect();
        assert_eq!(kinds, [Kind::Frame, Kind::Gap, Kind::Frame]);
        assert_eq!(units[2].law, LawMark::Joined, "what connection 0 lost may be any connection's");
    }
    let missing = Piece::Missing { bytes: 400 };
    assert_eq!(with_loss(1, missing)[2].law, LawMark::Joined);
}

#[test]
fn what_a_lane_frame_carries_is_judged_by_its_schema() {
    let misplaced =
        frame(Flags::CONTROL, 3, &payload(0, r#"{"type":"text_delta","message_id":"m","delta":""}"#));
    let nameless = frame(Flags::CONTROL, 3, &payload(0, "{}"));
    let foreign = frame(Flags::CONTROL, 3, b"{\"other\":1}");
    for (bytes, offset) in
        [(misplaced, Some(17 + 64)), (nameless, Some(17 + 57)), (foreign, None), (delta(0), None)]
    {
        let units = Script::new(Opening::Syn).bytes(&bytes).end();
        assert_eq!(units[0].fault.map(|fault| fault.offset()), offset, "{:?}", units[0].fault);
    }
}

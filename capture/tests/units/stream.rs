//! Streams that are whole.

use twolane_capture::row::{Kind, mark};
use twolane_capture::units::{Options, UnitFault};
use twolane_capture::{Opening, Piece};

use crate::wire::{Keeper, Script, delta, handshake};

#[test]
fn any_split_gives_the_same_units() {
    let [hello, _, auth] = handshake();
    let stream = [hello, auth, delta(0), delta(1), delta(2)].concat();
    let whole = Script::new(Opening::Syn).bytes(&stream).end();
    assert_eq!(whole.len(), 5);
    for split in 1..stream.len() {
        let (first, second) = stream.split_at(split);
        assert_eq!(Script::new(Opening::Syn).bytes(first).bytes(second).end(), whole, "split at {split}");
    }
    let single = stream.chunks(1).fold(Script::new(Opening::Syn), |script, byte| script.bytes(byte));
    assert_eq!(single.end(), whole);
}

#[test]
fn every_unit_has_its_place_and_its_bytes() {
    let stream = [delta(0), delta(1)].concat();
    let units = Script::new(Opening::Stream).bytes(&stream).end();
    assert_eq!(units.iter().map(|unit| unit.kind).collect::<Vec<_>>(), [Kind::Frame; 2]);
    let (first, second) = stream.split_at(delta(0).len());
    assert_eq!(units[0].bytes, first);
    assert_eq!(units[1].bytes, second);
    assert_eq!((units[0].offset, units[1].offset), (0, first.len() as u64));
    assert!(units.iter().all(|unit| unit.marks == 0 && unit.fault.is_none()));
}

#[test]
fn a_frame_is_out_as_soon_as_its_last_byte_is_there() {
    let bytes = delta(0);
    let (last, front) = bytes.split_last().unwrap();
    let mut units = twolane_capture::units::Units::new(Keeper::default(), Options::default());
    let mut say = |piece: Piece<'_>| {
        twolane_capture::SegmentSink::piece(&mut units, None, 1, twolane_capture::Direction::AToB, piece);
        units.count()
    };
    assert_eq!(say(Piece::Bytes(front)), 0);
    assert_eq!(say(Piece::Bytes(&[*last])), 1);
}

#[test]
fn a_body_over_the_limit_is_passed_over_by_its_length() {
    let options = Options { body_limit: 40, ..Options::default() };
    let small = crate::wire::frame(twolane_core::envelope::Flags::CONTROL, 3, b"{}");
    let big = delta(0);
    let stream = [small.clone(), big.clone(), small].concat();
    for chunk in [1, 7, stream.len()] {
        let script = Script::with(Opening::Syn, options);
        let units = stream.chunks(chunk).fold(script, |script, bytes| script.bytes(bytes)).end();
        assert_eq!(units.len(), 3);
        let len = u32::try_from(big.len() - 17).unwrap();
        assert_eq!(units[1].fault, Some(UnitFault::Oversize { len, limit: 40 }));
        assert_eq!(units[1].bytes, big[..17]);
        assert_eq!(units[1].marks, mark::CUT);
        assert_eq!(units[2].fault, None);
    }
}

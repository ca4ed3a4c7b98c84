//! The index: what goes in comes out, column by column.

use twolane_capture::row::{Kind, NO_SEQ};
use twolane_capture::units::{Options, UnitFault};
use twolane_capture::{Format, Index};

use crate::wire::{delta, gap, handshake, key};

fn index_of(bytes: &[u8]) -> Index {
    let mut index = Index::with_format(Format::Raw, Options::default());
    index.push(bytes).unwrap();
    index.finish().unwrap();
    index
}

#[test]
fn columns_and_units_say_the_same() {
    let index = index_of(&[delta(0), gap(4, 4), delta(5)].concat());
    let columns = index.columns();
    assert_eq!(columns.seqs(), [0, 4, 5]);
    assert_eq!(columns.dropped(), [0, 4, 0]);
    assert_eq!(columns.tags(), [1, 4, 1]);
    assert_eq!(columns.channels(), [3; 3]);
    assert_eq!(columns.lanes(), [2; 3]);
    assert_eq!(index.len(), 3);
    let unit = index.unit(1).unwrap();
    assert_eq!(unit.row.bytes, gap(4, 4));
    assert_eq!(unit.row.body(), &gap(4, 4)[17..]);
    assert_eq!(unit.row.seq, 4);
    assert!(index.unit(3).is_none());
    assert_eq!(index.totals().frames, 3);
}

#[test]
fn a_fault_is_found_by_its_unit() {
    let frame = delta(0);
    let index = index_of(&[&frame[..], &frame[..30]].concat());
    assert_eq!(index.unit(0).unwrap().fault, None);
    let unit = index.unit(1).unwrap();
    assert!(matches!(unit.fault, Some(UnitFault::End { .. })));
    assert_eq!(unit.row.fault, unit.fault.unwrap().code());
    assert_eq!((unit.row.kind, unit.row.seq), (Kind::Frame, NO_SEQ));
    assert_eq!(index.totals().faults, 1);
}

#[test]
fn a_key_given_later_judges_what_was_read_before() {
    let [hello, proof, auth] = handshake();
    // One direction holds all three here: the order is what a transcript needs.
    let mut index = index_of(&[hello, proof, auth, delta(0)].concat());
    assert_eq!((index.totals().verified, index.totals().refuted), (0, 0));
    index.set_key(Some(&key(1)));
    assert_eq!((index.totals().verified, index.totals().refuted), (2, 0));
    assert_eq!(index.unit(1).unwrap().verified(), Some(true));
    index.set_key(Some(&key(2)));
    assert_eq!((index.totals().verified, index.totals().refuted), (0, 2));
    index.set_key(None);
    assert_eq!(index.unit(1).unwrap().verified(), None);
}

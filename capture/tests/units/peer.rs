//! A real capture of two peers of other hands, as tcpdump wrote it: what it holds was written down by the peers.

use serde_json::Value;
use twolane_capture::row::{Kind, LawMark, Row};
use twolane_capture::units::Options;
use twolane_capture::{Direction, Index};
use twolane_core::handshake::Key;

const CAPTURE: &[u8] = include_bytes!("../../../fixtures/captures/peer-v1-loopback.pcap");
const EXPECTED: &str = include_str!("../../../fixtures/captures/peer-v1-loopback.expected.jsonl");

fn read(chunks: impl Iterator<Item = Vec<u8>>) -> Index {
    let mut index = Index::new(Options::default());
    let key: [u8; 32] = std::array::from_fn(|place| u8::try_from(place).unwrap());
    index.set_key(Some(&Key::new(&key).unwrap()));
    for chunk in chunks {
        // A capture that is cut may end in a fault; what was read is judged by the tests.
        let _ = index.push(&chunk);
    }
    let _ = index.finish();
    index
}

fn rows(index: &Index) -> Vec<Row<'_>> {
    (0..index.len()).map(|i| index.unit(i).unwrap().row).collect()
}

fn described(row: &Row<'_>) -> String {
    let (len, version, name) = (row.len, row.version, row.frame_type().unwrap());
    let (flags, channel, corr) = (row.flags, row.channel, row.corr);
    format!(
        "EnvelopeHeader {{ len: {len}, ver: {version}, ty: {name}, flags: Flags({flags}), channel: {channel}, corr: {corr} }}"
    )
}

#[test]
fn every_frame_that_the_server_sent_is_read_in_order() {
    let index = read([CAPTURE.to_vec()].into_iter());
    let rows = rows(&index);
    let sent: Vec<_> =
        rows.iter().filter(|row| row.kind == Kind::Frame && row.direction == Direction::BToA).collect();
    let expected: Vec<Value> = EXPECTED.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((sent.len(), expected.len()), (40, 40));
    for (row, expected) in sent.iter().zip(&expected) {
        assert_eq!(described(row), expected["header"]);
        let body: Value = serde_json::from_slice(row.body()).unwrap();
        assert_eq!(body, expected["body"]);
        assert_eq!(row.seq, expected["body"]["seq"].as_u64().unwrap());
        assert_eq!(row.law, LawMark::Kept);
    }
}

#[test]
fn the_client_sent_one_frame_and_the_handshake_is_verified() {
    let index = read([CAPTURE.to_vec()].into_iter());
    let rows = rows(&index);
    let kinds: Vec<_> = rows.iter().take(3).map(|row| row.kind).collect();
    assert_eq!(kinds, [Kind::Handshake; 3]);
    let totals = index.totals();
    assert_eq!((totals.messages, totals.verified, totals.refuted), (3, 2, 0));
    assert_eq!((totals.faults, totals.breaches, totals.missing), (0, 0, 0));
    let from_client = |row: &&Row<'_>| row.kind == Kind::Frame && row.direction == Direction::AToB;
    assert_eq!(rows.iter().filter(from_client).count(), 1);
    assert_eq!(rows.len(), 3 + 40 + 1);
}

#[test]
fn any_split_of_the_file_gives_the_same_units() {
    let whole = read([CAPTURE.to_vec()].into_iter());
    for chunk in [1, 2, 3, 7, 16, 24, 61, 1000, 4096] {
        let split = read(CAPTURE.chunks(chunk).map(<[u8]>::to_vec));
        assert_eq!(rows(&split), rows(&whole), "chunks of {chunk}");
    }
    for at in (0..CAPTURE.len()).step_by(41) {
        let (first, second) = CAPTURE.split_at(at);
        let split = read([first.to_vec(), second.to_vec()].into_iter());
        assert_eq!(rows(&split), rows(&whole), "split at {at}");
    }
}

#[test]
fn a_file_cut_anywhere_keeps_what_came_before() {
    let whole = read([CAPTURE.to_vec()].into_iter());
    let whole = rows(&whole);
    for cut in (24..CAPTURE.len()).step_by(97) {
        let index = read([CAPTURE[..cut].to_vec()].into_iter());
        let (sound, faulty): (Vec<_>, Vec<_>) = rows(&index).into_iter().partition(|row| row.fault == 0);
        assert_eq!(sound, whole[..sound.len()], "cut at {cut}");
        assert!(faulty.len() <= 2, "at most one unit of each direction is cut, at {cut}");
    }
}

#[test]
fn a_flipped_bit_anywhere_never_panics() {
    for at in (24..CAPTURE.len()).step_by(7) {
        let mut damaged = CAPTURE.to_vec();
        damaged[at] ^= 0x80;
        let index = read([damaged].into_iter());
        let faults = rows(&index).iter().filter(|row| row.fault != 0).count();
        assert_eq!(u64::try_from(faults).unwrap(), index.totals().faults, "flip at {at}");
    }
}

//! Bytes cut anywhere: the units do not depend on it, whatever is missing between them.

use twolane_capture::row::mark;
use twolane_capture::units::{Options, Units};
use twolane_capture::{CloseReason, Direction, Opening, Piece, SegmentSink, Source};
use twolane_core::envelope::Flags;

use crate::wire::{Keeper, Kept, Script, delta, frame, handshake};

const CAPTURE: &[u8] = include_bytes!("../../../fixtures/captures/peer-v1-loopback.pcap");

/// Bytes before the first packet of a pcap file, and before the data of each.
const FILE_HEAD: usize = 24;
const PACKET_HEAD: usize = 16;

/// A piece, owned; every direction is closed at the end of the capture.
enum Said {
    Opened(Opening),
    Bytes(Vec<u8>),
    Missing(u64),
}

/// What a source said; neighbouring bytes of one direction are one piece.
#[derive(Default)]
struct Record(Vec<(u32, Direction, Said)>);

impl SegmentSink for Record {
    fn piece(&mut self, _: Option<u64>, connection: u32, direction: Direction, piece: Piece<'_>) {
        let said = match piece {
            Piece::Opened { how, .. } => Said::Opened(how),
            Piece::Bytes(bytes) => {
                if let Some((number, way, Said::Bytes(held))) = self.0.last_mut()
                    && (*number, *way) == (connection, direction)
                {
                    return held.extend_from_slice(bytes);
                }
                Said::Bytes(bytes.to_vec())
            }
            Piece::Missing { bytes } => Said::Missing(bytes),
            _ => return,
        };
        self.0.push((connection, direction, said));
    }
}

impl Record {
    fn of(file: &[u8]) -> Self {
        let mut record = Self::default();
        let mut source = Source::new();
        source.push(file, &mut record).unwrap();
        source.finish(&mut record).unwrap();
        record
    }

    /// Its units with bytes cut where `next_len` says.
    fn read(&self, options: Options, mut next_len: impl FnMut() -> usize) -> Vec<Kept> {
        let mut units = Units::new(Keeper::default(), options);
        for (connection, direction, said) in &self.0 {
            let mut say = |piece| units.piece(Some(7), *connection, *direction, piece);
            match said {
                Said::Opened(how) => say(Piece::Opened { how: *how, ends: None }),
                Said::Missing(bytes) => say(Piece::Missing { bytes: *bytes }),
                Said::Bytes(bytes) => {
                    let mut rest = &bytes[..];
                    while !rest.is_empty() {
                        let (front, back) = rest.split_at(next_len().clamp(1, rest.len()));
                        say(Piece::Bytes(front));
                        rest = back;
                    }
                }
            }
        }
        for (connection, direction, said) in &self.0 {
            if let Said::Opened(_) = said {
                let reason = CloseReason::EndOfCapture;
                units.piece(Some(7), *connection, *direction, Piece::Closed { reason });
            }
        }
        units.into_sink().0
    }
}

/// Numbers that look random and are the same in every run.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// The capture without the packets that `is_lost` names by their number.
fn without(mut is_lost: impl FnMut(usize) -> bool) -> Vec<u8> {
    let (head, mut rest) = CAPTURE.split_at(FILE_HEAD);
    let mut file = head.to_vec();
    let mut number = 0;
    while !rest.is_empty() {
        let len = u32::from_le_bytes(rest[8..12].try_into().unwrap());
        let (packet, more) = rest.split_at(PACKET_HEAD + usize::try_from(len).unwrap());
        if !is_lost(number) {
            file.extend_from_slice(packet);
        }
        number += 1;
        rest = more;
    }
    file
}

#[test]
fn a_real_capture_with_lost_packets_gives_the_same_units_for_any_cut_of_its_bytes() {
    let mut guesses = 0;
    for seed in 0..60 {
        let mut random = Seeded(seed);
        // From nothing lost to a third of all; every fourth begins in the middle.
        let (share, first) = (random.below(30), if seed % 4 == 3 { random.below(30) } else { 0 });
        let record = Record::of(&without(|number| number < first || random.below(100) < share));
        for resync in [false, true] {
            let options = Options { resync, ..Options::default() };
            let whole = record.read(options, || usize::MAX);
            guesses += whole.iter().filter(|unit| unit.marks & mark::GUESS != 0).count();
            for longest in [1, 3, 20, 90, 700] {
                let cut = record.read(options, || 1 + random.below(longest));
                assert_eq!(cut, whole, "seed {seed}, pieces of up to {longest} bytes, resync {resync}");
            }
        }
    }
    assert!(guesses > 60, "boundaries were searched and found: {guesses}");
}

/// A stream's units for every cut in two, and byte by byte.
fn for_any_cut(stream: &[u8], options: Options) -> Vec<Kept> {
    let opening = || Script::with(Opening::Joined, options);
    let whole = opening().bytes(stream).end();
    for split in 1..stream.len() {
        let (first, second) = stream.split_at(split);
        assert_eq!(opening().bytes(first).bytes(second).end(), whole, "split at {split}");
    }
    let bytewise = stream.chunks(1).fold(opening(), |script, byte| script.bytes(byte)).end();
    assert_eq!(bytewise, whole);
    whole
}

#[test]
fn a_place_that_waits_for_bytes_neither_wins_nor_loses_by_when_they_come() {
    let ping = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
    let outer =
        frame(Flags::from_bits(0x03), 3, &[&[0xee; 90][..], &ping, &ping, &ping, &[0xee; 90]].concat());
    let stream = [outer, delta(1), delta(2)].concat();
    let units = for_any_cut(&stream, Options::default());
    assert!(units.iter().any(|unit| unit.marks & mark::GUESS != 0), "{units:?}");
}

#[test]
fn a_fault_is_as_long_as_what_it_was_judged_by() {
    let [hello, ..] = handshake();
    let too_long = [&[0xff, 0xff, 0, 0, b'{'][..], &[b'x'; 40]].concat();
    let mut type_40 = delta(1);
    type_40[5] = 40;
    for (broken, len) in
        [(&b"\0\0\0\0\x09 and more of something else"[..], 5), (&type_40, 17), (&too_long, 5)]
    {
        let first = if len == 5 && broken == too_long { hello.clone() } else { delta(0) };
        let stream = [&first[..], broken, &delta(1), &delta(2)].concat();
        for resync in [false, true] {
            let options = Options { resync, ..Options::default() };
            let said = |cut: usize| {
                let script = Script::with(Opening::Syn, options);
                stream.chunks(cut).fold(script, |script, bytes| script.bytes(bytes)).end()
            };
            let whole = said(stream.len());
            assert_eq!((whole[1].len, whole[1].bytes.len()), (len, usize::try_from(len).unwrap()));
            assert!((1..stream.len()).all(|cut| said(cut) == whole), "{whole:?}");
            // What stood there is shown all the same, by the unit that counts it.
            assert!(whole[2].bytes.starts_with(broken), "{whole:?}");
        }
    }
}

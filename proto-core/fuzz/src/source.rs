//! A capture gives the same units however it is pushed, and a stream's bytes are all in one of them or counted.

use twolane_capture::row::{Kind, mark};
use twolane_capture::units::{Options, Unit, UnitFault};
use twolane_capture::{Filter, Format, Index, SourceFault};
use twolane_core::dissect::Tree;

use crate::seeds::Seeds;

/// The first byte says how the reader is set up, the second how the rest is cut.
pub fn run(bytes: &[u8]) {
    let [mode, cut, file @ ..] = bytes else { return };
    let body_limit = if mode & 2 == 2 { 64 } else { u32::MAX };
    let options = Options { resync: mode & 1 == 1, body_limit, ..Options::default() };
    let format = (mode & 4 == 4).then_some(Format::Raw);
    let (whole, fault) = index(format, options, file, file.len().max(1));
    let (pieces, cut_fault) = index(format, options, file, usize::from(*cut) + 1);
    assert_eq!(fault, cut_fault, "the same fault however it is cut");
    assert_eq!(whole.format(), pieces.format());
    assert_eq!(whole.ways(), pieces.ways());
    if !searched(&whole) && !searched(&pieces) {
        same(&whole, &pieces);
        assert_eq!(whole.totals(), pieces.totals());
    }
    let filter = Filter::parse("text~\"delta\" or seq>1 or fault=any").expect("a filter");
    for i in 0..whole.len() {
        let unit = unit(&whole, i);
        let _ = (filter.matches(&unit.row), unit.fault.map(|fault| fault.to_string()));
        if unit.row.kind == Kind::Frame {
            let _ = Tree::frame(unit.row.bytes);
        }
    }
    if format == Some(Format::Raw) && fault.is_none() && mode & 2 == 0 {
        for index in [&whole, &pieces] {
            let all: u64 = (0..index.len()).map(|i| size(&unit(index, i))).sum();
            assert_eq!(all, file.len() as u64, "bytes that no unit has or counts: {}", told(index));
        }
    }
}

/// Captures, and frames and messages as streams.
pub fn seeds(seeds: &Seeds) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x} ")).collect::<String>().into_bytes();
    for mode in 0..4 {
        all.extend(seeds.captures.iter().map(|capture| [&[mode, 100], &capture[..]].concat()));
        all.push([&[mode, 7], &hex(&seeds.frames.concat())[..]].concat());
        let stream = [seeds.messages.concat(), seeds.frames.concat()].concat();
        all.push([&[mode | 4, 30], &stream[..]].concat());
    }
    let units = seeds.frames.iter().chain(&seeds.messages);
    all.extend(units.flat_map(|unit| [4, 5].map(|mode| [&[mode, 3], &unit[..]].concat())));
    all
}

fn index(format: Option<Format>, options: Options, file: &[u8], cut: usize) -> (Index, Option<SourceFault>) {
    let mut index = match format {
        Some(format) => Index::with_format(format, options),
        None => Index::new(options),
    };
    let pushed = file.chunks(cut).try_for_each(|chunk| index.push(chunk));
    let finished = index.finish();
    (index, pushed.and(finished).err())
}

/// Bytes of the source that a unit has, or stands for. The place of a broken rule is shown by one unit and counted
/// by the next.
fn size(unit: &Unit<'_>) -> u64 {
    match (unit.row.kind, counts(unit)) {
        (Kind::Fault, true) => unit.row.len,
        (Kind::Fault, false) => 0,
        _ => unit.row.bytes.len() as u64,
    }
}

/// Whether the unit counts bytes: all do but the one that shows the place of a broken rule.
fn counts(unit: &Unit<'_>) -> bool {
    !matches!(unit.fault, Some(UnitFault::Frame(_) | UnitFault::Handshake(_) | UnitFault::SecondMessage))
}

/// Whether a boundary was searched for: a guess from what is there by then, so that the cut may show.
fn searched(index: &Index) -> bool {
    (0..index.len())
        .map(|i| unit(index, i))
        .any(|unit| unit.row.is_marked(mark::GUESS) || matches!(unit.fault, Some(UnitFault::Passed { .. })))
}

/// Of the place of a broken rule, only what had arrived by then is shown.
fn same(whole: &Index, pieces: &Index) {
    assert_eq!(whole.len(), pieces.len(), "as many units:{}\nand\n{}", told(whole), told(pieces));
    for i in 0..whole.len() {
        let (mut one, mut other) = (unit(whole, i), unit(pieces, i));
        if one.row.kind == Kind::Fault && !counts(&one) {
            let shown = one.row.bytes.len().min(other.row.bytes.len());
            for row in [&mut one.row, &mut other.row] {
                assert_eq!(row.len, row.bytes.len() as u64);
                (row.bytes, row.len) = (&row.bytes[..shown], 0);
            }
        }
        assert_eq!(one, other, "unit {i}");
    }
}

fn unit(index: &Index, i: usize) -> Unit<'_> {
    index.unit(i).expect("a unit that is there")
}

/// The units, for the message of a broken law.
fn told(index: &Index) -> String {
    let line = |i| {
        let Unit { row, fault, .. } = unit(index, i);
        format!("\n{:?} at {}, len {}, {} bytes, {fault:?}", row.kind, row.offset, row.len, row.bytes.len())
    };
    (0..index.len()).map(line).collect()
}

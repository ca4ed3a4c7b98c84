//! Every golden of fixtures/golden: its dissection, every truncation, every split point, every single-bit flip.
#![cfg(feature = "alloc")]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use twolane_core::dissect::{Stage, Tree};
use twolane_core::envelope::{Header, HeaderFault, Peeked, peek};
use twolane_core::frame::{Decoded, FrameDecoder, FrameReason, Item};
use twolane_core::handshake::message;

struct Golden {
    name: String,
    kind: String,
    bytes: Vec<u8>,
    row: Value,
}

fn goldens() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/golden");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for row in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
            let hex = row["hex"].as_str().unwrap();
            let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            all.push(Golden {
                name: row["name"].as_str().unwrap().into(),
                kind: row["kind"].as_str().unwrap().into(),
                bytes: (0..hex.len()).step_by(2).map(byte).collect(),
                row,
            });
        }
    }
    assert!(all.len() >= 80, "only {} goldens", all.len());
    all
}

fn stage(kind: &str) -> Option<Stage> {
    [Stage::ClientHello, Stage::ServerProof, Stage::ClientAuth].into_iter().find(|stage| stage.name() == kind)
}

fn tree(golden: &Golden, bytes: &[u8]) -> Tree {
    match stage(&golden.kind) {
        Some(stage) => Tree::handshake(bytes, stage),
        None => Tree::frame(bytes),
    }
}

fn whole_frames() -> Vec<Golden> {
    let mut all = goldens();
    all.retain(|golden| golden.kind == "frame" && !golden.name.starts_with("damaged-"));
    assert!(all.len() > 50);
    all
}

#[test]
fn the_dissection_is_the_one_on_file() {
    for golden in goldens() {
        let tree = tree(&golden, &golden.bytes);
        let nodes: Vec<Value> = tree
            .nodes
            .iter()
            .map(|n| {
                let (kind, name, value) = (n.kind.name(), &n.name, &n.value);
                json!([n.depth, n.start, n.value_start, n.end, n.mask, kind, name, value, n.meaning])
            })
            .collect();
        assert_eq!(Value::Array(nodes), golden.row["nodes"], "{}", golden.name);
        let fault = tree.fault.map(|f| json!({"offset": f.offset, "reason": f.reason.to_string()}));
        assert_eq!(fault.unwrap_or(Value::Null), golden.row["fault"], "{}", golden.name);
    }
}

#[test]
fn only_damaged_goldens_have_a_fault() {
    for golden in goldens() {
        let damaged = golden.name.starts_with("damaged-")
            || ["handshake-hello-", "handshake-auth-"].iter().any(|start| golden.name.starts_with(start));
        assert_eq!(!golden.row["fault"].is_null(), damaged, "{}", golden.name);
    }
}

#[test]
fn a_truncated_frame_is_never_a_frame_and_asks_for_what_is_missing() {
    for golden in whole_frames() {
        let whole = golden.bytes.len();
        let header = if golden.bytes[4] == 1 { 17 } else { 21 };
        for len in 0..whole {
            let expected = match len {
                0..5 => 5,
                _ if len < header => header,
                _ => whole,
            };
            let cut = &golden.bytes[..len];
            let need = Ok(Decoded { consumed: 0, item: Item::Need(expected) });
            assert_eq!(FrameDecoder::new(u32::MAX).decode(cut), need, "{} cut to {len}", golden.name);
            assert!(FrameDecoder::new(u32::MAX).end(cut).is_err() == (len > 0));
        }
    }
}

#[test]
fn a_truncated_golden_still_shows_what_is_there_and_says_that_it_is_cut() {
    for golden in goldens().into_iter().filter(|golden| golden.name != "damaged-trailing-bytes") {
        for len in 0..golden.bytes.len() {
            let cut = tree(&golden, &golden.bytes[..len]);
            assert!(cut.fault.is_some() || len == 0, "{} cut to {len}", golden.name);
            assert!(cut.nodes.iter().all(|node| node.end as usize <= len), "{} cut to {len}", golden.name);
        }
    }
}

#[test]
fn every_split_point_gives_the_frame() {
    for golden in whole_frames() {
        for split in 0..golden.bytes.len() {
            let mut decoder = FrameDecoder::new(u32::MAX);
            let first = decoder.decode(&golden.bytes[..split]).unwrap();
            assert_eq!(first.consumed, 0, "what is not handed out stays unread");
            let Ok(Decoded { consumed, item: Item::Frame(frame) }) = decoder.decode(&golden.bytes) else {
                panic!("{} split at {split}", golden.name)
            };
            assert_eq!(consumed, golden.bytes.len());
            assert_eq!([&frame.header.encode(), frame.body].concat(), golden.bytes);
        }
    }
}

/// A header as the specification's table lays it out, read without the core.
#[derive(Clone, Debug, PartialEq)]
struct Layout {
    len: u32,
    version: u8,
    frame_type: u8,
    flags: u8,
    channel: u16,
    epoch: u32,
    corr: u64,
}

impl Layout {
    /// Reads `b` as a header of `version`, whatever byte 4 says.
    fn of(version: u8, b: &[u8]) -> Self {
        let (epoch, corr) =
            if version == 1 { (0, 9) } else { (u32::from_le_bytes(b[9..13].try_into().unwrap()), 13) };
        Self {
            len: u32::from_le_bytes(b[..4].try_into().unwrap()),
            version: b[4],
            frame_type: b[5],
            flags: b[6],
            channel: u16::from_le_bytes([b[7], b[8]]),
            epoch,
            corr: u64::from_le_bytes(b[corr..corr + 8].try_into().unwrap()),
        }
    }

    fn of_header(header: &Header) -> Self {
        Self {
            len: header.body_len(),
            version: header.version().number(),
            frame_type: header.frame_type().code(),
            flags: header.flags().bits(),
            channel: header.channel(),
            epoch: header.epoch(),
            corr: header.corr(),
        }
    }
}

/// The specification's rules in their order, by the number of the rule; 0 for a legal header.
fn rule_broken(l: &Layout) -> u8 {
    let rules = [
        (2, l.version == 1 || l.version == 2),
        (4, l.frame_type <= 11),
        (5, l.version != 1 || l.flags & 0xf0 == 0),
        (6, l.flags & 0x06 != 0x06),
        (7, l.version != 2 || l.flags & 0x30 != 0x30),
        (8, l.version != 2 || l.flags & 0x30 != 0x20 || l.frame_type == 2 || l.frame_type == 3),
        (9, !matches!(l.frame_type, 6 | 7 | 8 | 11) || l.len == 0),
        (10, l.version != 2 || l.channel != 0 || l.epoch == 0),
    ];
    rules.iter().find(|(_, kept)| !kept).map_or(0, |(rule, _)| *rule)
}

fn rule_of(fault: HeaderFault) -> u8 {
    match fault {
        HeaderFault::UnknownVersion { .. } => 2,
        HeaderFault::UnknownType { .. } => 4,
        HeaderFault::ReservedFlags { .. } => 5,
        HeaderFault::IllegalPriority { .. } => 6,
        HeaderFault::IllegalAdmission { .. } => 7,
        HeaderFault::SheddableOnType { .. } => 8,
        HeaderFault::PureHeaderWithBody { .. } => 9,
        HeaderFault::EpochWithoutChannel { .. } => 10,
        HeaderFault::EpochInVersion1 { .. } => panic!("no bytes say this"),
    }
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut out = bytes.to_vec();
    out[bit / 8] ^= 1 << (bit % 8);
    out
}

#[test]
fn every_flipped_bit_of_a_header_is_refused_by_its_rule_or_changes_exactly_its_field() {
    for golden in whole_frames() {
        let before = Layout::of(golden.bytes[4], &golden.bytes);
        let header_len = if before.version == 1 { 17 } else { 21 };
        for bit in 0..header_len * 8 {
            let bytes = flipped(&golden.bytes, bit);
            let expected = Layout::of(golden.bytes[4], &bytes);
            let at = format!("{} bit {bit}", golden.name);
            match (peek(&bytes), rule_broken(&expected)) {
                (Ok(Peeked::Header(header)), 0) => {
                    assert_eq!(Layout::of_header(&header), expected, "{at}");
                    assert_eq!(fields_changed(&before, &expected), 1, "{at}");
                }
                (Err(fault), rule) => assert_eq!(rule_of(fault), rule, "{at}"),
                (other, rule) => panic!("{at}: {other:?}, the table says rule {rule}"),
            }
        }
    }
}

fn fields_changed(a: &Layout, b: &Layout) -> usize {
    [
        a.len != b.len,
        a.version != b.version,
        a.frame_type != b.frame_type,
        a.flags != b.flags,
        a.channel != b.channel,
        a.epoch != b.epoch,
        a.corr != b.corr,
    ]
    .iter()
    .filter(|changed| **changed)
    .count()
}

#[test]
fn no_frame_boundary_moves_unless_len_or_version_was_hit() {
    for golden in whole_frames() {
        let next = [0, 0, 0, 0, golden.bytes[4], 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let stream = [&golden.bytes[..], &next].concat();
        for bit in 0..golden.bytes.len() * 8 {
            let bytes = flipped(&stream, bit);
            let decoded = FrameDecoder::new(u32::MAX).decode(&bytes);
            let at = format!("{} bit {bit}", golden.name);
            match decoded {
                Ok(Decoded { consumed, item: Item::Frame(frame) }) if bit >= 40 => {
                    assert_eq!(consumed, golden.bytes.len(), "{at}");
                    let changed = [&frame.header.encode(), frame.body].concat();
                    assert_eq!(changed, flipped(&golden.bytes, bit), "{at}");
                }
                Ok(Decoded { consumed, item: Item::Frame(_) }) => {
                    assert_ne!(consumed, golden.bytes.len(), "{at}: len was hit and must count");
                }
                Ok(Decoded { consumed: 0, item: Item::Need(more) }) => {
                    assert!(bit < 32, "{at}: waits though len is as it was");
                    assert!(more > bytes.len(), "{at}");
                }
                Ok(other) => panic!("{at}: {other:?}"),
                Err(fault) => assert!(
                    matches!(fault.reason, FrameReason::Header(_) | FrameReason::BodyTooLong { .. }),
                    "{at}: {fault}"
                ),
            }
        }
    }
}

/// What flipping each bit of `type` and `flags` does, worked out by hand from the specification:
/// a rule's number where it is refused, 0 where it is another legal header.
#[test]
fn the_flips_of_type_and_flags_are_those_worked_out_by_hand() {
    #[rustfmt::skip]
    let table: [(&str, [u8; 8], [u8; 8]); 8] = [
        // name               type bits 0..7              flags bits 0..7
        ("v1-lane-control",   [0, 0, 9, 9, 4, 4, 4, 4],   [0, 0, 6, 0, 5, 5, 5, 5]),
        ("v1-lane-display",   [0, 0, 9, 9, 4, 4, 4, 4],   [0, 6, 0, 0, 5, 5, 5, 5]),
        ("v1-lane-passive",   [0, 0, 9, 9, 4, 4, 4, 4],   [0, 0, 0, 0, 5, 5, 5, 5]),
        ("v2-lane-control",   [0, 0, 9, 9, 4, 4, 4, 4],   [0, 0, 6, 0, 0, 0, 0, 0]),
        ("v2-lane-display-sheddable", [0, 8, 8, 8, 4, 4, 4, 4], [0, 6, 0, 0, 7, 0, 0, 0]),
        ("v1-Ping",           [0, 0, 0, 4, 4, 4, 4, 4],   [0, 0, 0, 0, 5, 5, 5, 5]),
        ("v2-Cancel",         [0, 0, 0, 4, 4, 4, 4, 4],   [0, 0, 0, 0, 0, 8, 0, 0]),
        ("v2-Response",       [0, 0, 0, 0, 4, 4, 4, 4],   [0, 0, 0, 0, 0, 8, 0, 0]),
    ];
    let goldens = goldens();
    for (name, types, flags) in table {
        let golden = goldens.iter().find(|golden| golden.name == name).unwrap_or_else(|| panic!("{name}"));
        for (byte, expected) in [(5, types), (6, flags)] {
            let found: [u8; 8] =
                core::array::from_fn(|bit| match peek(&flipped(&golden.bytes, byte * 8 + bit)) {
                    Ok(_) => 0,
                    Err(fault) => rule_of(fault),
                });
            assert_eq!(found, expected, "{name} byte {byte}");
        }
    }
}

#[test]
fn the_dissection_of_a_flipped_golden_stays_inside_its_bytes() {
    for golden in goldens() {
        for bit in 0..golden.bytes.len() * 8 {
            let bytes = flipped(&golden.bytes, bit);
            let tree = tree(&golden, &bytes);
            assert!(tree.nodes.iter().all(|node| node.start <= node.end && node.end as usize <= bytes.len()));
            assert!(tree.fault.is_none_or(|fault| fault.offset <= bytes.len()));
        }
    }
}

#[test]
fn a_truncated_handshake_message_asks_for_the_rest() {
    for golden in goldens().iter().filter(|golden| {
        ["handshake-hello", "handshake-proof", "handshake-auth"].contains(&golden.name.as_str())
    }) {
        for len in 0..golden.bytes.len() {
            let need = if len < 4 { 4 } else { golden.bytes.len() };
            let sighted = message::split(&golden.bytes[..len]);
            assert_eq!(sighted, Ok(message::Sighted::Need(need)), "{} cut to {len}", golden.name);
        }
    }
}

//! Headers as other implementations write and judge them (fixtures/vectors/envelope.json).
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small by construction")]

use serde_json::Value;
use twolane_core::envelope::{Flags, FrameType, Header, HeaderFault, Parts, Peeked, Version, peek};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../fixtures/vectors/envelope.json")).unwrap()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("{key} of {row}"))
}

#[test]
fn every_header_of_other_writers_reads_and_writes_back() {
    let vectors = vectors();
    let mut rows = 0;
    for (version, key) in [(Version::V1, "version_1"), (Version::V2, "version_2")] {
        for row in vectors[key].as_array().unwrap() {
            let wire = bytes(&row["header_hex"]);
            let parts = Parts {
                version,
                frame_type: FrameType::from_code(number(row, "type") as u8).unwrap(),
                flags: Flags::from_bits(number(row, "flags") as u8),
                channel: number(row, "channel") as u16,
                epoch: row.get("epoch").map_or(0, |epoch| epoch.as_u64().unwrap() as u32),
                corr: row["corr"].as_str().unwrap().parse().unwrap(),
                len: number(row, "len") as u32,
            };
            let header = Header::new(parts).unwrap();
            assert_eq!(&*header.encode(), &wire[..], "{}", row["name"]);
            assert_eq!(peek(&wire), Ok(Peeked::Header(header)), "{}", row["name"]);
            assert_eq!(row["type_name"], parts.frame_type.name());
            rows += 1;
        }
    }
    assert_eq!(rows, 18);
}

/// The peers' own words for a verdict, in our terms.
fn meaning(verdict: &str, have: usize) -> Result<&'static str, String> {
    let names = [
        ("Ok(", "legal"),
        ("Err(UnsupportedVersion", "version"),
        ("Err(UnknownFrameType", "type"),
        ("Err(ReservedFlagBits", "reserved"),
        ("Err(ReservedPriorityBits", "priority"),
        ("Err(ReservedAdmissionClass", "admission"),
        ("Err(SheddableIllegalFrameType", "sheddable"),
        ("Err(PureHeaderFrameWithBody", "pure"),
        ("Err(NonzeroEpochOnControlChannel", "epoch"),
        ("Err(TooShortForPrefix", "need 5"),
    ];
    if let Some((_, name)) = names.iter().find(|(start, _)| verdict.starts_with(start)) {
        return Ok(name);
    }
    // They read a whole header at once; we read the prefix first, so an end inside it is reported as such.
    match verdict {
        v if v.starts_with("Err(TooShortForHeader") && have < 5 => Ok("need 5"),
        v if v.contains("need: 17") => Ok("need 17"),
        v if v.contains("need: 21") => Ok("need 21"),
        other => Err(other.into()),
    }
}

fn ours(wire: &[u8]) -> &'static str {
    match peek(wire) {
        Ok(Peeked::Header(_)) => "legal",
        Ok(Peeked::Need(5)) => "need 5",
        Ok(Peeked::Need(17)) => "need 17",
        Ok(Peeked::Need(21)) => "need 21",
        Ok(Peeked::Need(other)) => panic!("need {other}"),
        Err(HeaderFault::UnknownVersion { .. }) => "version",
        Err(HeaderFault::UnknownType { .. }) => "type",
        Err(HeaderFault::ReservedFlags { .. }) => "reserved",
        Err(HeaderFault::IllegalPriority { .. }) => "priority",
        Err(HeaderFault::IllegalAdmission { .. }) => "admission",
        Err(HeaderFault::SheddableOnType { .. }) => "sheddable",
        Err(HeaderFault::PureHeaderWithBody { .. }) => "pure",
        Err(HeaderFault::EpochWithoutChannel { .. }) => "epoch",
        Err(HeaderFault::EpochInVersion1 { .. }) => "unreachable from bytes",
    }
}

#[test]
fn every_row_of_the_decode_table_is_judged_as_the_peer_of_its_version_does() {
    let vectors = vectors();
    let rows = vectors["decode_table"].as_array().unwrap();
    assert_eq!(rows.len(), 24);
    for row in rows {
        let wire = bytes(&row["bytes_hex"]);
        let column = if wire.get(4) == Some(&2) { "protocol_0_34_3" } else { "protocol_0_8_0" };
        let theirs = meaning(row[column].as_str().unwrap(), wire.len()).unwrap();
        assert_eq!(ours(&wire), theirs, "{}", row["name"]);
    }
}

#[test]
fn a_header_that_version_1_cannot_hold_is_not_made() {
    let parts = Parts {
        version: Version::V1,
        frame_type: FrameType::Push,
        flags: Flags::NONE,
        channel: 1,
        epoch: 3,
        corr: 0,
        len: 0,
    };
    assert_eq!(Header::new(parts), Err(HeaderFault::EpochInVersion1 { epoch: 3 }));
}

/// The short way of `peek` and the rules of `Header::new` are two spellings of one judgement.
#[test]
fn bytes_are_judged_as_their_fields_are() {
    for version in [Version::V1, Version::V2] {
        for (code, bits) in (0..=255).flat_map(|code| (0..=255).map(move |bits| (code, bits))) {
            for (len, channel, epoch) in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (0, 1, 1)] {
                let mut wire = vec![len, 0, 0, 0, version.number(), code, bits, channel, 0];
                if version == Version::V2 {
                    wire.extend([epoch, 0, 0, 0]);
                } else if epoch != 0 {
                    continue;
                }
                wire.extend([9, 0, 0, 0, 0, 0, 0, 0]);
                let judged = FrameType::from_code(code).map_or(
                    Err(HeaderFault::UnknownType { found: code }),
                    |frame_type| {
                        Header::new(Parts {
                            version,
                            frame_type,
                            flags: Flags::from_bits(bits),
                            channel: channel.into(),
                            epoch: epoch.into(),
                            corr: 9,
                            len: len.into(),
                        })
                    },
                );
                assert_eq!(peek(&wire), judged.map(Peeked::Header), "{wire:?}");
            }
        }
    }
}

//! The kinds of link, both families of addresses, both versions.

use std::process::Command;

use serde_json::Value;
use twolane_capture::Direction;
use twolane_capture::row::Kind;
use twolane_core::envelope::{Peeked, Version, peek};

use crate::reading::{Way, read};
use crate::recording::{COOKED_V2, ETHERNET, How, Recording};

const COOKED_V1: How = How { interface: "any", link: "LINUX_SLL", ..ETHERNET };

fn decoded(recording: &Recording) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.pcap");
    std::fs::write(&path, &recording.file).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.args(["decode", "--json", "--key-file"]).arg(recording.server.file()).arg(path);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A frame as `decode --json` shows its header and body, from its bytes alone.
fn shown(frame: &[u8]) -> Value {
    let Ok(Peeked::Header(header)) = peek(frame) else { panic!("a frame was received") };
    let mut shown = serde_json::json!({
        "version": header.version().number(),
        "type": header.frame_type().name(),
        "last": header.flags().is_last(),
        "channel": header.channel(),
        "corr": header.corr(),
        "len": header.body_len(),
    });
    if let Ok(lane) = header.lane() {
        shown["lane"] = lane.name().into();
        shown["body"] = serde_json::from_slice(&frame[header.version().header_len()..]).unwrap();
    }
    shown
}

#[test]
fn what_is_decoded_is_what_the_peer_received_over_every_kind_of_link() {
    for (how, ip, version) in [
        (ETHERNET, "127.0.0.1", Version::V1),
        (ETHERNET, "[::1]", Version::V2),
        (COOKED_V2, "127.0.0.1", Version::V2),
        (COOKED_V2, "[::1]", Version::V1),
        (COOKED_V1, "127.0.0.1", Version::V1),
        (COOKED_V1, "[::1]", Version::V2),
    ] {
        let recording = Recording::of(how, ip, version);
        let units = decoded(&recording);
        let verdicts: Vec<_> = units.iter().take(3).map(|unit| &unit["verified"]).collect();
        assert_eq!(verdicts, [&Value::Null, &true.into(), &true.into()], "{how:?} {ip}");
        for (direction, frames) in [("a>b", &recording.seen.sent), ("b>a", &recording.seen.received)] {
            let is_frame = |unit: &&Value| unit["kind"] == "frame" && unit["direction"] == direction;
            let found: Vec<&Value> = units.iter().filter(is_frame).collect();
            assert_eq!(found.len(), frames.len(), "{how:?} {ip} {direction}");
            for (unit, frame) in found.iter().zip(frames) {
                for (name, value) in shown(frame).as_object().unwrap() {
                    assert_eq!(&unit[name], value, "{name}, {how:?} {ip} {direction}");
                }
            }
        }
    }
}

#[test]
fn the_bytes_of_each_frame_are_those_that_the_peer_received() {
    let recording = Recording::of(ETHERNET, "127.0.0.1", Version::V1);
    let (units, end) = read(&recording.file);
    assert_eq!(end, Ok(()));
    for (direction, frames) in
        [(Direction::AToB, &recording.seen.sent), (Direction::BToA, &recording.seen.received)]
    {
        let way = Way::of(&units, direction);
        let found: Vec<_> =
            way.units.iter().filter(|unit| unit.kind == Kind::Frame).map(|unit| &unit.bytes).collect();
        assert_eq!(found, frames.iter().collect::<Vec<_>>());
    }
    assert!(recording.seen.received.len() > 100, "a run of many frames");
}

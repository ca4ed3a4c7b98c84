//! The dissector in docs/wireshark, in a real tshark: what it shows is what `twolane decode` shows.
//!
//! Left out unless asked for, since tshark is large: `cargo xtask test --only wireshark`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use twolane_capture::Direction;
use twolane_capture::tap::{self, Kind, Label};
use twolane_core::envelope::Version;

use crate::recording::{ETHERNET, How, Recording};

const FIELDS: [&str; 17] = [
    "twolane.len",
    "twolane.version",
    "twolane.type",
    "twolane.flags",
    "twolane.flags.last",
    "twolane.channel",
    "twolane.epoch",
    "twolane.corr",
    "twolane.lane",
    "twolane.handshake.stage",
    "twolane.tap.connection",
    "twolane.tap.endpoint",
    "twolane.tap.direction",
    "twolane.illegal",
    "twolane.cut",
    "tcp.srcport",
    "json.path_with_value",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The values of each field in each packet, in order.
type Packet = BTreeMap<String, Vec<String>>;

fn tshark(file: &Path, more: &[String]) -> Vec<Packet> {
    let script = format!("lua_script:{}", repository().join("docs/wireshark/twolane.lua").display());
    let mut command = Command::new("tshark");
    command.args(["-n", "-X", &script, "-T", "json", "-r"]).arg(file).args(more);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = command.output().expect("`cargo xtask test --only wireshark` installs tshark");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("Lua"), "{said}");
    let packets: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let layers = |packet: &Value| {
        let layers = packet["_source"]["layers"].as_object().cloned().unwrap_or_default();
        let texts = |values: Value| {
            let values = values.as_array().cloned().unwrap_or_default();
            values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
        };
        layers.into_iter().map(|(name, values)| (name, texts(values))).collect()
    };
    packets.iter().map(layers).collect()
}

fn decode(file: &Path) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    let output = command.args(["decode", "--json"]).arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One number or text of a frame, as tshark writes it.
fn text_of(unit: &Value, name: &str) -> String {
    const TYPES: [&str; 12] = [
        "Request",
        "Response",
        "Push",
        "StreamData",
        "StreamEnd",
        "Error",
        "Cancel",
        "Ping",
        "Pong",
        "Hello",
        "HelloAck",
        "Goodbye",
    ];
    match (name, &unit[name]) {
        ("type", Value::String(name)) => TYPES.iter().position(|known| known == name).unwrap().to_string(),
        (_, Value::Null) => "none".to_owned(),
        (_, Value::Bool(value)) => u8::from(*value).to_string(),
        (_, Value::String(text)) => text.clone(),
        (_, value) => value.to_string(),
    }
}

/// What of a frame both show, decode's name first.
const SHOWN: [(&str, &str); 8] = [
    ("len", "twolane.len"),
    ("version", "twolane.version"),
    ("type", "twolane.type"),
    ("last", "twolane.flags.last"),
    ("channel", "twolane.channel"),
    ("corr", "twolane.corr"),
    ("lane", "twolane.lane"),
    ("epoch", "twolane.epoch"),
];

fn assert_same(unit: &Value, packet: &Packet, place: usize, what: &str) {
    for (name, field) in SHOWN {
        if unit.get(name).is_none() && name == "epoch" {
            continue;
        }
        let shown = packet.get(field).and_then(|values| values.get(place)).map_or("nothing", String::as_str);
        let shown = match shown {
            "True" => "1",
            "False" => "0",
            shown => shown,
        };
        assert_eq!(shown, text_of(unit, name), "{what}: {name} of {unit}");
    }
}

fn is_frame(unit: &&Value) -> bool {
    unit["kind"] == "frame"
}

#[test]
#[ignore = "needs tshark: cargo xtask test --only wireshark"]
fn a_capture_of_loopback_shows_what_decode_shows_by_itself_and_told_the_port() {
    let cooked = How { interface: "any", link: "LINUX_SLL2", ..ETHERNET };
    for (how, ip, version) in [(ETHERNET, "127.0.0.1", Version::V1), (cooked, "[::1]", Version::V2)] {
        let recording = Recording::of(how, ip, version);
        let folder = tempfile::tempdir().unwrap();
        let pcap = folder.path().join("run.pcap");
        fs::write(&pcap, &recording.file).unwrap();
        let units = decode(&pcap);
        let port = recording.server.address.port().to_string();
        for more in [vec![], vec!["-d".to_owned(), format!("tcp.port=={port},twolane")]] {
            let packets = tshark(&pcap, &more);
            for direction in ["a>b", "b>a"] {
                let what = format!("{how:?} {more:?} {direction}");
                let of_side = |packet: &&Packet| (packet["tcp.srcport"][0] == port) == (direction == "b>a");
                let mut frames = units.iter().filter(is_frame).filter(|unit| unit["direction"] == direction);
                let mut stages = Vec::new();
                for packet in packets.iter().filter(of_side) {
                    stages.extend(packet.get("twolane.handshake.stage").cloned().unwrap_or_default());
                    for place in 0..packet.get("twolane.len").map_or(0, Vec::len) {
                        assert_same(frames.next().expect("a frame of decode's"), packet, place, &what);
                    }
                }
                assert_eq!(frames.next(), None, "{what}: nothing is left");
                let expected: &[&str] =
                    if direction == "a>b" { &["ClientHello", "ClientAuth"] } else { &["ServerProof"] };
                assert_eq!(stages, expected, "{what}");
            }
            let says = |path: &str| {
                packets
                    .iter()
                    .filter_map(|packet| packet.get("json.path_with_value"))
                    .flatten()
                    .any(|shown| shown == path)
            };
            assert!(says("/payload/type:stream_start") && says("/payload/model:model-1"), "bodies as JSON");
        }
        as_pcapng(&pcap, &units);
    }
}

/// The same capture as Wireshark's own tools write it.
fn as_pcapng(pcap: &Path, units: &[Value]) {
    let pcapng = pcap.with_extension("pcapng");
    let mut editcap = Command::new("editcap");
    let status =
        editcap.args(["-F", "pcapng"]).arg(pcap).arg(&pcapng).status().expect("it comes with tshark");
    assert!(status.success());
    assert_eq!(fs::read(&pcapng).unwrap()[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert_eq!(decode(&pcapng), units);
}

#[test]
#[ignore = "needs tshark: cargo xtask test --only wireshark"]
fn a_file_of_our_tap_shows_what_decode_shows_of_every_golden() {
    let mut file = Vec::new();
    tap::section(&mut file);
    let mut goldens = Vec::new();
    for name in ["v1", "v2", "lanes", "bodies", "damaged", "handshake"] {
        let text = fs::read(repository().join(format!("fixtures/golden/{name}.json"))).unwrap();
        goldens.extend(serde_json::from_slice::<Vec<Value>>(&text).unwrap());
    }
    for (connection, golden) in (1..).zip(&goldens) {
        let kind = if golden["kind"] == "frame" { Kind::Frame } else { Kind::Handshake };
        let label = Label { connection, endpoint: "providers", kind };
        let direction = if connection % 2 == 0 { Direction::AToB } else { Direction::BToA };
        tap::packet(&mut file, 1_000 + u64::from(connection), direction, label, &bytes_of(golden));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("goldens.pcapng");
    fs::write(&path, &file).unwrap();
    let (units, packets) = (decode(&path), tshark(&path, &[]));
    assert_eq!(packets.len(), goldens.len());
    let (mut frames, mut refused) = (0, 0);
    for (connection, (golden, packet)) in (1..).zip(goldens.iter().zip(&packets)) {
        let name = golden["name"].as_str().unwrap();
        let unit = units.iter().find(|unit| unit["connection"] == connection).unwrap();
        assert_eq!(packet["twolane.tap.connection"], [connection.to_string()], "{name}");
        assert_eq!(packet["twolane.tap.endpoint"], ["providers"], "{name}");
        assert_eq!(packet["twolane.tap.direction"], [unit["direction"].as_str().unwrap()], "{name}");
        match unit["kind"].as_str().unwrap() {
            "frame" => {
                assert_same(unit, packet, 0, name);
                assert!(!packet.contains_key("twolane.illegal"), "{name}");
                assert_eq!(packet.contains_key("twolane.cut"), unit["cut"] == true, "{name}");
                frames += 1;
            }
            "handshake" if unit.get("fault").is_none() => {
                assert_eq!(packet["twolane.handshake.stage"], [unit["stage"].as_str().unwrap()], "{name}");
            }
            "handshake" => assert_eq!(packet.contains_key("twolane.cut"), unit["cut"] == true, "{name}"),
            _ => {
                let is_marked = packet.contains_key("twolane.illegal") || packet.contains_key("twolane.cut");
                assert!(is_marked, "{name}: {packet:?} {unit}");
                refused += 1;
            }
        }
    }
    assert!(frames > 50 && refused > 5, "{frames} frames, {refused} refused");
}

fn bytes_of(golden: &Value) -> Vec<u8> {
    let hex = golden["hex"].as_str().unwrap();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

//! The connection file: the texts of other implementations both ways, and what is refused.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::net::SocketAddr;
use twolane_core::connection_file::{
    ConnectionFile, ConnectionFileFault, ConnectionFileParts, ConnectionFileReason, EndpointFault,
    EndpointReason, write,
};
use twolane_core::envelope::Version;
use twolane_core::handshake::{DaemonId, FieldReason, Key, KeyFault};
use twolane_core::limits::{CONNECTION_FILE_ENDPOINTS_MAX, CONNECTION_FILE_MAX};
use twolane_core::scan::json::JsonReason;

fn cases() -> Value {
    let file: Value =
        serde_json::from_str(include_str!("../../fixtures/vectors/connection-file.json")).unwrap();
    file["cases"].clone()
}

fn vector(name: &str) -> String {
    cases()[name].as_str().unwrap().to_owned()
}

fn key() -> Key {
    Key::new(&(0..32).collect::<Vec<u8>>()).unwrap()
}

fn id() -> DaemonId {
    DaemonId(core::array::from_fn(|index| u8::try_from(index).unwrap()))
}

fn written(parts: &ConnectionFileParts<'_>) -> String {
    let mut text = String::new();
    write(parts, &mut text).unwrap();
    text
}

/// What the files of the vectors say, for an endpoint of `version`.
fn written_as_the_vectors(version: Version) -> String {
    let endpoints = ["127.0.0.1:8799".parse().unwrap()];
    let key = key();
    written(&ConnectionFileParts {
        version,
        endpoints: &endpoints,
        key: &key,
        daemon_id: id(),
        pid: 4242,
        daemon_ver: "vector-1",
    })
}

/// The fault of the version 1 vector after `change`.
fn fault_of(change: impl FnOnce(&mut Value)) -> ConnectionFileFault {
    let mut file: Value = serde_json::from_str(&vector("file_0_3_2")).unwrap();
    change(&mut file);
    ConnectionFile::parse(file.to_string().as_bytes()).unwrap_err()
}

fn reason_of(change: impl FnOnce(&mut Value)) -> ConnectionFileReason {
    fault_of(change).reason
}

#[test]
fn a_version_1_file_is_written_as_by_the_other_implementation() {
    assert_eq!(written_as_the_vectors(Version::V1), vector("file_0_3_2"));
}

#[test]
fn a_version_2_file_is_written_as_by_the_other_implementation() {
    // Theirs goes on with a member of its own that a reader passes over.
    let theirs = vector("file_0_15_0_full");
    let (common, _) = theirs.split_once(",\n  \"local_endpoint\"").unwrap();
    assert_eq!(written_as_the_vectors(Version::V2), format!("{common}\n}}"));
}

#[test]
fn the_files_of_the_other_implementations_are_read() {
    for (name, version) in [("file_0_3_2", None), ("file_0_15_0_full", Some(Version::V2))] {
        let text = vector(name);
        let file = ConnectionFile::parse(text.as_bytes()).unwrap();
        assert_eq!(file.wire_version(), version);
        assert_eq!(file.endpoints().len(), 1);
        assert!(file.endpoints()[0].host == "127.0.0.1");
        assert_eq!(file.endpoints()[0].port, 8799);
        assert_eq!((file.daemon_id(), file.pid()), (id(), 4242));
        assert!(file.daemon_ver() == "vector-1");
    }
}

#[test]
fn what_was_written_is_read_back_key_and_all() {
    let endpoints = ["127.0.0.1:1".parse().unwrap(), "[::1]:65535".parse().unwrap()];
    for len in [32, 33, 128] {
        let key = Key::new(&vec![0xa7; len]).unwrap();
        let parts = ConnectionFileParts {
            version: Version::V2,
            endpoints: &endpoints,
            key: &key,
            daemon_id: DaemonId([0xff; 16]),
            pid: u32::MAX,
            daemon_ver: "\"\\\n\u{1}\u{20ac}",
        };
        let text = written(&parts);
        let file = ConnectionFile::parse(text.as_bytes()).unwrap();
        let addresses: Vec<SocketAddr> = file.loopback_endpoints().map(Result::unwrap).collect();
        assert_eq!(addresses, endpoints);
        assert_eq!((file.daemon_id(), file.pid()), (parts.daemon_id, parts.pid));
        assert_eq!(file.daemon_ver().to_string(), parts.daemon_ver);
        // The key shows itself only where it is written again.
        assert_eq!(written(&ConnectionFileParts { key: file.key(), ..parts }), text);
    }
}

#[test]
fn a_number_of_endpoints_that_no_reader_accepts_is_not_written() {
    let key = key();
    for count in [0, CONNECTION_FILE_ENDPOINTS_MAX + 1] {
        let endpoints = vec!["127.0.0.1:1".parse().unwrap(); count];
        let parts = ConnectionFileParts {
            version: Version::V1,
            endpoints: &endpoints,
            key: &key,
            daemon_id: id(),
            pid: 1,
            daemon_ver: "",
        };
        let mut text = String::new();
        assert!(write(&parts, &mut text).is_err());
        assert_eq!(text, "", "not even a part of it");
    }
}

#[test]
fn shapes_are_accepted_and_refused_as_by_the_other_implementations() {
    type Change = fn(&mut Value);
    let shapes: [(&str, Change); 8] = [
        ("daemon_id15", |file| file["daemon_id"] = json!(vec![1; 15])),
        ("dead_pid_accepted", |file| file["pid"] = json!(999_999)),
        ("key31", |file| file["key"] = json!(vec![1; 31])),
        ("key64", |file| file["key"] = json!(vec![1; 64])),
        ("key_base64", |file| file["key"] = json!("AAAA")),
        ("no_endpoints", |file| file["endpoints"] = json!([])),
        ("non_loopback_host_accepted_by_reader", |file| file["endpoints"][0]["host"] = json!("10.0.0.1")),
        ("port65536", |file| file["endpoints"][0]["port"] = json!(65536)),
    ];
    let without =
        |member: &'static str| move |file: &mut Value| drop(file.as_object_mut().unwrap().remove(member));
    for (name, change) in shapes {
        let mut file: Value = serde_json::from_str(&vector("file_0_3_2")).unwrap();
        change(&mut file);
        let ours = ConnectionFile::parse(file.to_string().as_bytes()).is_ok();
        assert_eq!(ours, cases()[name]["t0_15_0"] == "Ok(())", "{name}");
        assert_eq!(ours, cases()[name]["t0_3_2"] == "Ok(())", "{name}");
    }
    assert!(cases()["no_pid"]["t0_15_0"].as_str().unwrap().contains("missing field"));
    assert_eq!(reason_of(without("pid")), ConnectionFileReason::Field(FieldReason::Missing("pid")));
    assert!(cases()["schema2"]["t0_15_0"].as_str().unwrap().contains("unsupported"));
    assert_eq!(
        reason_of(|file| file["schema"] = json!(2)),
        ConnectionFileReason::UnsupportedSchema { found: 2 }
    );
}

#[test]
fn each_member_has_to_be_there_once() {
    let text = vector("file_0_3_2");
    for name in ["schema", "endpoints", "key", "daemon_id", "pid", "daemon_ver"] {
        let reason = reason_of(|file| drop(file.as_object_mut().unwrap().remove(name)));
        assert_eq!(reason, ConnectionFileReason::Field(FieldReason::Missing(name)));
        let file: Value = serde_json::from_str(&text).unwrap();
        let twice = text.replacen('{', &format!("{{\"{name}\":{},", file[name]), 1);
        let fault = ConnectionFile::parse(twice.as_bytes()).unwrap_err();
        assert_eq!(fault.reason, ConnectionFileReason::Field(FieldReason::Duplicate(Some(name))));
        let second = twice.rfind(&format!("\"{name}\"")).unwrap();
        assert_eq!(fault.offset, second, "the place of the second {name}");
    }
    for name in ["host", "port"] {
        let reason = reason_of(|file| drop(file["endpoints"][0].as_object_mut().unwrap().remove(name)));
        assert_eq!(reason, ConnectionFileReason::Field(FieldReason::Missing(name)));
    }
}

#[test]
fn wrong_values_are_named_and_not_shown() {
    use ConnectionFileReason::{Field, Key, TooManyEndpoints, UnsupportedSchema, UnsupportedWireVersion};
    let wrong_type = |member, expected| Field(FieldReason::WrongType { member, expected });
    let range = |member, max| Field(FieldReason::OutOfRange { member, max });
    let rows: Vec<(Value, &str, ConnectionFileReason)> = vec![
        (json!("1"), "/schema", wrong_type("schema", "an integer")),
        (json!(0), "/schema", UnsupportedSchema { found: 0 }),
        (json!(1.5), "/schema", range("schema", u64::MAX)),
        (json!(0), "/wire_version", UnsupportedWireVersion { found: 0 }),
        (json!(3), "/wire_version", UnsupportedWireVersion { found: 3 }),
        (json!(258), "/wire_version", UnsupportedWireVersion { found: 258 }),
        (json!(null), "/wire_version", wrong_type("wire_version", "an integer")),
        (json!({}), "/endpoints", wrong_type("endpoints", "an array")),
        (json!(["127.0.0.1:1"]), "/endpoints", Field(FieldReason::NotAnObject)),
        (json!(vec![json!({"host": "h", "port": 1}); 9]), "/endpoints", TooManyEndpoints),
        (json!(7), "/endpoints/0/host", wrong_type("host", "a string")),
        (json!("7"), "/endpoints/0/port", wrong_type("port", "an integer")),
        (json!(65536), "/endpoints/0/port", range("port", 65535)),
        (json!(vec![7; 31]), "/key", Key(KeyFault::TooShort { len: 31 })),
        (json!(vec![7; 129]), "/key", Key(KeyFault::TooLong { len: 129 })),
        (json!(vec![256; 32]), "/key", range("key", 255)),
        (
            json!(vec![7; 17]),
            "/daemon_id",
            Field(FieldReason::WrongLength { member: "daemon_id", expected: 16, found: 17 }),
        ),
        (json!(-1), "/pid", range("pid", u64::from(u32::MAX))),
        (json!(1_u64 << 32), "/pid", range("pid", u64::from(u32::MAX))),
        (json!(7), "/daemon_ver", wrong_type("daemon_ver", "a string")),
    ];
    for (value, place, reason) in rows {
        let mut file: Value = serde_json::from_str(&vector("file_0_3_2")).unwrap();
        file["wire_version"] = json!(1);
        *file.pointer_mut(place).unwrap() = value.clone();
        let fault = ConnectionFile::parse(file.to_string().as_bytes()).unwrap_err();
        assert_eq!(fault.reason, reason, "{value} at {place}");
    }
}

#[test]
fn a_fault_stands_where_the_value_stands() {
    let text = vector("file_0_3_2").replace("    9,\n", "    999,\n");
    let fault = ConnectionFile::parse(text.as_bytes()).unwrap_err();
    assert_eq!(fault.offset, text.find("999").unwrap());
    assert_eq!(
        fault.to_string(),
        format!("byte {}: member `key`: expected an integer from 0 to 255", fault.offset)
    );
}

#[test]
fn text_that_is_no_object_is_refused() {
    let field = ConnectionFileReason::Field;
    let rows = [
        ("", 0, field(FieldReason::Json(JsonReason::UnexpectedEnd))),
        ("\u{feff}{}", 0, field(FieldReason::Json(JsonReason::ByteOrderMark))),
        ("[]", 0, field(FieldReason::NotAnObject)),
        ("{} {}", 3, field(FieldReason::Json(JsonReason::TrailingBytes))),
    ];
    for (text, offset, reason) in rows {
        let expected = ConnectionFileFault { offset, reason };
        assert_eq!(ConnectionFile::parse(text.as_bytes()).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn a_file_over_the_bound_is_refused_before_it_is_read() {
    let mut text = vector("file_0_3_2").into_bytes();
    text.resize(CONNECTION_FILE_MAX, b' ');
    assert!(ConnectionFile::parse(&text).is_ok());
    text.push(b' ');
    let reason = ConnectionFileReason::TooLarge { len: CONNECTION_FILE_MAX + 1 };
    assert_eq!(ConnectionFile::parse(&text).unwrap_err().reason, reason);
}

#[test]
fn version_1_may_be_declared() {
    let text = vector("file_0_15_0_full").replace("\"wire_version\": 2", "\"wire_version\": 1");
    assert_eq!(ConnectionFile::parse(text.as_bytes()).unwrap().wire_version(), Some(Version::V1));
}

#[test]
fn only_literal_loopback_addresses_are_for_connecting() {
    let rows = [
        ("127.0.0.1", Ok("127.0.0.1:5")),
        ("127.255.255.254", Ok("127.255.255.254:5")),
        ("::1", Ok("[::1]:5")),
        ("0:0:0:0:0:0:0:1", Ok("[::1]:5")),
        ("10.0.0.1", Err(EndpointReason::NotLoopback)),
        ("0.0.0.0", Err(EndpointReason::NotLoopback)),
        ("128.0.0.1", Err(EndpointReason::NotLoopback)),
        ("::", Err(EndpointReason::NotLoopback)),
        ("::ffff:127.0.0.1", Err(EndpointReason::NotLoopback)),
        ("localhost", Err(EndpointReason::NotAnAddress)),
        ("[::1]", Err(EndpointReason::NotAnAddress)),
        ("127.1", Err(EndpointReason::NotAnAddress)),
        ("127.0.0.01", Err(EndpointReason::NotAnAddress)),
        ("127.0.0.1 ", Err(EndpointReason::NotAnAddress)),
        ("127.0.0.1\0", Err(EndpointReason::NotAnAddress)),
        ("", Err(EndpointReason::NotAnAddress)),
        ("127.0.0.1.a-name-longer-than-any-address-can-be.example", Err(EndpointReason::NotAnAddress)),
    ];
    for (host, expected) in rows {
        let mut file: Value = serde_json::from_str(&vector("file_0_3_2")).unwrap();
        // The second of two: its place is named.
        file["endpoints"] = json!([{"host": "127.0.0.1", "port": 4}, {"port": 5, "host": host, "more": 1}]);
        let text = file.to_string();
        let file = ConnectionFile::parse(text.as_bytes()).expect("readable all the same");
        let found: Vec<_> = file.loopback_endpoints().collect();
        let expected = expected
            .map(|address| address.parse().unwrap())
            .map_err(|reason| EndpointFault { index: 1, reason });
        assert_eq!(found, [Ok("127.0.0.1:4".parse().unwrap()), expected], "{host:?}");
    }
}

#[test]
fn a_file_does_not_show_its_key() {
    let text = vector("file_0_3_2");
    let shown = format!("{:?}", ConnectionFile::parse(text.as_bytes()).unwrap());
    assert!(shown.contains("Key(..)") && !shown.contains("31") && !shown.contains("1e1f"), "{shown}");
    let (key, endpoints) = (key(), ["127.0.0.1:1".parse().unwrap()]);
    let parts = ConnectionFileParts {
        version: Version::V1,
        endpoints: &endpoints,
        key: &key,
        daemon_id: id(),
        pid: 1,
        daemon_ver: "v",
    };
    let shown = format!("{parts:?}");
    assert!(shown.contains("Key(..)") && !shown.contains("31"), "{shown}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = ConnectionFile::parse(&bytes);
    }

    #[test]
    fn a_damaged_file_never_panics(at in 0_usize..700, byte in any::<u8>(), cut in 0_usize..900) {
        let mut text = vector("file_0_15_0_full").into_bytes();
        if let Some(place) = text.get_mut(at) {
            *place = byte;
        }
        text.truncate(cut);
        if let Ok(file) = ConnectionFile::parse(&text) {
            let _ = file.loopback_endpoints().count();
        }
    }
}

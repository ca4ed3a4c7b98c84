//! A connection file that is read is written and read again; a key file never panics.

use std::net::SocketAddr;

use twolane_core::connection_file::{ConnectionFile, ConnectionFileParts, write};
use twolane_core::envelope::Version;
use twolane_core::handshake::{DaemonId, Key};

use crate::seeds::Seeds;

/// The bytes are the text of a file.
pub fn run(bytes: &[u8]) {
    if let Err(fault) = Key::from_text(bytes) {
        assert!(fault.offset <= bytes.len() && !fault.to_string().is_empty());
    }
    let file = match ConnectionFile::parse(bytes) {
        Ok(file) => file,
        Err(fault) => return assert!(fault.offset <= bytes.len() && !fault.to_string().is_empty()),
    };
    let endpoints: Vec<SocketAddr> = file.loopback_endpoints().filter_map(Result::ok).collect();
    assert!(endpoints.iter().all(|endpoint| endpoint.ip().is_loopback()));
    if endpoints.is_empty() {
        return;
    }
    let daemon_ver: String = file.daemon_ver().chars().collect();
    let version = file.wire_version().unwrap_or(Version::V1);
    let parts = ConnectionFileParts {
        version,
        endpoints: &endpoints,
        key: file.key(),
        daemon_id: file.daemon_id(),
        pid: file.pid(),
        daemon_ver: &daemon_ver,
    };
    let mut text = String::new();
    write(&parts, &mut text).expect("as many endpoints as may be");
    let again = ConnectionFile::parse(text.as_bytes()).expect("what was written is read");
    assert!(again.loopback_endpoints().filter_map(Result::ok).eq(endpoints.iter().copied()));
    assert_eq!((again.daemon_id(), again.pid()), (file.daemon_id(), file.pid()));
    assert!(again.daemon_ver() == daemon_ver.as_str());
    assert_eq!(again.wire_version().unwrap_or(Version::V1), version);
}

/// Files of both versions, and the other texts that a key is kept in.
#[must_use]
pub fn seeds(_: &Seeds) -> Vec<Vec<u8>> {
    let endpoints = ["127.0.0.1:4500", "[::1]:1"].map(|text| text.parse().expect("an address"));
    let key = Key::new(&[200; 32]).expect("a key");
    let files = [Version::V1, Version::V2].map(|version| {
        let parts = ConnectionFileParts {
            version,
            endpoints: &endpoints,
            key: &key,
            daemon_id: DaemonId([9; 16]),
            pid: 4711,
            daemon_ver: "0.1.0",
        };
        let mut text = String::new();
        write(&parts, &mut text).expect("two endpoints");
        text
    });
    let hex = "0f".repeat(32);
    let array = format!("[{}]\n", ["255"; 32].join(","));
    files.into_iter().chain([hex, array]).map(String::into_bytes).collect()
}

//! What hostile bytes must never do, one target a file. A target is a plain function that panics where a law is
//! broken, so that libFuzzer (`fuzz_targets/`) and the stable generator (`main.rs`) run the very same.
#![forbid(unsafe_code)]

pub mod body;
pub mod connection_file;
pub mod connector;
pub mod dissect;
pub mod documents;
pub mod envelope;
pub mod frames;
pub mod generator;
pub mod handshake;
pub mod json;
pub mod msgpack;
pub mod outbox;
pub mod seeds;
pub mod source;

use seeds::Seeds;

/// One target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, that of its libFuzzer program too.
    pub name: &'static str,
    /// Panics where the bytes break a law.
    pub run: fn(&[u8]),
    /// What real traffic looks like to it.
    pub seeds: fn(&Seeds) -> Vec<Vec<u8>>,
}

/// Every target.
pub const TARGETS: [Target; 12] = [
    Target { name: "envelope", run: envelope::run, seeds: |seeds| seeds.frames.clone() },
    Target { name: "frames", run: frames::run, seeds: frames::seeds },
    Target { name: "json", run: json::run, seeds: |seeds| seeds.texts.clone() },
    Target { name: "handshake", run: handshake::run, seeds: handshake::seeds },
    Target { name: "connection_file", run: connection_file::run, seeds: connection_file::seeds },
    Target { name: "body", run: body::run, seeds: |seeds| seeds.texts.clone() },
    Target { name: "dissect", run: dissect::run, seeds: dissect::seeds },
    Target { name: "outbox", run: outbox::run, seeds: |_| Vec::new() },
    Target { name: "msgpack", run: msgpack::run, seeds: |seeds| seeds.documents.clone() },
    Target { name: "connector", run: connector::run, seeds: connector::seeds },
    Target { name: "documents", run: documents::run, seeds: |seeds| seeds.documents.clone() },
    Target { name: "source", run: source::run, seeds: source::seeds },
];

//! Real traffic out of `fixtures/`: goldens and captures.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Real bytes, by what they are.
#[derive(Debug, Default)]
pub struct Seeds {
    /// Frames, header first.
    pub frames: Vec<Vec<u8>>,
    /// Handshake messages, length prefix first.
    pub messages: Vec<Vec<u8>>,
    /// JSON texts: the frames' bodies.
    pub texts: Vec<Vec<u8>>,
    /// Connector frames, length prefix first.
    pub connector: Vec<Vec<u8>>,
    /// MessagePack: the connector's documents.
    pub documents: Vec<Vec<u8>>,
    /// Whole captures.
    pub captures: Vec<Vec<u8>>,
}

impl Seeds {
    /// Reads the fixtures of this checkout.
    #[must_use]
    pub fn read() -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
        let mut seeds = Self::default();
        for path in files(&fixtures.join("golden"), "json") {
            for golden in json(&path).as_array().into_iter().flatten() {
                seeds.golden(golden);
            }
        }
        for path in files(&fixtures.join("connector"), "json") {
            for golden in json(&path).as_array().into_iter().flatten() {
                let Some(bytes) = golden["hex"].as_str().and_then(unhex) else { continue };
                let sort =
                    if golden["kind"] == "document" { &mut seeds.documents } else { &mut seeds.connector };
                sort.push(bytes);
            }
        }
        for path in files(&fixtures.join("captures"), "pcap") {
            seeds
                .captures
                .push(fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        }
        let sorts = [
            &seeds.frames,
            &seeds.messages,
            &seeds.texts,
            &seeds.connector,
            &seeds.documents,
            &seeds.captures,
        ];
        assert!(
            sorts.iter().all(|sort| !sort.is_empty()),
            "a sort of seeds is gone from {}",
            fixtures.display()
        );
        seeds
    }

    fn golden(&mut self, golden: &Value) {
        let Some(bytes) = golden["hex"].as_str().and_then(unhex) else { return };
        if golden["kind"] != "frame" {
            return self.messages.push(bytes);
        }
        let header_len = if bytes.get(4) == Some(&2) { 21 } else { 17 };
        if let Some(body) = bytes.get(header_len..).filter(|body| !body.is_empty()) {
            self.texts.push(body.to_vec());
        }
        self.frames.push(bytes);
    }
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == extension)).collect();
    found.sort();
    found
}

fn json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}

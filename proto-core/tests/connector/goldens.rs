//! The goldens of fixtures/connector: their dissection, what they open to, and that there is one way to write them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use twolane_core::connector::admit::{Caller, arrive, scratch_len};
use twolane_core::connector::answer::{Reply, open_reply};
use twolane_core::connector::document::{
    OwnedInvocation, OwnedRequest, OwnedResult, ReadInvocation, ReadRequest, ReadResult, Valid,
};
use twolane_core::connector::over_serde;
use twolane_core::connector::seal::SealKey;
use twolane_core::dissect::Tree;

/// As fixtures/README.md names it.
const SECRET: &str = "the goldens' secret, of no use elsewhere";

struct Golden {
    name: String,
    is_frame: bool,
    bytes: Vec<u8>,
    row: Value,
}

impl Golden {
    fn tree(&self, bytes: &[u8]) -> Tree {
        if self.is_frame { Tree::connector(bytes) } else { Tree::document(bytes) }
    }
}

fn goldens() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/connector");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for row in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
            let hex = row["hex"].as_str().unwrap();
            let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            all.push(Golden {
                name: row["name"].as_str().unwrap().into(),
                is_frame: row["kind"] == "connector",
                bytes: (0..hex.len()).step_by(2).map(byte).collect(),
                row,
            });
        }
    }
    assert!(all.len() >= 40, "only {} goldens", all.len());
    all
}

#[test]
fn the_dissection_is_the_one_on_file_and_only_damaged_ones_have_a_fault() {
    for golden in goldens() {
        let tree = golden.tree(&golden.bytes);
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
        assert_eq!(tree.fault.is_some(), golden.name.contains("damaged"), "{}", golden.name);
    }
}

#[test]
fn a_sealed_golden_opens_to_its_document() {
    let goldens = goldens();
    let (key, decoy) = (SealKey::from_secret(SECRET).unwrap(), SealKey::from_bytes(&[0; 32]));
    let mut opened = 0;
    for golden in &goldens {
        let Some(name) = golden.row["opens_to"].as_str() else { continue };
        let document = goldens.iter().find(|other| other.name == name).expect("the document is there");
        let mut body = golden.bytes[4..].to_vec();
        let mut scratch = vec![0; scratch_len(body.len())];
        let plaintext = match arrive(&body, &mut scratch) {
            Ok(arrived) => {
                let caller = Caller { keys: &[&key], payload_max: 65_536 };
                arrived.open(caller, &decoy, 1).expect("its key").plaintext.to_vec()
            }
            Err(_) => {
                let id = golden.row["nodes"].as_array().unwrap().iter().find(|node| node[6] == "messageId");
                let id = id.unwrap()[7].as_str().unwrap();
                match open_reply(&mut body, &key, "caller-1", id).expect("its key") {
                    Reply::Sealed(plaintext) => plaintext.to_vec(),
                    Reply::Hint(hint) => panic!("{}: {hint:?}", golden.name),
                }
            }
        };
        assert_eq!(plaintext, document.bytes, "{}", golden.name);
        opened += 1;
    }
    assert!(opened >= 6, "{opened} sealed goldens");
}

#[test]
fn each_document_is_read_and_written_as_it_is() {
    let mut read = 0;
    for golden in goldens().iter().filter(|golden| !golden.is_frame) {
        let bytes = &golden.bytes[..];
        let (again, through_serde) = match golden.name.as_str() {
            "connector-result-of-long-id" => continue,
            name if name.starts_with("connector-request") => (
                Valid::<ReadRequest<'_>>::read(bytes).unwrap().to_owned().to_vec().unwrap(),
                over_serde::write(&over_serde::read::<Valid<OwnedRequest>>(bytes).unwrap()).unwrap(),
            ),
            name if name.starts_with("connector-invocation") => (
                ReadInvocation::read(bytes).unwrap().to_owned().to_vec().unwrap(),
                over_serde::write(&over_serde::read::<Valid<OwnedInvocation>>(bytes).unwrap()).unwrap(),
            ),
            _ => (
                Valid::<ReadResult<'_>>::read(bytes).unwrap().to_owned().to_vec().unwrap(),
                over_serde::write(&over_serde::read::<Valid<OwnedResult>>(bytes).unwrap()).unwrap(),
            ),
        };
        assert!(again == bytes && through_serde == bytes, "{}", golden.name);
        read += 1;
    }
    assert!(read >= 17, "{read} documents");
}

/// The worked hex of the document is that of the goldens: each line stands in a golden, the payload of one, or what
/// one authenticates.
#[test]
fn every_line_of_hex_in_the_document_is_in_a_golden() {
    let mut known: Vec<String> = Vec::new();
    for golden in goldens() {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        known.push(hex(&golden.bytes));
        for node in golden.row["nodes"].as_array().unwrap() {
            match node[6].as_str() {
                Some("aad") => known.push(node[7].as_str().unwrap().to_owned()),
                Some("payload") if node[5] == "object" => {
                    let start = usize::try_from(node[2].as_u64().unwrap()).unwrap();
                    let header = if golden.bytes[start] == 0xd9 { 2 } else { 3 };
                    let mut text = golden.bytes[start + header..].to_vec();
                    let len = twolane_core::connector::base64::decode_in_place(&mut text).unwrap_or(0);
                    known.push(hex(&text[..len]));
                }
                _ => {}
            }
        }
    }
    let document = include_str!("../../../docs/connector.md");
    let mut lines = 0;
    for block in document.split("```hex\n").skip(1) {
        for line in block.lines().take_while(|line| !line.starts_with("```")) {
            let hex: String = line.split("  ").next().unwrap().split(' ').collect();
            assert!(known.iter().any(|known| known.contains(&hex)), "in no golden: {line}");
            lines += 1;
        }
    }
    assert!(lines > 40, "{lines} lines of hex");
}

#[test]
fn a_truncated_golden_shows_what_is_there_and_says_that_it_is_cut() {
    for golden in goldens().into_iter().filter(|golden| !golden.name.contains("trailing")) {
        for len in (0..golden.bytes.len()).step_by(3) {
            let cut = golden.tree(&golden.bytes[..len]);
            assert!(cut.fault.is_some() || (len == 0 && golden.is_frame), "{} cut to {len}", golden.name);
            assert!(cut.nodes.iter().all(|node| node.end as usize <= len), "{} cut to {len}", golden.name);
        }
    }
}

#[test]
fn the_dissection_of_a_flipped_golden_stays_inside_its_bytes() {
    for golden in goldens() {
        for at in 0..golden.bytes.len() {
            let mut bytes = golden.bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            let tree = golden.tree(&bytes);
            let inside = |node: &twolane_core::dissect::Node| {
                node.start <= node.value_start
                    && node.value_start <= node.end
                    && node.end as usize <= bytes.len()
            };
            assert!(tree.nodes.iter().all(inside), "{} byte {at}", golden.name);
            assert!(tree.fault.is_none_or(|fault| fault.offset <= bytes.len()), "{} byte {at}", golden.name);
        }
    }
}

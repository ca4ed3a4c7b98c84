//! The machine's memory for the linker, and the goldens as a table.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

/// Far less than the machine has: what a small microcontroller offers.
const MEMORY: &str = "MEMORY
{
  FLASH : ORIGIN = 0x00000000, LENGTH = 512K
  RAM : ORIGIN = 0x20000000, LENGTH = 64K
}
";

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("memory.x"), MEMORY).expect("the folder is ours");
    fs::write(out.join("goldens.rs"), table()).expect("the folder is ours");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rerun-if-changed=build.rs");
}

/// An array of name, kind and bytes of every golden.
fn table() -> String {
    // Asked for now: a build folder that two checkouts share keeps this program, not its place.
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folder = package.join("../../fixtures/golden");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("fixtures are there")
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    let mut text = String::from("pub const GOLDENS: &[(&str, &str, &[u8])] = &[\n");
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let goldens: Value =
            serde_json::from_slice(&fs::read(&file).expect("readable")).expect("a golden file is JSON");
        for golden in goldens.as_array().expect("an array of goldens") {
            let member = |name: &str| golden[name].as_str().expect("a text");
            let (name, kind, bytes) = (member("name"), member("kind"), bytes(member("hex")));
            writeln!(text, "    ({name:?}, {kind:?}, &{bytes:?}),").expect("memory");
        }
    }
    text.push_str("];\n");
    text
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hex"))
        .collect()
}

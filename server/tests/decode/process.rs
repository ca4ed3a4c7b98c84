//! The process under test, its inputs and what it said.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
use twolane_core::frame::encode_frame;

/// The key of the fixture's handshake, 00 to 1f.
pub(crate) const KEY_HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/captures").join(name)
}

pub(crate) fn capture() -> String {
    fixture("peer-v1-loopback.pcap").display().to_string()
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.arg("decode").args(arguments).env_remove("NO_COLOR");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs to the end with `input` on standard input.
pub(crate) fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(arguments).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A process that refuses its arguments does not read.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

pub(crate) fn objects(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A version 1 display frame on channel 3.
pub(crate) fn delta(seq: u64) -> Vec<u8> {
    let body = format!(
        r#"{{"version":1,"run_id":"r","step_id":9,"seq":{seq},"payload":{{"type":"text_delta","message_id":"m","delta":"word {seq}"}}}}"#
    );
    frame(Flags::display(Version::V1), u64::MAX, body.as_bytes())
}

pub(crate) fn frame(flags: Flags, corr: u64, body: &[u8]) -> Vec<u8> {
    let header = Header::new(Parts {
        version: Version::V1,
        frame_type: FrameType::StreamData,
        flags,
        channel: 3,
        epoch: 0,
        corr,
        len: u32::try_from(body.len()).unwrap(),
    });
    let mut bytes = vec![0; 17 + body.len()];
    encode_frame(&header.unwrap(), body, &mut bytes).unwrap();
    bytes
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! `cargo xtask bench page`: a large capture in the built page, in a real browser.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use twolane_core::body;
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
use twolane_core::frame::encode_frame;

use crate::command::{program, run, target_dir};
use crate::{page, setup};

/// Frames of the capture.
const FRAMES: u64 = 1_000_000;

/// Frames of one generation; the last one has LAST.
const GENERATION_FRAMES: u64 = 1000;

/// Bytes of the longest text of a delta; the shortest is half of it.
const DELTA_LEN_MAX: u64 = 10;

const WORDS: [&str; 12] = [
    "the ", "lane ", "carries ", "words ", "of ", "a ", "model ", "in ", "order, ", "and ", "nothing ",
    "else. ",
];

/// Measures; `more` goes to the script: the number of rounds.
pub(crate) fn bench(more: &[String]) -> Result<()> {
    setup::for_page()?;
    let chromium = setup::chromium()?;
    page::page()?;
    let capture = capture()?;
    run(
        program("node")
            .arg("web-demo/bench/page.mjs")
            .args(more)
            .env("TWOLANE_FRAMES", capture)
            .env("CHROMIUM", chromium),
        "again on an idle machine",
    )
}

/// The capture, written once: its name says what is in it.
fn capture() -> Result<PathBuf> {
    let folder = target_dir()?.join("bench");
    let path = folder.join(format!("frames-{FRAMES}-delta-{DELTA_LEN_MAX}.bin"));
    if !path.is_file() {
        fs::create_dir_all(&folder)?;
        let unfinished = path.with_extension("part");
        write_capture(&unfinished).with_context(|| format!("cannot write {}", unfinished.display()))?;
        fs::rename(&unfinished, &path)?;
    }
    println!("  capture       {}, {} bytes", path.display(), fs::metadata(&path)?.len());
    Ok(path)
}

fn write_capture(path: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut seed = 1;
    let mut buffer = [0; 4096];
    for index in 0..FRAMES {
        let (header, text) = frame(index, &mut seed)?;
        let len = encode_frame(&header, text.as_bytes(), &mut buffer)?;
        out.write_all(buffer.get(..len).unwrap_or_default())?;
    }
    out.flush()?;
    Ok(())
}

/// Header and body of one frame: a step's control at both ends of a generation, deltas between them.
fn frame(index: u64, seed: &mut u64) -> Result<(Header, String)> {
    let (generation, place) = (index / GENERATION_FRAMES, index % GENERATION_FRAMES);
    let is_last = place == GENERATION_FRAMES - 1;
    let (flags, seq, payload) = match place {
        0 => (Flags::CONTROL, 0, r#"{"type":"stream_start","message_id":"m1","model":"m"}"#.to_owned()),
        _ if is_last => (Flags::CONTROL_LAST, 1, r#"{"type":"finished","finish_reason":"stop"}"#.to_owned()),
        _ => (Flags::display(Version::V1), place - 1, delta(seed)),
    };
    let mut text = String::new();
    body::write(&mut text, "r1", generation, seq, payload.as_bytes())?;
    let header = Header::new(Parts {
        version: Version::V1,
        frame_type: FrameType::StreamData,
        flags,
        channel: u16::try_from(generation + 1)?,
        epoch: 0,
        corr: generation + 1,
        len: u32::try_from(text.len())?,
    })?;
    Ok((header, text))
}

fn delta(seed: &mut u64) -> String {
    let tag = match next(seed) % 8 {
        0 => r#""tool_input_delta","tool_call_id":"c1""#,
        1 => r#""reasoning_delta","message_id":"m1""#,
        _ => r#""text_delta","message_id":"m1""#,
    };
    let len = usize::try_from(DELTA_LEN_MAX / 2 + next(seed) % (DELTA_LEN_MAX / 2)).unwrap_or(0);
    let mut text = String::new();
    while text.len() < len {
        let word = usize::try_from(next(seed)).unwrap_or(0) % WORDS.len();
        text.push_str(WORDS.get(word).unwrap_or(&""));
    }
    text.truncate(len);
    format!(r#"{{"type":{tag},"delta":"{text}"}}"#)
}

/// The same numbers on every machine (xorshift).
fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed >> 11
}

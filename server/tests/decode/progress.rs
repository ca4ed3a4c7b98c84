//! The line about progress, in a terminal that takes the rows too.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::delta;

/// A file of this many bytes at least is long enough for the line.
const LONG: usize = 24 * 1024 * 1024;

/// What a terminal was sent by `twolane decode` of a long file.
fn sent(folder: &Path, filter: &str) -> (String, u64) {
    let path = folder.join("long.bin");
    let mut bytes = Vec::with_capacity(LONG + 1024);
    let mut frames = 0;
    while bytes.len() < LONG {
        bytes.extend_from_slice(&delta(frames));
        frames += 1;
    }
    std::fs::write(&path, bytes).unwrap();
    let program = env!("CARGO_BIN_EXE_twolane");
    let line = format!("{program} decode {} --input raw --filter '{filter}'", path.display());
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", &line, "/dev/null"]).stdin(Stdio::null()).env("NO_COLOR", "1");
    let output = script.output().expect("every Linux system has script(1)");
    assert_eq!(output.status.code(), Some(0));
    (String::from_utf8(output.stdout).unwrap(), frames)
}

/// What is on the screen in the end: a line written over, and the end of a line erased.
fn screen(sent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in sent.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut shown: Vec<char> = Vec::new();
        for over in line.split('\r') {
            let (erases, text) = over.strip_prefix("\x1b[K").map_or((false, over), |text| (true, text));
            if erases {
                shown.clear();
            }
            let text: Vec<char> = text.chars().collect();
            shown.splice(..text.len().min(shown.len()), text.iter().copied());
        }
        lines.push(shown.into_iter().collect());
    }
    lines
}

#[test]
fn a_filter_that_passes_little_shows_progress_and_leaves_the_rows_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (all, frames) = sent(folder.path(), "seq=0 or seq>150000");
    assert!(all.contains(" of 24.0 MiB "), "{}", all.get(..400).unwrap_or(&all));
    let lines = screen(&all);
    assert!(lines.iter().all(|line| !line.contains("MiB")), "taken away before rows, and in the end");
    let rows: Vec<&String> = lines.iter().filter(|line| line.contains("text_delta")).collect();
    assert_eq!(rows.len() as u64, 1 + frames.saturating_sub(150_001));
    assert!(
        rows.iter().all(|row| row.trim_start().starts_with(|c: char| c == '-' || c.is_ascii_digit())),
        "{rows:?}"
    );
    assert!(lines.iter().any(|line| line.contains("units in 1 connection")), "the summary");
}

#[test]
fn rows_that_keep_coming_are_progress_enough() {
    let folder = tempfile::tempdir().unwrap();
    let (all, _) = sent(folder.path(), "text~\"word 1000\" or text~\"000\"");
    assert!(!all.contains("MiB"), "{}", all.get(..400).unwrap_or(&all));
}

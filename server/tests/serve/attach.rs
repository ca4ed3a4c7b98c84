//! `twolane attach` where it has to refuse.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::bench::{Bench, FINISHED, bounded, twolane};

fn attach(file: &std::path::Path) -> (Option<i32>, String) {
    let output = twolane(&["attach", "-f", file.to_str().unwrap(), "--count", "1"]).output().unwrap();
    assert!(output.stdout.is_empty());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[tokio::test]
async fn a_file_that_others_can_read_is_refused_by_name() {
    let bench = Bench::start(&format!("start = \"connect\"\n{FINISHED}"), &[]).await;
    let file = bench.file();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let (code, said) = attach(&file);
    assert_eq!(code, Some(3));
    assert!(said.contains("0644") && said.contains("providers.json") && said.contains("chmod 600"), "{said}");
}

#[tokio::test]
async fn a_stale_file_is_named_as_one() {
    let bench = Bench::start(&format!("start = \"connect\"\n{FINISHED}"), &[]).await;
    let stale = bench.dir.path().join("stale.json");
    fs::copy(bench.file(), &stale).unwrap();
    bounded(bench.server.stop()).await;
    let (code, said) = attach(&stale);
    assert_eq!(code, Some(3));
    assert!(said.contains("stale"), "{said}");
}

#[test]
fn a_missing_file_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let (code, said) = attach(&dir.path().join("none.json"));
    assert_eq!(code, Some(3));
    assert!(said.contains("none.json") && said.contains("twolane serve"), "{said}");
}

#[test]
fn a_request_that_is_none_is_refused_before_connecting() {
    let dir = tempfile::tempdir().unwrap();
    let request = dir.path().join("step.json");
    fs::write(&request, "{\"messages\":[]}").unwrap();
    let output = twolane(&["attach", "--request", request.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("step.json") && said.contains("model"), "{said}");
}

const BOTH: &str = "start = \"both\"\n[[event]]\nlane = \"control\"\npayload = { type = \"step_started\" }\n";

/// A run that nobody asked for, live for an hour on the server's first generation.
fn live_for_an_hour() -> String {
    let wait = "[[event]]\nafter_ms = 3600000\nlane = \"display\"\npayload = { type = \"display_reset\" }\n";
    format!("{BOTH}{wait}{FINISHED}")
}

async fn ask(bench: &Bench, arguments: &[&str]) -> (Option<i32>, String, String) {
    let file = bench.file().display().to_string();
    let mut command = twolane(&[&["attach", "-f", &file, "--json", "--step"], arguments].concat());
    let output = bounded(tokio::task::spawn_blocking(move || command.output().unwrap())).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_asked_for_on_a_generation_that_the_server_does_not_choose() {
    let bench = Bench::start(&live_for_an_hour(), &[]).await;
    let (code, shown, said) = ask(&bench, &["--count", "2"]).await;
    assert_eq!(code, Some(0), "{said}");
    let started: Vec<u64> = shown
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|unit| unit["body"]["payload"]["type"] == "step_started")
        .map(|unit| unit["channel"].as_u64().unwrap())
        .collect();
    assert!(started.contains(&1) && started.contains(&32768), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_not_answered_names_the_option_to_change() {
    let bench = Bench::start(&live_for_an_hour(), &[]).await;
    let (code, _, said) = ask(&bench, &["--until", "last", "--generation", "1"]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("generation 1 was not answered") && said.contains("--generation"), "{said}");
}

#[test]
fn options_that_would_do_nothing_are_wrong_usage() {
    for arguments in [
        &["--count", "0"][..],
        &["--generation", "7"],
        &["--corr", "7"],
        &["--step", "--generation", "0"],
        &["--step", "--request", "step.json"],
    ] {
        let output = twolane(&[&["attach", "-f", "none.json"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

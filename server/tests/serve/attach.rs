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

//! `twolane replay` over a real store.

use std::path::Path;
use std::process::Command;

use twolane::store::{Change, Claim, Engine as _, Holder, RedbEngine, Reply, RequestKey};

fn replay(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.arg("replay").args(arguments).arg("--data-dir").arg(folder).env("HOME", folder);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A store with one claim that was left, and one finished request.
fn store(folder: &Path) -> RedbEngine {
    let engine = RedbEngine::open(&folder.join("replay.redb")).unwrap();
    let key =
        |request_id: &str| RequestKey { caller: "runner".to_owned(), request_id: request_id.to_owned() };
    let claim = |request_id| {
        Change::Claim(Claim {
            key: key(request_id),
            binding: [0xab; 32],
            expires_at_unix_ms: 20,
            now_unix_ms: 10,
            holder: Holder { process: [1; 16], serial: 1 },
        })
    };
    let reply = Reply { key_id: [0xcd; 16], sealed: vec![0; 77] };
    let finish = Change::Finish { key: key("done"), reply, completed_at_unix_ms: 15 };
    engine.commit(&[claim("left\n"), claim("done"), finish]).unwrap();
    engine
}

#[test]
fn a_claim_that_was_left_is_listed_and_can_be_retired_and_nothing_else_can() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path()));
    let (code, said, _) = replay(folder.path(), &["list"]);
    let rows: Vec<&str> = said.lines().collect();
    assert_eq!((code, rows.len()), (Some(0), 2), "{said}");
    assert!(rows[0].starts_with("finished") && rows[0].ends_with("runner  done"), "{said}");
    // The line feed of an id is shown as what it is.
    assert!(rows[1].starts_with("indeterminate") && rows[1].ends_with(r"runner  left\n"), "{said}");
    let (code, said, _) = replay(folder.path(), &["list", "--state", "finished", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (code, &object["request_id"], &object["since_unix_ms"]),
        (Some(0), &"done".into(), &15.into())
    );
    let (_, said, _) = replay(folder.path(), &["show", "runner", "done"]);
    assert!(said.contains("77 bytes under key cdcdcd"), "{said}");

    let (code, _, said) = replay(folder.path(), &["resolve", "runner", "done", "--as", "retired"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("it is finished"), "{said}");
    let (code, _, said) = replay(folder.path(), &["resolve", "runner", "nobody", "--as", "retired"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("nothing is known"), "{said}");
    let (code, said, _) = replay(folder.path(), &["resolve", "runner", "left\n", "--as", "retired"]);
    assert_eq!(code, Some(0));
    assert!(said.starts_with("retired"), "{said}");
}

#[test]
fn a_store_that_is_held_exits_with_3_and_one_that_is_not_there_with_1() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(replay(folder.path(), &["list"]).0, Some(1));
    let held = store(folder.path());
    let (code, _, said) = replay(folder.path(), &["list"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("stop the server"), "{said}");
    drop(held);
}

#[test]
fn the_clock_is_accepted_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path()));
    assert!(replay(folder.path(), &["clock"]).1.starts_with("mark 10 ms"));
    let (code, said, _) = replay(folder.path(), &["clock", "accept"]);
    assert_eq!(code, Some(0));
    assert!(said.ends_with(": 0 s apart\n"), "{said}");
}

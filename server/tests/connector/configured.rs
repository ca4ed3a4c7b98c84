//! `check-config` over a connector: what cannot be served is said before anything is started.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use twolane::store::{Change, Engine as _, RedbEngine, Reply, RequestKey};
use twolane_core::connector::seal::SealKey;

const SECRET: &str = "the secret of a checked configuration";

/// The exit code, and all that was said.
fn check(folder: &Path, callers: &str, more: &[(&str, &str)]) -> (Option<i32>, String) {
    for (name, text) in [("key", SECRET), ("callers.toml", callers)] {
        fs::write(folder.join(name), text).unwrap();
        fs::set_permissions(folder.join(name), Permissions::from_mode(0o600)).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.arg("check-config").env("TWOLANE_CONNECTOR", "127.0.0.1:0").env("HOME", folder);
    command.env("TWOLANE_CALLERS", folder.join("callers.toml")).env("TWOLANE_DATA_DIR", folder.join("data"));
    let output = command.envs(more.iter().copied()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn bounds_that_disagree_are_refused_with_the_number_that_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let callers = "[[caller]]\nid = \"a\"\nkey_files = [\"key\"]\npayload = 65536\n";
    let frame = |bytes| check(folder.path(), callers, &[("TWOLANE_CONNECTOR_FRAME", bytes)]);
    let (code, said) = frame("88733");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("88734 bytes"), "{said}");
    let (code, said) = frame("88734");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("connector: 1 callers"), "{said}");
}

#[test]
fn callers_that_cannot_be_served_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let caller = |id: &str, more: &str| format!("[[caller]]\nid = \"{id}\"\nkey_files = [\"key\"]\n{more}");
    for (callers, words) in [
        (caller("a", "payload = 4095\n"), "4096"),
        (caller("a", "") + &caller("b", ""), "`b` has a key that is there already"),
        (caller("a", "").replace("\"key\"", ""), "`a` has no key"),
        (String::new(), "names nobody"),
    ] {
        let (code, said) = check(folder.path(), &callers, &[]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(words) && !said.contains(SECRET), "{said}");
    }
    let (code, said) = check(folder.path(), "", &[("TWOLANE_CALLERS", "")]);
    assert_eq!(code, Some(2));
    assert!(said.contains("who may ask"), "{said}");
}

#[test]
fn replies_under_a_key_that_is_gone_are_counted_before_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let engine = RedbEngine::open(&folder.path().join("data/replay.redb")).unwrap();
    for (request_id, key_id) in
        [("1", SealKey::from_secret(SECRET).unwrap().id().0), ("2", [7; 16]), ("3", [7; 16])]
    {
        let key = RequestKey { caller: "a".to_owned(), request_id: request_id.to_owned() };
        let claim = twolane::store::Claim {
            key: key.clone(),
            binding: [0; 32],
            expires_at_unix_ms: 1,
            now_unix_ms: 1,
            holder: twolane::store::Holder { process: [0; 16], serial: 0 },
        };
        let reply = Reply { key_id, sealed: vec![0; 10] };
        engine
            .commit(&[Change::Claim(claim), Change::Finish { key, reply, completed_at_unix_ms: 1 }])
            .unwrap();
    }
    let callers = "[[caller]]\nid = \"a\"\nkey_files = [\"key\"]\n";
    let (code, said) = check(folder.path(), callers, &[]);
    assert_eq!(code, Some(0));
    assert!(said.contains("held by a running server"), "{said}");
    drop(engine);
    let (_, said) = check(folder.path(), callers, &[]);
    assert!(said.contains("3 replies, 2 of them"), "{said}");
}

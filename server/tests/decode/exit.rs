//! Exit codes, and what is said with them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use crate::process::{KEY_HEX, capture, delta, objects, run, stderr, stdout};

fn raw(input: &[u8], more: &[&str]) -> std::process::Output {
    run(&[&["-", "--json", "--input", "raw"], more].concat(), input)
}

#[test]
fn a_broken_law_is_1_and_named_at_its_frame() {
    let output = raw(&[delta(0), delta(2)].concat(), &[]);
    assert_eq!(output.status.code(), Some(1));
    let units = objects(&output);
    assert_eq!(units[1]["law"], "broken");
    assert_eq!(units[1]["fault"]["reason"], "seq is 2, expected 1");
}

#[test]
fn damaged_input_is_4_and_what_could_be_read_is_printed() {
    let frames = [delta(0), delta(1)].concat();
    let output = raw(&frames[..frames.len() - 3], &[]);
    assert_eq!(output.status.code(), Some(4));
    let units = objects(&output);
    assert_eq!(units.len(), 2);
    assert!(units[1]["fault"]["reason"].as_str().unwrap().contains("ends inside the body"));
    assert_eq!(units[1]["fault"]["offset"], frames.len() - 3, "where the bytes end");
    assert_eq!(units[1]["cut"], true);

    let output = raw(&[delta(0), vec![1, 2, 3, 4, 5, 6], delta(1)].concat(), &[]);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(objects(&output)[1]["fault"]["name"], "header");
    assert_eq!(objects(&output)[1]["fault"]["offset"], delta(0).len() + 4);
}

#[test]
fn a_truncated_capture_file_is_4_and_names_the_place() {
    let whole = fs::read(capture()).unwrap();
    let output = run(&["-", "--json"], &whole[..whole.len() - 100]);
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).contains("the input is damaged at byte "), "{}", stderr(&output));
    assert!(objects(&output).len() > 30);
}

#[test]
fn resynchronising_goes_on_behind_the_damage() {
    let stream = [delta(0), vec![1, 2, 3, 4, 5, 6], delta(1), delta(2)].concat();
    let output = raw(&stream, &["--resync", "--filter", "kind=frame"]);
    let guesses: Vec<_> = objects(&output).iter().map(|unit| unit["guess"] == true).collect();
    assert_eq!(guesses, [false, true, false]);
}

#[test]
fn an_input_without_a_unit_is_4_and_says_how_long_it_was() {
    for (input, bytes) in [(&b""[..], "0 bytes"), (b"\n", "1 byte"), (b"  \n\n", "4 bytes")] {
        let output = run(&["-"], input);
        assert_eq!(output.status.code(), Some(4), "{input:?}");
        let said = stderr(&output);
        assert!(said.contains(&format!("nothing to decode: the input has {bytes} and no unit")), "{said}");
        assert!(!said.contains("damaged"), "{said}");
    }
}

#[test]
fn a_whole_capture_without_a_unit_is_told_and_no_damage() {
    let head = fs::read(capture()).unwrap()[..24].to_vec();
    let output = run(&["-"], &head);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("nothing to decode: the input has 24 bytes"), "{}", stderr(&output));
}

#[test]
fn bytes_that_begin_with_no_frame_are_named_for_what_they_look_like() {
    for (input, looks, advice) in [
        (&b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..], "gzip", "gunzip -c"),
        (b"\x28\xb5\x2f\xfd\x04\0\0", "zstd", "zstd -dc"),
        (b"\x89PNG\r\n\x1a\n\0\0", "PNG", "capture"),
        (b"hello world, no dump at all\n", "plain text that is neither hex nor base64", "--input hex"),
        (b"hi!\n", "plain text", "--input hex"),
        (b"\xff\xfe\xfd\xfc\xfb\xfa", "no frame", "--resync"),
    ] {
        let output = run(&["-"], input);
        assert_eq!(output.status.code(), Some(4));
        let said = stderr(&output);
        assert!(said.contains(looks) && said.contains(advice), "{said}");
    }
    let output = raw(&[delta(0), b"hello world".to_vec()].concat(), &[]);
    assert!(!stderr(&output).contains("looks like"), "a frame came first: {}", stderr(&output));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.gz");
    fs::write(&path, b"\x1f\x8b\x08\0\0\0\0\0\0\x03").unwrap();
    let name = path.display().to_string();
    assert!(stderr(&run(&[&name], b"")).contains(&format!("`gunzip -c {name} | twolane decode -`")));
}

#[test]
fn a_path_that_leads_to_no_input_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    let within = file.join("more").display().to_string();
    let folder = folder.path().display().to_string();
    for (path, found) in
        [("/nowhere/at/all", "No such file"), (&folder, "a directory"), (&within, "Not a directory")]
    {
        let output = run(&[path], b"");
        assert_eq!(output.status.code(), Some(2), "{path}");
        let said = stderr(&output);
        for part in [path, found, "expected", "try"] {
            assert!(said.contains(part), "{said}");
        }
    }
}

#[test]
fn a_handshake_under_another_key_is_1() {
    let other = "ff".repeat(32);
    let output = run(&[&capture(), "--json", "--insecure-key-hex", &other], b"");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(objects(&output)[1]["verified"], false);
    assert!(!stdout(&output).contains(&other) && !stderr(&output).contains(&other));
}

#[test]
fn a_key_file_is_read_only_if_nobody_else_can_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, KEY_HEX).unwrap();
    let name = path.display().to_string();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let output = run(&[&capture(), "--key-file", &name], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(stderr(&output).contains("0640"), "{}", stderr(&output));

    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let output = run(&[&capture(), "--key-file", &name], b"");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("2 verified, 0 refuted"));
}

#[test]
fn a_key_file_without_a_key_is_2_and_shows_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, "00ff00ff").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let output = run(&[&capture(), "--key-file", &path.display().to_string()], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(!stderr(&output).contains("00ff"));
}

#[test]
fn wrong_usage_is_2_and_says_where() {
    let output = run(&[&capture(), "--filter", "lane=up"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("byte 5: expected control, display or none"), "{}", stderr(&output));
    assert_eq!(run(&["/nowhere/at/all"], b"").status.code(), Some(2));
    assert_eq!(run(&["-", "--format", "xml"], b"").status.code(), Some(2));
}

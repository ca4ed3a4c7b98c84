//! What is printed.

use std::process::Command;

use serde_json::{Value, json};
use twolane_capture::Direction;
use twolane_capture::tap::{Kind, Label, joined, lost, packet, section};
use twolane_core::envelope::Flags;

use crate::process::{KEY_HEX, capture, delta, fixture, frame, hex, objects, run, stderr, stdout};

#[test]
fn json_tells_every_frame_that_the_peers_wrote_down() {
    let output = run(&[&capture(), "--json", "--insecure-key-hex", KEY_HEX], b"");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let units = objects(&output);
    let sent: Vec<_> =
        units.iter().filter(|unit| unit["kind"] == "frame" && unit["direction"] == "b>a").collect();
    let expected = std::fs::read_to_string(fixture("peer-v1-loopback.expected.jsonl")).unwrap();
    let expected: Vec<Value> = expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((sent.len(), expected.len()), (40, 40));
    for (unit, expected) in sent.iter().zip(&expected) {
        assert_eq!(unit["body"], expected["body"]);
        assert!(unit["time_ns"].is_string(), "a time is over 2^53-1");
    }
    let verdicts: Vec<_> = units.iter().take(3).map(|unit| (&unit["stage"], &unit["verified"])).collect();
    assert_eq!(
        verdicts,
        [
            (&json!("ClientHello"), &Value::Null),
            (&json!("ServerProof"), &json!(true)),
            (&json!("ClientAuth"), &json!(true)),
        ]
    );
    let numbers: Vec<_> = units.iter().map(|unit| unit["index"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..44).collect::<Vec<_>>());
    assert!(stderr(&output).starts_with("44 units in 1 connection: 41 frames, 0 faults, 0 bytes missing"));
}

#[test]
fn a_frame_has_the_members_that_the_specification_names() {
    let output = run(&["-", "--format", "json", "--input", "raw"], &delta(0));
    let object = objects(&output).remove(0);
    let expected = json!({
        "index": 0, "connection": 1, "direction": "a>b", "kind": "frame", "version": 1, "type": "StreamData",
        "lane": "display", "last": false, "channel": 3, "corr": "18446744073709551615",
        "len": delta(0).len() - 17, "offset": 0, "body": serde_json::from_slice::<Value>(&delta(0)[17..]).unwrap(),
    });
    assert_eq!(object, expected);
}

#[test]
fn a_body_that_is_no_json_is_hexadecimal_up_to_a_limit() {
    let body = vec![0xee; 5000];
    let object =
        objects(&run(&["-", "--json", "--input", "raw"], &frame(Flags::CONTROL, 1, &body))).remove(0);
    assert_eq!(object["len"], 5000);
    assert_eq!(object["body_hex"], "ee".repeat(4096));
    assert!(object.get("body").is_none());
}

#[test]
fn hex_and_base64_texts_are_found_out_and_read() {
    let bytes = [delta(0), delta(1)].concat();
    let plain = run(&["-", "--json", "--input", "raw"], &bytes);
    let hexadecimal = run(&["-", "--json"], hex(&bytes).as_bytes());
    assert_eq!(stdout(&hexadecimal), stdout(&plain));
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let sniffed = run(&["-", "--json"], text.as_bytes());
    assert_eq!(stdout(&sniffed), stdout(&plain));
    let told = run(&["-", "--json", "--input", "base64"], text.as_bytes());
    assert_eq!(stdout(&told), stdout(&plain));
}

#[test]
fn the_table_has_a_line_for_each_unit_and_no_colour_in_a_pipe() {
    let output = run(&[&capture()], b"");
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1 + 44);
    assert!(!text.contains('\x1b'));
    assert!(text.lines().all(|line| line.chars().count() <= 200));
    let line = text.lines().find(|line| line.contains("reasoning_delta")).unwrap();
    for part in ["b>a", "display", "delta: \"Let me \""] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[test]
fn the_tree_shows_fields_with_their_bytes() {
    let output = run(&[&capture(), "--format", "tree", "--filter", "tag=stream_start"], b"");
    let text = stdout(&output);
    for part in ["0..4", "4..5", "StreamData (3)", "stream_start", "msg_01"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_filter_chooses_what_is_printed_and_the_summary_counts_all() {
    let output = run(&[&capture(), "--json", "--filter", "lane=display and seq<2"], b"");
    let units = objects(&output);
    assert!(!units.is_empty());
    assert!(units.iter().all(|unit| unit["lane"] == "display" && unit["body"]["seq"].as_u64() < Some(2)));
    assert!(stderr(&output).starts_with("44 units"));
    assert!(stderr(&output).contains(&format!("{} shown", units.len())));
}

#[test]
fn text_off_the_wire_cannot_steer_the_terminal() {
    let body = "{\"version\":1,\"run_id\":\"r\",\"step_id\":1,\"seq\":0,\"payload\":{\"type\":\"text_delta\",\"message_id\":\"m\",\"delta\":\"\\u001b[31m\u{9b}2J\u{202e}\"}}";
    let bytes = frame(Flags::CONTROL, 1, body.as_bytes());
    for format in ["table", "tree", "json"] {
        let output = run(&["-", "--input", "raw", "--format", format], &bytes);
        let is_unsafe = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!stdout(&output).contains(is_unsafe), "{format}: {:?}", stdout(&output));
    }
}

#[test]
fn what_a_tap_did_not_write_is_counted_in_every_format() {
    let label = Label { connection: 1, endpoint: "providers", kind: Kind::Frame };
    let mut file = Vec::new();
    section(&mut file);
    joined(&mut file, 1, 7, 70);
    // What was before the tap was joined is no damage.
    let output = run(&["-", "--json"], &file);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(objects(&output)[0]["before_joining"], true);

    packet(&mut file, 2, Direction::BToA, label, &delta(0));
    lost(&mut file, 3, Direction::BToA, label, 12, 4321);
    packet(&mut file, 4, Direction::BToA, label, &delta(5));
    for format in ["table", "tree"] {
        let output = run(&["-", "--format", format], &file);
        assert!(stdout(&output).contains("12 units lost by the tap, 4,321 bytes"), "{}", stdout(&output));
    }
    let output = run(&["-", "--json"], &file);
    assert_eq!(output.status.code(), Some(4));
    let gap = objects(&output).remove(2);
    let expected = json!({
        "index": 2, "time_ns": 3, "connection": 1, "direction": "b>a", "kind": "gap",
        "offset": delta(0).len(), "bytes": 4321, "units": 12,
    });
    assert_eq!(gap, expected);
    let said =
        "4,321 bytes missing, 0 breaches of the seq law, 12 units lost by the tap, 7 units passed before";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn a_body_that_breaks_its_schema_is_a_fault_at_its_byte() {
    let body = br#"{"version":1,"run_id":"r","step_id":9,"seq":0,"payload":{}}"#;
    let output = run(&["-", "--json", "--input", "raw"], &frame(Flags::CONTROL, 1, body));
    assert_eq!(output.status.code(), Some(1));
    let fault = &objects(&output)[0]["fault"];
    assert_eq!(*fault, json!({"offset": 17 + body.len() - 2, "reason": "`type`: missing", "name": "body"}));
}

#[test]
fn a_known_payload_without_what_it_must_have_is_a_fault_that_counts() {
    let body = |payload: &str| {
        format!(r#"{{"version":1,"run_id":"r","step_id":9,"seq":0,"payload":{payload}}}"#).into_bytes()
    };
    let display = Flags::from_bits(4);
    for (flags, payload, reason) in [
        (display, r#"{"type":"text_delta","message_id":"m"}"#, "`delta`: missing"),
        (display, r#"{"type":"text_delta","message_id":"m","delta":7}"#, "`delta`: expected a string"),
        (display, r#"{"type":"display_gap","dropped":"3"}"#, "`dropped`: expected"),
        (Flags::CONTROL, r#"{"type":"error","error":{"class":"transient"}}"#, "`message`: missing"),
        (Flags::CONTROL, r#"{"type":"step_request"}"#, "`request`: missing"),
    ] {
        let bytes = frame(flags, 1, &body(payload));
        let output = run(&["-", "--json", "--input", "raw"], &bytes);
        assert_eq!(output.status.code(), Some(1), "{payload}");
        let fault = &objects(&output)[0]["fault"];
        assert_eq!(fault["name"], "body", "{payload}");
        assert!(fault["reason"].as_str().unwrap().contains(reason), "{fault}");
        assert!((17..bytes.len() as u64).contains(&fault["offset"].as_u64().unwrap()), "{fault}");
        assert!(stderr(&output).contains("1 fault,"), "{}", stderr(&output));
    }
    // To its callers a runner need not say the tokens, and a frame does not say who sends it to whom.
    let bare = body(r#"{"type":"step_finished","finish_reason":"stop"}"#);
    let output = run(&["-", "--json", "--input", "raw"], &frame(Flags::CONTROL, 1, &bare));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn help_fits_a_terminal_of_80_columns_and_shows_how_to_watch_live_traffic() {
    for command in ["decode", "attach", "tap"] {
        let mut twolane = Command::new(env!("CARGO_BIN_EXE_twolane"));
        let output = twolane.args([command, "--help"]).env("COLUMNS", "80").output().unwrap();
        let help = stdout(&output);
        let (_, after) = help.split_once("Examples:").unwrap();
        assert!(after.lines().all(|line| line.chars().count() <= 80), "{command}: {after}");
        assert!(command != "decode" || after.contains("tcpdump -i lo -U -w - port 7000 | twolane decode -"));
    }
}

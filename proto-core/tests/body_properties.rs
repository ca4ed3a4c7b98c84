//! Bodies against another reader: what serde_json accepts we accept, but for the listed stricter rules.

use proptest::prelude::*;
use serde_json::Value;
use twolane_core::body::{Body, DisplayEvent, ProviderControl, Tag, peek, write};
use twolane_core::limits::INTEGER_MAX;
use twolane_core::scan::json::{JsonReason, Scanner, validate};

const SEEDS: &[&str] = &[
    r#"{"version":1,"run_id":"run-7f","step_id":1,"seq":0,"payload":{"type":"text_delta","message_id":"m","delta":"d\u00e9p\ud83d\udd0e \"x\""}}"#,
    r#"{"version":1,"run_id":"r","step_id":1,"seq":0,"payload":{"type":"step_finished","finish_reason":"stop","usage":{"input_tokens":12}}}"#,
    r#" { "payload" : {"dropped":17 , "type":"display_gap"}, "seq":1, "step_id":2,"run_id":"r","version":1 } "#,
    r#"{"version":1,"run_id":"r","step_id":0,"seq":18446744073709551615,"payload":{"type":"assistant_message","message":{"content":[{"a":[true,null,-0.5e+3,[],{}]}]}}}"#,
    r#"[0,-0,1.5,1e9,"\b\f\n\r\t\/\\",[[[[]]]],{"":{"a":{}}},false,"привет мир, как дела"]"#,
    "\"\u{2028}\u{10ffff}\u{7f}\"",
    "-12.50E-7",
];

/// A seed with some of its bytes replaced, removed or inserted, most by bytes that mean something in JSON.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => proptest::sample::select(&b"{}[]\",:\\u0123456789eE+-. \n\ttfndD8"[..]),
        1 => any::<u8>(),
    ];
    let edit = (any::<prop::sample::Index>(), 0..3_u8, byte);
    (proptest::sample::select(SEEDS), proptest::collection::vec(edit, 0..5)).prop_map(|(seed, edits)| {
        let mut text = seed.as_bytes().to_vec();
        for (place, kind, byte) in edits {
            let place = place.index(text.len());
            match kind {
                0 => text[place] = byte,
                1 if text.len() > 1 => drop(text.remove(place)),
                _ => text.insert(place, byte),
            }
        }
        text
    })
}

/// Lengths of strings around the eight bytes that are looked at together, with one byte at any place in them.
fn around_a_word() -> impl Strategy<Value = Vec<u8>> {
    (0..40_usize, any::<prop::sample::Index>(), any::<u8>()).prop_map(|(len, place, byte)| {
        let mut text = vec![b'x'; len + 2];
        text[0] = b'"';
        text[len + 1] = b'"';
        let place = place.index(text.len());
        text[place] = byte;
        text
    })
}

/// What the scanner's tokens say, without any short cut.
fn by_tokens(text: &[u8]) -> Result<(), JsonReason> {
    let mut scanner = Scanner::new(text);
    while scanner.next_token().map_err(|fault| fault.reason)?.is_some() {}
    Ok(())
}

/// Only these texts of another reader are refused.
fn is_stricter(reason: JsonReason, text: &[u8]) -> bool {
    match reason {
        JsonReason::TooDeep => true,
        // serde_json refuses lone surrogates too, but not in what it passes over.
        JsonReason::LoneSurrogate => true,
        JsonReason::ByteOrderMark => text.starts_with(b"\xef\xbb\xbf"),
        _ => false,
    }
}

fn agrees_with_serde_json(text: &[u8]) -> Result<(), TestCaseError> {
    let theirs = serde_json::from_slice::<Value>(text);
    let tokens = by_tokens(text);
    prop_assert_eq!(
        tokens,
        validate(text).map_err(|fault| fault.reason),
        "the short cut judges as the tokens do"
    );
    match (theirs, tokens) {
        (Ok(_), Err(reason)) => prop_assert!(is_stricter(reason, text), "{:?}", reason),
        // A number that overflows a double is legal JSON.
        (Err(error), Ok(())) => {
            prop_assert!(error.to_string().starts_with("number out of range"), "{}", error);
        }
        _ => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_scanner_accepts_what_serde_json_accepts(text in mutated()) {
        agrees_with_serde_json(&text)?;
    }

    #[test]
    fn a_byte_anywhere_in_a_string_is_judged_alike(text in around_a_word()) {
        agrees_with_serde_json(&text)?;
    }

    #[test]
    fn an_index_and_a_reader_accept_the_same_bodies(text in mutated()) {
        let body = Body::parse(&text);
        let peeked = peek(&text);
        prop_assert_eq!(peeked.is_some(), body.is_ok());
        if let (Ok(body), Some(peeked)) = (body, peeked) {
            prop_assert_eq!((peeked.seq, peeked.step_id, peeked.tag), (body.seq, body.step_id, body.payload.tag()));
            let is_read = DisplayEvent::read(&body.payload).is_ok()
                || ProviderControl::from_provider(&body.payload).is_ok()
                || ProviderControl::from_runner(&body.payload).is_ok();
            // No typed reader takes what a runner and its callers say to each other; an index has no rule for it.
            let has_reader = body.payload.tag().is_none_or(|tag| tag.code() < Tag::RunStarted.code());
            prop_assert_eq!(peeked.is_kept, is_read || !has_reader);
        }
    }

    /// One space in front of the first name's colon sends the same body by another way through the reader,
    /// an escaped name by a third.
    #[test]
    fn every_spelling_of_a_body_reads_alike(text in mutated()) {
        let Ok(body) = Body::parse(&text) else { return Ok(()) };
        let seen = |body: &Body<'_>| {
            (body.run_id.to_string(), body.step_id, body.seq, body.payload.raw().to_vec(), body.payload.name().to_string())
        };
        let text = String::from_utf8(text.clone()).expect("what was read is UTF-8");
        let spaced = format!(" {text}");
        prop_assert_eq!(seen(&body), seen(&Body::parse(spaced.as_bytes()).expect("the same body")));
        let escaped = text.replacen("\"version\"", "\"v\\u0065rsion\"", 1);
        prop_assert_eq!(seen(&body), seen(&Body::parse(escaped.as_bytes()).expect("the same body")));
    }

    #[test]
    fn what_is_written_reads_back(run_id in "\\PC{1,40}", step_id in 0..=INTEGER_MAX, seq in 0..=INTEGER_MAX, delta in ".*") {
        let payload = serde_json::json!({"type": "text_delta", "message_id": "m", "delta": delta}).to_string();
        let mut out = String::new();
        write(&mut out, &run_id, step_id, seq, payload.as_bytes()).expect("a legal body");
        let body = Body::parse(out.as_bytes()).expect("what we write");
        prop_assert!(body.run_id == *run_id);
        prop_assert_eq!((body.step_id, body.seq, body.payload.raw()), (step_id, seq, payload.as_bytes()));
        prop_assert!(serde_json::from_str::<Value>(&out).is_ok());
    }
}

#[test]
fn the_stricter_rules_are_these() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let reason = |text: &str| validate(text.as_bytes()).map_err(|fault| fault.reason);
    assert_eq!(reason(&deep(64)), Ok(()));
    assert_eq!(reason(&deep(65)), Err(JsonReason::TooDeep));
    assert!(serde_json::from_str::<Value>(&deep(65)).is_ok(), "serde_json goes deeper");
    assert_eq!(reason(r#""\udc00""#), Err(JsonReason::LoneSurrogate));
    assert_eq!(reason("\u{feff}1"), Err(JsonReason::ByteOrderMark));
}

#[test]
fn nesting_inside_a_payload_counts_the_envelope() {
    let body = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(
            r#"{{"version":1,"run_id":"r","step_id":0,"seq":0,"payload":{{"type":"t","x":{open}{close}}}}}"#
        )
    };
    assert!(Body::parse(body(62).as_bytes()).is_ok(), "64 levels in all");
    assert!(Body::parse(body(63).as_bytes()).is_err());
    assert!(Body::parse(format!(" {}", body(63)).as_bytes()).is_err());
}

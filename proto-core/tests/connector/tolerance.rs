//! What rmp-serde takes besides the one canonical form, case by case, and that we refuse it.

use twolane_core::connector::document::{DocumentReason, OwnedRequest, ReadRequest, Valid};
use twolane_core::connector::over_serde::{self, SerdeFault};
use twolane_core::scan::msgpack::MsgpackReason;

use crate::made::request_bytes;

fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    let bytes = request_bytes();
    let at = bytes.windows(from.len()).position(|window| window == from).expect("it is there");
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

/// A key of the document, or a text of less than 32 bytes.
fn s(text: &str) -> Vec<u8> {
    [&[0xa0 | u8::try_from(text.len()).unwrap()], text.as_bytes()].concat()
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Longer headers, and other formats for the same text or number.
fn headers() -> Vec<(&'static str, Vec<u8>)> {
    let (key, model) = (s("model"), s("model-a"));
    let field = join(&[&key, &model]);
    let tokens = s("max_output_tokens");
    let digits = |digits: &[u8]| replaced(&join(&[&tokens, &[0xcd, 4, 0]]), &join(&[&tokens, digits]));
    let text = |header: &[u8]| replaced(&model, &join(&[header, b"model-a"]));
    let tools = s("tools");
    vec![
        ("bytes after the document", join(&[&request_bytes(), &[0xc0]])),
        ("a text with a header of 2 bytes", text(&[0xd9, 7])),
        ("a text with a header of 3 bytes", text(&[0xda, 0, 7])),
        ("a text with a header of 5 bytes", text(&[0xdb, 0, 0, 0, 7])),
        ("bytes for a text", text(&[0xc4, 7])),
        ("bytes for a key", replaced(&field, &join(&[&[0xc4, 5], b"model", &model]))),
        ("a key with a long header", replaced(&field, &join(&[&[0xd9, 5], b"model", &model]))),
        ("the number of a field for its key", replaced(&field, &join(&[&[3], &model]))),
        ("a map with a header of 3 bytes", replaced(&tool(), &join(&[&[0xde, 0, 3], &tool()[1..]]))),
        ("a map with a header of 5 bytes", join(&[&[0xdf, 0, 0, 0, 17], &request_bytes()[3..]])),
        (
            "a list with a header of 3 bytes",
            replaced(&join(&[&tools, &[0x91]]), &join(&[&tools, &[0xdc, 0, 1]])),
        ),
        ("an integer of 4 bytes", digits(&[0xce, 0, 0, 4, 0])),
        ("an integer of 8 bytes", digits(&[0xcf, 0, 0, 0, 0, 0, 0, 4, 0])),
        ("a signed integer", digits(&[0xd1, 4, 0])),
    ]
}

const SCHEMA: &str = r#"{"type":"object"}"#;

fn tool() -> Vec<u8> {
    let texts = ["name", "today", "description", "Names the day.", "parameters_json", SCHEMA].map(s);
    [&[0x83], &texts.concat()[..]].concat()
}

/// Other shapes for the same fields and variants.
fn shapes() -> Vec<(&'static str, Vec<u8>)> {
    let field = join(&[&s("model"), &s("model-a")]);
    let instructions = join(&[&s("instructions"), &s("Answer in one word.")]);
    let item = join(&[&[0x81], &s("UserText"), &[0x81], &s("text"), &s("Which day is it?")]);
    let choice = s("tool_choice");
    vec![
        (
            "an array for a struct",
            replaced(&tool(), &join(&[&[0x93], &s("today"), &s("Names the day."), &s(SCHEMA)])),
        ),
        (
            "an array for the fields of a variant",
            replaced(&item, &join(&[&[0x81], &s("UserText"), &[0x91], &s("Which day is it?")])),
        ),
        (
            "fields in another order",
            replaced(&join(&[&field, &instructions]), &join(&[&instructions, &field])),
        ),
        ("an optional field that is not there", {
            let mut bytes = replaced(&join(&[&s("prompt_cache_key"), &s("cache-1")]), &[]);
            // A map of 16 has the header of one of 17.
            bytes[2] = 16;
            bytes
        }),
        ("a map for a unit variant", replaced(&s("required"), &join(&[&[0x81], &s("required"), &[0xc0]]))),
        ("the number of a variant", replaced(&join(&[&choice, &s("required")]), &join(&[&choice, &[1]]))),
    ]
}

#[test]
fn what_rmp_serde_takes_besides_is_refused() {
    for (name, bytes) in [headers(), shapes()].concat() {
        let alone = rmp_serde::from_slice::<Valid<OwnedRequest>>(&bytes);
        let request = alone.unwrap_or_else(|fault| panic!("{name}: rmp-serde refuses it: {fault}"));
        let canonical = request.to_vec().unwrap();
        assert_ne!(canonical, bytes, "{name}");
        let ours = Valid::<ReadRequest<'_>>::read(&bytes).map(|_| ());
        let fault = ours.expect_err(name);
        let named = matches!(
            fault.reason,
            DocumentReason::Msgpack(
                MsgpackReason::NotShortest | MsgpackReason::WrongKind { .. } | MsgpackReason::TrailingBytes
            ) | DocumentReason::Key
                | DocumentReason::FieldCount { .. }
        );
        assert!(named, "{name}: {fault}");
        let compared = over_serde::read::<Valid<OwnedRequest>>(&bytes);
        assert!(matches!(compared, Err(SerdeFault::NotCanonical)), "{name}: {compared:?}");
    }
}

/// What both refuse without a second look; were one of these taken by rmp-serde, it belonged above.
#[test]
fn what_rmp_serde_refuses_as_well() {
    let key = join(&[&s("model"), &s("model-a")]);
    let digits = |tokens: &[u8]| {
        replaced(&join(&[&s("max_output_tokens"), &[0xcd, 4, 0]]), &join(&[&s("max_output_tokens"), tokens]))
    };
    let cases = [
        ("an unknown field", replaced(&key, &join(&[&s("modem"), &s("model-a")]))),
        ("a field that comes twice", replaced(&join(&[&s("instructions"), &s("Answer in one word.")]), &key)),
        ("a float", digits(&[0xca, 0x44, 0x80, 0, 0])),
        ("a negative number", digits(&[0xff])),
        ("a number that is too large", digits(&[0xcf, 0, 0, 0, 1, 0, 0, 0, 0])),
        ("a limit of zero", digits(&[0])),
        ("nil for a field that has to be there", replaced(&key, &join(&[&s("model"), &[0xc0]]))),
        ("an extension", replaced(&key, &join(&[&s("model"), &[0xd4, 1, b'm']]))),
        ("an unknown variant", replaced(&s("required"), &s("requires"))),
        ("another schema", replaced(b"provider_request.v3", b"provider_request.v2")),
    ];
    for (name, bytes) in cases {
        assert!(rmp_serde::from_slice::<Valid<OwnedRequest>>(&bytes).is_err(), "{name}: rmp-serde takes it");
        assert!(Valid::<ReadRequest<'_>>::read(&bytes).is_err(), "{name}");
    }
}

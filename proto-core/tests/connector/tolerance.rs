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

fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let key = s("model");
    let model = s("model-a");
    let tail = join(&[&s("parallel_tool_calls"), &[0xc3]]);
    let tokens = s("max_output_tokens");
    let tool = join(&[
        &[0x83],
        &s("name"),
        &s("today"),
        &s("description"),
        &s("Names the day."),
        &s("parameters_json"),
        &s(r#"{"type":"object"}"#),
    ]);
    let item = join(&[&[0x81], &s("UserText"), &[0x81], &s("text"), &s("Which day is it?")]);
    vec![
        ("bytes after the document", join(&[&request_bytes(), &[0xc0]])),
        ("a text with a header of 2 bytes", replaced(&model, &join(&[&[0xd9, 7], b"model-a"]))),
        ("a text with a header of 3 bytes", replaced(&model, &join(&[&[0xda, 0, 7], b"model-a"]))),
        ("a text with a header of 5 bytes", replaced(&model, &join(&[&[0xdb, 0, 0, 0, 7], b"model-a"]))),
        ("bytes for a text", replaced(&model, &join(&[&[0xc4, 7], b"model-a"]))),
        ("bytes for a key", replaced(&join(&[&key, &model]), &join(&[&[0xc4, 5], b"model", &model]))),
        (
            "a key with a long header",
            replaced(&join(&[&key, &model]), &join(&[&[0xd9, 5], b"model", &model])),
        ),
        ("the number of a field for its key", replaced(&join(&[&key, &model]), &join(&[&[3], &model]))),
        ("a map with a header of 3 bytes", replaced(&tool, &join(&[&[0xde, 0, 3], &tool[1..]]))),
        ("a map with a header of 5 bytes", join(&[&[0xdf, 0, 0, 0, 17], &request_bytes()[3..]])),
        (
            "a list with a header of 3 bytes",
            replaced(&join(&[&s("tools"), &[0x91]]), &join(&[&s("tools"), &[0xdc, 0, 1]])),
        ),
        (
            "an integer of 4 bytes",
            replaced(&join(&[&tokens, &[0xcd, 4, 0]]), &join(&[&tokens, &[0xce, 0, 0, 4, 0]])),
        ),
        (
            "an integer of 8 bytes",
            replaced(&join(&[&tokens, &[0xcd, 4, 0]]), &join(&[&tokens, &[0xcf, 0, 0, 0, 0, 0, 0, 4, 0]])),
        ),
        ("a signed integer", replaced(&join(&[&tokens, &[0xcd, 4, 0]]), &join(&[&tokens, &[0xd1, 4, 0]]))),
        (
            "an array for a struct",
            replaced(&tool, &join(&[&[0x93], &s("today"), &s("Names the day."), &s(r#"{"type":"object"}"#)])),
        ),
        (
            "an array for the fields of a variant",
            replaced(&item, &join(&[&[0x81], &s("UserText"), &[0x91], &s("Which day is it?")])),
        ),
        (
            "fields in another order",
            replaced(
                &join(&[&key, &model, &s("instructions"), &s("Answer in one word.")]),
                &join(&[&s("instructions"), &s("Answer in one word."), &key, &model]),
            ),
        ),
        ("an optional field that is not there", {
            let mut bytes = replaced(&join(&[&s("prompt_cache_key"), &s("cache-1")]), &[]);
            bytes[2] = 16;
            // A map of 16 has the header of one of 17.
            bytes
        }),
        ("a map for a unit variant", replaced(&s("required"), &join(&[&[0x81], &s("required"), &[0xc0]]))),
        (
            "the number of a variant",
            replaced(
                &join(&[&s("tool_choice"), &s("required"), &tail]),
                &join(&[&s("tool_choice"), &[1], &tail]),
            ),
        ),
    ]
}

#[test]
fn what_rmp_serde_takes_besides_is_refused() {
    for (name, bytes) in cases() {
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

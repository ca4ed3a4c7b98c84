//! Each identity field at 256 and 257 bytes, of one and of several bytes a character, and each way a request can be
//! wrong, from the carriage to the refusal.

use twolane_core::connector::admit::{Caller, Refused, Stopped, arrive, judge, scratch_len};
use twolane_core::connector::carriage::{OperationRequest, OperationResponse};
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    OwnedInvocation, OwnedResult, ReadInvocation, ReadResult, Refusal, Valid,
};
use twolane_core::connector::envelope::{Envelope, MessageKind, ReadEnvelope};
use twolane_core::connector::over_serde;
use twolane_core::connector::sealed::seal_malformed;
use twolane_core::connector::text::Id;

use crate::made::{invocation_bytes, result_bytes};
use crate::sealed::{NONCE, key};

/// 256 bytes each, and then one more.
fn lengths() -> [(String, bool); 6] {
    [
        ("x".repeat(256), true),
        ("é".repeat(128), true),
        ("🔎".repeat(64), true),
        ("x".repeat(257), false),
        (format!("{}x", "é".repeat(128)), false),
        (format!("{}x", "🔎".repeat(64)), false),
    ]
}

/// `bytes` with the value of the `nth` field `name`, which is a text, replaced.
fn replaced(bytes: &[u8], name: &str, nth: usize, text: &str) -> Vec<u8> {
    fn walk(value: &mut rmpv::Value, name: &str, left: &mut usize, text: &str) {
        match value {
            rmpv::Value::Map(pairs) => {
                for (key, value) in pairs {
                    if key.as_str() == Some(name) && !value.is_map() {
                        if *left == 0 {
                            *value = rmpv::Value::from(text);
                        }
                        *left = left.wrapping_sub(1);
                    } else {
                        walk(value, name, left, text);
                    }
                }
            }
            rmpv::Value::Array(elements) => {
                elements.iter_mut().for_each(|element| walk(element, name, left, text));
            }
            _ => {}
        }
    }
    let mut value = rmpv::decode::read_value(&mut &bytes[..]).unwrap();
    let mut left = nth;
    walk(&mut value, name, &mut left, text);
    let mut changed = Vec::new();
    rmpv::encode::write_value(&mut changed, &value).unwrap();
    assert_ne!(changed, bytes, "no {name} was changed");
    changed
}

#[test]
fn every_identity_field_of_an_invocation_has_256_bytes_and_no_more() {
    for (field, nth) in [
        ("caller_runtime_id", 0),
        ("request_id", 0),
        ("conversation_id", 0),
        ("model", 0),
        ("reasoning_effort", 0),
        ("reasoning_summary", 0),
        ("service_tier", 0),
        ("previous_response_id", 0),
    ] {
        for (text, fits) in lengths() {
            let bytes = replaced(&invocation_bytes(), field, nth, &text);
            assert_eq!(ReadInvocation::read(&bytes).is_ok(), fits, "{field}, {} bytes", text.len());
            let over_serde = over_serde::read::<Valid<OwnedInvocation>>(&bytes);
            assert_eq!(over_serde.is_ok(), fits, "{field}, {} bytes", text.len());
        }
    }
}

#[test]
fn every_identity_field_of_a_result_has_256_bytes_and_no_more() {
    for (field, nth) in [
        ("request_id", 0),
        ("request_id", 1),
        ("caller_runtime_id", 0),
        ("caller_runtime_id", 1),
        ("model", 0),
        ("transport", 0),
        ("provider_response_id", 0),
        ("call_id", 0),
        ("name", 0),
    ] {
        for (text, fits) in lengths() {
            let bytes = replaced(&result_bytes(), field, nth, &text);
            let read = Valid::<ReadResult<'_>>::read(&bytes);
            assert_eq!(read.is_ok(), fits, "{field} {nth}, {} bytes", text.len());
            let over_serde = over_serde::read::<Valid<OwnedResult>>(&bytes);
            assert_eq!(over_serde.is_ok(), fits, "{field} {nth}, {} bytes", text.len());
        }
    }
}

/// A request as some client would seal it that does not check its ids.
fn sealed(caller: &str, request_id: &str, plaintext: &[u8]) -> Vec<u8> {
    use base64::Engine as _;
    let envelope = Envelope {
        caller_runtime_id: caller,
        request_id,
        message_kind: MessageKind::Invocation,
        nonce: NONCE,
    };
    let mut aad = Vec::new();
    envelope.write_aad(&mut aad).unwrap();
    let mut text = plaintext.to_vec();
    let tag = key().seal_detached(&NONCE, &aad, &mut text).unwrap();
    let mut bytes = Vec::new();
    envelope.write_front(&mut bytes, u32::try_from(text.len() + 16).unwrap()).unwrap();
    bytes.extend(text.iter().chain(&tag));
    let payload = base64::engine::general_purpose::STANDARD.encode(bytes);
    let request = OperationRequest {
        message_id: request_id,
        service_id: "gamecult.model.connector",
        operation: "invoke",
        payload_schema: "gamecult.model.transport_envelope.v3",
        payload_encoding: None,
        payload: &payload,
        source_runtime_id: None,
        target_runtime_id: None,
    };
    let mut body = Vec::new();
    request.write(&mut body).unwrap();
    body
}

/// What a server that knows the caller `caller-1` says to a plaintext sealed for `request_id`.
fn verdict(request_id: &str, plaintext: &[u8]) -> Result<Digest, Refused> {
    let body = sealed("caller-1", request_id, plaintext);
    let mut scratch = vec![0; scratch_len(body.len())];
    let arrived = arrive(&body, &mut scratch).expect("it is for us");
    let caller = arrived.envelope.caller_runtime_id;
    let decoy = twolane_core::connector::seal::SealKey::from_bytes(&[0; 32]);
    let opened = arrived.open(Caller { keys: &[&key()], payload_max: 9000 }, &decoy, 1).expect("its key");
    judge(opened.plaintext, caller, request_id).map(|judged| judged.binding)
}

fn claimed(bytes: &[u8]) -> (Digest, Digest) {
    let read = ReadInvocation::read(bytes).unwrap();
    (read.fields().native_request_sha256, read.fields().provider_request_sha256)
}

#[test]
fn each_way_a_plaintext_can_be_wrong_is_its_refusal_and_bound_to_the_request() {
    let good = invocation_bytes();
    let (native, provider) = claimed(&good);
    let bound = Digest::binding("caller-1", "request-1", &native, &provider);
    assert_eq!(verdict("request-1", &good), Ok(bound));
    let refused = |refusal, binding| Err(Refused { refusal, binding });

    // Schema and fields: the digests are readable wherever both stand there once.
    for (field, text) in [
        ("schema_id", "gamecult.model.transport_invocation.v2"),
        ("model", ""),
        ("model", " model-a"),
        ("instructions", ""),
        ("tool_choice", "none"),
        ("parameters_json", "[]"),
    ] {
        let bytes = replaced(&good, field, 0, text);
        assert_eq!(verdict("request-1", &bytes), refused(Refusal::Malformed, bound), "{field}: {text:?}");
    }
    let swapped = {
        let rmpv::Value::Map(mut pairs) = rmpv::decode::read_value(&mut &good[..]).unwrap() else { panic!() };
        pairs.swap(1, 2);
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &rmpv::Value::Map(pairs)).unwrap();
        bytes
    };
    assert_eq!(verdict("request-1", &swapped), refused(Refusal::Malformed, bound));
    // Where they are not, the binding is zero.
    let trailing = [&good[..], &[0xc0]].concat();
    for bytes in [&b""[..], b"\xc0", b"not msgpack", &good[..good.len() - 1], &trailing] {
        assert_eq!(verdict("request-1", bytes), refused(Refusal::Malformed, Digest::ZERO));
    }
    let text_for_digest = replaced(&good, "native_request_sha256", 0, "x");
    assert_eq!(verdict("request-1", &text_for_digest), refused(Refusal::Malformed, Digest::ZERO));
    // A digest that stands there twice is none that could be read.
    let twice = {
        let rmpv::Value::Map(mut pairs) = rmpv::decode::read_value(&mut &good[..]).unwrap() else { panic!() };
        pairs.push(pairs[3].clone());
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &rmpv::Value::Map(pairs)).unwrap();
        bytes
    };
    assert_eq!(verdict("request-1", &twice), refused(Refusal::Malformed, Digest::ZERO));

    // Ids inside that are not those outside.
    let other_caller = replaced(&good, "caller_runtime_id", 0, "caller-2");
    assert_eq!(verdict("request-1", &other_caller), refused(Refusal::IdentitySubstitution, bound));
    let elsewhere = Digest::binding("caller-1", "request-2", &native, &provider);
    assert_eq!(verdict("request-2", &good), refused(Refusal::IdentitySubstitution, elsewhere));

    // A request that has not the digest that is claimed.
    let changed = replaced(&good, "model", 0, "model-b");
    assert_eq!(verdict("request-1", &changed), refused(Refusal::ProviderDigestSubstitution, bound));
    // Identity comes before the digest.
    let both = replaced(&changed, "caller_runtime_id", 0, "caller-2");
    assert_eq!(verdict("request-1", &both), refused(Refusal::IdentitySubstitution, bound));
}

#[test]
fn an_over_long_request_id_is_opened_first_and_then_refused_under_seal() {
    for (request_id, fits) in lengths() {
        let plaintext = replaced(&invocation_bytes(), "request_id", 0, &request_id);
        let verdict = verdict(&request_id, &plaintext);
        if fits {
            // The digest is that of another id: the point is that it was read at all.
            assert_eq!(verdict.unwrap_err().refusal, Refusal::ProviderDigestSubstitution);
            continue;
        }
        let (native, provider) = claimed(&invocation_bytes());
        let binding = Digest::binding("caller-1", &request_id, &native, &provider);
        assert_eq!(verdict, Err(Refused { refusal: Refusal::Malformed, binding }));
        // The reply carries the id in its carriage, its envelope and its result.
        let mut buffer = vec![0; 4096];
        let frame = seal_malformed(&mut buffer, &key(), NONCE, ["caller-1", &request_id], &binding).unwrap();
        let response = OperationResponse::read(&frame[4..]).unwrap();
        assert_eq!(response.message_id, request_id);
        let mut payload = response.payload.as_bytes().to_vec();
        let len = twolane_core::connector::base64::decode_in_place(&mut payload).unwrap();
        let read = ReadEnvelope::read(&payload[..len]).unwrap();
        assert_eq!(read.envelope.request_id, request_id);
        let mut sealed = read.ciphertext.to_vec();
        let result = key().open(&read.envelope, &mut sealed).unwrap();
        let value = rmpv::decode::read_value(&mut &result[..]).unwrap();
        assert_eq!(value["request_id"].as_str(), Some(request_id.as_str()));
        assert_eq!(value["disposition"]["Refused"].as_str(), Some("Malformed"));
        // No client sends such an id, or reads it back.
        assert!(Id::new(request_id.as_str()).is_err() && Valid::<ReadResult<'_>>::read(result).is_err());
    }
}

/// The other ids that are none are treated the same way.
#[test]
fn a_request_id_that_is_no_id_is_refused_under_seal() {
    for request_id in ["", " request-1", "request-1\u{3000}"] {
        let plaintext = replaced(&invocation_bytes(), "request_id", 0, request_id);
        assert_eq!(
            verdict(request_id, &plaintext).unwrap_err().refusal,
            Refusal::Malformed,
            "{request_id:?}"
        );
    }
}

#[test]
fn an_over_long_caller_is_carried_to_the_look_up_of_callers() {
    let caller = "c".repeat(257);
    let body = sealed(&caller, "request-1", &invocation_bytes());
    let mut scratch = vec![0; scratch_len(body.len())];
    match arrive(&body, &mut scratch) {
        Ok(arrived) => assert_eq!(arrived.envelope.caller_runtime_id, caller),
        Err(Stopped::Failed(_, failure)) => panic!("{failure:?}"),
        Err(Stopped::Silent(fault)) => panic!("{fault}"),
    }
}

/// What binds: the canonical array of ids and digests, as any other implementation would write it.
#[test]
fn the_binding_is_the_digest_of_a_canonical_array() {
    let (native, provider) = (Digest([1; 32]), Digest([2; 32]));
    let array = rmpv::Value::Array(vec![
        rmpv::Value::from("caller-1"),
        rmpv::Value::from("request-1"),
        rmpv::Value::Binary(vec![1; 32]),
        rmpv::Value::Binary(vec![2; 32]),
    ]);
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &array).unwrap();
    assert_eq!(Digest::binding("caller-1", "request-1", &native, &provider), Digest::of(&bytes));
}

//! The CultNet messages: what other writers write is read; what is not strict is named.

use std::fs;

use rmpv::Value;
use twolane_core::connector::base64::decode_into;
use twolane_core::connector::carriage::{
    ACCEPTED, CarriageReason, OPERATION, OperationRequest, OperationResponse, PAYLOAD_ENCODING,
    RESPONSE_SCHEMA, SERVICE_ID,
};
use twolane_core::connector::envelope::{Envelope, MessageKind, Nonce};
use twolane_core::connector::failure::{FAILURE_SCHEMA, Failure, Hint};
use twolane_core::scan::msgpack::{MsgpackReason, Written};

fn vector(name: &str) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/vectors/cultnet.json");
    let text = fs::read_to_string(path).unwrap();
    let vectors: serde_json::Value = serde_json::from_str(&text).unwrap();
    let hex = vectors[name].as_str().unwrap_or_else(|| panic!("{name}")).to_lowercase();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

const EXPECTED: OperationRequest<'static> = OperationRequest {
    message_id: "plugin-42",
    service_id: "sai.vn",
    operation: "project",
    payload_schema: "x.v1",
    payload_encoding: Some("messagepack-base64"),
    payload: "gaZzdGF0dXOib2s=",
    source_runtime_id: None,
    target_runtime_id: None,
};

#[test]
fn one_request_of_three_writers_is_read_alike() {
    for name in ["declared_order", "sorted_keys", "nil_optionals"] {
        assert_eq!(OperationRequest::read(&vector(name)), Ok(EXPECTED), "{name}");
    }
}

#[test]
fn our_order_is_the_declared_one() {
    let mut bytes = Vec::new();
    EXPECTED.write(&mut bytes).unwrap();
    assert_eq!(bytes, vector("declared_order"));
}

#[test]
fn a_document_of_another_kind_is_no_request() {
    let fault = OperationRequest::read(&vector("error_v0_other_writer")).unwrap_err();
    assert_eq!(fault.reason, CarriageReason::UnknownKey);
    assert!(OperationResponse::read(&vector("declared_order")).is_err());
}

/// The layout of what is authenticated has not changed since version 2, whose ids were others.
#[test]
fn what_is_authenticated_is_laid_out_as_before() {
    let envelope = Envelope {
        caller_runtime_id: "epiphany-yggdrasil",
        request_id: "request-1",
        message_kind: MessageKind::Invocation,
        nonce: Nonce([0; 12]),
    };
    let mut aad = Vec::new();
    envelope.write_aad(&mut aad).unwrap();
    let ours = b"\xd9\x24gamecult.model.transport_envelope.v3";
    let theirs = b"\xd9\x24gamecult.codex.transport_envelope.v2";
    let at = 1;
    assert_eq!(&aad[at..at + ours.len()], ours);
    aad.splice(at..at + ours.len(), theirs.iter().copied());
    assert_eq!(aad, vector("aad_v2"));
}

fn request() -> Vec<(Value, Value)> {
    rmpv::decode::read_value(&mut &vector("declared_order")[..]).unwrap().as_map().unwrap().clone()
}

fn bytes(pairs: Vec<(Value, Value)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &Value::Map(pairs)).unwrap();
    bytes
}

#[test]
fn the_encoding_need_not_be_there() {
    let mut pairs = request();
    pairs.retain(|(key, _)| key.as_str() != Some("payloadEncoding"));
    let expected = OperationRequest { payload_encoding: None, ..EXPECTED };
    assert_eq!(OperationRequest::read(&bytes(pairs)), Ok(expected));
}

#[test]
fn what_is_not_strict_is_named() {
    let reason = |pairs: Vec<(Value, Value)>| OperationRequest::read(&bytes(pairs)).unwrap_err().reason;
    for (place, (key, _)) in request().iter().enumerate() {
        let name = key.as_str().unwrap().to_owned();
        let mut twice = request();
        twice.push((key.clone(), Value::from("x")));
        assert!(matches!(reason(twice), CarriageReason::DuplicateKey(key) if key == name), "{name}");
        let mut nil_twice = request();
        nil_twice.push((Value::from("sourceRuntimeId"), Value::Nil));
        nil_twice.push((Value::from("sourceRuntimeId"), Value::Nil));
        assert_eq!(reason(nil_twice), CarriageReason::DuplicateKey("sourceRuntimeId"));
        for other in [Value::from(1), Value::Binary(name.clone().into_bytes()), Value::Array(vec![])] {
            let mut wrong = request();
            wrong[place].1 = other;
            assert!(
                matches!(reason(wrong), CarriageReason::WrongKind { field, .. } if field == name),
                "{name}"
            );
        }
        if name != "payloadEncoding" {
            let mut without = request();
            without.remove(place);
            assert!(matches!(reason(without), CarriageReason::Missing(key) if key == name), "{name}");
            let mut nil = request();
            nil[place].1 = Value::Nil;
            assert!(
                matches!(reason(nil), CarriageReason::WrongKind { field, .. } if field == name),
                "{name}"
            );
        }
    }
    let mut unknown = request();
    unknown.push((Value::from("Payload"), Value::from("x")));
    assert_eq!(reason(unknown), CarriageReason::UnknownKey);
    let mut binary_key = request();
    binary_key[1].0 = Value::Binary(b"messageId".to_vec());
    assert_eq!(reason(binary_key), CarriageReason::UnknownKey);
    let mut other = request();
    other[0].1 = Value::from("cultnet.operation_request.v1");
    assert_eq!(reason(other), CarriageReason::OtherMessage);
    let mut longer = bytes(request());
    longer.push(0xc0);
    let reason = OperationRequest::read(&longer).unwrap_err().reason;
    assert_eq!(reason, CarriageReason::Msgpack(MsgpackReason::TrailingBytes));
    assert_eq!(OperationRequest::read(&[0x90]).unwrap_err().reason, CarriageReason::NotAMap);
}

/// A value that is passed over may hold anything, but no more levels than a message may have.
#[test]
fn a_deep_value_is_no_request() {
    let mut deep = vec![0x81, 0xa7];
    deep.extend(b"payload");
    deep.extend([0x91; 32]);
    deep.push(0xc0);
    let reason = OperationRequest::read(&deep).unwrap_err().reason;
    assert_eq!(reason, CarriageReason::Msgpack(MsgpackReason::TooDeep));
}

#[test]
fn a_response_is_read_in_any_order_with_its_diagnostics() {
    let text = |text: &str| Value::from(text);
    let pairs = vec![
        (text("status"), text(ACCEPTED)),
        (text("diagnostics"), Value::Array(vec![text("slow"), text("today")])),
        (text("sourceRuntimeId"), Value::Nil),
        (text("serviceId"), text(SERVICE_ID)),
        (text("schemaVersion"), text(RESPONSE_SCHEMA)),
        (text("payloadSchema"), text("x.v1")),
        (text("payload"), text("AAAA")),
        (text("operation"), text(OPERATION)),
        (text("messageId"), text("m")),
    ];
    let carried = bytes(pairs.clone());
    let response = OperationResponse::read(&carried).unwrap();
    assert_eq!((response.status, response.payload_encoding), (ACCEPTED, None));
    assert_eq!(&carried[response.payload_span()], b"AAAA");
    for wrong in [Value::from("x"), Value::Array(vec![Value::from(1)]), Value::Map(vec![])] {
        let mut pairs = pairs.clone();
        pairs[1].1 = wrong;
        let fault = OperationResponse::read(&bytes(pairs)).unwrap_err();
        assert!(matches!(fault.reason, CarriageReason::WrongKind { field: "diagnostics", .. }));
    }
}

#[test]
fn each_failure_is_a_response_with_its_code_and_without_a_byte_of_the_peer() {
    let request = OperationRequest { message_id: "id-of-peer", ..EXPECTED };
    for failure in Failure::ALL {
        let mut buffer = [0; 1024];
        let mut written = Written::new(&mut buffer);
        failure.write(request.reply_to(), &mut written).unwrap();
        let len = written.len();
        let response = OperationResponse::read(&buffer[..len]).unwrap();
        assert_eq!((response.message_id, response.service_id), ("id-of-peer", "sai.vn"));
        assert_eq!(response.status, failure.status());
        assert_eq!(response.payload_schema, FAILURE_SCHEMA);
        assert_eq!(response.payload_encoding, Some(PAYLOAD_ENCODING));
        let mut decoded = [0; 256];
        let hint = Hint::read(response.payload, &mut decoded).unwrap();
        assert_eq!((hint.code, hint.message), (failure.code(), failure.message()));
        let mut decoded = [0; 256];
        let payload = decode_into(response.payload, &mut decoded).unwrap();
        let value = rmpv::decode::read_value(&mut &payload[..]).unwrap();
        let keys: Vec<&str> = value.as_map().unwrap().iter().filter_map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["code", "message"]);
        assert!(!failure.message().contains("peer"));
    }
}

#[test]
fn the_failures_are_those_of_the_specification() {
    let table = [
        (Failure::Service, "unsupported", "operation-not-registered"),
        (Failure::Operation, "unsupported", "operation-not-registered"),
        (Failure::PayloadSchema, "invalid", "request-schema-mismatch"),
        (Failure::PayloadEncoding, "invalid", "request-encoding-mismatch"),
        (Failure::Base64, "invalid", "request-payload-invalid"),
        (Failure::Envelope, "invalid", "request-payload-invalid"),
        (Failure::MessageId, "invalid", "request-payload-invalid"),
        (Failure::NotAdmitted, "denied", "not-admitted"),
    ];
    assert_eq!(table.len(), Failure::ALL.len());
    for (failure, status, code) in table {
        assert_eq!((failure.status(), failure.code()), (status, code));
    }
}

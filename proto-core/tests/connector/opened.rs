//! Captured messages opened with a key: which one of key, direction and bytes is wrong.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use twolane_core::connector::carriage::OperationRequest;
use twolane_core::connector::document::Refusal;
use twolane_core::connector::envelope::{Envelope, MessageKind, Nonce, ReadEnvelope};
use twolane_core::connector::open::{Broken, Changed, NotOpened};
use twolane_core::connector::outside::{Outside, Sort};
use twolane_core::connector::seal::SealKey;

use crate::made::invocation_bytes;
use crate::sealed::{key, request_body};

/// The request of the tests, its envelope and its sealed bytes changed and carried as `message_id`.
fn changed(message_id: &str, change: impl Fn(&mut Envelope<'_>, &mut Vec<u8>)) -> Vec<u8> {
    let body = request_body();
    let request = OperationRequest::read(&body).unwrap();
    let decoded = BASE64_STANDARD.decode(request.payload).unwrap();
    let read = ReadEnvelope::read(&decoded).unwrap();
    let (mut envelope, mut sealed) = (read.envelope, read.ciphertext.to_vec());
    change(&mut envelope, &mut sealed);
    let mut written = Vec::new();
    envelope.write_front(&mut written, u32::try_from(sealed.len()).unwrap()).unwrap();
    written.extend(sealed);
    let payload = BASE64_STANDARD.encode(written);
    let mut out = Vec::new();
    OperationRequest { message_id, payload: &payload, ..request }.write(&mut out).unwrap();
    out
}

fn opened(body: &[u8], key: &SealKey) -> Result<Vec<u8>, NotOpened> {
    Outside::read(body).unwrap().open(key)
}

#[test]
fn the_key_gives_the_document_and_another_says_that_it_is_another() {
    let body = request_body();
    assert_eq!(opened(&body, &key()).unwrap(), invocation_bytes());
    assert_eq!(opened(&body, &SealKey::from_bytes(&[1; 32])), Err(NotOpened::OtherKey));
    let sealed = Outside::read(&body).unwrap();
    assert_eq!(sealed.sealed().unwrap().envelope.caller_runtime_id, "caller-1");
}

#[test]
fn under_the_right_key_it_is_told_what_changed() {
    let other = |change: fn(&mut Envelope<'_>, &mut Vec<u8>)| changed("request-1", change);
    let cases = [
        (other(|envelope, _| envelope.message_kind = MessageKind::Result), Changed::Kind),
        (other(|envelope, _| envelope.request_id = "request-2"), Changed::RequestId),
        (other(|envelope, _| envelope.caller_runtime_id = "caller-2"), Changed::Other),
        (other(|_, sealed| *sealed.last_mut().unwrap() ^= 1), Changed::Other),
        (other(|_, sealed| sealed[40] ^= 1), Changed::Other),
    ];
    for (number, (body, what)) in cases.iter().enumerate() {
        assert_eq!(opened(body, &key()), Err(NotOpened::Changed(*what)), "case {number}");
        assert_eq!(opened(body, &SealKey::from_bytes(&[1; 32])), Err(NotOpened::OtherKey), "case {number}");
    }
    // Another nonce makes other bytes of the same key, and nothing tells it from another key.
    let nonce = other(|envelope, _| envelope.nonce = Nonce([4; 12]));
    assert_eq!(opened(&nonce, &key()), Err(NotOpened::OtherKey));
    // Too short for a tag, and for a document.
    let short = other(|_, sealed| sealed.truncate(5));
    assert_eq!(opened(&short, &key()), Err(NotOpened::OtherKey));
}

#[test]
fn a_changed_bit_opens_to_the_same_document_or_to_none() {
    let body = request_body();
    let (mut opened_all_the_same, mut told_from_another_key) = (0, 0);
    for place in 0..body.len() {
        let mut changed = body.clone();
        changed[place] ^= 1 << (place % 8);
        let Ok(outside) = Outside::read(&changed) else { continue };
        match outside.open(&key()) {
            // What the carriage says is not under the seal.
            Ok(text) => {
                assert_eq!(text, invocation_bytes(), "byte {place}");
                opened_all_the_same += 1;
            }
            Err(NotOpened::Changed(_)) => told_from_another_key += 1,
            Err(_) => {}
        }
    }
    assert!(opened_all_the_same > 0 && told_from_another_key > body.len() / 4);
}

#[test]
fn a_seal_that_goes_the_other_way_is_no_document_of_this_one() {
    let body = changed("request-1", |envelope, sealed| {
        envelope.message_kind = MessageKind::Result;
        sealed.clear();
        sealed.extend(b"\x80\xa9schema_id");
        let mut aad = Vec::new();
        envelope.write_aad(&mut aad).unwrap();
        let tag = key().seal_detached(&envelope.nonce, &aad, sealed).unwrap();
        sealed.extend(tag);
    });
    let direction = NotOpened::Direction { carried: Sort::Request, sealed: MessageKind::Result };
    assert_eq!(opened(&body, &key()), Err(direction));
    assert_eq!(direction.to_string(), "wrong direction: a request carries what was sealed as Result");
}

/// The request of the tests with another text under its seal, where `change` finds one.
fn sealed_again(message_id: &str, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    changed(message_id, |envelope, sealed| {
        *sealed = invocation_bytes();
        change(sealed);
        let mut aad = Vec::new();
        envelope.write_aad(&mut aad).unwrap();
        let tag = key().seal_detached(&envelope.nonce, &aad, sealed).unwrap();
        sealed.extend(tag);
    })
}

#[test]
fn what_opens_is_judged_against_its_envelope() {
    let swap = |from: &'static [u8], to: &'static [u8]| {
        move |text: &mut Vec<u8>| {
            let at = text.windows(from.len()).position(|window| window == from).unwrap();
            text[at..at + to.len()].copy_from_slice(to);
        }
    };
    let cases = [
        (sealed_again("request-1", |_| {}), Ok(())),
        (sealed_again("request-2", |_| {}), Err(Broken::MessageId)),
        (sealed_again("request-1", |text| text.push(0xc0)), Err(Broken::Refused(Refusal::Malformed))),
        (
            sealed_again("request-1", swap(b"caller-1", b"caller-2")),
            Err(Broken::Refused(Refusal::IdentitySubstitution)),
        ),
        (
            sealed_again("request-1", swap(b"model-", b"MODEL-")),
            Err(Broken::Refused(Refusal::ProviderDigestSubstitution)),
        ),
    ];
    for (number, (body, judged)) in cases.iter().enumerate() {
        let text = opened(body, &key()).unwrap();
        assert_eq!(Outside::read(body).unwrap().judge(&text), *judged, "case {number}");
    }
}

#[test]
fn a_result_is_judged_by_its_schema_and_its_ids() {
    let goldens = include_str!("../../../fixtures/connector/sealed.json");
    let goldens: Vec<serde_json::Value> = serde_json::from_str(goldens).unwrap();
    let found = goldens.iter().find(|golden| golden["name"] == "connector-sealed-completed").unwrap();
    let digits = found["hex"].as_str().unwrap().as_bytes().chunks(2);
    let digits = digits.map(|pair| std::str::from_utf8(pair).unwrap());
    let frame: Vec<u8> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    let outside = Outside::read(&frame[4..]).unwrap();
    let key = SealKey::from_secret("the goldens' secret, of no use elsewhere").unwrap();
    let text = outside.open(&key).unwrap();
    assert_eq!(outside.judge(&text), Ok(()));
    assert!(matches!(outside.judge(&text[1..]), Err(Broken::Result(_))));
    // All of them: those of the receipt have to agree with those of the result.
    let with = |from: &str, to: &str| {
        let (mut text, from, to) = (text.clone(), from.as_bytes(), to.as_bytes());
        for at in 0..text.len() - from.len() {
            if text[at..].starts_with(from) {
                text[at..at + to.len()].copy_from_slice(to);
            }
        }
        text
    };
    assert_eq!(outside.judge(&with("caller-1", "caller-2")), Err(Broken::Caller));
    assert_eq!(outside.judge(&with("request-1", "request-2")), Err(Broken::RequestId));
}

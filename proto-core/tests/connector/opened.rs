//! Captured messages opened with a key: which one of key, direction and bytes is wrong.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use twolane_core::connector::carriage::OperationRequest;
use twolane_core::connector::envelope::{Envelope, MessageKind, Nonce, ReadEnvelope};
use twolane_core::connector::open::{Changed, NotOpened};
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

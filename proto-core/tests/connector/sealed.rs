//! Frames there and back: sealed in one buffer, opened in the order of the checks, in place on the way back.

use twolane_core::connector::admit::{Caller, Stopped, arrive, judge, scratch_len};
use twolane_core::connector::answer::{Reply, ResponseFault, ResultFault, Sent, believe, open_reply};
use twolane_core::connector::arithmetic::payload_bytes_for_frame;
use twolane_core::connector::carriage::OperationRequest;
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Disposition, Event, OwnedResult, ReadInvocation, ReadResult, Refusal, SchemaId, TransportReceipt,
    TransportResult, Valid,
};
use twolane_core::connector::envelope::{MessageKind, Nonce};
use twolane_core::connector::failure::Failure;
use twolane_core::connector::seal::{SealKey, SecretFault};
use twolane_core::connector::sealed::{
    SealedFault, seal_again, seal_invocation, seal_malformed, seal_result, sealed_frame_len,
};
use twolane_core::limits::MIN_PAYLOAD_BYTES;

use crate::made::{invocation_bytes, t};

pub(crate) const SECRET: &str = "a secret of more than 32 bytes, for tests";
pub(crate) const NONCE: Nonce = Nonce([3; 12]);

pub(crate) fn key() -> SealKey {
    SealKey::from_secret(SECRET).unwrap()
}

fn decoy() -> SealKey {
    SealKey::from_bytes(&[0xdd; 32])
}

/// The frame's body without its prefix, which is checked.
pub(crate) fn body(frame: &[u8]) -> Vec<u8> {
    let (prefix, body) = frame.split_first_chunk().unwrap();
    assert_eq!(usize::try_from(u32::from_be_bytes(*prefix)).unwrap(), body.len());
    body.to_vec()
}

pub(crate) fn request_body() -> Vec<u8> {
    let invocation = ReadInvocation::read(&invocation_bytes()).unwrap().to_owned();
    let mut buffer = vec![0; 10_000];
    body(seal_invocation(&mut buffer, &key(), NONCE, &invocation).unwrap())
}

/// What a server with one caller of `keys` makes of a body.
fn received(body: &[u8], keys: &[&SealKey]) -> Result<Vec<u8>, Failure> {
    let mut scratch = vec![0; scratch_len(body.len())];
    match arrive(body, &mut scratch) {
        Ok(arrived) => {
            let known = arrived.envelope.caller_runtime_id == "caller-1";
            let keys = if known { keys } else { &[] };
            let opened = arrived.open(Caller { keys, payload_max: 5000 }, &decoy(), 2)?;
            Ok(opened.plaintext.to_vec())
        }
        Err(Stopped::Failed(_, failure)) => Err(failure),
        Err(Stopped::Silent(fault)) => panic!("silent: {fault}"),
    }
}

#[test]
fn an_invocation_goes_there_and_is_what_it_was() {
    let frame = request_body();
    let plaintext = received(&frame, &[&key()]).unwrap();
    assert_eq!(plaintext, invocation_bytes());
    let judged = judge(&plaintext, "caller-1", "request-1").unwrap();
    let fields = judged.invocation.fields();
    let (native, provider) = (fields.native_request_sha256, fields.provider_request_sha256);
    assert_eq!(judged.binding, Digest::binding("caller-1", "request-1", &native, &provider));
}

#[test]
fn a_buffer_has_to_hold_the_frame_and_no_byte_more() {
    let invocation = ReadInvocation::read(&invocation_bytes()).unwrap().to_owned();
    let plaintext = invocation.canonical_len().unwrap();
    let needed = sealed_frame_len(MessageKind::Invocation, 8, 9, plaintext).unwrap();
    let len = usize::try_from(needed).unwrap();
    let mut exact = vec![0; len];
    assert_eq!(seal_invocation(&mut exact, &key(), NONCE, &invocation).unwrap().len(), len);
    let short = seal_invocation(&mut exact[..len - 1], &key(), NONCE, &invocation);
    assert_eq!(short, Err(SealedFault::BufferTooShort { needed, found: len - 1 }));
}

#[test]
fn a_second_key_of_the_caller_opens_and_is_named() {
    let other = SealKey::from_bytes(&[1; 32]);
    let frame = request_body();
    let mut scratch = vec![0; scratch_len(frame.len())];
    let arrived = arrive(&frame, &mut scratch).unwrap();
    let keys = [&other, &key()];
    let opened = arrived.open(Caller { keys: &keys, payload_max: 5000 }, &decoy(), 2).unwrap();
    assert_eq!(opened.key, 1);
}

/// Each field of the envelope is authenticated, and so is each byte of the ciphertext. One bit of each byte of the
/// frame, each in its turn.
#[test]
fn every_flipped_bit_of_a_frame_is_refused() {
    let (frame, key, decoy) = (request_body(), key(), decoy());
    let (mut silent, mut failed, mut denied) = (0, 0, 0);
    for at in 0..frame.len() {
        let mut flipped = frame.clone();
        flipped[at] ^= 1 << (at % 8);
        let mut scratch = vec![0; scratch_len(flipped.len())];
        match arrive(&flipped, &mut scratch) {
            Err(Stopped::Silent(_)) => silent += 1,
            Err(Stopped::Failed(..)) => failed += 1,
            Ok(arrived) => {
                denied += 1;
                let caller = Caller { keys: &[&key], payload_max: 5000 };
                assert_eq!(arrived.open(caller, &decoy, 1), Err(Failure::NotAdmitted), "byte {at}");
            }
        }
    }
    assert!(silent > 50 && failed > 200 && denied > 500, "{silent} {failed} {denied}");
}

#[test]
fn a_tag_that_fails_leaves_the_ciphertext_as_it_was() {
    let key = key();
    let mut text = *b"the plaintext";
    let mut tag = key.seal_detached(&NONCE, b"aad", &mut text).unwrap();
    let sealed = text;
    tag[15] ^= 1;
    assert!(key.open_detached(&NONCE, b"aad", &mut text, &tag).is_err());
    assert_eq!(text, sealed);
    tag[15] ^= 1;
    assert!(key.open_detached(&NONCE, b"aae", &mut text, &tag).is_err());
    assert_eq!(text, sealed);
    key.open_detached(&NONCE, b"aad", &mut text, &tag).unwrap();
    assert_eq!(&text, b"the plaintext");
}

#[test]
fn an_unknown_caller_a_bad_tag_and_a_length_out_of_bounds_are_one_answer() {
    let frame = request_body();
    let mut answers = Vec::new();
    let arrived = |work: &dyn Fn(&mut [u8]) -> Failure| {
        let mut scratch = vec![0; scratch_len(frame.len())];
        work(&mut scratch)
    };
    let open = |caller: Caller<'_>, scratch: &mut [u8]| {
        arrive(&frame, scratch).unwrap().open(caller, &decoy(), 2).unwrap_err()
    };
    let other = SealKey::from_bytes(&[1; 32]);
    let (good, bad) = (key(), [&other]);
    answers.push(arrived(&|scratch| open(Caller { keys: &[], payload_max: 5000 }, scratch)));
    answers.push(arrived(&|scratch| open(Caller { keys: &bad, payload_max: 5000 }, scratch)));
    answers.push(arrived(&|scratch| open(Caller { keys: &[&good], payload_max: 100 }, scratch)));
    let request = OperationRequest::read(&frame).unwrap();
    let written: Vec<Vec<u8>> = answers
        .iter()
        .map(|failure| {
            let mut bytes = Vec::new();
            failure.write(request.reply_to(), &mut bytes).unwrap();
            bytes
        })
        .collect();
    assert!(written.iter().all(|bytes| *bytes == written[0]));
    assert_eq!(answers, [Failure::NotAdmitted; 3]);
}

/// The frame with one field of the carriage changed, each of which stops it at its own check.
#[test]
fn the_checks_come_in_the_order_of_the_wire() {
    let frame = request_body();
    let good = OperationRequest::read(&frame).unwrap();
    let result = {
        let mut buffer = vec![0; 4096];
        let refused = refusal(Refusal::Capacity, Digest::ZERO);
        body(seal_result(&mut buffer, &key(), NONCE, &refused).unwrap())
    };
    let result =
        twolane_core::connector::carriage::OperationResponse::read(&result).unwrap().payload.to_owned();
    let broken = [
        (OperationRequest { service_id: "other", ..good }, Failure::Service),
        (OperationRequest { operation: "Invoke", ..good }, Failure::Operation),
        (
            OperationRequest { payload_schema: "gamecult.model.transport_envelope.v2", ..good },
            Failure::PayloadSchema,
        ),
        (OperationRequest { payload_encoding: Some("base64"), ..good }, Failure::PayloadEncoding),
        (OperationRequest { payload: "AAA", ..good }, Failure::Base64),
        (OperationRequest { payload: "wMA=", ..good }, Failure::Envelope),
        (OperationRequest { payload: "", ..good }, Failure::Envelope),
        (OperationRequest { payload: &result, ..good }, Failure::Envelope),
        (OperationRequest { message_id: "request-2", ..good }, Failure::MessageId),
    ];
    let carried = |request: &OperationRequest<'_>| {
        let mut bytes = Vec::new();
        request.write(&mut bytes).unwrap();
        bytes
    };
    for (request, failure) in &broken {
        assert_eq!(received(&carried(request), &[&key()]), Err(*failure));
    }
    // With several broken at once, the first of the order is told.
    let mut all = good;
    for (request, failure) in broken.iter().rev() {
        match failure {
            Failure::MessageId => all.message_id = request.message_id,
            Failure::Base64 | Failure::Envelope => all.payload = request.payload,
            Failure::PayloadEncoding => all.payload_encoding = request.payload_encoding,
            Failure::PayloadSchema => all.payload_schema = request.payload_schema,
            Failure::Operation => all.operation = request.operation,
            _ => all.service_id = request.service_id,
        }
        assert_eq!(received(&carried(&all), &[&key()]), Err(*failure));
    }
    // Without an encoding it is ours.
    assert!(received(&carried(&OperationRequest { payload_encoding: None, ..good }), &[&key()]).is_ok());
}

#[test]
fn what_is_no_strict_request_gets_no_answer() {
    let frame = request_body();
    let v2: &[u8] = b"\x81\xa9schema_id\xd9\x24gamecult.codex.transport_envelope.v2";
    for bytes in [&frame[..frame.len() - 1], &[&frame[..], &[0]].concat(), b"", b"\xc0", v2] {
        assert!(matches!(arrive(bytes, &mut [0; 10_000]), Err(Stopped::Silent(_))));
    }
}

pub(crate) fn refusal<'a>(
    refusal: Refusal,
    binding: Digest,
) -> Valid<TransportResult<&'a str, &'a [Event<&'a str>]>> {
    Valid::new(TransportResult {
        schema_id: SchemaId::NEW,
        request_id: t("request-1"),
        caller_runtime_id: t("caller-1"),
        binding_sha256: binding,
        disposition: Disposition::Refused(refusal),
    })
    .unwrap()
}

fn sent() -> Sent<'static> {
    let read = invocation_bytes();
    let read = ReadInvocation::read(&read).unwrap();
    Sent {
        caller_runtime_id: "caller-1",
        request_id: "request-1",
        model: "model-a",
        native_request_sha256: read.fields().native_request_sha256,
        provider_request_sha256: read.fields().provider_request_sha256,
    }
}

fn binding() -> Digest {
    let sent = sent();
    Digest::binding(
        sent.caller_runtime_id,
        sent.request_id,
        &sent.native_request_sha256,
        &sent.provider_request_sha256,
    )
}

#[test]
fn a_result_comes_back_and_is_opened_in_place() {
    let mut buffer = vec![0; 4096];
    let sealed = seal_result(&mut buffer, &key(), NONCE, &refusal(Refusal::InFlight, binding())).unwrap();
    let mut reply = body(sealed);
    let Reply::Sealed(plaintext) = open_reply(&mut reply, &key(), "caller-1", "request-1").unwrap() else {
        panic!("it was sealed")
    };
    let result = believe(plaintext, &sent()).unwrap();
    assert!(matches!(result.disposition, Disposition::Refused(Refusal::InFlight)));
    // Under another key of the caller the same text is another frame.
    let other = SealKey::from_bytes(&[5; 32]);
    let mut buffer = vec![0; 4096];
    let ids = ["caller-1", "request-1"];
    let again = body(seal_again(&mut buffer, &other, Nonce([4; 12]), ids, plaintext).unwrap());
    let text = plaintext.to_vec();
    let mut reply = again;
    assert_eq!(open_reply(&mut reply, &other, "caller-1", "request-1"), Ok(Reply::Sealed(&text)));
}

#[test]
fn a_failure_comes_back_as_a_hint() {
    let frame = request_body();
    let request = OperationRequest::read(&frame).unwrap();
    let mut reply = Vec::new();
    Failure::NotAdmitted.write(request.reply_to(), &mut reply).unwrap();
    let Reply::Hint(hint) = open_reply(&mut reply, &key(), "caller-1", "request-1").unwrap() else {
        panic!("nothing was sealed")
    };
    assert_eq!((hint.code, hint.message), ("not-admitted", "not admitted"));
}

#[test]
fn a_response_to_something_else_is_not_opened() {
    let reply = |request: &str| {
        let mut buffer = vec![0; 4096];
        body(seal_malformed(&mut buffer, &key(), NONCE, ["caller-1", request], &Digest::ZERO).unwrap())
    };
    let open = |mut body: Vec<u8>, key: &SealKey, caller: &str| {
        open_reply(&mut body, key, caller, "request-1").map(drop).unwrap_err()
    };
    assert_eq!(open(reply("request-2"), &key(), "caller-1"), ResponseFault::Other("messageId"));
    assert_eq!(open(reply("request-1"), &key(), "caller-2"), ResponseFault::Other("caller_runtime_id"));
    assert_eq!(open(reply("request-1"), &decoy(), "caller-1"), ResponseFault::Seal);
    // A request that is sent back as its own answer.
    assert!(matches!(open(request_body(), &key(), "caller-1"), ResponseFault::Carriage(_)));
}

/// A field and how it is changed.
type Change<'a> = (&'a str, &'a dyn Fn(&mut OwnedResult));

#[test]
fn a_client_believes_only_what_binds_to_its_request() {
    let written = |result: &Valid<TransportResult<&str, &[Event<&str>]>>| result.to_vec().unwrap();
    let other = Digest::of(b"something else");
    let fault = |bytes: &[u8]| believe(bytes, &sent()).map(drop).unwrap_err();
    assert_eq!(fault(&written(&refusal(Refusal::Policy, other))), ResultFault::Other("binding_sha256"));
    assert_eq!(
        fault(&written(&refusal(Refusal::Policy, Digest::ZERO))),
        ResultFault::Other("binding_sha256")
    );
    assert!(believe(&written(&refusal(Refusal::Malformed, Digest::ZERO)), &sent()).is_ok());
    assert!(believe(&written(&refusal(Refusal::Malformed, binding())), &sent()).is_ok());
    assert!(matches!(fault(b"\xc0"), ResultFault::Document(_)));

    let mut result =
        Valid::<ReadResult<'_>>::read(&crate::made::result_bytes()).unwrap().to_owned().into_parts();
    result.binding_sha256 = binding();
    let with = |change: &dyn Fn(&mut OwnedResult)| {
        let mut changed = result.clone();
        change(&mut changed);
        Valid::new(changed).unwrap().to_vec().unwrap()
    };
    assert!(believe(&with(&|_| {}), &sent()).is_ok());
    let table: [Change<'_>; 7] = [
        ("request_id", &|result| result.request_id = t("request-2").to_owned()),
        ("caller_runtime_id", &|result| result.caller_runtime_id = t("caller-2").to_owned()),
        ("receipt.request_id", &|result| receipt(result).request_id = t("request-2").to_owned()),
        ("receipt.caller_runtime_id", &|result| receipt(result).caller_runtime_id = t("c").to_owned()),
        ("receipt.model", &|result| receipt(result).model = t("model-b").to_owned()),
        ("receipt.native_request_sha256", &|result| receipt(result).native_request_sha256 = Digest::ZERO),
        ("receipt.provider_request_sha256", &|result| receipt(result).provider_request_sha256 = Digest::ZERO),
    ];
    for (field, change) in table {
        assert_eq!(fault(&with(change)), ResultFault::Other(field));
    }
}

fn receipt(result: &mut OwnedResult) -> &mut TransportReceipt<Box<str>> {
    match &mut result.disposition {
        Disposition::Transported(transported) => &mut transported.receipt,
        Disposition::Refused(_) => panic!("it was transported"),
    }
}

/// The largest refusal, whose ids are as long as ids are, seals to 707 bytes and so always fits.
#[test]
fn the_largest_refusal_seals_to_707_bytes() {
    let id = "x".repeat(256);
    let longest = Refusal::ALL.iter().max_by_key(|refusal| refusal.name().len()).unwrap();
    let result: TransportResult<&str, &[Event<&str>]> = TransportResult {
        schema_id: SchemaId::NEW,
        request_id: t(&id),
        caller_runtime_id: t(&id),
        binding_sha256: Digest::ZERO,
        disposition: Disposition::Refused(*longest),
    };
    let sealed = Valid::new(result).unwrap().canonical_len().unwrap() + 16;
    assert_eq!(sealed, 707);
    assert!(sealed <= MIN_PAYLOAD_BYTES && payload_bytes_for_frame(8192) >= Some(MIN_PAYLOAD_BYTES));
}

#[test]
fn a_secret_is_long_and_has_no_blank_ends_and_a_file_may_end_its_line() {
    let id = |text: &[u8]| SealKey::from_file(text).map(|key| key.id());
    let plain = key().id();
    for end in ["", "\n", "\r\n"] {
        assert_eq!(id(format!("{SECRET}{end}").as_bytes()), Ok(plain), "{end:?}");
    }
    for end in ["\n\n", "\r", " ", "\r\n\n", " \n", "\u{a0}"] {
        assert_eq!(id(format!("{SECRET}{end}").as_bytes()), Err(SecretFault::BlankEnd), "{end:?}");
    }
    assert_eq!(id(format!("\t{SECRET}").as_bytes()), Err(SecretFault::BlankEnd));
    assert_eq!(id(&[b'x'; 31]), Err(SecretFault::TooShort { len: 31 }));
    assert_eq!(id(format!("{}\n", "x".repeat(31)).as_bytes()), Err(SecretFault::TooShort { len: 31 }));
    assert!(id(&[b'x'; 32]).is_ok());
    assert_eq!(id(&[0xff; 40]), Err(SecretFault::NotUtf8));
    assert_ne!(id(&[b'x'; 32]), Ok(plain));
}

#[test]
fn a_key_is_the_digest_of_its_secret_and_shows_nothing() {
    let digest = Digest::of(SECRET.as_bytes());
    assert_eq!(SealKey::from_bytes(&digest.0).id(), key().id());
    assert_eq!(format!("{:?}", key()), "SealKey(..)");
}

#[test]
fn a_counted_nonce_is_its_prefix_and_its_counter() {
    let nonce = Nonce::counted([1, 2, 3, 4], 0x0506_0708_090a_0b0c);
    assert_eq!(nonce, Nonce([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
}

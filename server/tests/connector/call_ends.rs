//! Every end of a call: its words, its exit code. A server that has the key says what the real one says rarely.

use twolane_core::connector::admit::{Caller as Terms, arrive, judge, scratch_len};
use twolane_core::connector::document::{
    Disposition, Event, EventPayload, Failed, FailureKind, Outcome, Refusal, ResultParts, SchemaId,
    TransportReceipt, TransportResult, Transported, Valid,
};
use twolane_core::connector::sealed::{SealedFault, seal_result};
use twolane_core::connector::text::{Content, FailureMessage, Id};

use crate::caller::{Caller, ended};
use crate::peers::{Does, server};
use crate::world::{nonce, secret};

/// What the server answers.
#[derive(Clone, Copy, Debug)]
enum Says {
    Refused(Refusal),
    Fails,
}

/// The sealed and bound frame that says it to a request.
fn answer(says: Says, body: &[u8]) -> Vec<u8> {
    let key = secret(1);
    let mut scratch = vec![0; scratch_len(body.len())];
    let arrived = arrive(body, &mut scratch).unwrap();
    let ids = [arrived.envelope.caller_runtime_id, arrived.envelope.request_id];
    let opened = arrived.open(Terms { keys: &[&key], payload_max: 65_536 }, &secret(99), 1).unwrap();
    let judged = judge(opened.plaintext, ids[0], ids[1]).unwrap();
    let fields = judged.invocation.fields();
    let [caller_runtime_id, request_id] = ids.map(|text| Id::new(text).unwrap());
    let half = [Event {
        sequence: 0,
        payload: EventPayload::TextDelta { text: Content::new("half of it").unwrap() },
    }];
    let disposition = match says {
        Says::Refused(refusal) => Disposition::Refused(refusal),
        Says::Fails => Disposition::Transported(Transported {
            events: &half[..],
            receipt: TransportReceipt {
                schema_id: SchemaId::NEW,
                request_id,
                caller_runtime_id,
                native_request_sha256: fields.native_request_sha256,
                provider_request_sha256: fields.provider_request_sha256,
                model: fields.request.model,
                transport: Id::new("test").unwrap(),
                outcome: Outcome::Failed(Failed {
                    failure_kind: FailureKind::RateLimited,
                    message: FailureMessage::new("slow\x1b[2Jdown").unwrap(),
                    http_status: Some(429),
                    retry_after_ms: Some(1500),
                }),
            },
        }),
    };
    let binding_sha256 = judged.binding;
    let schema_id = SchemaId::NEW;
    let result: Valid<ResultParts<'_>> =
        Valid::new(TransportResult { schema_id, request_id, caller_runtime_id, binding_sha256, disposition })
            .unwrap();
    let nonce = nonce();
    let Err(SealedFault::BufferTooShort { needed, .. }) = seal_result(&mut [], &key, nonce, &result) else {
        panic!("sealed into nothing");
    };
    let mut frame = vec![0; usize::try_from(needed).unwrap()];
    seal_result(&mut frame, &key, nonce, &result).unwrap();
    frame
}

#[tokio::test]
async fn each_refusal_says_what_it_means_and_what_to_do() {
    let words = |refusal| match refusal {
        Refusal::Expired => ["may not begin any more", "another request id"],
        Refusal::IdentitySubstitution => ["ids inside of the seal", "find it"],
        Refusal::ProviderDigestSubstitution => ["has not the digest", "ask anew"],
        Refusal::Policy => ["may not ask for this model", "--model"],
        Refusal::Capacity => ["no room", "--resume"],
        Refusal::InFlight => ["still running", "--resume"],
        Refusal::Indeterminate => ["nobody saw its end", "twolane replay resolve"],
        Refusal::ReplayConflict => ["used for another request", "--request-id"],
        Refusal::Retired => ["the answer is gone", "paid again"],
        Refusal::Malformed => ["does not understand", "one version"],
    };
    for refusal in Refusal::ALL {
        let address = server(move |body| Does::Closes(answer(Says::Refused(*refusal), body))).await;
        let caller = Caller::new(1);
        let retried = matches!(refusal, Refusal::Capacity | Refusal::InFlight);
        let output = caller.call(address, &["--within", if retried { "2s" } else { "10m" }, "Hello"]).await;
        let (code, out, err) = ended(&output);
        assert_eq!((code, out), (1, ""), "{refusal:?}: {err}");
        assert!(words(*refusal).iter().all(|words| err.contains(words)), "{refusal:?}: {err}");
        if !retried {
            assert!(err.contains(refusal.name()), "{err}");
            let output = caller.resume(address, &caller.stored()[0], &["--json"]).await;
            let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!((&object["outcome"], &object["refusal"]), (&"Refused".into(), &refusal.name().into()));
            assert_eq!(output.status.code(), Some(1));
        }
    }
}

#[tokio::test]
async fn a_turn_that_failed_prints_what_was_said_and_how_it_failed_in_words_that_obey_nobody() {
    let address = server(|body| Does::Closes(answer(Says::Fails, body))).await;
    let caller = Caller::new(1);
    let output = caller.call(address, &["Hello"]).await;
    let (code, out, err) = ended(&output);
    assert_eq!((code, out), (1, "half of it\n"));
    assert!(err.contains("RateLimited, HTTP status 429, wait 1500 ms") && !err.contains('\x1b'), "{err}");
    let output = caller.resume(address, &caller.stored()[0], &["--json"]).await;
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["receipt"]["outcome"]["failure_kind"], "RateLimited");
    assert_eq!((&object["text"], output.status.code()), (&"half of it".into(), Some(1)));
}

#[tokio::test]
async fn what_is_not_believed_ends_as_what_cannot_be_authenticated() {
    let cases: [(&[u8], &str); 3] = [
        (b"\xff\xff\xff\xff", "4294967295 bytes was announced"),
        (b"\0\0\0\x01\xc0", "no reply to this request"),
        (b"HTTP/1.1 400", "announced"),
    ];
    for (bytes, words) in cases {
        let address = server(move |_| Does::Closes(bytes.to_vec())).await;
        let output = Caller::new(1).call(address, &["--within", "5s", "Hello"]).await;
        let (code, out, err) = ended(&output);
        assert!(code == 3 && out.is_empty() && err.contains(words) && err.contains("do not trust"), "{err}");
    }
}

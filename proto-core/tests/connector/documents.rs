//! Each document has one encoding, whoever writes it: borrowed, owned, or serde. What is read is what was written.

use proptest::prelude::*;
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Disposition, Document, Event, InputItem, OwnedInvocation, OwnedRequest, OwnedResult, ProviderRequest,
    ReadInvocation, ReadRequest, ReadResult, SchemaId, Tool, TransportInvocation, TransportReceipt,
    TransportResult, Transported, Valid, claimed_digests,
};
use twolane_core::connector::envelope::{Envelope, MessageKind, Nonce, ReadEnvelope, TransportEnvelope};
use twolane_core::connector::over_serde;
use twolane_core::scan::msgpack::Written;

use crate::made::{any_invocation, any_request, any_result, invocation_bytes, request_bytes, result_bytes};

/// The bytes, which fill a buffer of their own length and none that is shorter.
fn into_buffer<T: Document>(document: &Valid<T>) -> Vec<u8> {
    let len = usize::try_from(document.canonical_len().unwrap()).unwrap();
    let mut buffer = vec![0; len];
    document.write(&mut Written::new(&mut buffer)).unwrap();
    let mut short = vec![0; len - 1];
    assert!(document.write(&mut Written::new(&mut short)).is_err(), "a short buffer is full");
    buffer
}

/// What another program would write that has the same request without a heap.
fn borrowed_request(owned: &OwnedRequest) -> Vec<u8> {
    let items: Vec<InputItem<&str>> = owned
        .input
        .iter()
        .map(|item| match item {
            InputItem::UserText { text } => InputItem::UserText { text: text.borrow() },
            InputItem::AssistantText { text } => InputItem::AssistantText { text: text.borrow() },
            InputItem::ToolCall { call_id, name, arguments } => InputItem::ToolCall {
                call_id: call_id.borrow(),
                name: name.borrow(),
                arguments: arguments.borrow(),
            },
            InputItem::ToolResult { call_id, output } => {
                InputItem::ToolResult { call_id: call_id.borrow(), output: output.borrow() }
            }
        })
        .collect();
    let tools: Vec<Tool<&str>> = owned
        .tools
        .iter()
        .map(|tool| Tool {
            name: tool.name.borrow(),
            description: tool.description.borrow(),
            parameters_json: tool.parameters_json.borrow(),
        })
        .collect();
    let parts = ProviderRequest {
        schema_id: SchemaId::NEW,
        request_id: owned.request_id.borrow(),
        conversation_id: owned.conversation_id.borrow(),
        model: owned.model.borrow(),
        instructions: owned.instructions.borrow(),
        input: &items[..],
        reasoning_effort: owned.reasoning_effort.as_ref().map(|id| id.borrow()),
        reasoning_summary: owned.reasoning_summary.as_ref().map(|id| id.borrow()),
        service_tier: owned.service_tier.as_ref().map(|id| id.borrow()),
        output_format_name: owned.output_format_name.as_ref().map(|name| name.borrow()),
        previous_response_id: owned.previous_response_id.as_ref().map(|id| id.borrow()),
        tools: &tools[..],
        tool_choice: owned.tool_choice,
        parallel_tool_calls: owned.parallel_tool_calls,
        output_schema_json: owned.output_schema_json.as_ref().map(|json| json.borrow()),
        max_output_tokens: owned.max_output_tokens,
        prompt_cache_key: owned.prompt_cache_key.as_ref().map(|key| key.borrow()),
    };
    into_buffer(&Valid::new(parts).expect("the same rules"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_request_is_the_same_bytes_in_every_form(owned in any_request()) {
        let bytes = owned.to_vec().unwrap();
        prop_assert_eq!(&into_buffer(&owned), &bytes);
        prop_assert_eq!(&borrowed_request(&owned), &bytes);
        prop_assert_eq!(&over_serde::write(&owned).unwrap(), &bytes);
        prop_assert_eq!(owned.sha256().unwrap(), Digest::of(&bytes));
        let read = Valid::<ReadRequest<'_>>::read(&bytes).unwrap();
        prop_assert_eq!(&read.to_owned(), &owned);
        prop_assert_eq!(&over_serde::read::<Valid<OwnedRequest>>(&bytes).unwrap(), &owned);
    }

    #[test]
    fn an_invocation_is_the_same_bytes_in_every_form(owned in any_invocation()) {
        let bytes = owned.to_vec().unwrap();
        prop_assert_eq!(&into_buffer(&owned), &bytes);
        prop_assert_eq!(&over_serde::write(&owned).unwrap(), &bytes);
        let read = ReadInvocation::read(&bytes).unwrap();
        prop_assert_eq!(&read.to_owned(), &owned);
        prop_assert_eq!(read.request_sha256(), owned.request.sha256().unwrap());
        prop_assert_eq!(&over_serde::read::<Valid<OwnedInvocation>>(&bytes).unwrap(), &owned);
        let claimed = (owned.native_request_sha256, owned.provider_request_sha256);
        prop_assert_eq!(claimed_digests(&bytes), Some(claimed));
    }

    #[test]
    fn a_result_is_the_same_bytes_in_every_form(owned in any_result()) {
        let bytes = owned.to_vec().unwrap();
        prop_assert_eq!(&into_buffer(&owned), &bytes);
        prop_assert_eq!(&over_serde::write(&owned).unwrap(), &bytes);
        let read = Valid::<ReadResult<'_>>::read(&bytes).unwrap();
        prop_assert_eq!(&read.to_owned(), &owned);
        prop_assert_eq!(&over_serde::read::<Valid<OwnedResult>>(&bytes).unwrap(), &owned);
        if let Disposition::Transported(Transported { receipt, .. }) = &owned.disposition {
            // The events written from a slice and a borrowed receipt, as a server without a copy does.
            let events: Vec<Event<&str>> = match &read.disposition {
                Disposition::Transported(transported) => transported.events.iter().collect(),
                Disposition::Refused(_) => unreachable!("it was transported"),
            };
            let Disposition::Transported(Transported { receipt: borrowed, .. }) = read.disposition else {
                unreachable!("it was transported")
            };
            prop_assert_eq!(borrowed.to_owned(), receipt.clone());
            let parts = TransportResult {
                schema_id: SchemaId::NEW,
                request_id: owned.request_id.borrow(),
                caller_runtime_id: owned.caller_runtime_id.borrow(),
                binding_sha256: owned.binding_sha256,
                disposition: Disposition::Transported(Transported {
                    events: &events[..],
                    receipt: TransportReceipt { ..borrowed },
                }),
            };
            prop_assert_eq!(into_buffer(&Valid::new(parts).unwrap()), bytes);
        }
    }

    /// Two readers that share no line accept the same bytes: ours, and rmp-serde with its output compared.
    #[test]
    fn changed_bytes_are_judged_alike_by_both_readers(
        which in 0..3_usize,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..3),
    ) {
        let mut bytes = vec![request_bytes(), invocation_bytes(), result_bytes()].swap_remove(which);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        same_verdict(which, &bytes)?;
    }
}

fn same_verdict(which: usize, bytes: &[u8]) -> Result<(), TestCaseError> {
    match which {
        0 => {
            let ours = Valid::<ReadRequest<'_>>::read(bytes);
            let theirs = over_serde::read::<Valid<OwnedRequest>>(bytes);
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "ours {:?}, theirs {:?}", ours, theirs);
            prop_assert_eq!(ours.ok().map(|read| read.to_owned()), theirs.ok());
        }
        1 => {
            let ours = ReadInvocation::read(bytes);
            let theirs = over_serde::read::<Valid<OwnedInvocation>>(bytes);
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "ours {:?}, theirs {:?}", ours, theirs);
            prop_assert_eq!(ours.ok().map(|read| read.to_owned()), theirs.ok());
        }
        _ => {
            let ours = Valid::<ReadResult<'_>>::read(bytes);
            let theirs = over_serde::read::<Valid<OwnedResult>>(bytes);
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "ours {:?}, theirs {:?}", ours, theirs);
            prop_assert_eq!(ours.ok().map(|read| read.to_owned()), theirs.ok());
        }
    }
    Ok(())
}

#[test]
fn every_single_bit_of_every_document_is_judged_alike_by_both_readers() {
    for (which, bytes) in [request_bytes(), invocation_bytes(), result_bytes()].into_iter().enumerate() {
        let mut accepted = 0;
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            same_verdict(which, &flipped)
                .unwrap_or_else(|fault| panic!("document {which}, bit {bit}: {fault}"));
            accepted += usize::from(match which {
                0 => Valid::<ReadRequest<'_>>::read(&flipped).is_ok(),
                1 => ReadInvocation::read(&flipped).is_ok(),
                _ => Valid::<ReadResult<'_>>::read(&flipped).is_ok(),
            });
        }
        // Letters of texts and bits of digests.
        assert!(accepted > 100, "{accepted} of document {which}");
    }
}

#[test]
fn an_envelope_is_the_same_bytes_in_every_form_and_has_one() {
    let envelope = Envelope {
        caller_runtime_id: "caller-1",
        request_id: "request-1",
        message_kind: MessageKind::Result,
        nonce: Nonce([5; 12]),
    };
    let mut bytes = Vec::new();
    envelope.write_front(&mut bytes, 300).unwrap();
    bytes.extend([0xee; 300]);
    let owned: TransportEnvelope = over_serde::read(&bytes).unwrap();
    assert_eq!(over_serde::write(&owned).unwrap(), bytes);
    let read = ReadEnvelope::read(&bytes).unwrap();
    assert_eq!((read.envelope, read.ciphertext), (envelope, &owned.ciphertext.0[..]));
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let theirs = over_serde::read::<TransportEnvelope>(&flipped);
        assert_eq!(ReadEnvelope::read(&flipped).is_ok(), theirs.is_ok(), "bit {bit}");
    }
}

#[test]
fn every_truncation_is_refused_at_its_end() {
    for bytes in [request_bytes(), invocation_bytes(), result_bytes()] {
        for len in 0..bytes.len() {
            let cut = &bytes[..len];
            for fault in [
                Valid::<ReadRequest<'_>>::read(cut).err(),
                ReadInvocation::read(cut).err(),
                Valid::<ReadResult<'_>>::read(cut).err(),
            ] {
                let fault = fault.expect("cut");
                assert!(fault.offset.is_some_and(|offset| offset <= len), "{fault}");
            }
        }
    }
}

#[test]
fn an_invocation_is_written_from_borrowed_parts() {
    let owned = ReadInvocation::read(&invocation_bytes()).unwrap().to_owned();
    let request = borrowed_request(&owned.request);
    let read = Valid::<ReadRequest<'_>>::read(&request).unwrap();
    let (items, tools): (Vec<_>, Vec<_>) = (read.input.iter().collect(), read.tools.iter().collect());
    let parts = TransportInvocation {
        schema_id: SchemaId::NEW,
        caller_runtime_id: owned.caller_runtime_id.borrow(),
        expires_at_unix_ms: owned.expires_at_unix_ms,
        native_request_sha256: owned.native_request_sha256,
        provider_request_sha256: owned.provider_request_sha256,
        request: Valid::new(crate::made::request_parts(&items, &tools)).unwrap(),
    };
    assert_eq!(into_buffer(&Valid::new(parts).unwrap()), invocation_bytes());
}

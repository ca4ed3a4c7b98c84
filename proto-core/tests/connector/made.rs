//! Documents: one of each kind with every field, and any.

use std::num::NonZeroU32;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Completed, Disposition, Event, EventPayload, Failed, FailureKind, InputItem, Outcome, OwnedInvocation,
    OwnedRequest, OwnedResult, ProviderRequest, Refusal, RequestParts, SchemaId, StopReason, Tool,
    ToolChoice, TransportInvocation, TransportReceipt, TransportResult, Transported, Valid,
};
use twolane_core::connector::text::{Rule, Text};

/// A text of a rule, borrowed.
pub(crate) fn t<R: Rule>(text: &str) -> Text<R, &str> {
    Text::new(text).unwrap_or_else(|fault| panic!("{text:?}: {fault}"))
}

/// A text of a rule, owned.
pub(crate) fn b<R: Rule>(text: &str) -> Text<R, Box<str>> {
    t(text).to_owned()
}

/// The request of the goldens, with every field.
pub(crate) fn request_parts<'a>(
    input: &'a [InputItem<&'a str>],
    tools: &'a [Tool<&'a str>],
) -> RequestParts<'a> {
    ProviderRequest {
        schema_id: SchemaId::NEW,
        request_id: t("request-1"),
        conversation_id: t("conversation-1"),
        model: t("model-a"),
        instructions: t("Answer in one word."),
        input,
        reasoning_effort: Some(t("low")),
        reasoning_summary: Some(t("auto")),
        service_tier: Some(t("flex")),
        output_format_name: Some(t("answer")),
        previous_response_id: Some(t("resp_0")),
        tools,
        tool_choice: ToolChoice::Required,
        parallel_tool_calls: true,
        output_schema_json: Some(t(r#"{"type":"object"}"#)),
        max_output_tokens: NonZeroU32::new(1024),
        prompt_cache_key: Some(t("cache-1")),
    }
}

pub(crate) const ITEMS: usize = 4;

pub(crate) fn items() -> [InputItem<&'static str>; ITEMS] {
    [
        InputItem::UserText { text: t("Which day is it?") },
        InputItem::AssistantText { text: t("I look it up.") },
        InputItem::ToolCall { call_id: t("call_1"), name: t("today"), arguments: t("{}") },
        InputItem::ToolResult { call_id: t("call_1"), output: t("Tuesday") },
    ]
}

pub(crate) fn tools() -> [Tool<&'static str>; 1] {
    [Tool { name: t("today"), description: t("Names the day."), parameters_json: t(r#"{"type":"object"}"#) }]
}

/// The canonical bytes of [`request_parts`].
pub(crate) fn request_bytes() -> Vec<u8> {
    Valid::new(request_parts(&items(), &tools())).unwrap().to_vec().unwrap()
}

pub(crate) fn invocation_bytes() -> Vec<u8> {
    let (items, tools) = (items(), tools());
    let request = Valid::new(request_parts(&items, &tools)).unwrap();
    let invocation = TransportInvocation {
        schema_id: SchemaId::NEW,
        caller_runtime_id: t("caller-1"),
        expires_at_unix_ms: 1_800_000_000_000,
        native_request_sha256: Digest([7; 32]),
        provider_request_sha256: request.sha256().unwrap(),
        request,
    };
    Valid::new(invocation).unwrap().to_vec().unwrap()
}

pub(crate) fn receipt() -> TransportReceipt<&'static str> {
    TransportReceipt {
        schema_id: SchemaId::NEW,
        request_id: t("request-1"),
        caller_runtime_id: t("caller-1"),
        native_request_sha256: Digest([7; 32]),
        provider_request_sha256: Digest::of(&request_bytes()),
        model: t("model-a"),
        transport: t("script"),
        outcome: Outcome::Completed(Completed {
            stop_reason: StopReason::EndTurn,
            provider_response_id: Some(t("resp_1")),
            input_tokens: Some(300),
            output_tokens: Some(3),
            reasoning_output_tokens: None,
            cached_input_tokens: Some(0),
        }),
    }
}

pub(crate) fn result_bytes() -> Vec<u8> {
    let events = [
        Event { sequence: 0, payload: EventPayload::TextDelta { text: t("Tues") } },
        Event { sequence: 1, payload: EventPayload::TextDelta { text: t("day") } },
        Event {
            sequence: 2,
            payload: EventPayload::ToolCall { call_id: t("c"), name: t("n"), arguments: t("{}") },
        },
    ];
    let result = TransportResult {
        schema_id: SchemaId::NEW,
        request_id: t("request-1"),
        caller_runtime_id: t("caller-1"),
        binding_sha256: Digest([9; 32]),
        disposition: Disposition::Transported(Transported { events: &events[..], receipt: receipt() }),
    };
    Valid::new(result).unwrap().to_vec().unwrap()
}

fn text<R: Rule>(pattern: &'static str) -> impl Strategy<Value = Text<R, Box<str>>> {
    pattern.prop_filter_map("keeps the rule", |text| Text::new(text.into_boxed_str()).ok())
}

/// Ids with characters of every length, some at the bound.
fn id<R: Rule>() -> impl Strategy<Value = Text<R, Box<str>>> {
    prop_oneof![
        6 => text("[a-z0-9_é日🔎 -]{1,12}"),
        1 => Just(b(&"x".repeat(256))),
        1 => Just(b(&"é".repeat(128))),
    ]
}

fn content<R: Rule>() -> impl Strategy<Value = Text<R, Box<str>>> {
    prop_oneof![8 => text("(?s).{1,60}"), 1 => text("[a-z]{250,270}"), 1 => Just(b(&"y".repeat(70_000)))]
}

fn object<R: Rule>() -> impl Strategy<Value = Text<R, Box<str>>> {
    prop_oneof![
        Just(b("{}")),
        Just(b(" {\"a\": [1, {\"b\": null}]}\n")),
        "[a-z]{0,40}".prop_map(|word| b(&format!(r#"{{"{word}":"\u00e9"}}"#))),
    ]
}

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest)
}

fn item() -> impl Strategy<Value = InputItem<Box<str>>> {
    prop_oneof![
        content().prop_map(|text| InputItem::UserText { text }),
        content().prop_map(|text| InputItem::AssistantText { text }),
        (text("[ -~]{1,64}"), text("[A-Za-z0-9_-]{1,64}"), content())
            .prop_map(|(call_id, name, arguments)| InputItem::ToolCall { call_id, name, arguments }),
        (text("[ -~]{1,64}"), content())
            .prop_map(|(call_id, output)| InputItem::ToolResult { call_id, output }),
    ]
}

fn tool() -> impl Strategy<Value = Tool<Box<str>>> {
    (text("[A-Za-z0-9_-]{1,64}"), content(), object()).prop_map(|(name, description, parameters_json)| Tool {
        name,
        description,
        parameters_json,
    })
}

pub(crate) fn any_request() -> impl Strategy<Value = Valid<OwnedRequest>> {
    let ids = (id(), id(), id(), content());
    let lists = (vec(item(), 0..20), vec(tool(), 0..18), any::<bool>(), any::<bool>());
    let options = (option::of(id()), option::of(id()), option::of(id()), option::of(id()));
    let output = option::of((text("[A-Za-z0-9_-]{1,64}"), object()));
    let rest = (option::of(any::<NonZeroU32>()), option::of(text("(?s).{0,9}[a-z]")));
    (ids, lists, options, output, rest).prop_map(|(ids, lists, options, output, rest)| {
        let (input, mut tools, required, parallel_tool_calls) = lists;
        tools.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
        tools.dedup_by(|one, other| one.name == other.name);
        let required = required && !tools.is_empty();
        let (output_format_name, output_schema_json) = output.unzip();
        Valid::new(ProviderRequest {
            schema_id: SchemaId::NEW,
            request_id: ids.0,
            conversation_id: ids.1,
            model: ids.2,
            instructions: ids.3,
            input,
            reasoning_effort: options.0,
            reasoning_summary: options.1,
            service_tier: options.2,
            output_format_name,
            previous_response_id: options.3,
            tools,
            tool_choice: if required { ToolChoice::Required } else { ToolChoice::Auto },
            parallel_tool_calls,
            output_schema_json,
            max_output_tokens: rest.0,
            prompt_cache_key: rest.1,
        })
        .expect("kept every rule")
    })
}

pub(crate) fn any_invocation() -> impl Strategy<Value = Valid<OwnedInvocation>> {
    (id(), any::<u64>(), digest(), digest(), any_request()).prop_map(
        |(caller, expires, native, claimed, request)| {
            let native = if native == Digest::ZERO { Digest([1; 32]) } else { native };
            Valid::new(TransportInvocation {
                schema_id: SchemaId::NEW,
                caller_runtime_id: caller,
                expires_at_unix_ms: expires,
                native_request_sha256: native,
                provider_request_sha256: claimed,
                request,
            })
            .expect("kept every rule")
        },
    )
}

fn any_stop() -> impl Strategy<Value = StopReason<Box<str>>> {
    prop_oneof![
        Just(StopReason::EndTurn),
        Just(StopReason::ToolUse),
        Just(StopReason::MaxOutputTokens),
        Just(StopReason::StopSequence),
        Just(StopReason::ContentFilter),
        text("[a-z0-9é-]{1,32}").prop_map(StopReason::Other),
    ]
}

fn any_outcome() -> impl Strategy<Value = Outcome<Box<str>>> {
    let count = || option::of(any::<u64>());
    prop_oneof![
        (any_stop(), option::of(id()), count(), count(), count(), count()).prop_map(
            |(stop_reason, id, a, b, c, d)| {
                Outcome::Completed(Completed {
                    stop_reason,
                    provider_response_id: id,
                    input_tokens: a,
                    output_tokens: b,
                    reasoning_output_tokens: c,
                    cached_input_tokens: d,
                })
            }
        ),
        (
            proptest::sample::select(FailureKind::ALL),
            text("(?s).{1,255}"),
            option::of(any::<u16>()),
            option::of(any::<u64>())
        )
            .prop_map(|(failure_kind, message, http_status, retry_after_ms)| {
                Outcome::Failed(Failed { failure_kind, message, http_status, retry_after_ms })
            }),
    ]
}

fn any_receipt() -> impl Strategy<Value = TransportReceipt<Box<str>>> {
    (id(), id(), digest(), digest(), id(), id(), any_outcome()).prop_map(
        |(request_id, caller, native, provider, model, transport, outcome)| TransportReceipt {
            schema_id: SchemaId::NEW,
            request_id,
            caller_runtime_id: caller,
            native_request_sha256: native,
            provider_request_sha256: provider,
            model,
            transport,
            outcome,
        },
    )
}

fn any_payload() -> impl Strategy<Value = EventPayload<Box<str>>> {
    prop_oneof![
        content().prop_map(|text| EventPayload::TextDelta { text }),
        (id(), id(), content()).prop_map(|(call_id, name, arguments)| EventPayload::ToolCall {
            call_id,
            name,
            arguments
        }),
    ]
}

pub(crate) fn any_result() -> impl Strategy<Value = Valid<OwnedResult>> {
    let disposition = prop_oneof![
        1 => proptest::sample::select(Refusal::ALL).prop_map(Disposition::Refused),
        4 => (vec(any_payload(), 0..20), any_receipt()).prop_map(|(payloads, receipt)| {
            let events = (0..).zip(payloads).map(|(sequence, payload)| Event { sequence, payload }).collect();
            Disposition::Transported(Transported { events, receipt })
        }),
    ];
    (id(), id(), digest(), disposition).prop_map(|(request_id, caller, binding, disposition)| {
        Valid::new(TransportResult {
            schema_id: SchemaId::NEW,
            request_id,
            caller_runtime_id: caller,
            binding_sha256: binding,
            disposition,
        })
        .expect("kept every rule")
    })
}

//! What the connector's goldens hold: each document with all fields and with the fewest, each sealed, each failure,
//! each kind of damage. They are this project's own: no other implementation has written such bytes yet.

use std::num::NonZeroU32;

use anyhow::{Context as _, Result};
use twolane_core::connector::carriage::{OPERATION, OperationRequest, SERVICE_ID};
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Completed, Disposition, Event, EventPayload, Failed, FailureKind, InputItem, InvocationParts, Outcome,
    ProviderRequest, Refusal, RequestParts, ResultParts, SchemaId, StopReason, Tool, ToolChoice,
    TransportInvocation, TransportReceipt, TransportResult, Transported, Valid, write_malformed,
};
use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::failure::Failure;
use twolane_core::connector::seal::SealKey;
use twolane_core::connector::sealed::{seal_invocation, seal_malformed, seal_result};
use twolane_core::connector::text::{Rule, Text};

use super::{Case, Kind};

/// The secret of the goldens; fixtures/README.md names it as well.
const SECRET: &str = "the goldens' secret, of no use elsewhere";
const CALLER: &str = "caller-1";
const REQUEST: &str = "request-1";
const EXPIRES_AT_UNIX_MS: u64 = 1_800_000_000_000;

/// Every file of fixtures/connector with its cases.
pub(crate) fn all() -> Result<Vec<(&'static str, Vec<Case>)>> {
    let sealed = sealed()?;
    let damaged = damaged(&sealed)?;
    Ok(vec![
        ("documents.json", documents()?),
        ("sealed.json", sealed),
        ("failures.json", failures()?),
        ("damaged.json", damaged),
    ])
}

fn case(name: &str, kind: Kind, bytes: Vec<u8>) -> Case {
    Case { name: format!("connector-{name}"), kind, bytes, opens_to: None }
}

fn text<R: Rule>(text: &str) -> Result<Text<R, &str>> {
    Ok(Text::new(text)?)
}

fn items() -> Result<[InputItem<&'static str>; 4]> {
    Ok([
        InputItem::UserText { text: text("Which day is it? 🔎")? },
        InputItem::AssistantText { text: text("I look it up.")? },
        InputItem::ToolCall { call_id: text("call_1")?, name: text("today")?, arguments: text("{}")? },
        InputItem::ToolResult { call_id: text("call_1")?, output: text("Tuesday")? },
    ])
}

fn tools() -> Result<[Tool<&'static str>; 2]> {
    let parameters_json = text(r#"{"type":"object","properties":{}}"#)?;
    Ok([
        Tool { name: text("today")?, description: text("Names the day.")?, parameters_json },
        Tool { name: text("now")?, description: text("Names the hour.")?, parameters_json },
    ])
}

fn full<'a>(input: &'a [InputItem<&'a str>], tools: &'a [Tool<&'a str>]) -> Result<Valid<RequestParts<'a>>> {
    Ok(Valid::new(ProviderRequest {
        schema_id: SchemaId::NEW,
        request_id: text(REQUEST)?,
        conversation_id: text("conversation-1")?,
        model: text("model-a")?,
        instructions: text("Answer in one word.")?,
        input,
        reasoning_effort: Some(text("low")?),
        reasoning_summary: Some(text("auto")?),
        service_tier: Some(text("flex")?),
        output_format_name: Some(text("answer")?),
        previous_response_id: Some(text("resp_0")?),
        tools,
        tool_choice: ToolChoice::Required,
        parallel_tool_calls: true,
        output_schema_json: Some(text(r#"{"type":"object"}"#)?),
        max_output_tokens: NonZeroU32::new(1024),
        prompt_cache_key: Some(text("cache-1")?),
    })?)
}

fn fewest<'a>() -> Result<Valid<RequestParts<'a>>> {
    Ok(Valid::new(ProviderRequest {
        schema_id: SchemaId::NEW,
        request_id: text(REQUEST)?,
        conversation_id: text("c")?,
        model: text("m")?,
        instructions: text("i")?,
        input: &[][..],
        reasoning_effort: None,
        reasoning_summary: None,
        service_tier: None,
        output_format_name: None,
        previous_response_id: None,
        tools: &[][..],
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: false,
        output_schema_json: None,
        max_output_tokens: None,
        prompt_cache_key: None,
    })?)
}

fn invocation<'a>(request: Valid<RequestParts<'a>>) -> Result<Valid<InvocationParts<'a>>> {
    Ok(Valid::new(TransportInvocation {
        schema_id: SchemaId::NEW,
        caller_runtime_id: text(CALLER)?,
        expires_at_unix_ms: EXPIRES_AT_UNIX_MS,
        native_request_sha256: Digest([0x11; 32]),
        provider_request_sha256: request.sha256()?,
        request,
    })?)
}

fn result<'a>(disposition: Disposition<&'a str, &'a [Event<&'a str>]>) -> Result<Valid<ResultParts<'a>>> {
    let (items, tools) = (items()?, tools()?);
    let provider = full(&items, &tools)?.sha256()?;
    Ok(Valid::new(TransportResult {
        schema_id: SchemaId::NEW,
        request_id: text(REQUEST)?,
        caller_runtime_id: text(CALLER)?,
        binding_sha256: Digest::binding(CALLER, REQUEST, &Digest([0x11; 32]), &provider),
        disposition,
    })?)
}

fn receipt(outcome: Outcome<&str>) -> Result<TransportReceipt<&str>> {
    let (items, tools) = (items()?, tools()?);
    Ok(TransportReceipt {
        schema_id: SchemaId::NEW,
        request_id: text(REQUEST)?,
        caller_runtime_id: text(CALLER)?,
        native_request_sha256: Digest([0x11; 32]),
        provider_request_sha256: full(&items, &tools)?.sha256()?,
        model: text("model-a")?,
        transport: text("script")?,
        outcome,
    })
}

fn events() -> Result<[Event<&'static str>; 3]> {
    Ok([
        Event { sequence: 0, payload: EventPayload::TextDelta { text: text("Tues")? } },
        Event { sequence: 1, payload: EventPayload::TextDelta { text: text("day")? } },
        Event {
            sequence: 2,
            payload: EventPayload::ToolCall {
                call_id: text("call_2")?,
                name: text("today")?,
                arguments: text("{}")?,
            },
        },
    ])
}

fn completed() -> Result<Outcome<&'static str>> {
    Ok(Outcome::Completed(Completed {
        stop_reason: StopReason::EndTurn,
        provider_response_id: Some(text("resp_1")?),
        input_tokens: Some(1204),
        output_tokens: Some(58),
        reasoning_output_tokens: None,
        cached_input_tokens: Some(1024),
    }))
}

fn failed() -> Result<Outcome<&'static str>> {
    Ok(Outcome::Failed(Failed {
        failure_kind: FailureKind::RateLimited,
        message: text("the provider asks to wait")?,
        http_status: Some(429),
        retry_after_ms: Some(70_000),
    }))
}

fn other_stop() -> Result<Outcome<&'static str>> {
    Ok(Outcome::Completed(Completed {
        stop_reason: StopReason::Other(text("pause")?),
        provider_response_id: None,
        input_tokens: None,
        output_tokens: None,
        reasoning_output_tokens: None,
        cached_input_tokens: None,
    }))
}

fn documents() -> Result<Vec<Case>> {
    let (items, tools, events) = (items()?, tools()?, events()?);
    let full = full(&items, &tools)?;
    let transported = |events, outcome| -> Result<Vec<u8>> {
        let receipt = receipt(outcome)?;
        Ok(result(Disposition::Transported(Transported { events, receipt }))?.to_vec()?)
    };
    let mut cases = vec![
        case("request-full", Kind::Document, full.to_vec()?),
        case("request-fewest", Kind::Document, fewest()?.to_vec()?),
        case("invocation-full", Kind::Document, invocation(full)?.to_vec()?),
        case("invocation-fewest", Kind::Document, invocation(fewest()?)?.to_vec()?),
        case("result-completed", Kind::Document, transported(&events[..], completed()?)?),
        case("result-failed", Kind::Document, transported(&[], failed()?)?),
        case("result-other-stop", Kind::Document, transported(&events[..1], other_stop()?)?),
    ];
    for refusal in Refusal::ALL {
        let bytes = result(Disposition::Refused(*refusal))?.to_vec()?;
        cases.push(case(&format!("result-{}", refusal.name()), Kind::Document, bytes));
    }
    let mut malformed = Vec::new();
    write_malformed(&mut malformed, &long_id(), CALLER, &Digest::ZERO)?;
    cases.push(case("result-of-long-id", Kind::Document, malformed));
    Ok(cases)
}

/// The shortest id that is none.
fn long_id() -> String {
    "x".repeat(257)
}

fn sealed() -> Result<Vec<Case>> {
    let (items, tools, events) = (items()?, tools()?, events()?);
    let key = SealKey::from_secret(SECRET)?;
    let mut cases = Vec::new();
    let mut buffer = vec![0; 16_384];
    let mut push = |name: &str, opens_to, frame: &[u8]| {
        cases.push(Case { opens_to: Some(opens_to), ..case(name, Kind::Connector, frame.to_vec()) });
    };
    let nonce = |number| Nonce::counted(*b"gold", number);
    for (number, name, opens_to, request) in [
        (1, "sealed-invocation-full", "connector-invocation-full", full(&items, &tools)?),
        (2, "sealed-invocation-fewest", "connector-invocation-fewest", fewest()?),
    ] {
        push(name, opens_to, seal_invocation(&mut buffer, &key, nonce(number), &invocation(request)?)?);
    }
    let transported =
        |events, outcome| Ok(Disposition::Transported(Transported { events, receipt: receipt(outcome)? }));
    let results: [(u64, &str, &str, Result<_>); 3] = [
        (3, "sealed-completed", "connector-result-completed", transported(&events[..], completed()?)),
        (4, "sealed-failed", "connector-result-failed", transported(&[], failed()?)),
        (5, "sealed-in-flight", "connector-result-InFlight", Ok(Disposition::Refused(Refusal::InFlight))),
    ];
    for (number, name, opens_to, disposition) in results {
        push(name, opens_to, seal_result(&mut buffer, &key, nonce(number), &result(disposition?)?)?);
    }
    let id = long_id();
    let frame = seal_malformed(&mut buffer, &key, nonce(6), [CALLER, &id], &Digest::ZERO)?;
    push("sealed-of-long-id", "connector-result-of-long-id", frame);
    Ok(cases)
}

const CARRIED: OperationRequest<'static> = OperationRequest {
    message_id: REQUEST,
    service_id: SERVICE_ID,
    operation: OPERATION,
    payload_schema: "gamecult.model.transport_envelope.v3",
    payload_encoding: None,
    // {"schema_id": "x", "y": "z"}
    payload: "gqlzY2hlbWFfaWSheKF5oXo=",
    source_runtime_id: None,
    target_runtime_id: None,
};

fn other_envelope() -> Result<Vec<u8>> {
    let mut body = Vec::new();
    CARRIED.write(&mut body)?;
    prefixed(&body)
}

fn failures() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for failure in Failure::ALL {
        let mut body = Vec::new();
        failure.write(CARRIED.reply_to(), &mut body)?;
        let name = format!("failure-{failure:?}");
        cases.push(case(&name, Kind::Connector, prefixed(&body)?));
    }
    Ok(cases)
}

fn prefixed(body: &[u8]) -> Result<Vec<u8>> {
    Ok([&u32::try_from(body.len())?.to_be_bytes()[..], body].concat())
}

/// Frames that break one rule each: what can be read is shown, then the fault.
fn damaged(sealed: &[Case]) -> Result<Vec<Case>> {
    let frame = &sealed.iter().find(|case| case.name.ends_with("fewest")).context("a sealed frame")?.bytes;
    let (_, body) = frame.split_at(4);
    let replaced = |from: &[u8], to: &[u8]| -> Result<Vec<u8>> {
        let at = body.windows(from.len()).position(|window| window == from).context("nothing to replace")?;
        prefixed(&[&body[..at], to, &body[at + from.len()..]].concat())
    };
    let doubled = [&[0x88], &body[1..], b"\xa9messageId\xa1x"].concat();
    let table = vec![
        ("cut-in-prefix", frame[..3].to_vec()),
        ("cut-in-body", frame[..frame.len() - 5].to_vec()),
        ("trailing-bytes", [&frame[..], b"more"].concat()),
        ("trailing-value", prefixed(&[body, &[0xc0]].concat())?),
        ("not-a-map", prefixed(&[0x93, 1, 2, 3])?),
        ("reserved-byte", prefixed(&[0x81, 0xc1, 0xc0])?),
        ("unknown-key", replaced(b"messageId", b"messageID")?),
        ("duplicate-key", prefixed(&doubled)?),
        ("other-message", replaced(b"operation_request.v0", b"operation_request.v1")?),
        ("base64-character", [&frame[..frame.len() - 1], b"!"].concat()),
        ("envelope-of-other-schema", other_envelope()?),
    ];
    Ok(table
        .into_iter()
        .map(|(name, bytes)| case(&format!("damaged-{name}"), Kind::Connector, bytes))
        .collect())
}

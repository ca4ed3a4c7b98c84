//! What `twolane call` prints of an answer: the text alone, or one JSON object.

use serde_json::{Map, Value, json};
use twolane_client::{Event, Prepared, Refusal, Reply};
use twolane_core::connector::document::{
    Completed, EventPayload, Failed, Outcome, StopReason, TransportReceipt,
};

use super::call_advice;

/// The largest number that every JSON reader holds exactly.
const EXACT_MAX: u64 = (1 << 53) - 1;

/// The words of the model, as they are for a file and without control characters for a terminal. Ends with a line
/// feed where there is any.
pub(super) fn text(reply: &Reply, is_terminal: bool) -> String {
    let Reply::Transported(transported) = reply else { return String::new() };
    let mut text = said(&transported.events);
    if is_terminal {
        text = text
            .chars()
            .map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c })
            .collect();
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn said(events: &[Event]) -> String {
    let words = events.iter().filter_map(|event| match &event.payload {
        EventPayload::TextDelta { text } => Some(text.as_str()),
        EventPayload::ToolCall { .. } => None,
    });
    words.collect()
}

/// What goes to standard error beside the text: tools that are called, a stop before the end, a failure, a refusal.
pub(super) fn remarks(reply: &Reply) -> Vec<String> {
    let transported = match reply {
        Reply::Refused(refusal) => return vec![refused(*refusal)],
        Reply::Transported(transported) => transported,
    };
    let calls = transported.events.iter().filter_map(|event| match &event.payload {
        EventPayload::ToolCall { call_id, name, arguments } => {
            let [call_id, name, arguments] = [call_id.as_str(), name.as_str(), arguments.as_str()];
            Some(format!("calls {name:?} as {call_id:?} with {arguments:?}"))
        }
        EventPayload::TextDelta { .. } => None,
    });
    let mut remarks: Vec<String> = calls.collect();
    match &transported.receipt.outcome {
        Outcome::Completed(completed) => {
            let reason = completed.stop_reason.name();
            if !matches!(reason, "EndTurn" | "ToolUse") {
                remarks.push(format!("the model stopped before its end: {reason}"));
            }
        }
        Outcome::Failed(failed) => remarks.push(failure(failed)),
    }
    remarks
}

fn refused(refusal: Refusal) -> String {
    let (meaning, advice) = call_advice::refused(refusal);
    format!("refused, {}: {meaning}\n  {advice}", refusal.name())
}

/// The message is the provider's: what it holds is shown, not obeyed.
fn failure(failed: &Failed<Box<str>>) -> String {
    let status = failed.http_status.map(|status| format!(", HTTP status {status}")).unwrap_or_default();
    let wait = failed.retry_after_ms.map(|ms| format!(", wait {ms} ms")).unwrap_or_default();
    format!(
        "failed, {}{status}{wait}: {:?}\n  this answer is final; asking anew under another request id runs again",
        failed.failure_kind.name(),
        failed.message.as_str()
    )
}

/// The whole answer as one line of JSON.
pub(super) fn object(reply: &Reply, prepared: &Prepared) -> String {
    let invocation = prepared.invocation();
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("kind", json!("call"));
    put("request_id", json!(invocation.request.request_id.as_str()));
    put("caller", json!(invocation.caller_runtime_id.as_str()));
    put("stored", json!(prepared.path().display().to_string()));
    match reply {
        Reply::Refused(refusal) => {
            let (meaning, advice) = call_advice::refused(*refusal);
            put("outcome", json!("Refused"));
            put("refusal", json!(refusal.name()));
            put("meaning", json!(meaning));
            put("advice", json!(advice));
        }
        Reply::Transported(transported) => {
            put("outcome", json!(outcome_name(&transported.receipt.outcome)));
            put("text", json!(said(&transported.events)));
            put("events", transported.events.iter().map(event).collect());
            put("receipt", receipt(&transported.receipt));
        }
    }
    format!("{}\n", Value::Object(object))
}

const fn outcome_name(outcome: &Outcome<Box<str>>) -> &'static str {
    match outcome {
        Outcome::Completed(_) => "Completed",
        Outcome::Failed(_) => "Failed",
    }
}

fn event(event: &Event) -> Value {
    let payload = match &event.payload {
        EventPayload::TextDelta { text } => json!({ "TextDelta": { "text": text.as_str() } }),
        EventPayload::ToolCall { call_id, name, arguments } => json!({ "ToolCall": {
            "call_id": call_id.as_str(), "name": name.as_str(), "arguments": arguments.as_str(),
        } }),
    };
    json!({ "sequence": number(event.sequence), "payload": payload })
}

fn receipt(receipt: &TransportReceipt<Box<str>>) -> Value {
    json!({
        "native_request_sha256": receipt.native_request_sha256.to_string(),
        "provider_request_sha256": receipt.provider_request_sha256.to_string(),
        "model": receipt.model.as_str(),
        "transport": receipt.transport.as_str(),
        "outcome": match &receipt.outcome {
            Outcome::Completed(completed) => completed_object(completed),
            Outcome::Failed(failed) => json!({
                "failure_kind": failed.failure_kind.name(),
                "message": failed.message.as_str(),
                "http_status": failed.http_status,
                "retry_after_ms": failed.retry_after_ms.map(number),
            }),
        },
    })
}

fn completed_object(completed: &Completed<Box<str>>) -> Value {
    let other = match &completed.stop_reason {
        StopReason::Other(id) => Some(id.as_str()),
        _ => None,
    };
    json!({
        "stop_reason": completed.stop_reason.name(),
        "stop_id": other,
        "provider_response_id": completed.provider_response_id.as_ref().map(|id| id.as_str()),
        "input_tokens": completed.input_tokens.map(number),
        "output_tokens": completed.output_tokens.map(number),
        "reasoning_output_tokens": completed.reasoning_output_tokens.map(number),
        "cached_input_tokens": completed.cached_input_tokens.map(number),
    })
}

fn number(number: u64) -> Value {
    if number > EXACT_MAX { json!(number.to_string()) } else { json!(number) }
}

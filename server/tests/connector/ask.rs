//! Turns that the tests run.

use std::num::NonZeroU32;
use std::time::Duration;

use twolane::connector::{Event, Limits, Outcome, Reply, RunEnd, Turn};
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Disposition, Event as Said, EventPayload, FailureKind, InputItem, OwnedInvocation, ProviderRequest,
    SchemaId, ToolChoice, TransportInvocation, Valid,
};
use twolane_core::connector::text::{Content, Id};

pub(crate) const LIMITS: Limits =
    Limits { time: Duration::from_secs(60), grace: Duration::from_millis(200), result_bytes: 65_536 };

pub(crate) fn id(text: &str) -> Id<Box<str>> {
    Id::new(text.into()).unwrap()
}

/// What is asked; the rest is the same for all.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) caller: &'static str,
    pub(crate) request_id: &'static str,
    pub(crate) model: &'static str,
    pub(crate) text: String,
    pub(crate) expires_at_unix_ms: u64,
    pub(crate) max_output_tokens: Option<u32>,
}

impl Ask {
    /// A request of the first caller that says `text`.
    pub(crate) fn new(request_id: &'static str, text: &str) -> Self {
        Self {
            caller: "caller-1",
            request_id,
            model: "model-1",
            text: text.to_owned(),
            expires_at_unix_ms: 1_100_000,
            max_output_tokens: None,
        }
    }

    pub(crate) fn invocation(&self) -> Valid<OwnedInvocation> {
        let request = Valid::new(ProviderRequest {
            schema_id: SchemaId::NEW,
            request_id: id(self.request_id),
            conversation_id: id("conversation-1"),
            model: id(self.model),
            instructions: Content::new("Be brief.".into()).unwrap(),
            input: vec![InputItem::UserText { text: Content::new(self.text.as_str().into()).unwrap() }],
            reasoning_effort: None,
            reasoning_summary: None,
            service_tier: None,
            output_format_name: None,
            previous_response_id: None,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: false,
            output_schema_json: None,
            max_output_tokens: self.max_output_tokens.and_then(NonZeroU32::new),
            prompt_cache_key: None,
        })
        .unwrap();
        let provider_request_sha256 = request.sha256().unwrap();
        Valid::new(TransportInvocation {
            schema_id: SchemaId::NEW,
            caller_runtime_id: id(self.caller),
            expires_at_unix_ms: self.expires_at_unix_ms,
            native_request_sha256: Digest::of(b"native"),
            provider_request_sha256,
            request,
        })
        .unwrap()
    }
}

/// A turn in which the user says `text`.
pub(crate) fn turn(text: &str, max_output_tokens: u32) -> Turn {
    let max_output_tokens = NonZeroU32::new(max_output_tokens).unwrap();
    Turn { invocation: Ask::new("request-1", text).invocation(), max_output_tokens }
}

pub(crate) fn replied(end: RunEnd) -> Reply {
    match end {
        RunEnd::Reply(reply) => *reply,
        RunEnd::Unknown => panic!("the run ended with nothing"),
    }
}

/// The events of a reply, and how its run ended.
pub(crate) fn transported(reply: Reply) -> (Vec<Event>, Outcome) {
    match reply.into_parts().disposition {
        Disposition::Transported(transported) => (transported.events, transported.receipt.outcome),
        Disposition::Refused(refusal) => panic!("{refusal:?}"),
    }
}

/// All text of a reply in one.
pub(crate) fn text(events: &[Event]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        Said { payload: EventPayload::TextDelta { text }, .. } => Some(text.as_str()),
        Said { payload: EventPayload::ToolCall { .. }, .. } => None,
    });
    texts.collect()
}

/// Which kind of failure a run ended with, and the words.
pub(crate) fn failure(outcome: &Outcome) -> (FailureKind, &str) {
    match outcome {
        Outcome::Failed(failed) => (failed.failure_kind, failed.message.as_str()),
        Outcome::Completed(_) => panic!("completed"),
    }
}

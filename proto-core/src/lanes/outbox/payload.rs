//! What a payload tells the outbox. Payloads are spliced as they are; only their shape is looked at.

use core::ops::Range;

use crate::body::{Payload, Tag};
use crate::scan::string::JsonStr;
use crate::scan::value::{Members, Value};

/// What a queued display payload is to the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Text that a later delta may join; the raw content of its string within the payload.
    Delta { text: Range<usize> },
    /// Makes all display before it void.
    Reset,
    /// Stands for itself.
    Other,
}

/// What a display payload is.
pub(super) fn role(payload: &Payload<'_>) -> Role {
    match payload.tag() {
        Some(Tag::DisplayReset) => Role::Reset,
        Some(Tag::TextDelta | Tag::ReasoningDelta | Tag::ToolInputDelta) => {
            let delta = payload.value().members().and_then(|members| find(members, "delta"));
            match delta {
                Some(delta) if delta.as_str().is_some() => {
                    let span = delta.span();
                    Role::Delta { text: span.start + 1..span.end - 1 }
                }
                _ => Role::Other,
            }
        }
        _ => Role::Other,
    }
}

/// The message that a control payload carries whole.
pub(super) fn assembled<'a>(payload: &Payload<'a>) -> Option<Assembled<'a>> {
    if payload.tag() != Some(Tag::AssistantMessage) {
        return None;
    }
    let message = find(payload.value().members()?, "message")?;
    Some(Assembled { message })
}

/// A whole message on control: the deltas that it was assembled from are void.
pub(super) struct Assembled<'a> {
    message: Value<'a>,
}

impl Assembled<'_> {
    /// Whether a delta's payload belongs to the message: by its message id, or by the id of one of its tool calls.
    pub(super) fn covers(&self, payload: &[u8]) -> bool {
        let Ok(delta) = Value::parse(payload) else { return false };
        match (member(&delta, "message_id"), member(&self.message, "message_id")) {
            (Some(of_delta), Some(of_message)) => return of_delta == of_message,
            (Some(_), None) => return false,
            (None, _) => {}
        }
        member(&delta, "tool_call_id").is_some_and(|id| self.calls(&id))
    }

    fn calls(&self, id: &JsonStr<'_>) -> bool {
        let mut content = self.message.members().and_then(|members| find(members, "content"));
        let Some(mut blocks) = content.take().and_then(|content| content.elements()) else { return false };
        while let Ok(Some(block)) = blocks.next_element() {
            if member(&block, "tool_call_id").is_some_and(|call| call == *id) {
                return true;
            }
        }
        false
    }
}

fn member<'a>(object: &Value<'a>, name: &str) -> Option<JsonStr<'a>> {
    find(object.members()?, name)?.as_str()
}

fn find<'a>(mut members: Members<'a>, name: &str) -> Option<Value<'a>> {
    while let Ok(Some(member)) = members.next_member() {
        if member.name == *name {
            return Some(member.value);
        }
    }
    None
}

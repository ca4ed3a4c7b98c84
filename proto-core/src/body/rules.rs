//! The members of each payload and of the objects that several share: name, shape, whether each has to be there.

use super::tag::Tag;

/// The shape of a member's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Whatever JSON there is.
    Any,
    /// A string of 1 to 256 bytes, escapes decoded.
    Id,
    String,
    Integer,
    /// An integer up to 65,535.
    Integer16,
    /// A number that is not negative.
    NonNegative,
    Object,
    /// An object of [`USAGE`].
    Usage,
    /// An object of [`ERROR`].
    Error,
}

/// One member that the schema knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// An optional member may also be `null`.
    pub(super) required: bool,
}

/// The most members that one list has.
pub(super) const RULES_MAX: usize = 5;

/// Rules in the order in which they are judged: the first broken one is the fault.
pub(super) type Rules = &'static [Rule];

const fn required(name: &'static str, shape: Shape) -> Rule {
    Rule { name, shape, required: true }
}

const fn optional(name: &'static str, shape: Shape) -> Rule {
    Rule { name, shape, required: false }
}

/// The body envelope.
pub(super) const ENVELOPE: Rules = &[
    required("version", Shape::Integer),
    required("run_id", Shape::Id),
    required("step_id", Shape::Integer),
    required("seq", Shape::Integer),
    required("payload", Shape::Object),
];

/// What every payload has.
pub(super) const PAYLOAD: Rules = &[required("type", Shape::String)];

/// Tokens of a step.
pub(super) const USAGE: Rules = &[
    optional("input_tokens", Shape::Integer),
    optional("cached_input_tokens", Shape::Integer),
    optional("cache_write_tokens", Shape::Integer),
    optional("output_tokens", Shape::Integer),
    optional("reasoning_tokens", Shape::Integer),
];

/// How a provider failed.
pub(super) const ERROR: Rules = &[
    required("class", Shape::String),
    required("message", Shape::String),
    optional("status", Shape::Integer16),
    optional("retry_after_secs", Shape::NonNegative),
    optional("provider_code", Shape::String),
];

const TEXT_DELTA: Rules = &[
    required("message_id", Shape::Id),
    required("delta", Shape::String),
    optional("tool_call_id", Shape::Id),
];
const REASONING_DELTA: Rules = &[required("message_id", Shape::Id), required("delta", Shape::String)];
const TOOL_INPUT_DELTA: Rules = &[required("tool_call_id", Shape::Id), required("delta", Shape::String)];
const DISPLAY_GAP: Rules = &[required("dropped", Shape::Integer)];
const STREAM_START: Rules = &[
    optional("message_id", Shape::Id),
    optional("model", Shape::String),
    optional("provider_request_id", Shape::String),
];
const STEP_STARTED: Rules = &[optional("attempt", Shape::Integer)];
const ASSISTANT_MESSAGE: Rules = &[required("message", Shape::Object)];
const STEP_FINISHED: Rules = &[required("finish_reason", Shape::String), required("usage", Shape::Usage)];
const FINISHED: Rules = &[optional("finish_reason", Shape::String), optional("usage", Shape::Usage)];
const ERROR_UNIT: Rules = &[required("error", Shape::Error)];
const ALLOW: Rules = &[required("tool_call_id", Shape::Id)];
const ALLOW_NARROWED: Rules = &[required("tool_call_id", Shape::Id), required("input", Shape::Any)];
const DENY: Rules = &[required("tool_call_id", Shape::Id), required("reason", Shape::String)];
const STEP_REQUEST: Rules = &[required("request", Shape::Object)];

impl Tag {
    /// The members of a payload with this tag; none for what only a runner says to its callers.
    pub(super) const fn rules(self) -> Rules {
        match self {
            Self::TextDelta => TEXT_DELTA,
            Self::ReasoningDelta => REASONING_DELTA,
            Self::ToolInputDelta => TOOL_INPUT_DELTA,
            Self::DisplayGap => DISPLAY_GAP,
            Self::StreamStart => STREAM_START,
            Self::StepStarted => STEP_STARTED,
            Self::AssistantMessage => ASSISTANT_MESSAGE,
            Self::StepFinished => STEP_FINISHED,
            Self::Finished => FINISHED,
            Self::Error => ERROR_UNIT,
            Self::StepRequest => STEP_REQUEST,
            Self::Allow => ALLOW,
            Self::AllowNarrowed => ALLOW_NARROWED,
            Self::Deny => DENY,
            Self::DisplayReset
            | Self::Cancel
            | Self::RunStarted
            | Self::ToolCall
            | Self::ToolResult
            | Self::ApprovalRequest
            | Self::Paused
            | Self::RunFinished => &[],
        }
    }
}

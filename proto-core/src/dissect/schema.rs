//! What the members of known JSON objects mean.

use crate::body::Tag;
use crate::scan::string::JsonStr;

/// The kind of object (or of an array's elements) that is being told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schema {
    /// No rule gives its members a meaning.
    Plain,
    /// The body envelope around a payload with this tag.
    Envelope(Option<Tag>),
    /// A payload.
    Payload(Option<Tag>),
    /// A message, or an array of them.
    Message,
    /// A content block, or an array of them; the members of all block types.
    Block,
    /// A tool call by itself.
    Call,
    /// A tool result by itself.
    ToolResult,
    /// The output of a tool; the members of all kinds.
    ToolOutput,
    /// Token counts.
    Usage,
    /// A provider's error.
    Error,
    /// What a step asks a provider for.
    StepRequest,
    /// A tool, or an array of them.
    Tool,
    /// Limits and temper of a generation.
    Generation,
    /// Any of the three handshake messages.
    Handshake,
    /// An array of byte values.
    Bytes,
}

/// What one member means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    /// In a few words; empty where no rule gives it a meaning.
    pub(super) text: &'static str,
    /// What its own members mean.
    pub(super) schema: Schema,
}

const NONE: Meaning = Meaning { text: "", schema: Schema::Plain };

/// Name, meaning, what is inside.
type Row = (&'static str, &'static str, Schema);

impl Schema {
    /// What the member with this name means.
    pub(super) fn member(self, name: JsonStr<'_>) -> Meaning {
        if let (Self::Envelope(tag), true) = (self, name == "payload") {
            return Meaning { text: "what the body carries", schema: Self::Payload(tag) };
        }
        match self.rows().iter().find(|(known, _, _)| name == *known) {
            Some(&(_, text, schema)) => Meaning { text, schema },
            None => NONE,
        }
    }

    /// What an element means: an array has the schema of its elements.
    pub(super) const fn element(self) -> Meaning {
        match self {
            Self::Message | Self::Block | Self::Tool => Meaning { text: "", schema: self },
            _ => NONE,
        }
    }

    const fn rows(self) -> &'static [Row] {
        match self {
            Self::Plain | Self::Bytes => &[],
            Self::Envelope(_) => ENVELOPE,
            Self::Payload(tag) => payload_rows(tag),
            Self::Message => MESSAGE,
            Self::Block => BLOCK,
            Self::Call => CALL,
            Self::ToolResult => TOOL_RESULT,
            Self::ToolOutput => TOOL_OUTPUT,
            Self::Usage => USAGE,
            Self::Error => ERROR,
            Self::StepRequest => STEP_REQUEST,
            Self::Tool => TOOL,
            Self::Generation => GENERATION,
            Self::Handshake => HANDSHAKE,
        }
    }
}

const fn payload_rows(tag: Option<Tag>) -> &'static [Row] {
    match tag {
        None => UNFAMILIAR,
        Some(Tag::TextDelta | Tag::ReasoningDelta | Tag::ToolInputDelta) => DELTA,
        Some(Tag::DisplayGap) => GAP,
        Some(Tag::DisplayReset | Tag::Cancel) => TYPE_ONLY,
        Some(Tag::StreamStart) => STREAM_START,
        Some(Tag::StepStarted) => STEP_STARTED,
        Some(Tag::AssistantMessage) => ASSISTANT_MESSAGE,
        Some(Tag::StepFinished | Tag::Finished) => FINISHED,
        Some(Tag::Error) => ERROR_UNIT,
        Some(Tag::StepRequest) => REQUEST_UNIT,
        Some(Tag::RunStarted) => RUN_STARTED,
        Some(Tag::ToolCall | Tag::ApprovalRequest) => CALL_UNIT,
        Some(Tag::ToolResult) => RESULT_UNIT,
        Some(Tag::Paused | Tag::RunFinished) => RUN_ENDED,
        Some(Tag::Allow | Tag::AllowNarrowed | Tag::Deny) => APPROVAL,
    }
}

const TYPE: Row = ("type", "tag of the payload", Schema::Plain);
const MESSAGE_ID: Row = ("message_id", "the message it belongs to", Schema::Plain);
const CALL_ID: Row = ("tool_call_id", "the tool call it belongs to", Schema::Plain);
const RUN_ID: Row = ("run_id", "the run", Schema::Plain);
const STEP_ID: Row = ("step_id", "the step in its run", Schema::Plain);
const FINISH_REASON: Row = ("finish_reason", "why the step ended", Schema::Plain);
const USAGE_ROW: Row = ("usage", "tokens used; an absent count is unknown", Schema::Usage);
const CALL_ROW: Row = ("call", "the tool call", Schema::Call);
const ERROR_ROW: Row = ("error", "the provider's error", Schema::Error);
const TOOL_NAME: Row = ("tool_name", "the tool", Schema::Plain);
const INPUT: Row = ("input", "the tool's input", Schema::Plain);
const OUTPUT: Row = ("output", "what the tool gave", Schema::ToolOutput);
const IS_ERROR: Row = ("is_error", "whether the tool failed", Schema::Plain);
const CONTENT: Row = ("content", "its content blocks", Schema::Block);

const ENVELOPE: &[Row] = &[
    ("version", "body schema version", Schema::Plain),
    RUN_ID,
    STEP_ID,
    ("seq", "place on its lane in its generation", Schema::Plain),
];
const UNFAMILIAR: &[Row] = &[("type", "unfamiliar tag; reads as display_reset", Schema::Plain)];
const TYPE_ONLY: &[Row] = &[TYPE];
const DELTA: &[Row] = &[TYPE, MESSAGE_ID, ("delta", "text to append", Schema::Plain), CALL_ID];
const GAP: &[Row] = &[TYPE, ("dropped", "display events shed before this one", Schema::Plain)];
const STREAM_START: &[Row] = &[
    TYPE,
    MESSAGE_ID,
    ("model", "the model that answers", Schema::Plain),
    ("provider_request_id", "the provider's own id of the request", Schema::Plain),
];
const STEP_STARTED: &[Row] = &[TYPE, ("attempt", "how often the step was tried", Schema::Plain), STEP_ID];
const ASSISTANT_MESSAGE: &[Row] = &[TYPE, ("message", "the whole message", Schema::Message)];
const FINISHED: &[Row] = &[TYPE, FINISH_REASON, USAGE_ROW];
const ERROR_UNIT: &[Row] = &[TYPE, ERROR_ROW];
const REQUEST_UNIT: &[Row] = &[TYPE, ("request", "what the step asks for", Schema::StepRequest)];
const RUN_STARTED: &[Row] =
    &[TYPE, RUN_ID, ("submission_id", "the submission that began the run", Schema::Plain)];
const CALL_UNIT: &[Row] = &[TYPE, STEP_ID, CALL_ROW];
const RESULT_UNIT: &[Row] = &[TYPE, ("result", "the tool's result", Schema::ToolResult)];
const RUN_ENDED: &[Row] = &[
    TYPE,
    RUN_ID,
    ("reason", "why the run paused or ended", Schema::Plain),
    USAGE_ROW,
    ("retries_used", "retries of the whole run", Schema::Plain),
    ("final_step_finish_reason", "why the last step ended", Schema::Plain),
    ("indeterminate_tool_calls", "tool calls that started and have no result", Schema::Plain),
    ERROR_ROW,
];
const APPROVAL: &[Row] = &[
    ("type", "the answer to an approval request", Schema::Plain),
    CALL_ID,
    ("input", "the narrowed input", Schema::Plain),
    ("reason", "why it is denied", Schema::Plain),
];
const MESSAGE: &[Row] = &[("role", "who speaks", Schema::Plain), MESSAGE_ID, CONTENT];
const BLOCK: &[Row] = &[
    ("type", "type of the content block", Schema::Plain),
    ("text", "its text", Schema::Plain),
    ("signature", "the provider's signature of the reasoning", Schema::Plain),
    ("data", "opaque to everyone but the provider", Schema::Plain),
    ("provider_format", "format of the data", Schema::Plain),
    CALL_ID,
    TOOL_NAME,
    INPUT,
    ("thought_signature", "the provider's signature of the thought", Schema::Plain),
    OUTPUT,
    IS_ERROR,
    ("provider_state", "kept for the provider; stored only", Schema::Plain),
];
const CALL: &[Row] =
    &[CALL_ID, TOOL_NAME, INPUT, ("thought_signature", "the provider's signature", Schema::Plain)];
const TOOL_RESULT: &[Row] = &[CALL_ID, OUTPUT, IS_ERROR];
const TOOL_OUTPUT: &[Row] = &[
    ("kind", "kind of the output", Schema::Plain),
    ("text", "its text", Schema::Plain),
    ("value", "its value", Schema::Plain),
    ("reason", "why the tool was denied", Schema::Plain),
    ("message", "the error's message", Schema::Plain),
    ("code", "the error's code", Schema::Plain),
    ("detail", "more about the error", Schema::Plain),
];
const USAGE: &[Row] = &[
    ("input_tokens", "tokens read", Schema::Plain),
    ("cached_input_tokens", "tokens read from the provider's cache", Schema::Plain),
    ("cache_write_tokens", "tokens written to the provider's cache", Schema::Plain),
    ("output_tokens", "tokens written", Schema::Plain),
    ("reasoning_tokens", "tokens of reasoning", Schema::Plain),
];
const ERROR: &[Row] = &[
    ("class", "what a caller may do about it", Schema::Plain),
    ("message", "for people", Schema::Plain),
    ("status", "the provider's HTTP status", Schema::Plain),
    ("retry_after_secs", "seconds to wait before another try", Schema::Plain),
    ("provider_code", "the provider's own code", Schema::Plain),
];
const STEP_REQUEST: &[Row] = &[
    ("model", "the model asked", Schema::Plain),
    ("system", "the system prompt", Schema::Plain),
    ("messages", "the conversation", Schema::Message),
    ("tools", "the tools that may be called", Schema::Tool),
    ("tool_choice", "which tools the model may choose", Schema::Plain),
    ("generation", "limits and temper of the answer", Schema::Generation),
];
const TOOL: &[Row] = &[
    ("name", "the tool", Schema::Plain),
    ("description", "what it does", Schema::Plain),
    ("input_schema", "JSON schema of its input", Schema::Plain),
];
const GENERATION: &[Row] = &[
    ("max_output_tokens", "most tokens to write", Schema::Plain),
    ("temperature", "sampling temperature", Schema::Plain),
    ("top_p", "nucleus sampling", Schema::Plain),
    ("stop_sequences", "texts that end the answer", Schema::Plain),
];
const HANDSHAKE: &[Row] = &[
    ("client_nonce", "32 fresh bytes of the client", Schema::Bytes),
    ("role", "a claim outside the proof", Schema::Plain),
    ("daemon_id", "the server process", Schema::Bytes),
    ("server_nonce", "32 fresh bytes of the server", Schema::Bytes),
    ("daemon_ver", "a claim outside the proof", Schema::Plain),
    ("server_proof", "HMAC-SHA256 over both nonces and the id", Schema::Bytes),
    ("client_auth", "HMAC-SHA256 over both nonces and the id", Schema::Bytes),
];

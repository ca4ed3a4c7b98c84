//! Control units between a runner and a provider.

use super::content::{FinishReason, ProviderError, Usage};
use super::envelope::Payload;
use super::fault::BodyFault;
use super::read::Known;
use super::tag::{Direction, Tag};
use crate::envelope::Lane;
use crate::scan::string::JsonStr;
use crate::scan::value::Value;

/// One control unit of a provider socket, in either direction.
///
/// ```
/// use twolane_core::body::{FinishReason, Payload, ProviderControl};
///
/// let payload = br#"{"type":"step_finished","finish_reason":"stop","usage":{"output_tokens":12}}"#;
/// let finished = Payload::parse(payload).unwrap();
/// let Ok(ProviderControl::StepFinished { finish_reason, usage }) = ProviderControl::from_provider(&finished) else {
///     panic!("the end of a step")
/// };
/// assert_eq!((finish_reason, usage.output_tokens, usage.input_tokens), (FinishReason::Stop, Some(12), None));
///
/// // The same tag never comes from a runner; a cancel does.
/// assert!(ProviderControl::from_runner(&finished).is_err());
/// let cancel = Payload::parse(br#"{"type":"cancel"}"#).unwrap();
/// assert!(matches!(ProviderControl::from_runner(&cancel), Ok(ProviderControl::Cancel)));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum ProviderControl<'a> {
    /// The provider's answer begins.
    StreamStart {
        /// The message that will come.
        message_id: Option<JsonStr<'a>>,
        /// The model that answers.
        model: Option<JsonStr<'a>>,
        /// The provider's own id of the request.
        provider_request_id: Option<JsonStr<'a>>,
    },
    /// The step begins, or begins again.
    StepStarted {
        /// Which try it is.
        attempt: Option<u64>,
    },
    /// The whole message; tool calls are blocks of its content.
    AssistantMessage {
        /// An object.
        message: Value<'a>,
    },
    /// The step ended.
    StepFinished {
        /// Why.
        finish_reason: FinishReason<'a>,
        /// Tokens used.
        usage: Usage,
    },
    /// Nothing more will come.
    Finished {
        /// Why the step ended.
        finish_reason: Option<FinishReason<'a>>,
        /// Tokens used.
        usage: Option<Usage>,
    },
    /// The step failed.
    Error {
        /// How.
        error: ProviderError<'a>,
    },
    /// Runner to provider: a step to do.
    StepRequest {
        /// An object.
        request: Value<'a>,
    },
    /// Runner to provider: end the step.
    Cancel,
    /// A tag that this schema does not know: handled as `display_reset`, its spelling kept.
    Unfamiliar {
        /// The tag as spelled.
        name: JsonStr<'a>,
    },
}

impl<'a> ProviderControl<'a> {
    /// Reads what a provider sent. A tag of the display lane or of another direction is refused by name.
    pub fn from_provider(payload: &Payload<'a>) -> Result<Self, BodyFault> {
        Self::read(payload, Direction::ProviderToRunner)
    }

    /// Reads what a runner sent to its provider. A tag of the display lane or of another direction is refused by name.
    pub fn from_runner(payload: &Payload<'a>) -> Result<Self, BodyFault> {
        Self::read(payload, Direction::RunnerToProvider)
    }

    #[inline(never)]
    fn read(payload: &Payload<'a>, direction: Direction) -> Result<Self, BodyFault> {
        let Some(tag) = payload.tag() else { return Ok(Self::Unfamiliar { name: payload.name() }) };
        tag.check(Lane::Control, direction).map_err(|reason| payload.fault(reason))?;
        let mut known = payload.members(tag);
        known.read(Some("payload"))?;
        known.whole(Self::from_known(tag, &known, payload))
    }

    /// Objects inside were judged by their own rules with the members around them.
    fn from_known(tag: Tag, known: &Known<'a>, payload: &Payload<'a>) -> Option<Self> {
        Some(match tag {
            Tag::StreamStart => Self::StreamStart {
                message_id: known.string(0),
                model: known.string(1),
                provider_request_id: known.string(2),
            },
            Tag::StepStarted => Self::StepStarted { attempt: known.integer(0) },
            Tag::AssistantMessage => Self::AssistantMessage { message: known.object(0)? },
            Tag::StepFinished => Self::StepFinished {
                finish_reason: FinishReason::read(known.string(0)?),
                usage: Usage::read(known.object(1)?).ok()?,
            },
            Tag::Finished => Self::Finished {
                finish_reason: known.string(0).map(FinishReason::read),
                usage: known.object(1).map(Usage::read).transpose().ok()?,
            },
            Tag::Error => Self::Error { error: ProviderError::read(known.object(0)?).ok()? },
            Tag::StepRequest => Self::StepRequest { request: known.object(0)? },
            Tag::Cancel => Self::Cancel,
            // No other tag passes the check for either direction of a provider socket.
            _ => Self::Unfamiliar { name: payload.name() },
        })
    }
}

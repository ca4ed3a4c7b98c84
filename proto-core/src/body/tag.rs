//! Payload tags: their spelling, a stable code for packed indexes, and the lanes and directions they travel in.

use super::fault::BodyReason;
use crate::envelope::Lane;
use crate::scan::string::JsonStr;

/// Who sends to whom on a lane socket.
///
/// ```
/// use twolane_core::body::Direction;
///
/// assert_eq!(Direction::RunnerToProvider.name(), "runner to provider");
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A model step's events.
    ProviderToRunner,
    /// Requests for a step.
    RunnerToProvider,
    /// What a subscriber of a run sees.
    RunnerToCaller,
    /// Answers to approval requests.
    CallerToRunner,
}

impl Direction {
    /// The name used in documents and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProviderToRunner => "provider to runner",
            Self::RunnerToProvider => "runner to provider",
            Self::RunnerToCaller => "runner to caller",
            Self::CallerToRunner => "caller to runner",
        }
    }
}

/// Every payload tag of the schema. The codes never change: stored indexes hold them.
///
/// ```
/// use twolane_core::body::{BodyReason, Direction, Payload, Tag};
/// use twolane_core::envelope::Lane;
///
/// let payload = Payload::parse(br#"{"type":"deny","tool_call_id":"c","reason":""}"#).unwrap();
/// let deny = Tag::from_name(payload.name()).unwrap();
/// assert_eq!((deny, deny.code(), deny.name(), Tag::from_code(50)), (Tag::Deny, 50, "deny", Some(deny)));
/// assert_eq!(Tag::ALL.len(), 22);
///
/// // Where it may travel.
/// assert_eq!(deny.check(Lane::Control, Direction::CallerToRunner), Ok(()));
/// assert_eq!(deny.check_lane(Lane::Display), Err(BodyReason::WrongLane { tag: deny, lane: Lane::Display }));
/// let fault = deny.check(Lane::Control, Direction::RunnerToCaller).unwrap_err();
/// assert_eq!(fault.to_string(), format!("deny never travels from {}", Direction::RunnerToCaller.name()));
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the wire's own, in another case")]
pub enum Tag {
    TextDelta = 1,
    ReasoningDelta = 2,
    ToolInputDelta = 3,
    DisplayGap = 4,
    DisplayReset = 5,
    StreamStart = 16,
    StepStarted = 17,
    AssistantMessage = 18,
    StepFinished = 19,
    Finished = 20,
    Error = 21,
    StepRequest = 22,
    Cancel = 23,
    RunStarted = 32,
    ToolCall = 33,
    ToolResult = 34,
    ApprovalRequest = 35,
    Paused = 36,
    RunFinished = 37,
    Allow = 48,
    AllowNarrowed = 49,
    Deny = 50,
}

/// Bits of the places where a tag travels: display lane, then the four directions of the control lane.
mod place {
    pub(super) const DISPLAY: u8 = 1;
    pub(super) const PROVIDER_TO_RUNNER: u8 = 2;
    pub(super) const RUNNER_TO_PROVIDER: u8 = 4;
    pub(super) const RUNNER_TO_CALLER: u8 = 8;
    pub(super) const CALLER_TO_RUNNER: u8 = 16;
    pub(super) const UNIT: u8 = PROVIDER_TO_RUNNER | RUNNER_TO_CALLER;
}

impl Tag {
    /// Every tag, in the order of their codes.
    pub const ALL: [Self; 22] = [
        Self::TextDelta,
        Self::ReasoningDelta,
        Self::ToolInputDelta,
        Self::DisplayGap,
        Self::DisplayReset,
        Self::StreamStart,
        Self::StepStarted,
        Self::AssistantMessage,
        Self::StepFinished,
        Self::Finished,
        Self::Error,
        Self::StepRequest,
        Self::Cancel,
        Self::RunStarted,
        Self::ToolCall,
        Self::ToolResult,
        Self::ApprovalRequest,
        Self::Paused,
        Self::RunFinished,
        Self::Allow,
        Self::AllowNarrowed,
        Self::Deny,
    ];

    /// The tag spelled like this; `None` for an unfamiliar one.
    pub fn from_name(name: JsonStr<'_>) -> Option<Self> {
        if name.is_escaped() {
            return Self::ALL.into_iter().find(|tag| name == tag.name());
        }
        // By length first: an index over many bodies feels it.
        let raw = name.raw();
        let candidates: &[Self] = match raw.len() {
            4 => &[Self::Deny],
            5 => &[Self::Error, Self::Allow],
            6 => &[Self::Cancel, Self::Paused],
            8 => &[Self::Finished],
            9 => &[Self::ToolCall],
            10 => &[Self::TextDelta],
            11 => &[Self::DisplayGap, Self::ToolResult, Self::RunStarted],
            12 => &[Self::StepStarted, Self::StreamStart, Self::StepRequest, Self::RunFinished],
            13 => &[Self::StepFinished, Self::DisplayReset],
            14 => &[Self::AllowNarrowed],
            15 => &[Self::ReasoningDelta],
            16 => &[Self::ToolInputDelta, Self::ApprovalRequest],
            17 => &[Self::AssistantMessage],
            _ => &[],
        };
        candidates.iter().copied().find(|tag| tag.name().as_bytes() == raw)
    }

    /// The tag with this code. 0 is never one, so an index may use it for an unfamiliar tag.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|tag| tag.code() == code)
    }

    /// The code for packed indexes.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The spelling on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TextDelta => "text_delta",
            Self::ReasoningDelta => "reasoning_delta",
            Self::ToolInputDelta => "tool_input_delta",
            Self::DisplayGap => "display_gap",
            Self::DisplayReset => "display_reset",
            Self::StreamStart => "stream_start",
            Self::StepStarted => "step_started",
            Self::AssistantMessage => "assistant_message",
            Self::StepFinished => "step_finished",
            Self::Finished => "finished",
            Self::Error => "error",
            Self::StepRequest => "step_request",
            Self::Cancel => "cancel",
            Self::RunStarted => "run_started",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::ApprovalRequest => "approval_request",
            Self::Paused => "paused",
            Self::RunFinished => "run_finished",
            Self::Allow => "allow",
            Self::AllowNarrowed => "allow_narrowed",
            Self::Deny => "deny",
        }
    }

    /// Refuses a lane on which the tag never travels, in whatever direction.
    pub const fn check_lane(self, lane: Lane) -> Result<(), BodyReason> {
        let allowed = match lane {
            Lane::Display => place::DISPLAY,
            Lane::Control => !place::DISPLAY,
        };
        if self.places() & allowed == 0 { Err(BodyReason::WrongLane { tag: self, lane }) } else { Ok(()) }
    }

    /// Refuses a lane or direction in which the tag never travels. Display events are the same on both hops.
    pub const fn check(self, lane: Lane, direction: Direction) -> Result<(), BodyReason> {
        if let Err(reason) = self.check_lane(lane) {
            return Err(reason);
        }
        let bit = match direction {
            Direction::ProviderToRunner => place::PROVIDER_TO_RUNNER,
            Direction::RunnerToProvider => place::RUNNER_TO_PROVIDER,
            Direction::RunnerToCaller => place::RUNNER_TO_CALLER,
            Direction::CallerToRunner => place::CALLER_TO_RUNNER,
        };
        let places = match lane {
            Lane::Display => place::UNIT,
            Lane::Control => self.places(),
        };
        if places & bit == 0 { Err(BodyReason::WrongDirection { tag: self, direction }) } else { Ok(()) }
    }

    const fn places(self) -> u8 {
        match self {
            Self::TextDelta | Self::ReasoningDelta | Self::ToolInputDelta | Self::DisplayGap => {
                place::DISPLAY
            }
            Self::DisplayReset => place::DISPLAY | place::RUNNER_TO_CALLER,
            Self::StreamStart | Self::Finished => place::PROVIDER_TO_RUNNER,
            Self::StepStarted | Self::AssistantMessage | Self::StepFinished | Self::Error => place::UNIT,
            Self::StepRequest | Self::Cancel => place::RUNNER_TO_PROVIDER,
            Self::RunStarted
            | Self::ToolCall
            | Self::ToolResult
            | Self::ApprovalRequest
            | Self::Paused
            | Self::RunFinished => place::RUNNER_TO_CALLER,
            Self::Allow | Self::AllowNarrowed | Self::Deny => place::CALLER_TO_RUNNER,
        }
    }
}

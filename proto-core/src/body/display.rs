//! Events of the display lane, the same on both hops.

use super::envelope::Payload;
use super::fault::BodyFault;
use super::read::Known;
use super::tag::Tag;
use crate::envelope::Lane;
use crate::scan::string::JsonStr;

/// One event of the display lane.
///
/// ```
/// use twolane_core::body::{DisplayEvent, Payload};
///
/// let delta = Payload::parse(br#"{"type":"text_delta","message_id":"m","delta":"caf\u00e9"}"#).unwrap();
/// let Ok(DisplayEvent::TextDelta { message_id, delta, tool_call_id: None }) = DisplayEvent::read(&delta) else {
///     panic!("a delta of a message")
/// };
/// assert!(message_id == "m" && delta == "café");
///
/// // What a later schema may bring voids what was shown, as a reset does; control is refused.
/// let later = Payload::parse(br#"{"type":"hologram"}"#).unwrap();
/// assert!(matches!(DisplayEvent::read(&later), Ok(DisplayEvent::Unfamiliar { .. })));
/// assert!(DisplayEvent::read(&Payload::parse(br#"{"type":"cancel"}"#).unwrap()).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayEvent<'a> {
    /// Text to append to a message, or to a tool call's own output.
    TextDelta {
        /// The message.
        message_id: JsonStr<'a>,
        /// The text.
        delta: JsonStr<'a>,
        /// The tool call that it comes from, if any.
        tool_call_id: Option<JsonStr<'a>>,
    },
    /// Reasoning to append to a message.
    ReasoningDelta {
        /// The message.
        message_id: JsonStr<'a>,
        /// The text.
        delta: JsonStr<'a>,
    },
    /// A piece of a tool call's input; the pieces together are JSON text.
    ToolInputDelta {
        /// The tool call.
        tool_call_id: JsonStr<'a>,
        /// The piece.
        delta: JsonStr<'a>,
    },
    /// Events that were shed before this one.
    DisplayGap {
        /// How many.
        dropped: u64,
    },
    /// What was shown so far in part is void.
    DisplayReset,
    /// A tag that this schema does not know: handled as [`DisplayReset`](Self::DisplayReset), its spelling kept.
    Unfamiliar {
        /// The tag as spelled.
        name: JsonStr<'a>,
    },
}

impl<'a> DisplayEvent<'a> {
    /// Reads the payload of a display body. A tag of the control lane is refused by name.
    #[inline(never)]
    pub fn read(payload: &Payload<'a>) -> Result<Self, BodyFault> {
        let Some(tag) = payload.tag() else { return Ok(Self::Unfamiliar { name: payload.name() }) };
        tag.check_lane(Lane::Display).map_err(|reason| payload.fault(reason))?;
        let mut known = payload.members(tag);
        known.read(Some("payload"))?;
        known.whole(Self::from_known(tag, &known))
    }

    fn from_known(tag: Tag, known: &Known<'a>) -> Option<Self> {
        Some(match tag {
            Tag::TextDelta => Self::TextDelta {
                message_id: known.string(0)?,
                delta: known.string(1)?,
                tool_call_id: known.string(2),
            },
            Tag::ReasoningDelta => {
                Self::ReasoningDelta { message_id: known.string(0)?, delta: known.string(1)? }
            }
            Tag::ToolInputDelta => {
                Self::ToolInputDelta { tool_call_id: known.string(0)?, delta: known.string(1)? }
            }
            Tag::DisplayGap => Self::DisplayGap { dropped: known.integer(0)? },
            // No other tag passes the check of the lane.
            _ => Self::DisplayReset,
        })
    }

    /// How many events a gap stands for.
    pub(super) const fn dropped(&self) -> Option<u64> {
        match self {
            Self::DisplayGap { dropped } => Some(*dropped),
            _ => None,
        }
    }
}

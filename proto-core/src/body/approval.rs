//! A caller's answer to an approval request.

use super::envelope::Payload;
use super::fault::BodyFault;
use super::read::Known;
use super::tag::{Direction, Tag};
use crate::envelope::Lane;
use crate::scan::string::JsonStr;
use crate::scan::value::Value;

/// One answer. Only [`Allow`](Self::Allow) and [`AllowNarrowed`](Self::AllowNarrowed) let a tool run.
///
/// ```
/// use twolane_core::body::{Approval, Payload};
/// let payload = Payload::parse(br#"{"type":"deny","tool_call_id":"call_1","reason":"no"}"#).unwrap();
/// let answer = Approval::read(&payload).unwrap();
/// assert!(!answer.is_allowed());
/// let Approval::Deny { reason, .. } = answer else { panic!("a deny") };
/// assert_eq!(reason, "no");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Approval<'a> {
    /// The tool may run on the input it was called with.
    Allow {
        /// The call, one of the step's.
        tool_call_id: JsonStr<'a>,
    },
    /// The tool may run on less.
    AllowNarrowed {
        /// The call, one of the step's.
        tool_call_id: JsonStr<'a>,
        /// The input instead of the call's; whether it is narrower is the runner's to judge.
        input: Value<'a>,
    },
    /// The tool does not run.
    Deny {
        /// The call, one of the step's.
        tool_call_id: JsonStr<'a>,
        /// For the model and for people.
        reason: JsonStr<'a>,
    },
    /// A tag that this schema does not know: handled as [`Deny`](Self::Deny), never as an allow.
    Unfamiliar {
        /// The tag as spelled.
        name: JsonStr<'a>,
    },
}

impl<'a> Approval<'a> {
    /// Reads what a caller answered. A tag of another lane or direction is refused by name.
    #[inline(never)]
    pub fn read(payload: &Payload<'a>) -> Result<Self, BodyFault> {
        let Some(tag) = payload.tag() else { return Ok(Self::Unfamiliar { name: payload.name() }) };
        tag.check(Lane::Control, Direction::CallerToRunner).map_err(|reason| payload.fault(reason))?;
        let mut known = payload.members(tag);
        known.read(Some("payload"))?;
        known.whole(Self::from_known(tag, &known))
    }

    fn from_known(tag: Tag, known: &Known<'a>) -> Option<Self> {
        let tool_call_id = known.string(0)?;
        Some(match tag {
            Tag::Allow => Self::Allow { tool_call_id },
            Tag::AllowNarrowed => Self::AllowNarrowed { tool_call_id, input: known.value(1)? },
            // No other tag passes the check of the direction.
            _ => Self::Deny { tool_call_id, reason: known.string(1)? },
        })
    }

    /// Whether the tool may run, on whatever input.
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. } | Self::AllowNarrowed { .. })
    }
}

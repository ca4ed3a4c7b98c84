//! Why a body is refused.

use super::tag::{Direction, Tag};
use crate::envelope::Lane;
use crate::scan::json::{JsonFault, JsonReason};
use crate::scan::value::{MemberFault, MemberReason};

/// The first rule that a body breaks, and where.
///
/// ```
/// use twolane_core::body::{Body, BodyFault, BodyReason, Expected};
///
/// let text = br#"{"version":1,"run_id":"r","step_id":"3","seq":0,"payload":{"type":"cancel"}}"#;
/// let reason = BodyReason::WrongShape { expected: Expected::Integer };
/// let fault = Body::parse(text).unwrap_err();
/// assert_eq!(fault, BodyFault { offset: 36, member: Some("step_id"), reason });
/// assert!(!fault.is_foreign());
/// // Strict JSON of some other kind: not a broken body, but none.
/// assert!(Body::parse(br#"{"jsonrpc":"2.0"}"#).unwrap_err().is_foreign());
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyFault {
    /// Offset in the text that was read, in bytes: of the offending value or second name, of the closing
    /// brace of the object in which a member is missing.
    pub offset: usize,
    /// The member at fault, where it is one of the schema's.
    pub member: Option<&'static str>,
    /// The rule.
    pub reason: BodyReason,
}

impl BodyFault {
    /// Whether the text is no body of this schema at all, rather than a broken one: strict JSON, but not an object
    /// that holds both `version` and `payload`.
    pub const fn is_foreign(&self) -> bool {
        matches!(self.reason, BodyReason::Foreign)
    }
}

impl core::fmt::Display for BodyFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "byte {}: ", self.offset)?;
        if let Some(member) = self.member {
            write!(f, "`{member}`: ")?;
        }
        write!(f, "{}", self.reason)
    }
}

impl core::error::Error for BodyFault {}

impl From<JsonFault> for BodyFault {
    fn from(fault: JsonFault) -> Self {
        Self { offset: fault.offset, member: None, reason: BodyReason::Json(fault.reason) }
    }
}

impl From<MemberFault> for BodyFault {
    fn from(fault: MemberFault) -> Self {
        let reason = match fault.reason {
            MemberReason::Json(reason) => BodyReason::Json(reason),
            MemberReason::DuplicateName => BodyReason::DuplicateName,
            MemberReason::TooManyMembers => BodyReason::TooManyMembers,
        };
        Self { offset: fault.offset, member: None, reason }
    }
}

/// A rule of the body schema.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyReason {
    /// Not strict JSON.
    #[error(transparent)]
    Json(JsonReason),
    /// Strict JSON, but no body envelope.
    #[error("no body envelope: not an object with `version` and `payload`")]
    Foreign,
    /// A body envelope of another schema version.
    #[error("body schema version {found} is not supported; 1 is")]
    UnsupportedVersion {
        /// The version named.
        found: u64,
    },
    /// A name occurs twice in an object that is interpreted.
    #[error("duplicate member name")]
    DuplicateName,
    /// More members than an interpreted object may have.
    #[error("more than 64 members in an object that is interpreted")]
    TooManyMembers,
    /// A member that has to be there is not.
    #[error("missing")]
    Missing,
    /// A value of another shape than the schema's.
    #[error("expected {expected}")]
    WrongShape {
        /// What the schema says.
        expected: Expected,
    },
    /// An id without a character.
    #[error("an id is never empty")]
    EmptyId,
    /// An id over 256 bytes.
    #[error("an id has at most 256 bytes; this one has {len}")]
    IdTooLong {
        /// Its bytes.
        len: usize,
    },
    /// A member that the object does not have, where none is passed over.
    #[error("unknown member")]
    UnknownMember,
    /// A tag or a word that the schema does not know, where none is taken.
    #[error("a word that this schema does not know")]
    Unfamiliar,
    /// A known tag on the lane where it never travels.
    #[error("{} never travels on the {} lane", tag.name(), lane.name())]
    WrongLane {
        /// The payload's tag.
        tag: Tag,
        /// The lane it came on.
        lane: Lane,
    },
    /// A known tag in a direction in which it never travels.
    #[error("{} never travels from {}", tag.name(), direction.name())]
    WrongDirection {
        /// The payload's tag.
        tag: Tag,
        /// The direction it came in.
        direction: Direction,
    },
}

/// The shape that a value should have had.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A JSON object.
    Object,
    /// A JSON string.
    String,
    /// A JSON number that is digits only and fits 64 bits.
    Integer,
    /// An integer up to 65,535.
    Integer16,
    /// A JSON number that is not negative.
    NonNegative,
    /// A JSON number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A JSON array.
    Array,
}

impl core::fmt::Display for Expected {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Object => "an object",
            Self::String => "a string",
            Self::Integer => "an unsigned integer written in digits only",
            Self::Integer16 => "an unsigned integer up to 65535 written in digits only",
            Self::NonNegative => "a number that is not negative",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Array => "an array",
        })
    }
}

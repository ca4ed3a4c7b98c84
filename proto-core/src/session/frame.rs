//! What a subscription brings, as callers read it.

use alloc::boxed::Box;
use alloc::string::String;

use super::json::Json;
use super::mode::Open;
use super::scalar::OwnedCursor;
use super::unit::ControlUnit;
use super::wire::{Wire, missing, object, tag};
use crate::body::{BodyFault, BodyReason};
use crate::scan::value::Value;

object! {
    /// The first frame of a subscription, behind its `kind`.
    pub Attached {
        /// The end of the log as the subscription began.
        need head: OwnedCursor,
        /// The log.
        need log_id: String,
        /// Whether units before the oldest kept one are gone.
        need earlier_units_gone: bool,
    }
}

object! {
    /// A control unit at its place.
    Control {
        need seq: u64,
        need cursor: OwnedCursor,
        need unit: Box<ControlUnit<Open>>,
    }
}

object! {
    /// A display event.
    Display {
        need seq: u64,
        need event: Json,
    }
}

/// One frame of a subscription, read by a caller.
///
/// ```
/// use twolane_core::session::{Attached, ControlUnit, Subscribed, Wire};
///
/// let text = br#"{"kind":"attached","head":{"wal_seq":4,"sub_index":0,"log_id":"9f"},"log_id":"9f","earlier_units_gone":false}"#;
/// let Ok(Subscribed::Attached(Attached { head, .. })) = Subscribed::parse(text) else { panic!("attached") };
/// assert_eq!(head.wal_seq, 4);
/// // A unit of a later schema is one that voids what was shown; its cursor counts all the same.
/// let text = br#"{"kind":"control","seq":0,"cursor":{"wal_seq":5,"sub_index":0,"log_id":"9f"},"unit":{"type":"sparkle"}}"#;
/// let Ok(Subscribed::Control { cursor, unit, .. }) = Subscribed::parse(text) else { panic!("control") };
/// assert!(cursor.wal_seq == 5 && matches!(*unit, ControlUnit::Unfamiliar(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscribed {
    /// The subscription begins.
    Attached(Attached),
    /// A control unit.
    Control {
        /// Its place on the lane of this subscription.
        seq: u64,
        /// Its place in the log.
        cursor: OwnedCursor,
        /// The unit.
        unit: Box<ControlUnit<Open>>,
    },
    /// A display event, as its provider spelled it.
    Display {
        /// Its place on the lane of this subscription.
        seq: u64,
        /// An object with a `type`.
        event: Json,
    },
}

impl Subscribed {
    /// Reads the body of a StreamData frame of a subscription.
    pub fn parse(text: &[u8]) -> Result<Self, BodyFault> {
        let value = Value::parse(text)?;
        let kind = tag(&value, "kind")?;
        let name = kind.as_str().ok_or_else(|| missing(&value, "kind"))?;
        if name == "attached" {
            Attached::read(&value).map(Self::Attached)
        } else if name == "control" {
            let Control { seq, cursor, unit } = Control::read(&value)?;
            Ok(Self::Control { seq, cursor, unit })
        } else if name == "display" {
            let Display { seq, event } = Display::read(&value)?;
            Ok(Self::Display { seq, event })
        } else {
            let reason = BodyReason::Unfamiliar;
            Err(BodyFault { offset: kind.span().start, member: Some("kind"), reason })
        }
    }
}

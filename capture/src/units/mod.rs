//! From the ordered pieces of each direction to units: handshake messages, frames, messages of the connector, gaps and
//! faults.
//!
//! [`Units`] is pushed pieces (it is a [`SegmentSink`](crate::SegmentSink)) and hands each unit to a [`UnitSink`] as soon as its last
//! byte is there. Nothing is skipped in silence: every byte of the source is in a unit, or counted by one.
//!
//! | what happens | units |
//! |---|---|
//! | a whole frame, handshake message or message of the connector | one of that kind |
//! | bytes missing inside one | it, marked CUT with its fault; a gap; reading goes on in step where the announced length says where the next begins, else by search |
//! | bytes missing between two | a gap; then a search |
//! | a header that breaks a rule | a fault; what follows in that direction is counted in one more, or searched if asked for |
//! | a search that finds a boundary | a fault that counts the bytes passed over, if any; the unit found, marked GUESS |
//! | the source ends inside one | it, marked CUT with its fault |
//! | a tap that did not write whole units | a gap that counts them; the next frames are taken as they are |
//! | a frame or message over the body limit | it without its body, marked CUT with its fault |
//! | bytes behind the message of a connector's direction | a fault; what follows is counted in one more |

mod fault;
mod law;
mod outlet;
mod partial;
mod reader;
mod search;
mod show;
mod side;
mod transcript;

pub use crate::limits::{EVIDENCE_LEN_MAX, PLAUSIBLE_BODY_MAX, PROOFS_OF_BOUNDARY};
pub use fault::{Part, UnitFault};
pub use reader::Units;
pub use transcript::Transcript;

use twolane_core::envelope::Version;
use twolane_core::handshake::Stage;
use twolane_core::lanes::law::Breach;
use twolane_core::limits::BODY_LEN_MAX;

use crate::bytes::count;
use crate::piece::{CloseReason, Direction, Ends, Opening};
use crate::row::{HANDSHAKE_TAG, Kind, Row, mark};

/// How to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Search for a frame boundary after a header that breaks a rule, instead of giving the direction up.
    pub resync: bool,
    /// Larger bodies and messages are not kept, in bytes.
    pub body_limit: u32,
    /// The version of every connection, where it is known beforehand; else its first frame says it.
    pub version: Option<Version>,
}

impl Default for Options {
    fn default() -> Self {
        Self { resync: false, body_limit: BODY_LEN_MAX, version: None }
    }
}

/// One unit, lent for the time of the call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit<'a> {
    /// Its number, counted from 0.
    pub index: u64,
    /// Its values and bytes.
    pub row: Row<'a>,
    /// What is wrong with it.
    pub fault: Option<UnitFault>,
    /// How it breaks the seq law, where `row.law` says so.
    pub breach: Option<Breach>,
}

impl Unit<'_> {
    /// The byte at fault, counted from the start of the unit; the number of its bytes where it ends too early. `None`
    /// without a fault and where the whole unit is meant.
    #[must_use]
    pub fn fault_byte(&self) -> Option<u64> {
        match self.fault? {
            UnitFault::End { .. } | UnitFault::Hole { .. } => Some(count(self.row.bytes.len())),
            fault @ (UnitFault::Frame(_)
            | UnitFault::Lane(_)
            | UnitFault::Body(_)
            | UnitFault::Carriage(_)
            | UnitFault::Handshake(_)) => Some(fault.offset()),
            UnitFault::Oversize { .. }
            | UnitFault::Remainder { .. }
            | UnitFault::Passed { .. }
            | UnitFault::Undecoded { .. }
            | UnitFault::OutOfPlace { .. }
            | UnitFault::SecondMessage
            | UnitFault::Trailing { .. } => None,
        }
    }

    /// Which message of the handshake it is, where it is one that can be told.
    #[must_use]
    pub fn stage(&self) -> Option<Stage> {
        stage_of(&self.row)
    }

    /// Whether the proof in a handshake message is right; `None` without a key, without the messages that it
    /// proves, and for what carries no proof.
    #[must_use]
    pub fn verified(&self) -> Option<bool> {
        verified(&self.row)
    }
}

/// Which message of the handshake a row is.
#[must_use]
pub fn stage_of(row: &Row<'_>) -> Option<Stage> {
    match (row.kind, row.tag.checked_sub(HANDSHAKE_TAG)?) {
        (Kind::Handshake, 0) => Some(Stage::ClientHello),
        (Kind::Handshake, 1) => Some(Stage::ServerProof),
        (Kind::Handshake, 2) => Some(Stage::ClientAuth),
        _ => None,
    }
}

/// The verdict on a handshake row's proof; see [`Unit::verified`].
#[must_use]
pub fn verified(row: &Row<'_>) -> Option<bool> {
    match row.marks & (mark::VERIFIED | mark::REFUTED) {
        0 => None,
        marks => Some(marks & mark::REFUTED == 0),
    }
}

/// What is known of a direction besides its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note<'a> {
    /// The direction begins.
    Opened {
        /// Whether its first byte is at hand.
        how: Opening,
        /// The addresses, where the source has them.
        ends: Option<Ends>,
    },
    /// The name of the endpoint that a tap gives, before the first unit of the connection and direction.
    Endpoint(&'a str),
    /// Nothing follows in this direction.
    Closed {
        /// Why.
        reason: CloseReason,
    },
}

/// Takes units.
pub trait UnitSink {
    /// The next unit of any connection, in the order in which they were completed.
    fn unit(&mut self, unit: &Unit<'_>);

    /// Something about a connection that is no unit. Ignored unless implemented.
    fn note(&mut self, connection: u32, direction: Direction, note: Note<'_>) {
        let _ = (connection, direction, note);
    }
}

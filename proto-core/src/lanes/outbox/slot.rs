//! Where a payload belongs: a step on a provider's socket, or a subscription on a caller's.

use super::Place;
use crate::envelope::Generation;
use crate::session::Cursor;

/// What stands around a payload.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot<'a> {
    /// A body of a step.
    Step(Place<'a>),
    /// A control unit of a subscription.
    Unit { corr: u64, cursor: Cursor<'a> },
    /// A display event of a subscription.
    Event { corr: u64 },
}

/// What has numbers of its own on each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Generation(Generation),
    /// By its corr.
    Subscription(u64),
}

/// The channel of callers' sockets, on which corr alone tells streams apart.
pub(super) const CALLERS: Generation = Generation { epoch: 0, channel: 0 };

impl Slot<'_> {
    pub(super) const fn key(&self) -> Key {
        match self {
            Self::Step(place) => Key::Generation(place.generation),
            Self::Unit { corr, .. } | Self::Event { corr } => Key::Subscription(*corr),
        }
    }

    pub(super) const fn generation(&self) -> Generation {
        match self {
            Self::Step(place) => place.generation,
            Self::Unit { .. } | Self::Event { .. } => CALLERS,
        }
    }

    pub(super) const fn corr(&self) -> u64 {
        match self {
            Self::Step(place) => place.corr,
            Self::Unit { corr, .. } | Self::Event { corr } => *corr,
        }
    }
}

//! The changes that a store takes, each whole or not at all, and what came of them.

use serde::{Deserialize, Serialize};

use super::record::{Binding, Holder, KeyId, Record, RequestKey};

/// One change of what is kept. It stands in the journal: its variants and fields are never changed, new ones come
/// behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// Takes a request for execution, if nothing is known of it.
    Claim(Claim),
    /// Gives a claim back that was never acted on.
    Unclaim {
        /// Whose.
        key: RequestKey,
        /// Only this very claim is given back: one that stood before it may be running.
        holder: Holder,
    },
    /// Ends a claim, or what was resolved, with its reply.
    Finish {
        /// Whose.
        key: RequestKey,
        /// The reply, which will never change.
        reply: Reply,
        /// When.
        completed_at_unix_ms: u64,
    },
    /// Keeps a finished reply under one more key.
    Reseal {
        /// Whose.
        key: RequestKey,
        /// The same reply under the other key.
        reply: Reply,
    },
    /// Ends a claim without a reply: only the binding is left.
    Retire {
        /// Whose.
        key: RequestKey,
        /// Only this very claim: one that came after it may be running.
        holder: Holder,
        /// When.
        at_unix_ms: u64,
    },
    /// Lets go of what is older than it has to be kept.
    Purge(Purge),
    /// Takes the next `count` numbers of a key's seals, as long as they stay below `max`.
    ReserveSeals {
        /// Which key.
        key_id: KeyId,
        /// How many.
        count: u64,
        /// The first number that is never given.
        max: u64,
    },
    /// Moves the clock's mark, back as well: a person said that the clock is right.
    AcceptClock {
        /// What the clock shows.
        now_unix_ms: u64,
    },
    /// A claim without a reply will be answered as failed: a person decided so.
    Resolve {
        /// Whose.
        key: RequestKey,
        /// Only this very claim: one that came after it may be running.
        holder: Holder,
        /// When.
        at_unix_ms: u64,
    },
}

/// A request that is to be executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Whose.
    pub key: RequestKey,
    /// Its ids and digests in one hash.
    pub binding: Binding,
    /// Until when it may be started.
    pub expires_at_unix_ms: u64,
    /// The clock, which is marked in the same commit.
    pub now_unix_ms: u64,
    /// Who will execute it.
    pub holder: Holder,
}

/// Sealed bytes, and the key under which they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Which of the caller's keys.
    pub key_id: KeyId,
    /// What goes to the caller, unchanged, each time.
    #[serde(with = "serde_bytes")]
    pub sealed: Vec<u8>,
}

/// What is too old, and how much of it goes in one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purge {
    /// The clock, which is marked in the same commit.
    pub now_unix_ms: u64,
    /// How long a finished reply is kept.
    pub finished_ms: u64,
    /// How long its tombstone is kept after that.
    pub retired_ms: u64,
    /// Records changed at most.
    pub records_max: usize,
}

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done; where it had been done before with the same bytes as well.
    Done,
    /// What is known of the request stands against it. Nothing was changed.
    Stands(Record),
    /// Nothing is known of the request. Nothing was changed.
    Unknown,
    /// What a purge let go of.
    Purged {
        /// Replies that became tombstones.
        retired: usize,
        /// Tombstones that went.
        forgotten: usize,
    },
    /// Seal numbers that are this process's now, `first` and up.
    Reserved {
        /// The first of them.
        first: u64,
    },
    /// The key has sealed as often as a key may.
    Exhausted,
}

impl Change {
    /// About how many bytes a commit grows by.
    pub(super) fn weight_bytes(&self) -> usize {
        const RECORD_BYTES: usize = 1024;
        match self {
            Self::Finish { reply, .. } | Self::Reseal { reply, .. } => RECORD_BYTES + reply.sealed.len(),
            Self::Purge(purge) => RECORD_BYTES.saturating_mul(purge.records_max),
            _ => RECORD_BYTES,
        }
    }
}

//! What keeps the bytes: one trait, so that another engine can take redb's place.

use super::change::{Change, Outcome};
use super::record::{KeyId, Record, RequestKey};

/// Keeps records, replies, seal counters and the clock's mark.
///
/// Reads see whole commits only. They may be called from any thread, also while a commit is under way.
pub trait Engine: Send + Sync + 'static {
    /// Applies `changes` in their order and returns once all are durable, with what came of each. On a fault either
    /// all or none of them are; [`recover`](Self::recover) has to be called, after which reads tell which.
    fn commit(&self, changes: &[Change]) -> Result<Vec<Outcome>, EngineFault>;

    /// Makes the engine work again after a fault of the disk. Does nothing where there was none.
    fn recover(&self) -> Result<(), EngineFault>;

    /// What is known of a request, and its reply under the key `key_id`.
    fn find(&self, key: &RequestKey, key_id: &KeyId) -> Result<Option<Found>, EngineFault>;

    /// A request's replies under whatever keys.
    fn replies(&self, key: &RequestKey) -> Result<Vec<(KeyId, Vec<u8>)>, EngineFault>;

    /// Up to `limit` records in the order of their keys, from behind `after`.
    fn list(&self, after: Option<&RequestKey>, limit: usize) -> Result<Vec<Listed>, EngineFault>;

    /// How many requests have a reply, and how many of them none under a key of `known`.
    fn count_replies(&self, known: &[KeyId]) -> Result<Replies, EngineFault>;

    /// The clock's mark; 0 before the first.
    fn mark_unix_ms(&self) -> Result<u64, EngineFault>;
}

/// One request, looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What is known of it.
    pub record: Record,
    /// Its reply under the key that was asked for.
    pub sealed: Option<Vec<u8>>,
}

/// Requests with a reply. One that is sealed under several keys is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    /// All of them.
    pub requests: u64,
    /// Those that open with no key that is known.
    pub unreadable: u64,
}

/// One request of a list.
pub type Listed = (RequestKey, Record);

/// Why an engine did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineFault {
    /// Another process has the store open.
    #[error("another process holds the store")]
    Locked,
    /// A later program wrote the store.
    #[error(
        "the store has format {found}, this program reads up to {known}: use the program that wrote it, or a newer one"
    )]
    Newer {
        /// Its format.
        found: u64,
        /// The latest that this program knows.
        known: u64,
    },
    /// Bytes that no version of this program wrote.
    #[error("the store is damaged: {what}")]
    Damaged {
        /// Where, in words.
        what: String,
    },
    /// A file is there already, and is not overwritten.
    #[error("it is there already, and is not overwritten")]
    Exists,
    /// There is no room on the disk.
    #[error("the disk is full")]
    Full,
    /// The disk failed, or the engine did.
    #[error("the store's disk failed: {0}")]
    Disk(#[source] Box<dyn std::error::Error + Send + Sync>),
}

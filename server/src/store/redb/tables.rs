//! The tables, and what is in them.

use std::ops::RangeInclusive;

use redb::{TableDefinition, WriteTransaction};

use super::super::engine::EngineFault;
use super::super::record::{KeyId, Record, RequestKey};
use super::fault;

/// Key of a record: caller, request id.
pub(super) type RecordKey<'a> = (&'a str, &'a str);

/// Key of a reply: caller, request id, id of the key under which it is sealed.
pub(super) type ReplyKey<'a> = (&'a str, &'a str, &'a KeyId);

/// Key of what a purge finds: kind, retained from (Unix, ms), caller, request id.
pub(super) type DueKey<'a> = (u8, u64, &'a str, &'a str);

/// Each request that is known.
pub(super) const RECORDS: TableDefinition<'_, RecordKey<'static>, &[u8]> = TableDefinition::new("records");

/// Sealed replies, apart from the records so that those stay short.
pub(super) const REPLIES: TableDefinition<'_, ReplyKey<'static>, &[u8]> = TableDefinition::new("replies");

/// What is kept for a time, in the order in which its time ends.
pub(super) const DUE: TableDefinition<'_, DueKey<'static>, ()> = TableDefinition::new("due");

/// The first seal number of each key that was never given away.
pub(super) const SEALS: TableDefinition<'_, &KeyId, u64> = TableDefinition::new("seals");

/// Single numbers.
pub(super) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// The file's format, in [`META`].
pub(super) const FORMAT_KEY: &str = "format";

/// The clock's mark in Unix milliseconds, in [`META`].
pub(super) const MARK_KEY: &str = "mark";

/// The journal that goes on behind these tables, in [`META`]; 0 where there is none, as in a store that was closed.
pub(super) const JOURNAL_KEY: &str = "journal";

/// The number of the last commit that is in the tables, in [`META`].
pub(super) const COMMITS_KEY: &str = "commits";

/// A finished request, in [`DUE`].
pub(super) const DUE_FINISHED: u8 = 0;

/// A tombstone, in [`DUE`].
pub(super) const DUE_RETIRED: u8 = 1;

/// Makes them: a table that was never written cannot be read.
pub(super) fn make(transaction: &WriteTransaction) -> Result<(), EngineFault> {
    transaction.open_table(RECORDS).map_err(fault)?;
    transaction.open_table(REPLIES).map_err(fault)?;
    transaction.open_table(DUE).map_err(fault)?;
    transaction.open_table(SEALS).map_err(fault)?;
    Ok(())
}

pub(super) fn record_key(key: &RequestKey) -> RecordKey<'_> {
    (&key.caller, &key.request_id)
}

pub(super) fn reply_key<'a>(key: &'a RequestKey, key_id: &'a KeyId) -> ReplyKey<'a> {
    (&key.caller, &key.request_id, key_id)
}

/// A request's replies under every key.
pub(super) fn reply_range(key: &RequestKey) -> RangeInclusive<ReplyKey<'_>> {
    reply_key(key, &[0; 16])..=reply_key(key, &[0xff; 16])
}

pub(super) fn record(bytes: &[u8]) -> Result<Record, EngineFault> {
    Record::from_bytes(bytes)
        .ok_or_else(|| EngineFault::Damaged { what: "a record cannot be read".to_owned() })
}

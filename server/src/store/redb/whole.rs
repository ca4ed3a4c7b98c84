//! The whole store at once, as of one moment: checked, or copied into a file of its own.

use std::path::Path;

use redb::backends::FileBackend;
use redb::{Database, Durability, Key, ReadTransaction, ReadableTable as _, TableDefinition, Value};
use serde::{Deserialize, Serialize};

use super::super::engine::EngineFault;
use super::super::record::State;
use super::place::{builder, put_in_place};
use super::tables::{
    self, COMMITS_KEY, DUE, DUE_FINISHED, DUE_RETIRED, JOURNAL_KEY, META, RECORDS, REPLIES, SEALS,
};
use super::{RedbEngine, disk, fault, opened};

/// Faults that are told in words; more are only counted.
const FAULTS_TOLD_MAX: usize = 100;

/// Entries copied in one transaction, which bounds the memory.
const BATCH_ENTRIES: usize = 4096;

/// What is in a store, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Requests that are claimed, or resolved and not asked for since.
    pub claimed: u64,
    /// Requests with a reply.
    pub finished: u64,
    /// Tombstones.
    pub retired: u64,
    /// Replies, under whatever keys.
    pub replies: u64,
    /// Their bytes.
    pub reply_bytes: u64,
    /// How much is wrong.
    pub faults: u64,
    /// The first of it, in words.
    pub told: Vec<String>,
}

impl Checked {
    fn wrong(&mut self, caller: &str, request_id: &str, what: &str) {
        self.faults += 1;
        if self.told.len() < FAULTS_TOLD_MAX {
            let (caller, request_id) = (caller.escape_debug(), request_id.escape_debug());
            self.told.push(format!("request {request_id} of caller {caller}: {what}"));
        }
    }
}

impl RedbEngine {
    /// Reads every record and holds the tables against each other, as of one moment.
    pub fn check(&self) -> Result<Checked, EngineFault> {
        self.read(|transaction| {
            let mut checked = Checked::default();
            check_records(transaction, &mut checked)?;
            check_replies(transaction, &mut checked)?;
            check_due(transaction, &mut checked)?;
            Ok(checked)
        })
    }

    /// Copies all that was answered into a new store at `to`, which must not be there; gives the copy's bytes. Changes
    /// go on meanwhile and are not in it.
    pub fn back_up(&self, to: &Path) -> Result<u64, EngineFault> {
        self.read(|transaction| {
            put_in_place(to, |file| {
                let copy =
                    builder().create_with_backend(FileBackend::new(file).map_err(fault)?).map_err(fault)?;
                opened::make(&copy)?;
                copy_table(transaction, &copy, RECORDS)?;
                copy_table(transaction, &copy, REPLIES)?;
                copy_table(transaction, &copy, DUE)?;
                copy_table(transaction, &copy, SEALS)?;
                copy_table(transaction, &copy, META)?;
                // No journal belongs to the copy.
                let last = copy.begin_write().map_err(fault)?;
                {
                    let mut meta = last.open_table(META).map_err(fault)?;
                    meta.insert(JOURNAL_KEY, 0).map_err(fault)?;
                    meta.insert(COMMITS_KEY, 0).map_err(fault)?;
                }
                last.commit().map_err(fault)
            })
        })?;
        Ok(std::fs::metadata(to).map_err(disk)?.len())
    }
}

fn copy_table<K: Key, V: Value>(
    from: &ReadTransaction,
    to: &Database,
    table: TableDefinition<'_, K, V>,
) -> Result<(), EngineFault> {
    let source = from.open_table(table).map_err(fault)?;
    let mut entries = source.iter().map_err(fault)?.peekable();
    while entries.peek().is_some() {
        let mut transaction = to.begin_write().map_err(fault)?;
        transaction.set_durability(Durability::None).map_err(fault)?;
        {
            let mut target = transaction.open_table(table).map_err(fault)?;
            for entry in entries.by_ref().take(BATCH_ENTRIES) {
                let (key, value) = entry.map_err(fault)?;
                target.insert(key.value(), value.value()).map_err(fault)?;
            }
        }
        transaction.commit().map_err(fault)?;
    }
    Ok(())
}

fn check_records(transaction: &ReadTransaction, checked: &mut Checked) -> Result<(), EngineFault> {
    let replies = transaction.open_table(REPLIES).map_err(fault)?;
    let due = transaction.open_table(DUE).map_err(fault)?;
    for entry in transaction.open_table(RECORDS).map_err(fault)?.iter().map_err(fault)? {
        let (at, bytes) = entry.map_err(fault)?;
        let (caller, request_id) = at.value();
        let Ok(record) = tables::record(bytes.value()) else {
            checked.wrong(caller, request_id, "its record cannot be read");
            continue;
        };
        let kind = match record.state {
            State::Claimed { .. } | State::Resolved { .. } => {
                checked.claimed += 1;
                continue;
            }
            State::Finished { .. } => {
                checked.finished += 1;
                let range = (caller, request_id, &[0; 16])..=(caller, request_id, &[0xff; 16]);
                if replies.range(range).map_err(fault)?.next().is_none() {
                    checked.wrong(caller, request_id, "it is finished and has no reply");
                }
                DUE_FINISHED
            }
            State::Retired { .. } => {
                checked.retired += 1;
                DUE_RETIRED
            }
        };
        let from = record.retained_from_unix_ms().unwrap_or_default();
        if due.get((kind, from, caller, request_id)).map_err(fault)?.is_none() {
            checked.wrong(caller, request_id, "nothing says when its time is over");
        }
    }
    Ok(())
}

fn check_replies(transaction: &ReadTransaction, checked: &mut Checked) -> Result<(), EngineFault> {
    let records = transaction.open_table(RECORDS).map_err(fault)?;
    for entry in transaction.open_table(REPLIES).map_err(fault)?.iter().map_err(fault)? {
        let (at, sealed) = entry.map_err(fault)?;
        let (caller, request_id, _) = at.value();
        checked.replies += 1;
        checked.reply_bytes += sealed.value().len() as u64;
        let record = records.get((caller, request_id)).map_err(fault)?;
        let state = record.and_then(|bytes| tables::record(bytes.value()).ok()).map(|record| record.state);
        if !matches!(state, Some(State::Finished { .. })) {
            checked.wrong(caller, request_id, "there is a reply, and it is not finished");
        }
    }
    Ok(())
}

fn check_due(transaction: &ReadTransaction, checked: &mut Checked) -> Result<(), EngineFault> {
    let records = transaction.open_table(RECORDS).map_err(fault)?;
    for entry in transaction.open_table(DUE).map_err(fault)?.iter().map_err(fault)? {
        let (at, ()) = entry.map(|(at, unit)| (at, unit.value())).map_err(fault)?;
        let (_, _, caller, request_id) = at.value();
        if records.get((caller, request_id)).map_err(fault)?.is_none() {
            checked.wrong(caller, request_id, "its time is kept, and nothing else");
        }
    }
    Ok(())
}

//! Changes, applied inside one transaction: what a look-up finds there nobody else can change before the commit.

use redb::{ReadableTable as _, Table, WriteTransaction};

use super::super::change::{Change, Claim, Outcome, Purge, Reply};
use super::super::engine::EngineFault;
use super::super::record::{Holder, KeyId, Record, RequestKey, State};
use super::fault;
use super::tables::{
    self, DUE, DUE_FINISHED, DUE_RETIRED, DueKey, MARK_KEY, META, RECORDS, REPLIES, RecordKey, ReplyKey,
    SEALS,
};

/// All of `changes` in their order.
pub(super) fn all(transaction: &WriteTransaction, changes: &[Change]) -> Result<Vec<Outcome>, EngineFault> {
    let mut open = Open {
        records: transaction.open_table(RECORDS).map_err(fault)?,
        replies: transaction.open_table(REPLIES).map_err(fault)?,
        due: transaction.open_table(DUE).map_err(fault)?,
        seals: transaction.open_table(SEALS).map_err(fault)?,
        meta: transaction.open_table(META).map_err(fault)?,
    };
    changes.iter().map(|change| open.apply(change)).collect()
}

/// The tables of one transaction.
struct Open<'t> {
    records: Table<'t, RecordKey<'static>, &'static [u8]>,
    replies: Table<'t, ReplyKey<'static>, &'static [u8]>,
    due: Table<'t, DueKey<'static>, ()>,
    seals: Table<'t, &'static KeyId, u64>,
    meta: Table<'t, &'static str, u64>,
}

impl Open<'_> {
    fn apply(&mut self, change: &Change) -> Result<Outcome, EngineFault> {
        match change {
            Change::Claim(claim) => self.claim(claim),
            Change::Unclaim { key, holder } => self.unclaim(key, holder),
            Change::Finish { key, reply, completed_at_unix_ms } => {
                self.finish(key, reply, *completed_at_unix_ms)
            }
            Change::Reseal { key, reply } => self.reseal(key, reply),
            Change::Retire { key, holder, at_unix_ms } => self.retire(key, *holder, *at_unix_ms),
            Change::Resolve { key, holder, at_unix_ms } => self.resolve(key, *holder, *at_unix_ms),
            Change::Purge(purge) => self.purge(purge),
            Change::ReserveSeals { key_id, count, max } => self.reserve_seals(key_id, *count, *max),
            Change::AcceptClock { now_unix_ms } => {
                self.meta.insert(MARK_KEY, now_unix_ms).map_err(fault)?;
                Ok(Outcome::Done)
            }
        }
    }

    fn record(&self, key: &RequestKey) -> Result<Option<Record>, EngineFault> {
        let bytes = self.records.get(tables::record_key(key)).map_err(fault)?;
        bytes.map(|bytes| tables::record(bytes.value())).transpose()
    }

    fn put(&mut self, key: &RequestKey, record: Record) -> Result<(), EngineFault> {
        let bytes = record.to_bytes().map_err(|fault| EngineFault::Disk(Box::new(fault)))?;
        self.records.insert(tables::record_key(key), bytes.as_slice()).map_err(fault)?;
        Ok(())
    }

    fn mark(&mut self, now_unix_ms: u64) -> Result<(), EngineFault> {
        let mark = self.meta.get(MARK_KEY).map_err(fault)?.map_or(0, |mark| mark.value());
        if now_unix_ms > mark {
            self.meta.insert(MARK_KEY, now_unix_ms).map_err(fault)?;
        }
        Ok(())
    }

    fn claim(&mut self, claim: &Claim) -> Result<Outcome, EngineFault> {
        if let Some(record) = self.record(&claim.key)? {
            return Ok(Outcome::Stands(record));
        }
        self.mark(claim.now_unix_ms)?;
        let record = Record {
            binding: claim.binding,
            expires_at_unix_ms: claim.expires_at_unix_ms,
            claimed_at_unix_ms: claim.now_unix_ms,
            state: State::Claimed { holder: claim.holder },
        };
        self.put(&claim.key, record)?;
        Ok(Outcome::Done)
    }

    fn unclaim(&mut self, key: &RequestKey, holder: &Holder) -> Result<Outcome, EngineFault> {
        match self.record(key)? {
            None => Ok(Outcome::Done),
            Some(Record { state: State::Claimed { holder: claimed_by }, .. }) if claimed_by == *holder => {
                self.records.remove(tables::record_key(key)).map_err(fault)?;
                Ok(Outcome::Done)
            }
            Some(record) => Ok(Outcome::Stands(record)),
        }
    }

    fn finish(
        &mut self,
        key: &RequestKey,
        reply: &Reply,
        completed_at_unix_ms: u64,
    ) -> Result<Outcome, EngineFault> {
        let Some(mut record) = self.record(key)? else { return Ok(Outcome::Unknown) };
        if !matches!(record.state, State::Claimed { .. } | State::Resolved { .. }) {
            return self.done_if_kept(key, reply, record);
        }
        record.state = State::Finished { completed_at_unix_ms };
        self.put(key, record)?;
        self.put_reply(key, reply)?;
        let from = record.retained_from_unix_ms().unwrap_or(completed_at_unix_ms);
        self.due.insert(due_key(DUE_FINISHED, from, key), ()).map_err(fault)?;
        Ok(Outcome::Done)
    }

    fn reseal(&mut self, key: &RequestKey, reply: &Reply) -> Result<Outcome, EngineFault> {
        let Some(record) = self.record(key)? else { return Ok(Outcome::Unknown) };
        let kept = self.replies.get(tables::reply_key(key, &reply.key_id)).map_err(fault)?.is_some();
        if kept || !matches!(record.state, State::Finished { .. }) {
            return self.done_if_kept(key, reply, record);
        }
        self.put_reply(key, reply)?;
        Ok(Outcome::Done)
    }

    fn put_reply(&mut self, key: &RequestKey, reply: &Reply) -> Result<(), EngineFault> {
        let at = tables::reply_key(key, &reply.key_id);
        self.replies.insert(at, reply.sealed.as_slice()).map_err(fault)?;
        Ok(())
    }

    /// A change that is asked for again, because nobody knows whether it was durable, is done if it was.
    fn done_if_kept(&self, key: &RequestKey, reply: &Reply, record: Record) -> Result<Outcome, EngineFault> {
        let kept = self.replies.get(tables::reply_key(key, &reply.key_id)).map_err(fault)?;
        match kept {
            Some(kept) if kept.value() == reply.sealed => Ok(Outcome::Done),
            _ => Ok(Outcome::Stands(record)),
        }
    }

    fn resolve(&mut self, key: &RequestKey, holder: Holder, at_unix_ms: u64) -> Result<Outcome, EngineFault> {
        let Some(mut record) = self.record(key)? else { return Ok(Outcome::Unknown) };
        if record.state != (State::Claimed { holder }) {
            return Ok(Outcome::Stands(record));
        }
        record.state = State::Resolved { at_unix_ms };
        self.put(key, record)?;
        Ok(Outcome::Done)
    }

    fn retire(&mut self, key: &RequestKey, holder: Holder, at_unix_ms: u64) -> Result<Outcome, EngineFault> {
        let Some(record) = self.record(key)? else { return Ok(Outcome::Unknown) };
        if record.state != (State::Claimed { holder }) {
            return Ok(Outcome::Stands(record));
        }
        // Not let go of before its request is expired for certain, whatever the clock of who decided it shows.
        let mark = self.meta.get(MARK_KEY).map_err(fault)?.map_or(0, |mark| mark.value());
        self.bury(key, record, at_unix_ms.max(record.expires_at_unix_ms).max(mark))?;
        Ok(Outcome::Done)
    }

    /// Leaves the binding, and when it may go too.
    fn bury(&mut self, key: &RequestKey, mut record: Record, at_unix_ms: u64) -> Result<(), EngineFault> {
        record.state = State::Retired { at_unix_ms };
        self.put(key, record)?;
        self.due.insert(due_key(DUE_RETIRED, at_unix_ms, key), ()).map_err(fault)?;
        Ok(())
    }

    fn purge(&mut self, purge: &Purge) -> Result<Outcome, EngineFault> {
        self.mark(purge.now_unix_ms)?;
        let finished = self.take_due(DUE_FINISHED, purge.finished_ms, purge, purge.records_max)?;
        for key in &finished {
            // What the time is kept of, and nothing else.
            let Some(record) = self.record(key)? else { continue };
            if !matches!(record.state, State::Finished { .. }) {
                continue;
            }
            let range = tables::reply_range(key);
            self.replies.retain_in(range, |_, _| false).map_err(fault)?;
            self.bury(key, record, purge.now_unix_ms)?;
        }
        let room = purge.records_max - finished.len();
        let forgotten = self.take_due(DUE_RETIRED, purge.retired_ms, purge, room)?;
        for key in &forgotten {
            if !matches!(self.record(key)?.map(|record| record.state), Some(State::Retired { .. })) {
                continue;
            }
            self.records.remove(tables::record_key(key)).map_err(fault)?;
        }
        Ok(Outcome::Purged { retired: finished.len(), forgotten: forgotten.len() })
    }

    /// Takes up to `room` entries of one kind whose time is over, the oldest first.
    fn take_due(
        &mut self,
        kind: u8,
        kept_ms: u64,
        purge: &Purge,
        room: usize,
    ) -> Result<Vec<RequestKey>, EngineFault> {
        let Some(until) = purge.now_unix_ms.checked_sub(kept_ms) else { return Ok(Vec::new()) };
        let mut over = Vec::new();
        // What is retained from `until` itself is still kept.
        for entry in self.due.range((kind, 0, "", "")..(kind, until, "", "")).map_err(fault)?.take(room) {
            let (at, ()) = entry.map(|(at, unit)| (at, unit.value())).map_err(fault)?;
            let (_, from, caller, request_id) = at.value();
            over.push((from, RequestKey { caller: caller.to_owned(), request_id: request_id.to_owned() }));
        }
        for (from, key) in &over {
            self.due.remove(due_key(kind, *from, key)).map_err(fault)?;
        }
        Ok(over.into_iter().map(|(_, key)| key).collect())
    }

    fn reserve_seals(&mut self, key_id: &KeyId, count: u64, max: u64) -> Result<Outcome, EngineFault> {
        let first = self.seals.get(key_id).map_err(fault)?.map_or(0, |next| next.value());
        match first.checked_add(count) {
            Some(next) if next <= max => {
                self.seals.insert(key_id, next).map_err(fault)?;
                Ok(Outcome::Reserved { first })
            }
            _ => Ok(Outcome::Exhausted),
        }
    }
}

fn due_key(kind: u8, from_unix_ms: u64, key: &RequestKey) -> DueKey<'_> {
    (kind, from_unix_ms, &key.caller, &key.request_id)
}

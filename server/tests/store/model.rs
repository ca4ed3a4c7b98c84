//! The store against a model that keeps everything in maps: any changes, in any order, over any reopening.

use std::collections::BTreeMap;

use proptest::prelude::*;
use twolane::store::{
    Change, Engine, KeyId, Listed, Outcome, Purge, Record, RedbEngine, Reply, RequestKey, State,
};

use crate::disk::Disk;
use crate::scenes::{claim, finish, holder, key, purge, reply};

#[derive(Default)]
struct Model {
    records: BTreeMap<RequestKey, Record>,
    replies: BTreeMap<(RequestKey, KeyId), Vec<u8>>,
    mark_unix_ms: u64,
    seals: u64,
}

impl Model {
    fn apply(&mut self, change: &Change) -> Outcome {
        match change {
            Change::Claim(claim) => {
                if let Some(record) = self.records.get(&claim.key) {
                    return Outcome::Stands(*record);
                }
                self.mark_unix_ms = self.mark_unix_ms.max(claim.now_unix_ms);
                let record = Record {
                    binding: claim.binding,
                    expires_at_unix_ms: claim.expires_at_unix_ms,
                    claimed_at_unix_ms: claim.now_unix_ms,
                    state: State::Claimed { holder: claim.holder },
                };
                self.records.insert(claim.key.clone(), record);
                Outcome::Done
            }
            Change::Unclaim { key, holder } => match self.records.get(key) {
                Some(record) if record.state != (State::Claimed { holder: *holder }) => {
                    Outcome::Stands(*record)
                }
                _ => {
                    self.records.remove(key);
                    Outcome::Done
                }
            },
            Change::Finish { key, reply, completed_at_unix_ms } => {
                self.end(key, State::Finished { completed_at_unix_ms: *completed_at_unix_ms }, Some(reply))
            }
            Change::Retire { key, holder, at_unix_ms } => {
                if let Some(record) = self.records.get(key)
                    && record.state != (State::Claimed { holder: *holder })
                {
                    return Outcome::Stands(*record);
                }
                let expires = self.records.get(key).map_or(0, |record| record.expires_at_unix_ms);
                let at_unix_ms = (*at_unix_ms).max(expires).max(self.mark_unix_ms);
                self.end(key, State::Retired { at_unix_ms }, None)
            }
            Change::Resolve { key, holder, at_unix_ms } => match self.records.get_mut(key) {
                None => Outcome::Unknown,
                Some(record) if record.state == (State::Claimed { holder: *holder }) => {
                    record.state = State::Resolved { at_unix_ms: *at_unix_ms };
                    Outcome::Done
                }
                Some(record) => Outcome::Stands(*record),
            },
            Change::Reseal { key, reply } => self.reseal(key, reply),
            Change::Purge(purge) => self.purge(purge),
            Change::ReserveSeals { count, .. } => {
                self.seals += count;
                Outcome::Reserved { first: self.seals - count }
            }
            Change::AcceptClock { now_unix_ms } => {
                self.mark_unix_ms = *now_unix_ms;
                Outcome::Done
            }
        }
    }

    fn end(&mut self, key: &RequestKey, state: State, reply: Option<&Reply>) -> Outcome {
        let Some(record) = self.records.get_mut(key) else { return Outcome::Unknown };
        let kept = reply.and_then(|reply| self.replies.get(&(key.clone(), reply.key_id)));
        match record.state {
            State::Claimed { .. } | State::Resolved { .. } => record.state = state,
            _ if kept.is_some() && kept == reply.map(|reply| &reply.sealed) => return Outcome::Done,
            _ => return Outcome::Stands(*record),
        }
        if let Some(reply) = reply {
            self.replies.insert((key.clone(), reply.key_id), reply.sealed.clone());
        }
        Outcome::Done
    }

    fn reseal(&mut self, key: &RequestKey, reply: &Reply) -> Outcome {
        let Some(record) = self.records.get(key) else { return Outcome::Unknown };
        let at = (key.clone(), reply.key_id);
        match self.replies.get(&at) {
            Some(kept) if *kept == reply.sealed => Outcome::Done,
            None if matches!(record.state, State::Finished { .. }) => {
                self.replies.insert(at, reply.sealed.clone());
                Outcome::Done
            }
            _ => Outcome::Stands(*record),
        }
    }

    fn purge(&mut self, purge: &Purge) -> Outcome {
        self.mark_unix_ms = self.mark_unix_ms.max(purge.now_unix_ms);
        let over = |model: &Self, finished: bool, kept_ms: u64, room: usize| {
            let mut over: Vec<_> = model.records.iter().collect();
            over.retain(|(_, record)| match record.state {
                State::Claimed { .. } | State::Resolved { .. } => false,
                State::Finished { .. } => finished,
                State::Retired { .. } => !finished,
            });
            over.retain(|(_, record)| record.retained_from_unix_ms().unwrap() + kept_ms < purge.now_unix_ms);
            over.sort_by_key(|(key, record)| (record.retained_from_unix_ms(), (*key).clone()));
            over.into_iter().take(room).map(|(key, _)| key.clone()).collect::<Vec<_>>()
        };
        let finished = over(self, true, purge.finished_ms, purge.records_max);
        for key in &finished {
            self.records.get_mut(key).unwrap().state = State::Retired { at_unix_ms: purge.now_unix_ms };
            self.replies.retain(|(of, _), _| of != key);
        }
        let forgotten = over(self, false, purge.retired_ms, purge.records_max - finished.len());
        for key in &forgotten {
            self.records.remove(key);
        }
        Outcome::Purged { retired: finished.len(), forgotten: forgotten.len() }
    }
}

fn change() -> impl Strategy<Value = Change> {
    let number = 0..6_u8;
    let now = 0..20_000_u64;
    prop_oneof![
        4 => (number.clone(), 1..4_u64, now.clone()).prop_map(|(number, serial, now)| claim(number, serial, now)),
        1 => (number.clone(), 1..4_u64).prop_map(|(number, serial)| Change::Unclaim {
            key: key(number),
            holder: holder(serial),
        }),
        3 => (number.clone(), now.clone()).prop_map(|(number, now)| finish(number, now)),
        1 => (number.clone(), 1..4_u8, 0..2_u8).prop_map(|(number, under, other)| Change::Reseal {
            key: key(number),
            reply: Reply { key_id: [under; 16], ..reply(number + other, under) },
        }),
        1 => (number.clone(), 1..4_u64, now.clone()).prop_map(|(number, serial, now)| Change::Resolve { key: key(number), holder: holder(serial), at_unix_ms: now }),
        1 => (number, 1..4_u64, now.clone()).prop_map(|(number, serial, now)| Change::Retire { key: key(number), holder: holder(serial), at_unix_ms: now }),
        2 => now.clone().prop_map(purge),
        1 => (1..9_u64).prop_map(|count| Change::ReserveSeals { key_id: [9; 16], count, max: 1 << 31 }),
        1 => now.prop_map(|now_unix_ms| Change::AcceptClock { now_unix_ms }),
    ]
}

/// What happens behind a commit.
#[derive(Clone, Copy, Debug)]
enum End {
    GoOn,
    Close,
    Kill,
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![Just(End::GoOn), Just(End::Close), Just(End::Kill)]
}

/// With room in the journal for some commits and not for all.
fn open(disk: &Disk) -> RedbEngine {
    let disk = disk.clone();
    RedbEngine::with_storage(move || disk.files(), 8192).unwrap()
}

fn all(engine: &RedbEngine) -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    // Pages of two, so that their borders are crossed.
    loop {
        let page = engine.list(all.last().map(|(key, _)| key), 2).unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_changes_have_the_models_outcomes_and_leave_the_models_records(
        commits in proptest::collection::vec((proptest::collection::vec(change(), 1..8), end()), 1..12),
    ) {
        let disk = Disk::default();
        let mut engine = Some(open(&disk));
        let mut model = Model::default();
        for (changes, end) in commits {
            let expected: Vec<_> = changes.iter().map(|change| model.apply(change)).collect();
            prop_assert_eq!(engine.as_ref().unwrap().commit(&changes).unwrap(), expected);
            match end {
                End::GoOn => {}
                End::Close => drop(engine.take()),
                End::Kill => {
                    std::mem::forget(engine.take());
                    disk.restart(0);
                }
            }
            let engine = engine.get_or_insert_with(|| open(&disk));
            let records: Vec<Listed> =
                model.records.iter().map(|(key, record)| (key.clone(), *record)).collect();
            prop_assert_eq!(all(engine), records);
            for number in 0..6 {
                let expected: Vec<_> = model
                    .replies
                    .iter()
                    .filter(|((of, _), _)| *of == key(number))
                    .map(|((_, key_id), sealed)| (*key_id, sealed.clone()))
                    .collect();
                prop_assert_eq!(engine.replies(&key(number)).unwrap(), expected);
            }
            prop_assert_eq!(engine.mark_unix_ms().unwrap(), model.mark_unix_ms);
        }
    }
}

//! The thread that commits for all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use twolane::store::{
    Change, Engine, EngineFault, Found, KeyId, Listed, Outcome, RedbEngine, Replies, RequestKey, State,
    Store, StoreFault,
};

use crate::disk::{Disk, Fault};
use crate::scenes::{claim, finish, holder, key};

/// An engine that counts its commits.
struct Counted {
    engine: RedbEngine,
    commits: AtomicUsize,
}

impl Counted {
    fn over(disk: &Disk) -> Self {
        Self::with_journal(disk, 64 * 1024)
    }

    fn with_journal(disk: &Disk, bytes: usize) -> Self {
        let disk = disk.clone();
        let engine = RedbEngine::with_storage(move || disk.files(), bytes).unwrap();
        Self { engine, commits: AtomicUsize::new(0) }
    }
}

impl Engine for Counted {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Outcome>, EngineFault> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.engine.commit(changes)
    }

    fn recover(&self) -> Result<(), EngineFault> {
        self.engine.recover()
    }

    fn find(&self, key: &RequestKey, key_id: &KeyId) -> Result<Option<Found>, EngineFault> {
        self.engine.find(key, key_id)
    }

    fn replies(&self, key: &RequestKey) -> Result<Vec<(KeyId, Vec<u8>)>, EngineFault> {
        self.engine.replies(key)
    }

    fn list(&self, after: Option<&RequestKey>, limit: usize) -> Result<Vec<Listed>, EngineFault> {
        self.engine.list(after, limit)
    }

    fn count_replies(&self, known: &[KeyId]) -> Result<Replies, EngineFault> {
        self.engine.count_replies(known)
    }

    fn mark_unix_ms(&self) -> Result<u64, EngineFault> {
        self.engine.mark_unix_ms()
    }
}

#[tokio::test]
async fn of_many_who_claim_one_request_one_gets_it_and_the_others_see_that_one() {
    let store = Arc::new(Store::start(Counted::over(&Disk::default())).unwrap());
    let claims = (1..=200).map(|serial| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.change(claim(1, serial, 10)).await.unwrap() })
    });
    let mut done = 0;
    let mut stood = Vec::new();
    for claim in claims.collect::<Vec<_>>() {
        match claim.await.unwrap() {
            Outcome::Done => done += 1,
            Outcome::Stands(record) => stood.push(record),
            outcome => panic!("{outcome:?}"),
        }
    }
    assert_eq!((done, stood.len()), (1, 199));
    let record = store.engine().find(&key(1), &[1; 16]).unwrap().unwrap().record;
    assert!(stood.iter().all(|stands| *stands == record));
    let commits = store.engine().commits.load(Ordering::Relaxed);
    assert!(commits < 100, "{commits} commits for 200 changes");
}

#[tokio::test]
async fn a_claim_whose_commit_failed_is_given_back_wherever_the_disk_failed() {
    let (write, sync) = (1, 1);
    assert_eq!(operations_that_fail(64 * 1024).await, write + sync, "in the journal");
    let failed = operations_that_fail(64).await;
    assert!(failed > 2, "in the tables, where the journal is full: {failed} operations failed");
}

async fn operations_that_fail(journal_bytes: usize) -> u64 {
    let before = {
        let disk = Disk::default();
        let _open = Counted::with_journal(&disk, journal_bytes);
        disk.operations()
    };
    for at in before.. {
        let disk = Disk::default();
        let store = Store::start(Counted::with_journal(&disk, journal_bytes)).unwrap();
        disk.fail_at(at, Fault::Once);
        let claimed = store.change(claim(1, 1, 10)).await;
        let found = |number| store.engine().find(&key(number), &[1; 16]);
        match claimed {
            Ok(outcome) => {
                assert_eq!(outcome, Outcome::Done);
                let record = found(1).unwrap().unwrap().record;
                assert_eq!(record.state, State::Claimed { holder: holder(1) });
                return at - before;
            }
            Err(StoreFault::Engine(_)) => {
                // Waits for the mending, if that is still to be done.
                assert_eq!(store.change(claim(2, 2, 11)).await.unwrap(), Outcome::Done);
                assert_eq!(found(1).unwrap(), None, "operation {at}");
            }
            Err(fault) => panic!("{fault}"),
        }
    }
    unreachable!("a disk that always fails")
}

#[tokio::test]
async fn a_running_claim_is_not_given_back_with_one_that_failed_behind_it() {
    let disk = Disk::default();
    let store = Store::start(Counted::over(&disk)).unwrap();
    store.change(claim(1, 1, 10)).await.unwrap();
    disk.fail_at(disk.operations() + 1, Fault::Once);
    let again = store.change(claim(1, 2, 11)).await;
    assert!(matches!(again, Err(StoreFault::Engine(_))), "{again:?}");
    store.change(claim(2, 3, 12)).await.unwrap();
    let found = store.engine().find(&key(1), &[1; 16]).unwrap().unwrap();
    assert_eq!(found.record.state, State::Claimed { holder: holder(1) });
}

#[tokio::test]
async fn a_finish_that_failed_can_be_asked_for_again_and_changes_nothing_twice() {
    let disk = Disk::default();
    let store = Store::start(Counted::over(&disk)).unwrap();
    store.change(claim(1, 1, 10)).await.unwrap();
    disk.fail_at(disk.operations() + 1, Fault::Once);
    store.change(finish(1, 20)).await.unwrap_err();
    assert_eq!(store.change(finish(1, 20)).await.unwrap(), Outcome::Done);
    assert_eq!(store.change(finish(1, 20)).await.unwrap(), Outcome::Done);
    let other = Change::Finish {
        key: key(1),
        reply: twolane::store::Reply { key_id: [1; 16], sealed: b"another".to_vec() },
        completed_at_unix_ms: 21,
    };
    assert!(matches!(store.change(other).await.unwrap(), Outcome::Stands(_)));
}

#[tokio::test]
async fn what_waits_when_the_store_is_dropped_is_still_committed() {
    let disk = Disk::default();
    let store = Store::start(Counted::over(&disk)).unwrap();
    let claimed = store.change(claim(1, 1, 10));
    let mut claimed = Box::pin(claimed);
    // Polled once, so that it is queued.
    let _ = futures_util::poll!(claimed.as_mut());
    drop(claimed);
    drop(store);
    assert!(Counted::over(&disk).find(&key(1), &[1; 16]).unwrap().is_some());
}

/// Waits until nothing is known of a request, without a change that would have the engine mended.
fn forgotten(store: &Store<Counted>, number: u8) -> bool {
    (0..6000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        matches!(store.engine().find(&key(number), &[1; 16]), Ok(None))
    })
}

#[tokio::test]
async fn a_claim_whose_giving_back_failed_is_given_back_once_the_disk_works_again() {
    let disk = Disk::default();
    let store = Store::start(Counted::over(&disk)).unwrap();
    assert_eq!(store.change(claim(1, 1, 10)).await.unwrap(), Outcome::Done);
    disk.fail_at(disk.operations() + 1, Fault::Once);
    let unclaim = Change::Unclaim { key: key(1), holder: holder(1) };
    assert!(matches!(store.change(unclaim).await, Err(StoreFault::Engine(_))));
    assert!(forgotten(&store, 1), "the claim stands");
}

#[tokio::test]
async fn an_engine_that_did_not_recover_is_tried_again_though_nobody_asks_for_a_change() {
    let disk = Disk::default();
    let store = Store::start(Counted::over(&disk)).unwrap();
    disk.fail_at(disk.operations() + 1, Fault::Power);
    assert!(matches!(store.change(claim(1, 1, 10)).await, Err(StoreFault::Engine(_))));
    assert!(store.engine().find(&key(1), &[1; 16]).is_err());
    disk.restart(1);
    assert!(forgotten(&store, 1), "the engine stays closed");
}

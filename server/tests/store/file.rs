//! The file: opened anew, opened twice, written by a later program.

use redb::TableDefinition;
use twolane::store::{Change, Engine, EngineFault, FORMAT, Outcome, RedbEngine, Replies, State};

use crate::scenes::{claim, finish, key, purge, reply};

fn path(folder: &tempfile::TempDir) -> std::path::PathBuf {
    folder.path().join("replay.redb")
}

#[test]
fn what_was_committed_is_there_when_the_file_is_opened_anew() {
    let folder = tempfile::tempdir().unwrap();
    let engine = RedbEngine::open(&path(&folder)).unwrap();
    let more = Change::Reseal { key: key(1), reply: reply(1, 2) };
    let outcomes = engine.commit(&[claim(1, 1, 10), finish(1, 20), more]).unwrap();
    assert_eq!(outcomes, [Outcome::Done, Outcome::Done, Outcome::Done]);
    drop(engine);
    let engine = RedbEngine::open(&path(&folder)).unwrap();
    let found = engine.find(&key(1), &[1; 16]).unwrap().unwrap();
    assert_eq!(found.record.state, State::Finished { completed_at_unix_ms: 20 });
    assert_eq!(found.sealed, Some(reply(1, 1).sealed));
    assert_eq!(engine.find(&key(1), &[3; 16]).unwrap().unwrap().sealed, None);
    assert_eq!(engine.replies(&key(1)).unwrap().len(), 2);
    let counted = |known: &[[u8; 16]]| engine.count_replies(known).unwrap();
    assert_eq!(counted(&[[1; 16], [2; 16]]), Replies { requests: 1, unreadable: 0 });
    assert_eq!(counted(&[[2; 16]]), Replies { requests: 1, unreadable: 0 }, "one copy that opens is enough");
    assert_eq!(counted(&[[3; 16]]), Replies { requests: 1, unreadable: 1 });
    assert_eq!(engine.find(&key(2), &[1; 16]).unwrap(), None);
    assert_eq!(engine.mark_unix_ms().unwrap(), 10);
}

#[test]
fn a_second_process_is_told_that_the_store_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let _held = RedbEngine::open(&path(&folder)).unwrap();
    assert!(matches!(RedbEngine::open(&path(&folder)), Err(EngineFault::Locked)));
}

#[test]
fn a_file_of_a_later_program_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    drop(RedbEngine::open(&path(&folder)).unwrap());
    let later = redb::Database::open(path(&folder)).unwrap();
    let transaction = later.begin_write().unwrap();
    let meta: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
    transaction.open_table(meta).unwrap().insert("format", FORMAT + 1).unwrap();
    transaction.commit().unwrap();
    drop(later);
    let fault = RedbEngine::open(&path(&folder)).unwrap_err();
    assert!(matches!(fault, EngineFault::Newer { found, known } if (found, known) == (FORMAT + 1, FORMAT)));
}

#[test]
fn a_file_of_another_kind_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(path(&folder), b"this is a text and not a store").unwrap();
    RedbEngine::open(&path(&folder)).unwrap_err();
    assert_eq!(std::fs::read(path(&folder)).unwrap(), b"this is a text and not a store");
}

#[test]
fn seal_numbers_are_given_once_and_end_below_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let engine = RedbEngine::open(&path(&folder)).unwrap();
    let reserve = |key: u8| Change::ReserveSeals { key_id: [key; 16], count: 4, max: 11 };
    let outcomes = engine.commit(&[reserve(1), reserve(1), reserve(2), reserve(1)]).unwrap();
    let at = |first| Outcome::Reserved { first };
    assert_eq!(outcomes, [at(0), at(4), at(0), Outcome::Exhausted]);
    drop(engine);
    let engine = RedbEngine::open(&path(&folder)).unwrap();
    assert_eq!(engine.commit(&[reserve(2)]).unwrap(), [at(4)]);
}

#[test]
fn a_finished_reply_becomes_a_tombstone_and_then_nothing_each_in_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let engine = RedbEngine::open(&path(&folder)).unwrap();
    // Expires at 310, so retention counts from there.
    engine.commit(&[claim(1, 1, 10), finish(1, 20), claim(2, 2, 10)]).unwrap();
    let nothing = Outcome::Purged { retired: 0, forgotten: 0 };
    assert_eq!(engine.commit(&[purge(1310)]).unwrap(), [nothing]);
    assert_eq!(engine.commit(&[purge(1311)]).unwrap(), [Outcome::Purged { retired: 1, forgotten: 0 }]);
    let found = engine.find(&key(1), &[1; 16]).unwrap().unwrap();
    assert_eq!((found.record.state, found.sealed), (State::Retired { at_unix_ms: 1311 }, None));
    assert_eq!(found.record.binding, [1; 32]);
    assert_eq!(engine.commit(&[purge(6311)]).unwrap(), [nothing]);
    assert_eq!(engine.commit(&[purge(6312)]).unwrap(), [Outcome::Purged { retired: 0, forgotten: 1 }]);
    assert_eq!(engine.find(&key(1), &[1; 16]).unwrap(), None);
    // A claim that never ended is nobody's to let go of.
    assert!(engine.find(&key(2), &[1; 16]).unwrap().is_some());
}

#[test]
fn a_mark_only_grows_until_a_person_sets_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let engine = RedbEngine::open(&path(&folder)).unwrap();
    engine.commit(&[claim(1, 1, 900), claim(2, 2, 800)]).unwrap();
    assert_eq!(engine.mark_unix_ms().unwrap(), 900);
    engine.commit(&[Change::AcceptClock { now_unix_ms: 850 }]).unwrap();
    assert_eq!(engine.mark_unix_ms().unwrap(), 850);
}

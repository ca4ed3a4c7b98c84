//! The journal beside the tables: what it is needed for, and what is said when it is not as it was left.

use std::path::{Path, PathBuf};

use redb::{ReadableTable as _, TableDefinition};
use twolane::store::{Change, Engine, EngineFault, FORMAT, RedbEngine};

use crate::disk::Disk;
use crate::scenes::{claim, finish, key};

/// Of the disk's two files.
const JOURNAL: usize = 1;

/// Records begin at multiples of it, the first at one.
const ALIGN: usize = 64;

const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

fn tables(folder: &Path) -> PathBuf {
    folder.join("replay.redb")
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("replay.journal")
}

fn open(disk: &Disk) -> Result<RedbEngine, EngineFault> {
    let disk = disk.clone();
    RedbEngine::with_storage(move || disk.files(), 64 * 1024)
}

/// A disk on which three claims were committed when the power went.
fn interrupted() -> Disk {
    let disk = Disk::default();
    let engine = open(&disk).unwrap();
    for number in 1..4 {
        engine.commit(&[claim(number, u64::from(number), 10)]).unwrap();
    }
    std::mem::forget(engine);
    disk.restart(0);
    disk
}

fn known(engine: &RedbEngine) -> Vec<u8> {
    (1..5).filter(|number| engine.find(&key(*number), &[1; 16]).unwrap().is_some()).collect()
}

fn damage(opened: Result<RedbEngine, EngineFault>) -> String {
    match opened {
        Err(EngineFault::Damaged { what }) => what,
        opened => panic!("{opened:?}"),
    }
}

/// The folder of a store as `kill -9` leaves it, with this number claimed last.
fn killed(number: u8) -> tempfile::TempDir {
    let (running, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = RedbEngine::open(&tables(running.path())).unwrap();
    engine.commit(&[claim(number, 1, 10)]).unwrap();
    for of in [tables, journal] {
        std::fs::copy(of(running.path()), of(killed.path())).unwrap();
    }
    killed
}

#[test]
fn what_was_committed_last_is_in_the_journal_until_the_store_is_closed() {
    let folder = killed(1);
    let engine = RedbEngine::open(&tables(folder.path())).unwrap();
    assert_eq!(known(&engine), [1]);
    drop(engine);
    std::fs::remove_file(journal(folder.path())).unwrap();
    assert_eq!(known(&RedbEngine::open(&tables(folder.path())).unwrap()), [1]);
}

#[test]
fn a_store_that_was_killed_is_refused_without_its_journal() {
    let folder = killed(1);
    std::fs::remove_file(journal(folder.path())).unwrap();
    let what = damage(RedbEngine::open(&tables(folder.path())));
    assert!(what.contains("journal is not there"), "{what}");
    assert!(!journal(folder.path()).exists(), "none is made in its place");
}

#[test]
fn a_store_that_was_killed_is_refused_with_anothers_journal() {
    let (folder, other) = (killed(1), killed(2));
    std::fs::copy(journal(other.path()), journal(folder.path())).unwrap();
    let what = damage(RedbEngine::open(&tables(folder.path())));
    assert!(what.contains("belongs to another store"), "{what}");
}

#[test]
fn a_journal_that_has_commits_is_not_written_over_by_a_new_store() {
    let folder = killed(1);
    let (store, aside) = (tables(folder.path()), folder.path().join("aside"));
    std::fs::rename(&store, &aside).unwrap();
    let what = damage(RedbEngine::open(&store));
    assert!(what.contains("replay.journal and no store beside it"), "{what}");
    std::fs::rename(&aside, &store).unwrap();
    let engine = RedbEngine::open(&store).unwrap();
    assert_eq!(known(&engine), [1]);
    drop(engine);
    // Of a store that was closed it has none.
    std::fs::remove_file(&store).unwrap();
    assert!(known(&RedbEngine::open(&store).unwrap()).is_empty());
}

#[test]
fn a_record_that_was_not_written_whole_is_the_end() {
    let disk = interrupted();
    let last = record_places(&disk)[2];
    disk.edit(JOURNAL, |bytes| bytes[last + ALIGN] ^= 1);
    assert_eq!(known(&open(&disk).unwrap()), [1, 2]);
}

#[test]
fn a_damaged_record_with_others_behind_it_is_not_the_end() {
    let disk = interrupted();
    let second = record_places(&disk)[1];
    disk.edit(JOURNAL, |bytes| bytes[second + ALIGN] ^= 1);
    let what = damage(open(&disk));
    assert_eq!(what, "commit 2 of its journal cannot be read, commit 3 can");
}

/// Where the records are: each of these begins with a checksum and has its number behind.
fn record_places(disk: &Disk) -> Vec<usize> {
    let mut places = Vec::new();
    disk.edit(JOURNAL, |bytes| {
        let number = |at: usize| u64::from_le_bytes(bytes[at + 8..at + 16].try_into().unwrap());
        let mut at = ALIGN;
        while number(at) == places.len() as u64 + 1 {
            places.push(at);
            let length = u32::from_le_bytes(bytes[at + 16..at + 20].try_into().unwrap());
            at = (at + 24 + length as usize).next_multiple_of(ALIGN);
        }
    });
    assert_eq!(places.len(), 3);
    places
}

#[test]
fn a_store_of_the_first_format_is_read_and_becomes_one_of_this() {
    let folder = tempfile::tempdir().unwrap();
    let path = tables(folder.path());
    let engine = RedbEngine::open(&path).unwrap();
    engine.commit(&[claim(1, 1, 10), finish(1, 20)]).unwrap();
    drop(engine);
    let set = |set: &dyn Fn(&mut redb::Table<'_, &'static str, u64>)| {
        let database = redb::Database::open(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        set(&mut transaction.open_table(META).unwrap());
        transaction.commit().unwrap();
    };
    set(&|meta| {
        meta.insert("format", 1).unwrap();
        meta.remove("journal").unwrap();
        meta.remove("commits").unwrap();
    });
    let engine = RedbEngine::open(&path).unwrap();
    assert_eq!(known(&engine), [1]);
    engine.commit(&[claim(2, 2, 10)]).unwrap();
    drop(engine);
    set(&|meta| assert_eq!(meta.get("format").unwrap().unwrap().value(), FORMAT));
    assert_eq!(known(&RedbEngine::open(&path).unwrap()), [1, 2]);
}

#[test]
fn a_commit_longer_than_the_journal_goes_into_the_tables() {
    let disk = Disk::default();
    let engine = open(&disk).unwrap();
    let reply = twolane::store::Reply { key_id: [1; 16], sealed: vec![7; 100_000] };
    let finish = Change::Finish { key: key(1), reply: reply.clone(), completed_at_unix_ms: 20 };
    engine.commit(&[claim(1, 1, 10)]).unwrap();
    engine.commit(&[finish]).unwrap();
    engine.commit(&[claim(2, 2, 30)]).unwrap();
    std::mem::forget(engine);
    disk.restart(0);
    let engine = open(&disk).unwrap();
    assert_eq!(known(&engine), [1, 2]);
    assert_eq!(engine.replies(&key(1)).unwrap(), [(reply.key_id, reply.sealed)]);
}

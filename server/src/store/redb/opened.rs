//! An open store: tables and journal as one.
//!
//! A commit is applied to the tables without waiting for the disk, becomes durable in the journal, and is seen after
//! that. Where the journal is full, the tables themselves are made durable, with all that was committed before, and the
//! journal begins anew.

use std::sync::{Mutex, PoisonError};

use redb::{Database, Durability, ReadableDatabase as _, ReadableTable, WriteTransaction};

use super::super::change::{Change, Outcome};
use super::super::engine::EngineFault;
use super::journal::{self, Journal};
use super::place::Place;
use super::tables::{self, COMMITS_KEY, FORMAT_KEY, JOURNAL_KEY, META};
use super::{FORMAT, apply, disk, failed_before, fault};
use crate::stop_points::{self, Point};

/// Tables and journal.
pub(super) struct Opened {
    pub(super) database: Database,
    /// `None` where the disk is full: what the journal has is in memory, to be read.
    journal: Option<Mutex<Journal>>,
}

/// What the tables say of the store.
struct About {
    /// The journal to which commits go behind these tables; 0 where there is none.
    journal: u64,
    /// The number of the last commit in the tables.
    commits: u64,
}

impl Opened {
    /// Opens both, and brings the tables to where the journal is. On a full disk they are only read.
    pub(super) fn open(place: &dyn Place) -> Result<Self, EngineFault> {
        match Self::open_to_write(place) {
            Err(EngineFault::Full) => Self::open_to_read(place),
            opened => opened,
        }
    }

    fn open_to_write(place: &dyn Place) -> Result<Self, EngineFault> {
        let database = place.tables().map_err(fault)?;
        let about = about(&database)?;
        let storage = place.journal(about.journal == 0).map_err(disk)?;
        let journal = if about.journal == 0 {
            let id = fresh_id()?;
            let journal = Journal::make(storage, id, place.journal_bytes(), about.commits).map_err(disk)?;
            stop_points::pass(Point::JournalMade);
            make_durable(&database, &[], &journal)?;
            stop_points::pass(Point::JournalBegun);
            journal
        } else {
            let (mut journal, commits) = Journal::open(storage, about.journal, about.commits)?;
            stop_points::pass(Point::JournalRead);
            make_durable(&database, &commits, &journal)?;
            stop_points::pass(Point::JournalCaughtUp);
            journal.rewind();
            journal
        };
        Ok(Self { database, journal: Some(Mutex::new(journal)) })
    }

    fn open_to_read(place: &dyn Place) -> Result<Self, EngineFault> {
        let database = place.tables_in_memory().map_err(fault)?;
        let about = about(&database)?;
        if about.journal != 0 {
            let storage = place.journal(false).map_err(disk)?;
            let (journal, commits) = Journal::open(storage, about.journal, about.commits)?;
            make_durable(&database, &commits, &journal)?;
        }
        Ok(Self { database, journal: None })
    }

    /// Whether commits are refused because the disk was full.
    pub(super) const fn is_read_only(&self) -> bool {
        self.journal.is_none()
    }

    /// Applies changes, all or none, and returns once they are durable.
    pub(super) fn commit(&self, changes: &[Change]) -> Result<Vec<Outcome>, EngineFault> {
        let Some(journal) = &self.journal else { return Err(EngineFault::Full) };
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        if journal.has_failed() {
            return Err(failed_before());
        }
        let record = journal::encoded(changes)?;
        let mut transaction = self.database.begin_write().map_err(fault)?;
        if journal.has_room(&record) {
            transaction.set_durability(Durability::None).map_err(fault)?;
            let outcomes = apply::all(&transaction, changes)?;
            put(&transaction, COMMITS_KEY, journal.number() + 1)?;
            stop_points::applied(changes);
            journal.append(record)?;
            stop_points::durable(changes);
            transaction.commit().map_err(fault).inspect_err(|_| journal.fail())?;
            stop_points::pass(Point::CommitSeen);
            return Ok(outcomes);
        }
        durable(&mut transaction)?;
        let outcomes = apply::all(&transaction, changes)?;
        stop_points::applied(changes);
        stop_points::pass(Point::TablesAsked);
        transaction.commit().map_err(fault).inspect_err(|_| journal.fail())?;
        stop_points::durable(changes);
        stop_points::pass(Point::TablesDurable);
        journal.rewind();
        Ok(outcomes)
    }

    /// Makes the tables durable and has no journal behind them.
    pub(super) fn close(self) -> Result<(), EngineFault> {
        let Some(journal) = self.journal else { return Ok(()) };
        let journal = journal.into_inner().unwrap_or_else(PoisonError::into_inner);
        if journal.has_failed() {
            return Ok(());
        }
        let mut transaction = self.database.begin_write().map_err(fault)?;
        durable(&mut transaction)?;
        put(&transaction, JOURNAL_KEY, 0)?;
        stop_points::pass(Point::CloseAsked);
        transaction.commit().map_err(fault)?;
        stop_points::pass(Point::Closed);
        journal.close();
        Ok(())
    }
}

/// Durable, and open again within milliseconds after a crash.
fn durable(transaction: &mut WriteTransaction) -> Result<(), EngineFault> {
    transaction.set_durability(Durability::Immediate).map_err(fault)?;
    transaction.set_quick_repair(true);
    Ok(())
}

fn put(transaction: &WriteTransaction, key: &str, value: u64) -> Result<(), EngineFault> {
    transaction.open_table(META).map_err(fault)?.insert(key, value).map_err(fault)?;
    Ok(())
}

/// Brings the tables to the journal's last commit, for good.
fn make_durable(database: &Database, commits: &[Vec<Change>], journal: &Journal) -> Result<(), EngineFault> {
    let mut transaction = database.begin_write().map_err(fault)?;
    durable(&mut transaction)?;
    for changes in commits {
        apply::all(&transaction, changes)?;
    }
    put(&transaction, FORMAT_KEY, FORMAT)?;
    put(&transaction, JOURNAL_KEY, journal.id())?;
    put(&transaction, COMMITS_KEY, journal.number())?;
    transaction.commit().map_err(fault)
}

/// Makes the tables of a new file; refuses a newer format.
pub(super) fn make(database: &Database) -> Result<(), EngineFault> {
    let mut transaction = database.begin_write().map_err(fault)?;
    durable(&mut transaction)?;
    if format(&transaction.open_table(META).map_err(fault)?)?.is_some() {
        return transaction.abort().map_err(fault);
    }
    put(&transaction, FORMAT_KEY, FORMAT)?;
    tables::make(&transaction)?;
    transaction.commit().map_err(fault)
}

fn about(database: &Database) -> Result<About, EngineFault> {
    let transaction = database.begin_read().map_err(fault)?;
    let meta = match transaction.open_table(META) {
        Err(redb::TableError::TableDoesNotExist(_)) => return Err(no_store()),
        meta => meta.map_err(fault)?,
    };
    if format(&meta)?.is_none() {
        return Err(no_store());
    }
    let number = |key| Ok(meta.get(key).map_err(fault)?.map_or(0, |number| number.value()));
    Ok(About { journal: number(JOURNAL_KEY)?, commits: number(COMMITS_KEY)? })
}

fn no_store() -> EngineFault {
    EngineFault::Damaged { what: "it has no format".to_owned() }
}

/// The format of a file, which must be one that is known.
fn format(meta: &impl ReadableTable<&'static str, u64>) -> Result<Option<u64>, EngineFault> {
    match meta.get(FORMAT_KEY).map_err(fault)?.map(|format| format.value()) {
        Some(found) if found > FORMAT => Err(EngineFault::Newer { found, known: FORMAT }),
        format => Ok(format),
    }
}

/// Not 0, which stands for none.
fn fresh_id() -> Result<u64, EngineFault> {
    getrandom::u64().map(|id| id.max(1)).map_err(|fault| EngineFault::Disk(Box::new(fault)))
}

//! The embedded engine: the tables in one redb file, and a journal beside it.
//!
//! | file | what |
//! |---|---|
//! | `tables` | the tables and their keys |
//! | `apply` | what a change does to them |
//! | `journal` | what makes a commit durable with one write |
//! | `opened` | both together: opened, caught up, committed to |
//! | `place` | where the bytes are: in files, or in whatever a test has |
//! | `layered` | a store on a full disk, read all the same |
//! | `whole` | all of a store at once: checked, copied |

mod apply;
mod journal;
mod layered;
mod opened;
mod place;
mod tables;
mod whole;

use std::fmt::Debug;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use redb::{ReadTransaction, ReadableDatabase as _, ReadableTable as _, StorageBackend};

use super::change::{Change, Outcome};
use super::engine::{Engine, EngineFault, Found, Listed, Replies};
use super::record::{KeyId, RequestKey};
use opened::Opened;
use place::{Files, Place, Storage};
use tables::{MARK_KEY, META, RECORDS, REPLIES};

pub use whole::Checked;

/// The format that this program writes, and the latest that it reads.
pub const FORMAT: u64 = 2;

/// A redb file and its journal, or whatever stands in for them in a test.
pub struct RedbEngine {
    place: Box<dyn Place>,
    /// `None` after a fault of the disk, until it is opened anew.
    opened: RwLock<Option<Opened>>,
}

impl Debug for RedbEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedbEngine").finish_non_exhaustive()
    }
}

impl RedbEngine {
    /// Opens the file at `path` and the journal beside it, made where there is none.
    pub fn open(path: &Path) -> Result<Self, EngineFault> {
        let files = Files::at(path);
        if !path.try_exists().map_err(disk)? {
            files.make()?;
        }
        Self::over(files)
    }

    /// Opens what `storage` gives each time that it has to be opened: the tables' and the journal's, of so many bytes.
    pub fn with_storage<S: StorageBackend>(
        storage: impl Fn() -> (S, S) + Send + Sync + 'static,
        journal_bytes: usize,
    ) -> Result<Self, EngineFault> {
        Self::over(Storage { storage, journal_bytes })
    }

    fn over(place: impl Place + 'static) -> Result<Self, EngineFault> {
        let opened = Opened::open(&place)?;
        Ok(Self { place: Box::new(place), opened: RwLock::new(Some(opened)) })
    }

    fn opened(&self) -> RwLockReadGuard<'_, Option<Opened>> {
        self.opened.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(
        &self,
        look: impl FnOnce(&ReadTransaction) -> Result<T, EngineFault>,
    ) -> Result<T, EngineFault> {
        let opened = self.opened();
        let transaction = opened.as_ref().ok_or_else(failed_before)?.database.begin_read().map_err(fault)?;
        drop(opened);
        look(&transaction)
    }
}

/// What is in the journal goes into the tables, so that a store that was closed is one file.
impl Drop for RedbEngine {
    fn drop(&mut self) {
        if let Some(opened) = self.opened.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // What fails is still in the journal.
            let _ = opened.close();
        }
    }
}

impl Engine for RedbEngine {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Outcome>, EngineFault> {
        if self.opened().as_ref().ok_or_else(failed_before)?.is_read_only() {
            self.recover()?;
        }
        self.opened().as_ref().ok_or_else(failed_before)?.commit(changes)
    }

    fn recover(&self) -> Result<(), EngineFault> {
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        // The file is locked by the one that failed, so that one goes first.
        drop(opened.take());
        *opened = Some(Opened::open(&*self.place)?);
        Ok(())
    }

    fn find(&self, key: &RequestKey, key_id: &KeyId) -> Result<Option<Found>, EngineFault> {
        self.read(|transaction| {
            let records = transaction.open_table(RECORDS).map_err(fault)?;
            let Some(bytes) = records.get(tables::record_key(key)).map_err(fault)? else { return Ok(None) };
            let record = tables::record(bytes.value())?;
            let replies = transaction.open_table(REPLIES).map_err(fault)?;
            let sealed = replies.get(tables::reply_key(key, key_id)).map_err(fault)?;
            Ok(Some(Found { record, sealed: sealed.map(|sealed| sealed.value().to_vec()) }))
        })
    }

    fn replies(&self, key: &RequestKey) -> Result<Vec<(KeyId, Vec<u8>)>, EngineFault> {
        self.read(|transaction| {
            let replies = transaction.open_table(REPLIES).map_err(fault)?;
            let of_request = replies.range(tables::reply_range(key)).map_err(fault)?;
            of_request
                .map(|entry| {
                    let (at, sealed) = entry.map_err(fault)?;
                    Ok((*at.value().2, sealed.value().to_vec()))
                })
                .collect()
        })
    }

    fn list(&self, after: Option<&RequestKey>, limit: usize) -> Result<Vec<Listed>, EngineFault> {
        use std::ops::Bound::{Excluded, Unbounded};
        self.read(|transaction| {
            let records = transaction.open_table(RECORDS).map_err(fault)?;
            let from = after.map_or(Unbounded, |key| Excluded(tables::record_key(key)));
            let entries = records.range::<(&str, &str)>((from, Unbounded)).map_err(fault)?;
            entries
                .take(limit)
                .map(|entry| {
                    let (at, bytes) = entry.map_err(fault)?;
                    let (caller, request_id) = at.value();
                    let key = RequestKey { caller: caller.to_owned(), request_id: request_id.to_owned() };
                    Ok((key, tables::record(bytes.value())?))
                })
                .collect()
        })
    }

    fn count_replies(&self, known: &[KeyId]) -> Result<Replies, EngineFault> {
        self.read(|transaction| {
            let replies = transaction.open_table(REPLIES).map_err(fault)?;
            let mut counted = Replies::default();
            // Replies of one request stand together: whether it opens is known behind its last.
            let mut last: Option<(String, String)> = None;
            let mut opens = true;
            for entry in replies.iter().map_err(fault)? {
                let (at, _) = entry.map_err(fault)?;
                let (caller, request_id, key_id) = at.value();
                if last.as_ref().is_none_or(|last| (last.0.as_str(), last.1.as_str()) != (caller, request_id))
                {
                    counted.requests += 1;
                    counted.unreadable += u64::from(!opens);
                    last = Some((caller.to_owned(), request_id.to_owned()));
                    opens = false;
                }
                opens |= known.contains(key_id);
            }
            counted.unreadable += u64::from(!opens);
            Ok(counted)
        })
    }

    fn mark_unix_ms(&self) -> Result<u64, EngineFault> {
        self.read(|transaction| {
            let meta = transaction.open_table(META).map_err(fault)?;
            Ok(meta.get(MARK_KEY).map_err(fault)?.map_or(0, |mark| mark.value()))
        })
    }
}

fn failed_before() -> EngineFault {
    EngineFault::Disk("it failed before and was not opened anew".into())
}

/// A fault of the library as one of ours.
fn fault(fault: impl Into<redb::Error>) -> EngineFault {
    match fault.into() {
        redb::Error::DatabaseAlreadyOpen => EngineFault::Locked,
        redb::Error::Io(fault) if fault.kind() == std::io::ErrorKind::StorageFull => EngineFault::Full,
        redb::Error::Corrupted(what) => EngineFault::Damaged { what },
        fault => EngineFault::Disk(Box::new(fault)),
    }
}

fn disk(fault: std::io::Error) -> EngineFault {
    self::fault(redb::Error::Io(fault))
}

//! The embedded engine: one redb file.

mod apply;
mod tables;

use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use redb::backends::FileBackend;
use redb::{
    Builder, Database, DatabaseError, Durability, ReadTransaction, ReadableDatabase as _, ReadableTable as _,
    StorageBackend, WriteTransaction,
};

use super::change::{Change, Outcome};
use super::engine::{Engine, EngineFault, Found, Listed};
use super::record::{KeyId, RequestKey};
use tables::{FORMAT_KEY, MARK_KEY, META, RECORDS, REPLIES};

/// The format that this program writes, and the latest that it reads.
pub const FORMAT: u64 = 1;

/// Bytes of pages that the engine keeps in memory.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// A redb file, or whatever stands in for one in a test.
pub struct RedbEngine {
    open: Box<dyn Fn() -> Result<Database, DatabaseError> + Send + Sync>,
    /// `None` after a fault of the disk, until it is opened anew.
    database: RwLock<Option<Database>>,
}

impl Debug for RedbEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedbEngine").finish_non_exhaustive()
    }
}

impl RedbEngine {
    /// Opens the file at `path`, made where there is none.
    pub fn open(path: &Path) -> Result<Self, EngineFault> {
        if !path.try_exists().map_err(disk)? {
            make(path)?;
        }
        let path = PathBuf::from(path);
        Self::over(move || builder().open(&path))
    }

    /// Opens what `storage` gives, each time that it has to be opened.
    pub fn with_storage<S: StorageBackend>(
        storage: impl Fn() -> S + Send + Sync + 'static,
    ) -> Result<Self, EngineFault> {
        Self::over(move || builder().create_with_backend(storage()))
    }

    fn over(
        open: impl Fn() -> Result<Database, DatabaseError> + Send + Sync + 'static,
    ) -> Result<Self, EngineFault> {
        let database = prepared(open().map_err(fault)?)?;
        Ok(Self { open: Box::new(open), database: RwLock::new(Some(database)) })
    }

    fn database(&self) -> Result<Guard<'_>, EngineFault> {
        let guard = self.database.read().unwrap_or_else(PoisonError::into_inner);
        if guard.is_none() {
            return Err(EngineFault::Disk("it failed before and was not opened anew".into()));
        }
        Ok(Guard(guard))
    }

    fn read<T>(
        &self,
        look: impl FnOnce(&ReadTransaction) -> Result<T, EngineFault>,
    ) -> Result<T, EngineFault> {
        let transaction = self.database()?.begin_read().map_err(fault)?;
        look(&transaction)
    }
}

/// A database that is there.
struct Guard<'a>(RwLockReadGuard<'a, Option<Database>>);

impl Guard<'_> {
    fn begin_read(&self) -> Result<ReadTransaction, redb::Error> {
        self.0.as_ref().map_or(Err(redb::Error::DatabaseClosed), |database| Ok(database.begin_read()?))
    }

    fn begin_write(&self) -> Result<WriteTransaction, redb::Error> {
        self.0.as_ref().map_or(Err(redb::Error::DatabaseClosed), |database| Ok(database.begin_write()?))
    }
}

/// Makes a store beside its place and puts it there whole: a crash in between must not leave half a file, which the
/// engine would refuse for ever.
fn make(path: &Path) -> Result<(), EngineFault> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unfinished = tempfile::Builder::new().prefix(".store-").tempfile_in(folder).map_err(disk)?;
    let file = FileBackend::new(unfinished.reopen().map_err(disk)?).map_err(fault)?;
    drop(prepared(builder().create_with_backend(file).map_err(fault)?)?);
    unfinished.as_file().sync_all().map_err(disk)?;
    // Where another process was faster, its file stays.
    match unfinished.persist_noclobber(path) {
        Err(fault) if fault.error.kind() != std::io::ErrorKind::AlreadyExists => Err(disk(fault.error)),
        _ => File::open(folder).and_then(|folder| folder.sync_all()).map_err(disk),
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// Durable, and open again within milliseconds after a crash, at a sixth of the speed.
fn durable(transaction: &mut WriteTransaction) -> Result<(), EngineFault> {
    transaction.set_durability(Durability::Immediate).map_err(fault)?;
    transaction.set_quick_repair(true);
    Ok(())
}

/// Refuses a newer format; makes the tables of a new file.
fn prepared(database: Database) -> Result<Database, EngineFault> {
    let mut transaction = database.begin_write().map_err(fault)?;
    durable(&mut transaction)?;
    {
        let mut meta = transaction.open_table(META).map_err(fault)?;
        let found = meta.get(FORMAT_KEY).map_err(fault)?.map(|format| format.value());
        match found {
            Some(found) if found > FORMAT => return Err(EngineFault::Newer { found, known: FORMAT }),
            Some(_) => return Ok(database),
            None => meta.insert(FORMAT_KEY, FORMAT).map_err(fault)?,
        };
        tables::make(&transaction)?;
    }
    transaction.commit().map_err(fault)?;
    Ok(database)
}

impl Engine for RedbEngine {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Outcome>, EngineFault> {
        let mut transaction = self.database()?.begin_write().map_err(fault)?;
        durable(&mut transaction)?;
        let outcomes = apply::all(&transaction, changes)?;
        transaction.commit().map_err(fault)?;
        Ok(outcomes)
    }

    fn recover(&self) -> Result<(), EngineFault> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        // The file is locked by the one that failed, so that one goes first.
        drop(database.take());
        *database = Some(prepared((self.open)().map_err(fault)?)?);
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

    fn count_replies(&self) -> Result<Vec<(KeyId, u64)>, EngineFault> {
        let mut counts = std::collections::BTreeMap::new();
        self.read(|transaction| {
            let replies = transaction.open_table(REPLIES).map_err(fault)?;
            for entry in replies.iter().map_err(fault)? {
                let (at, _) = entry.map_err(fault)?;
                *counts.entry(*at.value().2).or_insert(0) += 1;
            }
            Ok(())
        })?;
        Ok(counts.into_iter().collect())
    }

    fn mark_unix_ms(&self) -> Result<u64, EngineFault> {
        self.read(|transaction| {
            let meta = transaction.open_table(META).map_err(fault)?;
            Ok(meta.get(MARK_KEY).map_err(fault)?.map_or(0, |mark| mark.value()))
        })
    }
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

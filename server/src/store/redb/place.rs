//! Where a store's bytes are.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use redb::backends::{FileBackend, InMemoryBackend};
use redb::{Builder, Database, DatabaseError, StorageBackend};

use super::super::engine::EngineFault;
use super::layered::Layered;
use super::{disk, fault, journal, opened};
use crate::stop_points::{self, Point};

/// Bytes of pages that the engine keeps in memory.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of the journal: some thousand turns, which are caught up with within a second.
/// Where tests let the process die it is so short that a scenario fills it.
const JOURNAL_BYTES: usize = if cfg!(feature = "stop-points") { 4096 } else { 32 * 1024 * 1024 };

/// Where tables and journal are opened.
pub(super) trait Place: Send + Sync {
    /// The tables, to be written.
    fn tables(&self) -> Result<Database, DatabaseError>;

    /// The same, with all that is written kept in memory.
    fn tables_in_memory(&self) -> Result<Database, DatabaseError>;

    /// The journal's bytes; none where there is none and `make` says that there may be.
    fn journal(&self, make: bool) -> io::Result<Box<dyn StorageBackend>>;

    /// How long a journal is made.
    fn journal_bytes(&self) -> usize;
}

/// Two files.
pub(super) struct Files {
    tables: PathBuf,
    journal: PathBuf,
}

impl Files {
    /// The journal is beside the tables, with an ending of its own.
    pub(super) fn at(tables: &Path) -> Self {
        Self { tables: tables.to_owned(), journal: tables.with_extension("journal") }
    }

    /// Makes empty tables. Beside a journal that has commits of others they would forget those.
    pub(super) fn make(&self) -> Result<(), EngineFault> {
        let mut front = [0; 64];
        let read = File::open(&self.journal).and_then(|mut file| file.read(&mut front)).unwrap_or(0);
        if journal::is_open(&front[..read]) {
            let what = format!(
                "there is {} and no store beside it: bring that back, or take the journal away if its requests may run again",
                self.journal.display()
            );
            return Err(EngineFault::Damaged { what });
        }
        let made = put_in_place(&self.tables, |file| {
            let file = FileBackend::new(file).map_err(fault)?;
            opened::make(&builder().create_with_backend(file).map_err(fault)?)
        });
        match made {
            // Where another process was faster, its file stays.
            Err(EngineFault::Exists) => Ok(()),
            made => made,
        }
    }
}

/// Makes a file beside its place and puts it there whole: a crash in between must not leave half of one, which the
/// engine would refuse for ever.
pub(super) fn put_in_place(
    path: &Path,
    write: impl FnOnce(File) -> Result<(), EngineFault>,
) -> Result<(), EngineFault> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unfinished = tempfile::Builder::new().prefix(".store-").tempfile_in(folder).map_err(disk)?;
    write(unfinished.reopen().map_err(disk)?)?;
    unfinished.as_file().sync_all().map_err(disk)?;
    stop_points::pass(Point::StoreMade);
    let placed = unfinished.persist_noclobber(path);
    stop_points::pass(Point::StorePlaced);
    match placed {
        Err(fault) if fault.error.kind() == io::ErrorKind::AlreadyExists => Err(EngineFault::Exists),
        Err(fault) => Err(disk(fault.error)),
        Ok(_) => File::open(folder).and_then(|folder| folder.sync_all()).map_err(disk),
    }
}

impl Place for Files {
    fn tables(&self) -> Result<Database, DatabaseError> {
        builder().open(&self.tables)
    }

    fn tables_in_memory(&self) -> Result<Database, DatabaseError> {
        let file = OpenOptions::new().read(true).write(true).open(&self.tables).map_err(storage)?;
        builder().create_with_backend(Layered::new(FileBackend::new(file)?).map_err(storage)?)
    }

    fn journal(&self, make: bool) -> io::Result<Box<dyn StorageBackend>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(make).truncate(false).mode(0o600);
        let file = match options.open(&self.journal) {
            // Refused as one that is not there.
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                return Ok(Box::new(InMemoryBackend::new()));
            }
            file => file?,
        };
        // The folder is as durable as what is in it; with the tables' own lock nobody else has the file.
        if let Some(folder) = self.journal.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
    }

    fn journal_bytes(&self) -> usize {
        JOURNAL_BYTES
    }
}

/// What a test has instead: the tables' storage and the journal's.
pub(super) struct Storage<F> {
    pub(super) storage: F,
    pub(super) journal_bytes: usize,
}

impl<S: StorageBackend, F: Fn() -> (S, S) + Send + Sync> Place for Storage<F> {
    fn tables(&self) -> Result<Database, DatabaseError> {
        let (tables, _) = (self.storage)();
        let is_new = tables.len().map_err(storage)? == 0;
        let database = builder().create_with_backend(tables)?;
        if is_new {
            opened::make(&database).map_err(|fault| storage(io::Error::other(fault)))?;
        }
        Ok(database)
    }

    fn tables_in_memory(&self) -> Result<Database, DatabaseError> {
        let (tables, _) = (self.storage)();
        builder().create_with_backend(Layered::new(tables).map_err(storage)?)
    }

    fn journal(&self, _: bool) -> io::Result<Box<dyn StorageBackend>> {
        let (_, journal) = (self.storage)();
        Ok(Box::new(journal))
    }

    fn journal_bytes(&self) -> usize {
        self.journal_bytes
    }
}

pub(super) fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

fn storage(fault: io::Error) -> DatabaseError {
    DatabaseError::Storage(redb::StorageError::Io(fault))
}

//! The journal: what was committed since the tables were last made durable, in one file that is written in a circle.
//!
//! It has its full length from the start, so that a record becomes durable with one write that changes no length. A
//! record is 24 bytes of head and the changes of one commit, at a multiple of 64 bytes:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | XXH3 of all that follows, seeded with the journal's id, which nobody outside knows |
//! | 8 | number of the commit |
//! | 4 | length of the changes |
//! | 4 | the lower half of XXH3 of number and length, seeded alike: what is no record is told by its head |
//! | | the changes, by postcard |

use std::borrow::Cow;
use std::io;

use redb::StorageBackend;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::super::change::Change;
use super::super::engine::EngineFault;
use super::disk;
use crate::stop_points::{self, Point};

/// What a journal begins with; its id follows.
const FRONT: &[u8; 24] = b"twolane store journal 1\n";

/// What it begins with once its store was closed: it holds nothing.
const CLOSED: &[u8; 24] = b"twolane store journal -\n";

const HEAD_BYTES: usize = 24;

/// Records begin at multiples of it; the front takes the first.
const ALIGN: usize = 64;

/// Zeros that are written at once into a new file.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Changes in a record: the variant's number is the version of what follows.
#[derive(Serialize, Deserialize)]
enum Journaled<'a> {
    V1(Cow<'a, [Change]>),
}

/// One journal, open for writing.
#[derive(Debug)]
pub(super) struct Journal {
    storage: Box<dyn StorageBackend>,
    id: u64,
    bytes: usize,
    /// Where the next record goes.
    at: usize,
    /// The number of the last commit.
    number: u64,
    /// A write failed, and nobody knows what is in the file.
    failed: bool,
}

/// The changes of one commit as they go into the journal, without head.
pub(super) fn encoded(changes: &[Change]) -> Result<Vec<u8>, EngineFault> {
    postcard::to_io(&Journaled::V1(Cow::Borrowed(changes)), vec![0; HEAD_BYTES])
        .map_err(|fault| EngineFault::Disk(Box::new(fault)))
}

impl Journal {
    /// An empty journal of `bytes` under a new id, behind commit `number`; what is in the file means nothing then.
    pub(super) fn make(
        storage: Box<dyn StorageBackend>,
        id: u64,
        bytes: usize,
        number: u64,
    ) -> io::Result<Self> {
        if !is_made(&*storage, bytes)? {
            storage.set_len(bytes as u64)?;
            let zeros = vec![0; CHUNK_BYTES.min(bytes)];
            for at in (0..bytes).step_by(CHUNK_BYTES) {
                storage.write(at as u64, &zeros[..CHUNK_BYTES.min(bytes - at)])?;
            }
            storage.sync_data()?;
        }
        storage.write(0, &front(id))?;
        storage.sync_data()?;
        Ok(Self { storage, id, bytes, at: ALIGN, number, failed: false })
    }

    /// Opens the journal `id`, and gives the commits in it behind commit `number`.
    pub(super) fn open(
        storage: Box<dyn StorageBackend>,
        id: u64,
        number: u64,
    ) -> Result<(Self, Vec<Vec<Change>>), EngineFault> {
        let bytes = usize::try_from(storage.len().map_err(disk)?).map_err(|_| elsewhere())?;
        // Its front first: a file of another kind may be of any length.
        let mut found = [0; FRONT.len() + 8];
        if bytes >= ALIGN {
            storage.read(0, &mut found).map_err(disk)?;
        }
        if found[..] != front(id)[..] {
            return Err(elsewhere());
        }
        let mut file = vec![0; bytes];
        storage.read(0, &mut file).map_err(disk)?;
        let mut journal = Self { storage, id, bytes, at: ALIGN, number, failed: false };
        let mut commits = Vec::new();
        while let Some((found, changes)) = journal.record(&file, journal.at) {
            // What is older is in the tables.
            if found == journal.number + 1 {
                commits.push(decoded(found, changes)?);
                journal.number = found;
            }
            journal.at = aligned(journal.at + HEAD_BYTES + changes.len());
        }
        journal.nothing_behind(&file)?;
        Ok((journal, commits))
    }

    /// A record that cannot be read is the last, which was being written. With a later one it is damage: what was
    /// answered would be forgotten.
    fn nothing_behind(&self, file: &[u8]) -> Result<(), EngineFault> {
        let places = (ALIGN..self.bytes).step_by(ALIGN);
        let later = places.filter_map(|at| self.record(file, at)).find(|(found, _)| *found > self.number);
        match later {
            None => Ok(()),
            Some((found, _)) => Err(EngineFault::Damaged {
                what: format!("commit {} of its journal cannot be read, commit {found} can", self.number + 1),
            }),
        }
    }

    /// The number and the changes of the record at a place, if there is one.
    fn record<'f>(&self, file: &'f [u8], at: usize) -> Option<(u64, &'f [u8])> {
        let head: &[u8; HEAD_BYTES] = file.get(at..)?.first_chunk()?;
        let (sum, rest) = head.split_first_chunk::<8>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let (length, head_sum) = rest.split_first_chunk::<4>()?;
        let (number, length) = (u64::from_le_bytes(*number), u32::from_le_bytes(*length));
        if length == 0 || self.head_sum(number, length) != head_sum {
            return None;
        }
        let length = usize::try_from(length).ok()?;
        let changes = file.get(at + HEAD_BYTES..)?.get(..length)?;
        let summed = file.get(at + 8..at + HEAD_BYTES + length)?;
        let is_whole = XxHash3_64::oneshot_with_seed(self.id, summed) == u64::from_le_bytes(*sum);
        is_whole.then_some((number, changes))
    }

    fn head_sum(&self, number: u64, length: u32) -> [u8; 4] {
        let head = [&number.to_le_bytes()[..], &length.to_le_bytes()].concat();
        let [a, b, c, d, ..] = XxHash3_64::oneshot_with_seed(self.id, &head).to_le_bytes();
        [a, b, c, d]
    }

    pub(super) const fn id(&self) -> u64 {
        self.id
    }

    /// The number of the last commit.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Whether a record that was [`encoded`] has its place before the end.
    pub(super) fn has_room(&self, record: &[u8]) -> bool {
        !self.failed
            && self.bytes.saturating_sub(self.at) >= record.len()
            && u32::try_from(record.len()).is_ok()
    }

    /// Makes one more commit durable. There must be room for it.
    pub(super) fn append(&mut self, mut record: Vec<u8>) -> Result<(), EngineFault> {
        let length =
            u32::try_from(record.len() - HEAD_BYTES).map_err(|fault| EngineFault::Disk(fault.into()))?;
        record[8..16].copy_from_slice(&(self.number + 1).to_le_bytes());
        record[16..20].copy_from_slice(&length.to_le_bytes());
        record[20..24].copy_from_slice(&self.head_sum(self.number + 1, length));
        let sum = XxHash3_64::oneshot_with_seed(self.id, &record[8..]);
        record[..8].copy_from_slice(&sum.to_le_bytes());
        // Until it is known to be there.
        self.failed = true;
        self.storage.write(self.at as u64, &record).map_err(disk)?;
        stop_points::pass(Point::RecordWritten);
        self.storage.sync_data().map_err(disk)?;
        self.failed = false;
        self.number += 1;
        self.at = aligned(self.at + record.len());
        Ok(())
    }

    /// The tables have everything: the next record goes to the front.
    pub(super) fn rewind(&mut self) {
        self.at = ALIGN;
    }

    /// The tables have everything for good: nothing in it counts any more. Where that cannot be written it is told
    /// from the tables.
    pub(super) fn close(&self) {
        let _ = self.storage.write(0, CLOSED);
    }

    /// Nobody knows whether the last commit is in the tables.
    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    /// Whether a write failed: the store has to be opened anew.
    pub(super) const fn has_failed(&self) -> bool {
        self.failed
    }
}

/// Whether the file has its whole length, all of it written once: only then it has a front.
fn is_made(storage: &dyn StorageBackend, bytes: usize) -> io::Result<bool> {
    if storage.len()? != bytes as u64 || bytes < ALIGN {
        return Ok(false);
    }
    let mut front = [0; FRONT.len()];
    storage.read(0, &mut front)?;
    Ok(front == *FRONT || front == *CLOSED)
}

/// Whether a file that begins like this is a journal whose store was not closed.
pub(super) fn is_open(front: &[u8]) -> bool {
    front.starts_with(FRONT)
}

fn front(id: u64) -> Vec<u8> {
    [&FRONT[..], &id.to_le_bytes()].concat()
}

const fn aligned(at: usize) -> usize {
    at.next_multiple_of(ALIGN)
}

fn decoded(number: u64, changes: &[u8]) -> Result<Vec<Change>, EngineFault> {
    match postcard::take_from_bytes(changes) {
        Ok((Journaled::V1(changes), [])) => Ok(changes.into_owned()),
        _ => Err(EngineFault::Damaged { what: format!("commit {number} of its journal is of no version") }),
    }
}

/// What was committed last would be forgotten with it.
fn elsewhere() -> EngineFault {
    let what =
        "its journal is not there, or belongs to another store: bring the file beside it back as it was";
    EngineFault::Damaged { what: what.to_owned() }
}

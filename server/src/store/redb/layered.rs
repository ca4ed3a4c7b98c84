//! What is written stays in memory, over a file that stays as it is: how a store is read whose disk is full.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::{BackendError, StorageBackend};

/// Bytes that are kept together.
const BLOCK_BYTES: usize = 4096;

/// The same as a length of a file.
const BLOCK_LEN: u64 = BLOCK_BYTES as u64;

/// A file below, blocks of memory above.
#[derive(Debug)]
pub(super) struct Layered<B> {
    below: B,
    above: Mutex<Above>,
}

#[derive(Debug)]
struct Above {
    len: u64,
    /// Bytes of the file that still count: it may have been made shorter.
    below_len: u64,
    blocks: BTreeMap<u64, Box<[u8]>>,
}

impl<B: StorageBackend> Layered<B> {
    pub(super) fn new(below: B) -> io::Result<Self> {
        let len = below.len()?;
        Ok(Self { below, above: Mutex::new(Above { len, below_len: len, blocks: BTreeMap::new() }) })
    }

    fn above(&self) -> MutexGuard<'_, Above> {
        self.above.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block that begins at a place, as it is in the file.
    fn block_below(&self, start: u64, below_len: u64) -> io::Result<Box<[u8]>> {
        let mut block = vec![0; BLOCK_BYTES].into_boxed_slice();
        let there = within_block(below_len.saturating_sub(start));
        if there > 0 {
            self.below.read(start, &mut block[..there])?;
        }
        Ok(block)
    }
}

/// So many bytes, but no more than a block has.
fn within_block(bytes: u64) -> usize {
    usize::try_from(bytes).map_or(BLOCK_BYTES, |bytes| bytes.min(BLOCK_BYTES))
}

/// The parts of a range, each in one block: the block's start, the place in it, the place in the range, the length.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let place = within_block(at % BLOCK_LEN);
        let start = at - at % BLOCK_LEN;
        let part = (BLOCK_BYTES - place).min(len - done);
        let found = (part > 0).then_some((start, place, done, part));
        done += part;
        found
    })
}

impl<B: StorageBackend> StorageBackend for Layered<B> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.above().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let above = self.above();
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > above.len) {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        for (start, place, done, part) in parts(offset, out.len()) {
            let part = &mut out[done..done + part];
            match above.blocks.get(&start) {
                Some(block) => part.copy_from_slice(&block[place..place + part.len()]),
                None => part
                    .copy_from_slice(&self.block_below(start, above.below_len)?[place..place + part.len()]),
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut above = self.above();
        above.len = len;
        above.below_len = above.below_len.min(len);
        // What grows again is zero.
        above.blocks.retain(|start, _| *start < len);
        if let Some((start, block)) = above.blocks.last_entry().map(|last| (*last.key(), last.into_mut())) {
            let there = within_block(len - start);
            block[there..].fill(0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut above = self.above();
        let below_len = above.below_len;
        for (start, place, done, part) in parts(offset, data.len()) {
            let block = match above.blocks.entry(start) {
                std::collections::btree_map::Entry::Occupied(block) => block.into_mut(),
                std::collections::btree_map::Entry::Vacant(room) => {
                    room.insert(self.block_below(start, below_len)?)
                }
            };
            block[place..place + part].copy_from_slice(&data[done..done + part]);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.below.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.below.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.below.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.below.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.below.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.below.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.below.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;

    fn over(bytes: &[u8]) -> Layered<InMemoryBackend> {
        let below = InMemoryBackend::new();
        below.set_len(bytes.len() as u64).unwrap();
        below.write(0, bytes).unwrap();
        Layered::new(below).unwrap()
    }

    fn read(layered: &Layered<InMemoryBackend>, offset: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0xee; len];
        layered.read(offset, &mut out).unwrap();
        out
    }

    #[test]
    fn what_is_written_is_over_the_file_which_stays_as_it_is() {
        let layered = over(&[1; 10_000]);
        layered.write(4090, &[2; 20]).unwrap();
        assert_eq!(read(&layered, 4088, 24), [&[1; 2][..], &[2; 20], &[1; 2]].concat());
        let mut below = vec![0; 10_000];
        layered.below.read(0, &mut below).unwrap();
        assert_eq!(below, [1; 10_000]);
    }

    #[test]
    fn what_is_cut_off_and_grows_again_is_zero() {
        let layered = over(&[1; 10_000]);
        layered.write(9000, &[2; 1000]).unwrap();
        layered.set_len(9100).unwrap();
        layered.set_len(20_000).unwrap();
        assert_eq!(read(&layered, 8999, 102), [&[1][..], &[2; 100], &[0]].concat());
        layered.set_len(5000).unwrap();
        layered.set_len(9000).unwrap();
        assert_eq!(read(&layered, 4999, 3), [1, 0, 0]);
        layered.read(8999, &mut [0; 2]).unwrap_err();
    }
}

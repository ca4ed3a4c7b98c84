//! A disk with two files that lies: it fails at the n-th operation, and after a crash remembers what it likes of what was not synced.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

/// Bytes for which a file system finds room at a time.
const BLOCK_BYTES: usize = 4096;

/// Bytes that a disk writes whole or not at all.
const SECTOR_BYTES: usize = 512;

/// What the disk does at its n-th operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Fails, and works again afterwards.
    Once,
    /// Has no room from then on for what was never written, until it is told otherwise.
    Full,
    /// The power goes: nothing works until [`Disk::restart`].
    Power,
}

/// One disk; clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<State>>);

/// One of its files.
#[derive(Clone, Debug)]
pub(crate) struct DiskFile {
    disk: Disk,
    place: usize,
}

#[derive(Debug, Default)]
struct State {
    files: [Bytes; 2],
    operations: u64,
    fault: Option<(u64, Fault)>,
    full: bool,
    off: bool,
}

#[derive(Debug, Default)]
struct Bytes {
    /// What a read sees.
    seen: Vec<u8>,
    /// What is certain to be there after a crash.
    synced: Vec<u8>,
    /// What was done since, in order.
    pending: Vec<Pending>,
    /// Blocks that were written once: they have their room.
    blocks: BTreeSet<usize>,
}

#[derive(Debug)]
enum Pending {
    Write { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

impl Disk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Operations that can fail, done so far.
    pub(crate) fn operations(&self) -> u64 {
        self.state().operations
    }

    /// What happens at operation `at`, counted from 0.
    pub(crate) fn fail_at(&self, at: u64, fault: Fault) {
        self.state().fault = Some((at, fault));
    }

    /// There is room again.
    pub(crate) fn free(&self) {
        self.state().full = false;
    }

    /// Both files, for an engine.
    pub(crate) fn files(&self) -> (DiskFile, DiskFile) {
        let file = |place| DiskFile { disk: self.clone(), place };
        (file(0), file(1))
    }

    /// Changes a file behind everybody's back.
    pub(crate) fn edit(&self, place: usize, edit: impl FnOnce(&mut Vec<u8>)) {
        let file = &mut self.state().files[place];
        edit(&mut file.seen);
        file.synced = file.seen.clone();
    }

    /// Power, off and on: of what was not synced, some sectors are there and some are not, as `seed` has it.
    pub(crate) fn restart(&self, seed: u64) {
        let mut state = self.state();
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut coin = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random & 1 == 1
        };
        let files = std::mem::take(&mut state.files).map(|file| file.after_crash(&mut coin));
        *state = State { files, ..State::default() };
    }
}

impl Bytes {
    fn after_crash(self, coin: &mut impl FnMut() -> bool) -> Self {
        let mut image = self.synced;
        for pending in self.pending {
            match pending {
                Pending::Length(length) if coin() => image.resize(length, 0),
                Pending::Length(_) => {}
                Pending::Write { offset, bytes } => {
                    for (at, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
                        let start = offset + at * SECTOR_BYTES;
                        if coin() && start + sector.len() <= image.len() {
                            image[start..start + sector.len()].copy_from_slice(sector);
                        }
                    }
                }
            }
        }
        Self { seen: image.clone(), synced: image, pending: Vec::new(), blocks: self.blocks }
    }
}

impl State {
    fn step(&mut self, grows: bool) -> Result<(), io::Error> {
        let at = self.operations;
        self.operations += 1;
        let fault = self.fault.filter(|(when, _)| *when == at).map(|(_, fault)| fault);
        self.full |= fault == Some(Fault::Full);
        self.off |= fault == Some(Fault::Power);
        if self.off || fault == Some(Fault::Once) {
            return Err(io::Error::other("the disk failed"));
        }
        if self.full && grows {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(())
    }
}

impl StorageBackend for DiskFile {
    fn len(&self) -> Result<u64, io::Error> {
        Ok(self.disk.state().files[self.place].seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        let state = self.disk.state();
        let start = usize::try_from(offset).unwrap();
        match state.files[self.place].seen.get(start..start + out.len()) {
            Some(bytes) if !state.off => out.copy_from_slice(bytes),
            _ => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        let mut state = self.disk.state();
        let len = usize::try_from(len).unwrap();
        let grows = len > state.files[self.place].seen.len();
        state.step(grows)?;
        let file = &mut state.files[self.place];
        file.seen.resize(len, 0);
        file.pending.push(Pending::Length(len));
        Ok(())
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        let mut state = self.disk.state();
        state.step(false)?;
        let file = &mut state.files[self.place];
        file.synced = file.seen.clone();
        file.pending.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        let mut state = self.disk.state();
        let start = usize::try_from(offset).unwrap();
        let blocks = start / BLOCK_BYTES..(start + data.len()).div_ceil(BLOCK_BYTES);
        let grows = !blocks.clone().all(|block| state.files[self.place].blocks.contains(&block));
        state.step(grows)?;
        let file = &mut state.files[self.place];
        file.blocks.extend(blocks);
        file.seen[start..start + data.len()].copy_from_slice(data);
        file.pending.push(Pending::Write { offset: start, bytes: data.to_vec() });
        Ok(())
    }
}

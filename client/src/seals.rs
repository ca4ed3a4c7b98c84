//! How often a key has sealed: counted on disk ahead of use, and bounded.
//!
//! The file of a key holds one number, how many seals were given out to all processes together. A process takes a
//! block at a time and gives back what it did not use; one that is killed leaves its block counted as used.

use std::fs;
use std::io;
use std::sync::{Mutex, PoisonError};

use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::seal::KeyId;
use twolane_core::limits::{SEALS_MAX, SEALS_RESERVED};

use crate::durable;
use crate::store::Store;

/// Why nothing may be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealsFault {
    /// The key was used as often as it may be.
    #[error("the key has sealed {SEALS_MAX} times: make a new one")]
    Exhausted,
    /// No number could be reserved.
    #[error("no seal can be counted in {file}: {source}")]
    Disk {
        /// The key's file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// No random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(getrandom::Error),
    /// The runtime ended meanwhile.
    #[error("the runtime ended")]
    Ended,
}

/// The seals of one key.
#[derive(Debug)]
pub(crate) struct Seals {
    store: Store,
    file: String,
    in_hand: Mutex<InHand>,
}

#[derive(Clone, Copy, Debug, Default)]
struct InHand {
    left: u64,
    /// What the file said when it was last written.
    counted: u64,
}

impl Seals {
    /// None reserved yet.
    pub(crate) fn new(store: Store, key: KeyId) -> Self {
        Self { store, file: format!("seals-{key}"), in_hand: Mutex::default() }
    }

    /// A nonce to seal with once. A block is kept in hand, so that seals go on while the disk does not. Writes to
    /// disk at times.
    pub(crate) fn take(&self) -> Result<Nonce, SealsFault> {
        let mut nonce = Nonce([0; 12]);
        getrandom::fill(&mut nonce.0).map_err(SealsFault::Random)?;
        let mut in_hand = self.in_hand.lock().unwrap_or_else(PoisonError::into_inner);
        if in_hand.left <= SEALS_RESERVED {
            let reserved = self.reserve(&mut in_hand);
            if in_hand.left == 0 {
                reserved.map_err(|source| self.disk(source))?;
            }
        }
        in_hand.left = in_hand.left.checked_sub(1).ok_or(SealsFault::Exhausted)?;
        Ok(nonce)
    }

    /// Seals counted so far, those in hand included; 0 before the first.
    pub(crate) fn counted(&self) -> u64 {
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner).counted
    }

    /// Brings what is in hand to two blocks, or to what the key has left.
    fn reserve(&self, in_hand: &mut InHand) -> io::Result<()> {
        let wanted = (2 * SEALS_RESERVED).saturating_sub(in_hand.left);
        self.store.alone(|| {
            let counted = self.read()?;
            let granted = wanted.min(SEALS_MAX.saturating_sub(counted));
            if granted > 0 {
                self.write(counted + granted)?;
            }
            *in_hand = InHand { left: in_hand.left + granted, counted: counted + granted };
            Ok(())
        })
    }

    fn read(&self) -> io::Result<u64> {
        let text = match fs::read_to_string(self.store.folder().join(&self.file)) {
            Ok(text) => text,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(fault) => return Err(fault),
        };
        let number = text.strip_suffix('\n').and_then(|text| text.parse().ok());
        number.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it holds no count of seals"))
    }

    fn write(&self, counted: u64) -> io::Result<()> {
        durable::replace(self.store.folder(), &self.file, format!("{counted}\n").as_bytes())
    }

    fn disk(&self, source: io::Error) -> SealsFault {
        SealsFault::Disk { file: self.store.folder().join(&self.file).display().to_string(), source }
    }
}

/// What was not used is given back; where that fails, it stays counted.
impl Drop for Seals {
    fn drop(&mut self) {
        let left = self.in_hand.get_mut().unwrap_or_else(PoisonError::into_inner).left;
        if left > 0 {
            let _ = self.store.alone(|| self.write(self.read()?.saturating_sub(left)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = SEALS_RESERVED;

    fn seals(folder: &tempfile::TempDir) -> Seals {
        Seals::new(Store::open(folder.path()).unwrap(), KeyId([7; 16]))
    }

    fn on_disk(folder: &tempfile::TempDir) -> String {
        fs::read_to_string(folder.path().join(format!("seals-{}", "07".repeat(16)))).unwrap()
    }

    #[test]
    fn a_block_is_counted_before_its_first_seal_and_one_is_always_in_hand() {
        let folder = tempfile::tempdir().unwrap();
        let seals = seals(&folder);
        seals.take().unwrap();
        assert_eq!(on_disk(&folder), format!("{}\n", 2 * BLOCK));
        for _ in 1..BLOCK {
            seals.take().unwrap();
        }
        assert_eq!(on_disk(&folder), format!("{}\n", 2 * BLOCK));
        seals.take().unwrap();
        assert_eq!(on_disk(&folder), format!("{}\n", 3 * BLOCK));
    }

    #[test]
    fn seals_go_on_without_the_disk_for_as_long_as_some_are_in_hand() {
        let folder = tempfile::tempdir().unwrap();
        let seals = seals(&folder);
        seals.take().unwrap();
        folder.close().unwrap();
        for _ in 1..2 * BLOCK {
            seals.take().unwrap();
        }
        assert!(matches!(seals.take(), Err(SealsFault::Disk { .. })));
    }

    #[test]
    fn an_end_gives_back_what_was_not_used_and_a_kill_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (seals(&folder), seals(&folder));
        for seals in [&one, &other, &other] {
            seals.take().unwrap();
        }
        assert_eq!(on_disk(&folder), format!("{}\n", 4 * BLOCK));
        drop(one);
        assert_eq!(on_disk(&folder), format!("{}\n", 2 * BLOCK + 1));
        std::mem::forget(other);
        assert_eq!(on_disk(&folder), format!("{}\n", 2 * BLOCK + 1));
    }

    #[test]
    fn a_key_is_refused_at_its_bound_and_a_damaged_count_is_no_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(format!("seals-{}", "07".repeat(16)));
        fs::write(&file, format!("{}\n", SEALS_MAX - 2)).unwrap();
        let last = seals(&folder);
        assert!(last.take().is_ok() && last.take().is_ok());
        assert!(matches!(last.take(), Err(SealsFault::Exhausted)));
        assert_eq!(on_disk(&folder), format!("{SEALS_MAX}\n"));
        for damage in ["", "12", "-1\n", "x\n", "\0\0\0\0\n"] {
            fs::write(&file, damage).unwrap();
            assert!(matches!(seals(&folder).take(), Err(SealsFault::Disk { .. })), "{damage:?}");
            assert_eq!(fs::read_to_string(&file).unwrap(), damage);
        }
    }

    #[test]
    fn many_at_once_count_every_block() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| std::mem::forget(seals(&folder).take().map(|_| seals(&folder))));
            }
        });
        // Each took one and gave the rest back.
        assert_eq!(on_disk(&folder), "8\n");
    }
}

//! Whether there is room on the disk for the largest reply of one more run.

use std::path::PathBuf;

use rustix::fs::statvfs;

/// Bytes that are left alone whatever is asked for.
const FLOOR_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes on disk for each of a reply: the engine writes a page anew before it frees the old one.
const COPIES: u64 = 2;

/// The disk of the store.
#[derive(Debug)]
pub(super) struct Room(Option<PathBuf>);

impl Room {
    pub(super) fn new(data_dir: Option<PathBuf>) -> Self {
        Self(data_dir)
    }

    /// Whether there is room for replies of so many bytes, which are kept as base64. A disk that does not tell is not
    /// full.
    pub(super) fn has(&self, reply_bytes: u64) -> bool {
        let Some(disk) = self.0.as_ref().and_then(|folder| statvfs(folder).ok()) else { return true };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        free >= reply_bytes.div_ceil(3).saturating_mul(4 * COPIES).saturating_add(FLOOR_BYTES)
    }
}

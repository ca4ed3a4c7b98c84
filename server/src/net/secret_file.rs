//! Files that hold secrets: opened once, checked on the handle, read under a bound.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use zeroize::Zeroizing;

/// Why a secret was not read. The file's owner or whoever named it is at fault; its content is never shown.
#[derive(Debug, thiserror::Error)]
pub enum SecretFault {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A directory, device or pipe.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// Owned by someone else, who may know or change it.
    #[error("{} belongs to user {owner}, expected {expected}; a secret is only read from one's own file", path.display())]
    WrongOwner {
        /// The file.
        path: PathBuf,
        /// User id of its owner.
        owner: u32,
        /// User id of this process.
        expected: u32,
    },
    /// Others can read or write it.
    #[error("{} has mode {mode:04o}, so others can reach the secret in it; try `chmod 600 {}`", path.display(), path.display())]
    WrongMode {
        /// The file.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
    },
    /// More bytes than such a file has.
    #[error("{} has more than {limit} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The bound in bytes.
        limit: usize,
    },
}

/// Reads a regular file of this user that nobody else can reach. Owner and mode are those of the opened handle, so
/// that no change of the path in between matters.
pub fn read(path: &Path, limit: usize) -> Result<Zeroizing<Vec<u8>>, SecretFault> {
    let unreadable = |source| SecretFault::Unreadable { path: path.to_owned(), source };
    // Without waiting, so that a pipe in the file's place cannot hold us up.
    let flags = (OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY).bits();
    let flags = i32::try_from(flags).map_err(|_| unreadable(io::ErrorKind::Unsupported.into()))?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unreadable)?;
    check(path, &file, rustix::process::geteuid().as_raw())?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit.saturating_add(1)));
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > limit {
        return Err(SecretFault::TooLong { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

fn check(path: &Path, file: &File, expected: u32) -> Result<(), SecretFault> {
    let path = || path.to_owned();
    let metadata = file.metadata().map_err(|source| SecretFault::Unreadable { path: path(), source })?;
    if !metadata.is_file() {
        return Err(SecretFault::NotAFile { path: path() });
    }
    if metadata.uid() != expected {
        return Err(SecretFault::WrongOwner { path: path(), owner: metadata.uid(), expected });
    }
    match metadata.mode() & 0o777 {
        mode if mode & 0o077 != 0 => Err(SecretFault::WrongMode { path: path(), mode }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn file(mode: u32) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        fs::write(&path, b"secret").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (dir, path)
    }

    #[test]
    fn ones_own_closed_file_is_read() {
        for mode in [0o600, 0o400] {
            let (_dir, path) = file(mode);
            assert_eq!(read(&path, 6).unwrap().as_slice(), b"secret");
        }
    }

    #[test]
    fn a_file_that_others_can_reach_is_refused_with_the_way_out() {
        for mode in [0o644, 0o640, 0o604, 0o620, 0o602, 0o610] {
            let (_dir, path) = file(mode);
            let fault = read(&path, 6).unwrap_err().to_string();
            assert!(fault.contains(&format!("{mode:04o}")) && fault.contains("chmod 600"), "{fault}");
            assert!(!fault.contains("secret in it; try `secret"));
        }
    }

    #[test]
    fn a_file_of_another_user_is_refused() {
        let (_dir, path) = file(0o600);
        let handle = File::open(&path).unwrap();
        let other = rustix::process::geteuid().as_raw() + 1;
        assert!(matches!(check(&path, &handle, other), Err(SecretFault::WrongOwner { .. })));
    }

    #[test]
    fn what_is_no_file_or_too_long_is_refused() {
        let (dir, path) = file(0o600);
        assert!(matches!(read(dir.path(), 6), Err(SecretFault::NotAFile { .. })));
        assert!(matches!(read(&path, 5), Err(SecretFault::TooLong { limit: 5, .. })));
        assert!(matches!(read(&dir.path().join("none"), 5), Err(SecretFault::Unreadable { .. })));
    }
}

//! Files that are whole or not there, whenever the machine stops.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// Puts a file where none is, readable by its owner alone. [`io::ErrorKind::AlreadyExists`] where one is.
pub fn create(folder: &Path, name: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    written(folder, bytes)?.persist_noclobber(folder.join(name))?;
    sync(folder)
}

/// Puts a file in the place of the one that is there, if any.
pub fn replace(folder: &Path, name: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    written(folder, bytes)?.persist(folder.join(name))?;
    sync(folder)
}

fn written(folder: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = Builder::new().prefix(".unfinished-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// A name is on disk once its folder is.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_file_is_its_owners_alone_and_is_never_written_over_unless_it_shall_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("name");
        create(folder.path(), "name", b"first").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = create(folder.path(), "name", b"second").unwrap_err();
        assert_eq!(
            (again.kind(), fs::read(&path).unwrap()),
            (io::ErrorKind::AlreadyExists, b"first".to_vec())
        );
        replace(folder.path(), "name", b"third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

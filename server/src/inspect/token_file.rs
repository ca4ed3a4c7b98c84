//! `tap-token` in the run directory: what lets the same user's command line in.

use std::io;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::door::Secret;
use crate::limits::TOKEN_FILE_BYTES_MAX;
use crate::net::connection_file;
use crate::net::secret_file::{self, SecretFault};

/// The file's name in the run directory.
pub const TOKEN_FILE: &str = "tap-token";

/// A published token; dropping it removes the file if it is still this server's.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    token: Secret,
}

impl TokenFile {
    /// Writes the token, readable by its owner only, over whatever was there.
    ///
    /// # Errors
    ///
    /// The directory is missing or cannot be written.
    pub fn publish(run_dir: &Path, token: &Secret) -> io::Result<Self> {
        let path = run_dir.join(TOKEN_FILE);
        let text = Zeroizing::new(format!("{}\n", token.text()));
        connection_file::put(&path, text.as_bytes()).map_err(io::Error::other)?;
        Ok(Self { path, token: token.clone() })
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        let still_ours = read(&self.path).is_ok_and(|token| *token == self.token.text());
        if still_ours {
            // A token that stays opens nothing once its server is gone.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The token of the server that runs with this directory.
///
/// # Errors
///
/// There is no such file, it belongs to somebody else, or others may read or write it.
pub fn read_token(run_dir: &Path) -> Result<Zeroizing<String>, SecretFault> {
    read(&run_dir.join(TOKEN_FILE))
}

fn read(path: &Path) -> Result<Zeroizing<String>, SecretFault> {
    let bytes = secret_file::read(path, TOKEN_FILE_BYTES_MAX)?;
    // Anything but base64url is no token; the server that is asked will say so.
    Ok(Zeroizing::new(String::from_utf8_lossy(&bytes).trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::Door;
    use super::*;

    #[test]
    fn the_file_is_its_owners_alone_and_goes_with_its_server() {
        let dir = tempfile::tempdir().unwrap();
        let door = Door::new().unwrap();
        let file = TokenFile::publish(dir.path(), door.token()).unwrap();
        let mode = std::fs::metadata(dir.path().join(TOKEN_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        assert_eq!(*read_token(dir.path()).unwrap(), door.token().text());
        drop(file);
        assert!(matches!(read_token(dir.path()), Err(SecretFault::Unreadable { .. })));
    }

    #[test]
    fn a_later_servers_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (earlier, later) = (Door::new().unwrap(), Door::new().unwrap());
        let earlier = TokenFile::publish(dir.path(), earlier.token()).unwrap();
        let _later = TokenFile::publish(dir.path(), later.token()).unwrap();
        drop(earlier);
        assert_eq!(*read_token(dir.path()).unwrap(), later.token().text());
    }
}

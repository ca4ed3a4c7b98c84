//! Who an endpoint is: its key and daemon id, fresh for each process or fixed by the configuration.

use std::path::{Path, PathBuf};

use twolane_core::handshake::{DaemonId, Key, KeyFault, KeyTextFault, Nonce};
use twolane_core::limits::{CONNECTION_FILE_MAX, DAEMON_ID_LEN, KEY_LEN_MIN, NONCE_LEN};
use zeroize::Zeroizing;

use super::secret_file::{self, SecretFault};

/// What proves an endpoint to its clients.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The connection key.
    pub key: Key,
    /// The process, or whoever stands in for it.
    pub daemon_id: DaemonId,
}

/// Why an endpoint has no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityFault {
    /// The system gave no random bytes.
    #[error("the system's random source failed: {0}")]
    Random(#[from] getrandom::Error),
    /// The key file was not read.
    #[error("key file: {0}")]
    File(#[from] SecretFault),
    /// The key file holds no key.
    #[error("key file {}: {source}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: KeyTextFault,
    },
    /// A key that we made ourselves has a wrong length.
    #[error(transparent)]
    Key(#[from] KeyFault),
}

impl Identity {
    /// A fresh key and id.
    pub fn fresh() -> Result<Self, IdentityFault> {
        Ok(Self { key: fresh_key()?, daemon_id: fresh_daemon_id()? })
    }

    /// The key of `key_file` and `daemon_id` where they are given, fresh ones where not.
    pub fn configured(
        key_file: Option<&Path>,
        daemon_id: Option<[u8; DAEMON_ID_LEN]>,
    ) -> Result<Self, IdentityFault> {
        let key = match key_file {
            Some(path) => read_key(path)?,
            None => fresh_key()?,
        };
        let daemon_id = match daemon_id {
            Some(id) => DaemonId(id),
            None => fresh_daemon_id()?,
        };
        Ok(Self { key, daemon_id })
    }
}

/// Reads a key file: a connection file, 64 hex digits or a JSON array. Owner and mode are checked.
pub fn read_key(path: &Path) -> Result<Key, IdentityFault> {
    let text = secret_file::read(path, CONNECTION_FILE_MAX)?;
    Key::from_text(&text).map_err(|source| IdentityFault::Text { path: path.to_owned(), source })
}

/// 32 fresh random bytes for one side of one handshake.
pub fn nonce() -> Result<Nonce, getrandom::Error> {
    let mut nonce = [0; NONCE_LEN];
    getrandom::fill(&mut nonce)?;
    Ok(nonce)
}

fn fresh_key() -> Result<Key, IdentityFault> {
    let mut bytes = Zeroizing::new([0; KEY_LEN_MIN]);
    getrandom::fill(bytes.as_mut_slice())?;
    Ok(Key::new(bytes.as_slice())?)
}

fn fresh_daemon_id() -> Result<DaemonId, IdentityFault> {
    let mut id = [0; DAEMON_ID_LEN];
    getrandom::fill(&mut id)?;
    Ok(DaemonId(id))
}

/// Reads exactly as many hexadecimal digits as `out` has room for.
pub(crate) fn hex_into(text: &str, out: &mut [u8]) -> Option<()> {
    let digits = text.as_bytes();
    if digits.len() != out.len() * 2 {
        return None;
    }
    for (place, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        let mut byte = 0;
        for digit in pair {
            byte = byte << 4 | char::from(*digit).to_digit(16).and_then(|value| u8::try_from(value).ok())?;
        }
        *place = byte;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn every_process_is_another() {
        let (a, b) = (Identity::fresh().unwrap(), Identity::fresh().unwrap());
        assert_ne!(a.daemon_id, b.daemon_id);
    }

    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        fs::write(&path, "00".repeat(32)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Identity::configured(Some(&path), Some([7; 16])).is_ok());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Identity::configured(Some(&path), None), Err(IdentityFault::File(_))));
    }

    #[test]
    fn a_key_that_is_none_is_named_by_its_file_and_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        fs::write(&path, "beef beef").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let fault = read_key(&path).unwrap_err().to_string();
        assert!(fault.contains("key") && !fault.contains("beef"), "{fault}");
    }
}

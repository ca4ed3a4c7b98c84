//! The connection file on disk: published atomically, read with its owner and mode checked, removed by its writer.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use twolane_core::connection_file::{
    ConnectionFile, ConnectionFileFault, ConnectionFileParts, EndpointFault, write,
};
use twolane_core::envelope::Version;
use twolane_core::handshake::{DaemonId, Key};
use twolane_core::limits::CONNECTION_FILE_MAX;
use zeroize::{Zeroize as _, Zeroizing};

use super::identity::Identity;
use super::secret_file::{self, SecretFault};

/// Age from which a temporary file is one that nobody finishes any more.
const LEFT_OVER_AGE: Duration = Duration::from_secs(10 * 60);

/// What a client learns from a connection file.
#[derive(Clone, Debug)]
pub struct Known {
    /// Where to connect: literal loopback addresses, at least one.
    pub addresses: Vec<SocketAddr>,
    /// The connection key.
    pub key: Key,
    /// The process that has to answer.
    pub daemon_id: DaemonId,
    /// The declared version; 1 where none is.
    pub version: Version,
    /// Process id of the writer. It proves nothing.
    pub pid: u32,
}

/// Why a connection file gives no connection.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// The file itself.
    #[error("connection file: {0}")]
    Secret(#[from] SecretFault),
    /// Its text.
    #[error("connection file {}: {source}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: ConnectionFileFault,
    },
    /// It names no address that is connected to.
    #[error("connection file {}: {source}", path.display())]
    Endpoint {
        /// The file.
        path: PathBuf,
        /// Which one and why.
        source: EndpointFault,
    },
}

/// Reads a connection file.
pub fn read(path: &Path) -> Result<Known, ReadFault> {
    let text = secret_file::read(path, CONNECTION_FILE_MAX)?;
    let file =
        ConnectionFile::parse(&text).map_err(|source| ReadFault::Text { path: path.to_owned(), source })?;
    let mut addresses = Vec::new();
    let mut refused = None;
    for endpoint in file.loopback_endpoints() {
        match endpoint {
            Ok(address) => addresses.push(address),
            Err(fault) => refused = refused.or(Some(fault)),
        }
    }
    if let (true, Some(source)) = (addresses.is_empty(), refused) {
        return Err(ReadFault::Endpoint { path: path.to_owned(), source });
    }
    Ok(Known {
        addresses,
        key: file.key().clone(),
        daemon_id: file.daemon_id(),
        version: file.wire_version().unwrap_or(Version::V1),
        pid: file.pid(),
    })
}

/// Why a file was not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishFault {
    /// A step of the writing failed.
    #[error("cannot {step} {}: {source}", path.display())]
    Io {
        /// What was tried.
        step: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The directory is not one's own or others can write to it, so that they could exchange the file.
    #[error("{} has mode {mode:04o} and belongs to user {owner}; expected a directory of one's own that others cannot write to (`chmod 700`)", path.display())]
    OpenDirectory {
        /// The directory.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
        /// User id of its owner.
        owner: u32,
    },
    /// A path without a directory or a name.
    #[error("{} names no file", path.display())]
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// No random bytes for a temporary name.
    #[error("the system's random source failed: {0}")]
    Random(#[from] getrandom::Error),
    /// The text cannot be written.
    #[error("the connection file cannot be written: {0}")]
    Format(#[from] fmt::Error),
}

impl PublishFault {
    fn io<'a>(step: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { step, path: path.to_owned(), source }
    }
}

/// A connection file of ours.
#[derive(Debug)]
pub struct Published {
    path: PathBuf,
    daemon_id: DaemonId,
}

impl Published {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file if it is still ours: another server may have put its own in this place. True if it was.
    pub fn remove(&self) -> bool {
        let ours = matches!(read(&self.path), Ok(known)
            if known.daemon_id == self.daemon_id && known.pid == std::process::id());
        ours && fs::remove_file(&self.path).is_ok()
    }
}

/// Writes the connection file of an endpoint that serves already.
pub fn publish(
    path: &Path,
    identity: &Identity,
    address: SocketAddr,
    version: Version,
) -> Result<Published, PublishFault> {
    let parts = ConnectionFileParts {
        version,
        endpoints: &[address],
        key: &identity.key,
        daemon_id: identity.daemon_id,
        pid: std::process::id(),
        daemon_ver: super::DAEMON_VER,
    };
    let mut text = Wiped(String::with_capacity(1024));
    write(&parts, &mut text)?;
    put(path, text.0.as_bytes())?;
    Ok(Published { path: path.to_owned(), daemon_id: identity.daemon_id })
}

/// Makes the directory of connection files, with its parents, where it is missing; the one that is there must be
/// one's own and closed to other writers.
pub fn prepare_directory(directory: &Path) -> Result<(), PublishFault> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(PublishFault::io("create", directory))?;
    let metadata = fs::metadata(directory).map_err(PublishFault::io("look at", directory))?;
    let (mode, owner) = (metadata.mode() & 0o777, metadata.uid());
    if mode & 0o022 != 0 || owner != rustix::process::geteuid().as_raw() {
        return Err(PublishFault::OpenDirectory { path: directory.to_owned(), mode, owner });
    }
    Ok(())
}

/// Puts `bytes` at `path` at once: a reader sees the old file or the whole new one. Mode 0600 from the first byte.
pub fn put(path: &Path, bytes: &[u8]) -> Result<(), PublishFault> {
    let no_name = || PublishFault::NoName { path: path.to_owned() };
    let directory = path.parent().ok_or_else(no_name)?;
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(no_name)?;
    sweep(directory, name);
    let mut random = [0; 8];
    getrandom::fill(&mut random)?;
    let temporary = directory.join(format!(".{name}.{:016x}.tmp", u64::from_le_bytes(random)));
    let written = write_synced(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path).map_err(PublishFault::io("rename to", path)));
    if written.is_err() {
        // The reason for not finishing matters more than one for not tidying up; a later start sweeps.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    let handle = File::open(directory).map_err(PublishFault::io("open", directory))?;
    handle.sync_all().map_err(PublishFault::io("sync", directory))
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), PublishFault> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(PublishFault::io("create", path))?;
    file.write_all(bytes).map_err(PublishFault::io("write", path))?;
    file.sync_all().map_err(PublishFault::io("sync", path))
}

/// Removes temporaries of `name` that their writer left behind. What cannot be removed is left for the next time.
fn sweep(directory: &Path, name: &str) {
    let prefix = format!(".{name}.");
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_temporary = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(&prefix) && name.ends_with(".tmp"));
        let age = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|modified| SystemTime::now().duration_since(modified).ok());
        if is_temporary && age.is_some_and(|age| age > LEFT_OVER_AGE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A text with a key in it.
struct Wiped(String);

impl fmt::Write for Wiped {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > self.0.capacity() {
            // Growing by hand, so that no copy of the key stays behind.
            let mut grown = String::with_capacity(2 * (self.0.len() + text.len()));
            grown.push_str(&self.0);
            let _old = Zeroizing::new(std::mem::replace(&mut self.0, grown));
        }
        self.0.push_str(text);
        Ok(())
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn published(path: &Path) -> Published {
        let address = "127.0.0.1:4711".parse().unwrap();
        publish(path, &Identity::fresh().unwrap(), address, Version::V2).unwrap()
    }

    #[test]
    fn what_is_published_is_read_back_and_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("providers.json");
        let published = published(&path);
        let known = read(&path).unwrap();
        assert_eq!(known.daemon_id, published.daemon_id);
        assert_eq!(known.addresses, ["127.0.0.1:4711".parse().unwrap()]);
        assert_eq!((known.version, known.pid), (Version::V2, std::process::id()));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_ones_own_file_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("providers.json");
        let (first, second) = (published(&path), published(&path));
        assert!(!first.remove());
        assert!(path.exists());
        assert!(second.remove());
        assert!(!path.exists());
        assert!(!second.remove());
    }

    #[test]
    fn old_temporaries_of_this_file_are_swept_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - LEFT_OVER_AGE - Duration::from_secs(5);
        let make = |name: &str, modified: Option<SystemTime>| {
            let file = File::create(dir.path().join(name)).unwrap();
            if let Some(time) = modified {
                file.set_modified(time).unwrap();
            }
        };
        make(".providers.json.1.tmp", Some(old));
        make(".providers.json.2.tmp", None);
        make(".sessions.json.3.tmp", Some(old));
        make("providers.json.tmp", Some(old));
        published(&dir.path().join("providers.json"));
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(
            left,
            [".providers.json.2.tmp", ".sessions.json.3.tmp", "providers.json", "providers.json.tmp"]
        );
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("a/b");
        prepare_directory(&made).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&made, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(prepare_directory(&made), Err(PublishFault::OpenDirectory { mode: 0o777, .. })));
    }

    #[test]
    fn a_file_that_names_other_machines_only_gives_no_connection() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("providers.json");
        published(&path);
        let text = fs::read_to_string(&path).unwrap().replace("127.0.0.1", "10.0.0.1");
        put(&path, text.as_bytes()).unwrap();
        assert!(matches!(read(&path), Err(ReadFault::Endpoint { .. })));
    }
}

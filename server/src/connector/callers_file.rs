//! The file that says who may ask.

use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroU32;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use twolane_core::connector::seal::{SealKey, SecretFault as KeyFault};
use twolane_core::connector::text::Id;

use super::callers::{Bounds, Caller};
use crate::net::secret_file::{self, SecretFault};

/// An example, for help and documentation.
pub const EXAMPLE: &str = r#"[[caller]]
id = "runner-1"
key_files = ["runner-1.key"]   # the newest first; made by `twolane keygen`
models = ["model-a"]           # any model where absent
output_tokens = 4096           # the most of one turn
running = 4                    # runs at once
payload = 1048576              # bytes of a sealed request or reply
"#;

/// Bytes of the file.
const FILE_MAX: u64 = 1024 * 1024;

/// Bytes of a key file.
pub(crate) const KEY_FILE_MAX: usize = 4096;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(default)]
    caller: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    key_files: Vec<PathBuf>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default = "output_tokens")]
    output_tokens: NonZeroU32,
    #[serde(default = "running")]
    running: NonZeroU32,
    #[serde(default = "payload")]
    payload: u64,
}

fn output_tokens() -> NonZeroU32 {
    NonZeroU32::new(4096).unwrap_or(NonZeroU32::MIN)
}

fn running() -> NonZeroU32 {
    NonZeroU32::new(4).unwrap_or(NonZeroU32::MIN)
}

const fn payload() -> u64 {
    1024 * 1024
}

/// Why the file cannot be used. Each names it, and what to look at in it.
#[derive(Debug, thiserror::Error)]
pub enum CallersFileFault {
    /// It cannot be read.
    #[error("cannot read the callers {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Others can change it.
    #[error(
        "{} belongs to user {owner} and has mode {mode:04o}: whoever can change it decides who may ask; it has to be \
         one's own or root's and nobody else's to write (`chmod go-w {}`)",
        path.display(), path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// User id of its owner.
        owner: u32,
        /// Permission bits.
        mode: u32,
    },
    /// It is longer than such a file is.
    #[error("{} has more than {FILE_MAX} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// It is no list of callers.
    #[error("{} names no callers: {source}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// Nobody is in it.
    #[error("{} names nobody; a caller looks like this:\n{EXAMPLE}", path.display())]
    Nobody {
        /// The file.
        path: PathBuf,
    },
    /// An id that is none.
    #[error("{}: the id of caller {number} is none: {reason}", path.display())]
    Id {
        /// The file.
        path: PathBuf,
        /// Which caller, counted from 1.
        number: usize,
        /// What an id is.
        reason: String,
    },
    /// A key file that cannot be read.
    #[error("caller `{caller}`: {source}")]
    Secret {
        /// Whose.
        caller: String,
        /// Why.
        source: SecretFault,
    },
    /// A key file that holds no secret.
    #[error("caller `{caller}`: {}: {source}; `twolane keygen` makes one", path.display())]
    Key {
        /// Whose.
        caller: String,
        /// The key file.
        path: PathBuf,
        /// Why.
        source: KeyFault,
    },
}

/// Reads the file at `path`, and the key files that it names, relative to it.
pub fn read(path: &Path) -> Result<Vec<Caller>, CallersFileFault> {
    let unreadable = |source| CallersFileFault::Unreadable { path: path.to_owned(), source };
    let opened = File::open(path).map_err(unreadable)?;
    let metadata = opened.metadata().map_err(unreadable)?;
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    if mode & 0o022 != 0 || (owner != 0 && owner != rustix::process::geteuid().as_raw()) {
        return Err(CallersFileFault::Open { path: path.to_owned(), owner, mode });
    }
    let mut text = String::new();
    opened.take(FILE_MAX + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > FILE_MAX {
        return Err(CallersFileFault::TooLong { path: path.to_owned() });
    }
    let file: Listed = toml::from_str(&text)
        .map_err(|source| CallersFileFault::Syntax { path: path.to_owned(), source: Box::new(source) })?;
    if file.caller.is_empty() {
        return Err(CallersFileFault::Nobody { path: path.to_owned() });
    }
    file.caller.into_iter().enumerate().map(|(place, entry)| caller(path, place + 1, entry)).collect()
}

fn caller(path: &Path, number: usize, entry: Entry) -> Result<Caller, CallersFileFault> {
    let id = Id::new(entry.id.clone().into_boxed_str()).map_err(|fault| CallersFileFault::Id {
        path: path.to_owned(),
        number,
        reason: fault.to_string(),
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let keys = entry.key_files.iter().map(|file| key(&entry.id, &folder.join(file)));
    let bounds = Bounds {
        models: entry.models,
        output_tokens_max: entry.output_tokens,
        running_max: entry.running.get(),
        payload_max: entry.payload,
    };
    Ok(Caller::new(id, keys.collect::<Result<_, _>>()?, bounds))
}

fn key(caller: &str, path: &Path) -> Result<SealKey, CallersFileFault> {
    let text = secret_file::read(path, KEY_FILE_MAX)
        .map_err(|source| CallersFileFault::Secret { caller: caller.to_owned(), source })?;
    SealKey::from_file(&text).map_err(|source| CallersFileFault::Key {
        caller: caller.to_owned(),
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn folder(callers: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("runner-1.key", "a secret of thirty-two bytes or more\n"), ("short.key", "short")]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let path = folder.path().join("callers.toml");
        std::fs::write(&path, callers).unwrap();
        // Whatever the umask is.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        (folder, path)
    }

    #[test]
    fn a_file_that_others_can_change_is_refused() {
        let (_folder, path) = folder("[[caller]]\n");
        for (mode, refused) in [(0o644, false), (0o600, false), (0o664, true), (0o602, true)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let is_open =
                matches!(read(&path), Err(CallersFileFault::Open { mode: found, .. }) if found == mode);
            assert_eq!(is_open, refused, "{mode:o}");
        }
    }

    #[test]
    fn the_example_is_one() {
        let (_folder, path) = folder(EXAMPLE);
        let callers = read(&path).unwrap();
        assert_eq!((callers.len(), callers[0].id.as_str(), callers[0].keys.len()), (1, "runner-1", 1));
        assert_eq!((callers[0].bounds.running_max, callers[0].bounds.payload_max), (4, 1_048_576));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (text, words) in [
            ("", "names nobody"),
            ("[[caller]]\nid = \"a\"\n", "key_files"),
            ("[[caller]]\nid = \" a\"\nkey_files = []\n", "caller 1"),
            ("[[caller]]\nid = \"a\"\nkey_files = []\nmodel = 1\n", "model"),
            ("[[caller]]\nid = \"a\"\nkey_files = [\"none.key\"]\n", "none.key"),
            ("[[caller]]\nid = \"a\"\nkey_files = [\"short.key\"]\n", "keygen"),
            ("[[caller]]\nid = \"a\"\nkey_files = []\nrunning = 0\n", "running"),
        ] {
            let (_folder, path) = folder(text);
            let fault = read(&path).unwrap_err().to_string();
            assert!(fault.contains(words) && !fault.contains("a secret"), "{text}: {fault}");
        }
    }
}

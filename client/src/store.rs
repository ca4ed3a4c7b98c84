//! The folder of a caller: its invocations, and how often its keys have sealed.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{DocumentFault, OwnedInvocation, Valid};

use crate::durable;
use crate::prepared::Prepared;

/// What every invocation's file ends with.
const EXTENSION: &str = ".invocation";

/// Characters of a digest that a file is named by: 128 bits.
const NAME_LEN: usize = 32;

/// A folder on disk that any number of processes use together.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Why an invocation was not prepared. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum PrepareFault {
    /// The digest of the caller's own form is zero, or another rule between the fields.
    #[error(transparent)]
    Document(#[from] DocumentFault),
    /// No frame carries it.
    #[error("the request is longer than any frame")]
    TooLong,
    /// The id was prepared before. A request keeps its first date for ever, so that it is not prepared again.
    #[error("this request id was used before: go on with {}, or take another id", path.display())]
    Used {
        /// Its invocation.
        path: PathBuf,
    },
    /// It cannot be stored.
    #[error("cannot store the invocation as {}: {source}", path.display())]
    Disk {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Store {
    /// Opens a folder, made for its owner alone where it is not there.
    pub fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts an invocation on disk, the one and only of its caller and request id.
    pub(crate) fn put(&self, invocation: Valid<OwnedInvocation>) -> Result<Prepared, PrepareFault> {
        let bytes = invocation.to_vec().map_err(|_| PrepareFault::TooLong)?;
        let name = name(invocation.caller_runtime_id.as_str(), invocation.request.request_id.as_str());
        let path = self.folder.join(&name);
        match durable::create(&self.folder, &name, &bytes) {
            Ok(()) => Ok(Prepared::stored(path, invocation)),
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => Err(PrepareFault::Used { path }),
            Err(source) => Err(PrepareFault::Disk { path, source }),
        }
    }

    /// Does `work` while no other process that asks for this does.
    pub(crate) fn alone<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let folder = File::open(&self.folder)?;
        folder.lock()?;
        // Closing the handle unlocks.
        work()
    }
}

/// The name of a request's file: its ids are any texts, so that it is a digest of both.
fn name(caller_runtime_id: &str, request_id: &str) -> String {
    let ids = format!("{}:{caller_runtime_id}{request_id}", caller_runtime_id.len());
    let digest = Digest::of(ids.as_bytes()).to_string();
    format!("{}{EXTENSION}", digest.get(..NAME_LEN).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_read_alike_when_put_together_have_files_of_their_own() {
        assert_ne!(name("ab", "c"), name("a", "bc"));
        assert_ne!(name("a", "1:a"), name("a1:", "a"));
        assert_eq!(name("a", "../../etc"), name("a", "../../etc"));
        assert!(!name("a", "../../etc").contains('/'));
    }
}

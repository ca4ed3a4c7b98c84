//! An invocation that is on disk: what may be sent.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use twolane_core::connector::document::{DocumentFault, OwnedInvocation, ReadInvocation, Valid};

/// The longest file that is read: more than any frame that a server takes by default.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// An invocation and the file with its canonical bytes, which are all of the file. It cannot be changed: a retry is
/// the same request with the same date.
#[derive(Clone)]
pub struct Prepared {
    path: PathBuf,
    invocation: Valid<OwnedInvocation>,
}

/// Why a file is not sent.
#[derive(Debug, thiserror::Error)]
pub enum ResumeFault {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is longer than an invocation.
    #[error("{} has more than {FILE_BYTES_MAX} bytes: no stored invocation", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// It is no invocation.
    #[error("{} is no stored invocation: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: DocumentFault,
    },
    /// Its request is not the one that it was stored with.
    #[error("{} is damaged: its request has not the digest that it claims", path.display())]
    Digest {
        /// The file.
        path: PathBuf,
    },
}

impl Prepared {
    /// One that was just stored.
    pub(crate) fn stored(path: PathBuf, invocation: Valid<OwnedInvocation>) -> Self {
        Self { path, invocation }
    }

    /// Reads one that was stored before, to go on with it.
    pub fn resume(path: &Path) -> Result<Self, ResumeFault> {
        let unreadable = |source| ResumeFault::Unreadable { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(ResumeFault::TooLong { path: path.to_owned() });
        }
        let read = ReadInvocation::read(&bytes)
            .map_err(|source| ResumeFault::Damaged { path: path.to_owned(), source })?;
        if read.request_sha256() != read.fields().provider_request_sha256 {
            return Err(ResumeFault::Digest { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), invocation: read.to_owned() })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is asked, by whom, and until when.
    pub fn invocation(&self) -> &Valid<OwnedInvocation> {
        &self.invocation
    }
}

/// The conversation is not for logs.
impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("path", &self.path).finish_non_exhaustive()
    }
}

//! The keys that messages are opened with, and whose they are.

use std::path::{Path, PathBuf};

use twolane_core::connector::open::NotOpened;
use twolane_core::connector::outside::Outside;
use twolane_core::connector::seal::SealKey;

use super::super::{Exit, Failure};
use crate::connector::Caller;
use crate::connector::callers_file::{self, KEY_FILE_MAX};
use crate::net::secret_file;

/// Keys of nobody in particular, and those of the callers of a file.
#[derive(Debug)]
pub(super) struct Keys {
    any: Vec<SealKey>,
    callers: Vec<Caller>,
}

/// Why no key opens a message.
#[derive(Debug)]
pub(super) enum Closed {
    /// The callers file does not name who sent it, and there is no other key.
    UnknownCaller,
    /// What the seal or the carriage says.
    Not(NotOpened),
}

impl Keys {
    /// Reads them. A file that holds no key is a mistake of the command line.
    pub(super) fn read(key_files: &[PathBuf], callers: Option<&Path>) -> Result<Self, Failure> {
        let any = key_files.iter().map(|path| key(path)).collect::<Result<_, _>>()?;
        let callers = callers.map(callers_file::read).transpose();
        let callers = callers.map_err(|fault| Failure::new(Exit::Usage, fault))?.unwrap_or_default();
        Ok(Self { any, callers })
    }

    /// The key that opens it and the document; else the fault that says most.
    pub(super) fn open(&self, outside: &Outside<'_>) -> Result<(&SealKey, Vec<u8>), Closed> {
        let caller = outside.sealed().map_err(Closed::Not)?.envelope.caller_runtime_id;
        let named = self.callers.iter().filter(|known| known.id.as_str() == caller);
        let mut fault = None;
        for key in named.flat_map(|known| &known.keys).chain(&self.any) {
            match (outside.open(key), fault) {
                (Ok(text), _) => return Ok((key, text)),
                (Err(NotOpened::OtherKey), Some(_)) => {}
                (Err(found), _) => fault = Some(found),
            }
        }
        Err(fault.map_or(Closed::UnknownCaller, Closed::Not))
    }
}

fn key(path: &Path) -> Result<SealKey, Failure> {
    let usage = |fault: String| Failure::new(Exit::Usage, format!("key file: {fault}"));
    let text = secret_file::read(path, KEY_FILE_MAX).map_err(|fault| usage(fault.to_string()))?;
    SealKey::from_file(&text)
        .map_err(|fault| usage(format!("{}: {fault}; `twolane keygen` makes one", path.display())))
}

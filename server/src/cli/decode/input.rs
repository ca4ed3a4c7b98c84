//! The bytes to decode, in chunks as they come.

use std::fs::File;
use std::io::{self, Read, Stdin, stdin};
use std::path::Path;

use super::super::{Exit, Failure};

/// Bytes of one read.
const CHUNK_LEN: usize = 256 * 1024;

/// A file or standard input. Nothing but one chunk is held.
pub(super) struct Input {
    from: From,
    name: String,
    chunk: Vec<u8>,
}

enum From {
    File(File),
    Stdin(Stdin),
}

impl Input {
    /// Opens `path`, or standard input for `-`.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let chunk = vec![0; CHUNK_LEN];
        if path == Path::new("-") {
            return Ok(Self { from: From::Stdin(stdin()), name: "standard input".to_owned(), chunk });
        }
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Ok(Self { from: From::File(file), name, chunk }),
            Err(fault) => Err(unreadable(&name, &fault)),
        }
    }

    /// Bytes of a regular file.
    pub(super) fn len(&self) -> Option<u64> {
        let From::File(file) = &self.from else { return None };
        let metadata = file.metadata().ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// The next bytes, as many as are there without waiting for more; `None` at the end.
    pub(super) fn next_chunk(&mut self) -> Result<Option<&[u8]>, Failure> {
        let read = loop {
            let read = match &mut self.from {
                From::File(file) => file.read(&mut self.chunk),
                From::Stdin(stdin) => stdin.lock().read(&mut self.chunk),
            };
            match read {
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) => return Err(unreadable(&self.name, &fault)),
                Ok(read) => break read,
            }
        };
        Ok(if read == 0 { None } else { self.chunk.get(..read) })
    }
}

fn unreadable(name: &str, fault: &io::Error) -> Failure {
    let exit = match fault.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::IsADirectory => Exit::Usage,
        _ => Exit::Failed,
    };
    Failure::new(exit, format!("cannot read {name}: {fault}"))
}

//! The bytes to decode, in chunks as they come.

use std::fs::File;
use std::io::{self, Read, stdin};
use std::path::Path;

use super::super::{Exit, Failure};
use super::live::Live;

/// Bytes of one read.
pub(super) const CHUNK_LEN: usize = 256 * 1024;

/// A file or standard input. A file is read a chunk at a time; what may come to no end, a few chunks ahead.
pub(in crate::cli) struct Input {
    from: From,
    name: String,
}

enum From {
    File { file: File, len: u64, chunk: Vec<u8> },
    Live(Live),
}

/// What comes next.
pub(in crate::cli) enum Next<'a> {
    /// As many bytes as were there without waiting for more, at least one.
    Chunk(&'a [u8]),
    /// The input ended.
    End,
    /// The signal of this name ended the reading: nothing is known of what would have followed.
    Interrupted(&'static str),
}

impl Input {
    /// Opens `path`, or standard input for `-`.
    pub(in crate::cli) fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Self::live(stdin(), "standard input".to_owned());
        }
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| file.metadata().map(|metadata| (file, metadata)));
        let (file, metadata) = opened.map_err(|fault| unusable(&name, &fault.to_string()))?;
        if metadata.is_dir() {
            return Err(unusable(&name, "it is a directory"));
        }
        if metadata.is_file() {
            let from = From::File { file, len: metadata.len(), chunk: vec![0; CHUNK_LEN] };
            return Ok(Self { from, name });
        }
        Self::live(file, name)
    }

    fn live(from: impl Read + Send + 'static, name: String) -> Result<Self, Failure> {
        let live = Live::start(from).map_err(|fault| Failure::new(Exit::Failed, fault))?;
        Ok(Self { from: From::Live(live), name })
    }

    /// Bytes of a regular file.
    pub(super) fn len(&self) -> Option<u64> {
        match &self.from {
            From::File { len, .. } => Some(*len),
            From::Live(_) => None,
        }
    }

    /// The next bytes.
    pub(in crate::cli) fn next(&mut self) -> Result<Next<'_>, Failure> {
        let next = match &mut self.from {
            From::File { file, chunk, .. } => read(file, chunk),
            From::Live(live) => live.next(),
        };
        next.map_err(|fault| Failure::new(Exit::Failed, format!("cannot read {} on: {fault}", self.name)))
    }
}

/// Reads what is there, once.
pub(super) fn read<'a>(from: &mut impl Read, chunk: &'a mut [u8]) -> io::Result<Next<'a>> {
    let len = loop {
        match from.read(chunk) {
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            done => break done?,
        }
    };
    Ok(chunk.get(..len).filter(|bytes| !bytes.is_empty()).map_or(Next::End, Next::Chunk))
}

/// A path that leads to no input is a mistake of the command line.
fn unusable(name: &str, found: &str) -> Failure {
    let text = format!(
        "cannot read {name}: {found}\n  expected a capture, a byte stream or a dump of one; try - for standard input"
    );
    Failure::new(Exit::Usage, text)
}

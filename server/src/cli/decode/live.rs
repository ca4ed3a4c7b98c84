//! Input that grows, such as a pipe: read until its end, or until a signal asks for the end.

use std::io::{self, Read, Write as _, stderr};
use std::process;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use super::super::Exit;
use super::super::signals::Signals;
use super::input::{CHUNK_LEN, Next, read};

/// Chunks that are read ahead at most.
const CHUNKS: usize = 2;

/// What is still read after a signal: a terminal's Ctrl-C reaches the program before us in the pipe too, and what it
/// was holding it writes now.
const GRACE: Duration = Duration::from_millis(200);

/// A reader in a thread of its own, so that a signal is seen while nothing comes.
pub(super) struct Live {
    told: Receiver<Told>,
    /// Chunks to be filled again; the reader waits for one, so that it does not run ahead.
    empty: Sender<Vec<u8>>,
    chunk: Vec<u8>,
    /// The signal, and when reading ends for it.
    asked: Option<(&'static str, Instant)>,
}

enum Told {
    /// A chunk with so many bytes in it.
    Chunk(Vec<u8>, usize),
    End,
    Fault(io::Error),
    Signal(&'static str),
}

impl Live {
    /// Starts to read and to listen for signals, which no longer end the process by themselves.
    pub(super) fn start(from: impl Read + Send + 'static) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let signals = {
            let _entered = runtime.enter();
            Signals::listen()?
        };
        let (tell, told) = channel();
        let (empty, to_fill) = channel();
        for _ in 1..CHUNKS {
            // The other side is below.
            let _ = empty.send(vec![0; CHUNK_LEN]);
        }
        let teller = tell.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || watch(&runtime, signals, &teller))?;
        thread::Builder::new().name("input".to_owned()).spawn(move || fill(from, &to_fill, &tell))?;
        Ok(Self { told, empty, chunk: vec![0; CHUNK_LEN], asked: None })
    }

    /// The next bytes, as they come.
    pub(super) fn next(&mut self) -> io::Result<Next<'_>> {
        loop {
            let told = match self.asked {
                None => self.told.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some((_, until)) => self.told.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match (told, self.asked) {
                (Ok(Told::Chunk(chunk, len)), _) => {
                    let used = std::mem::replace(&mut self.chunk, chunk);
                    // A reader that is gone fills nothing more.
                    let _ = self.empty.send(used);
                    return Ok(self.chunk.get(..len).map_or(Next::End, Next::Chunk));
                }
                (Ok(Told::Signal(name)), _) => self.asked = Some((name, Instant::now() + GRACE)),
                (Ok(Told::Fault(fault)), _) => return Err(fault),
                (Err(_), Some((name, _))) => return Ok(Next::Interrupted(name)),
                (Ok(Told::End) | Err(_), _) => return Ok(Next::End),
            }
        }
    }
}

fn fill(mut from: impl Read, to_fill: &Receiver<Vec<u8>>, tell: &Sender<Told>) {
    while let Ok(mut chunk) = to_fill.recv() {
        let told = match read(&mut from, &mut chunk) {
            Ok(Next::Chunk(bytes)) => {
                let len = bytes.len();
                Told::Chunk(chunk, len)
            }
            Ok(Next::End | Next::Interrupted(_)) => Told::End,
            Err(fault) => Told::Fault(fault),
        };
        let goes_on = matches!(told, Told::Chunk(..));
        if tell.send(told).is_err() || !goes_on {
            return;
        }
    }
}

/// The first signal asks for the end, the second one is it: the output may be stuck.
fn watch(runtime: &Runtime, mut signals: Signals, tell: &Sender<Told>) {
    let name = runtime.block_on(signals.next());
    // Nobody to tell is somebody who ends already.
    let _ = tell.send(Told::Signal(name));
    let name = runtime.block_on(signals.next());
    let _ = writeln!(stderr(), "twolane: ended at once by {name}");
    process::exit(Exit::Failed as i32);
}

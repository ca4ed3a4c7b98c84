//! Logs: to standard error, in colour where a person looks at it, and never waiting for it.
//!
//! A thread of its own writes the lines, so that a standard error that nobody reads stops nothing else. What does not
//! fit the queue is dropped, and counted in the place where it would have stood.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use twolane_capture::summary::Counted;

use super::{Exit, Failure};
use crate::limits::{LOG_FLUSH_TIMEOUT, LOG_QUEUE_BYTES};

/// The lines on their way. Dropping it waits a little until they are written.
#[derive(Debug)]
pub(super) struct Log(Arc<Queue>);

/// Starts logging with a filter that the configuration checked.
pub(super) fn start(filter: &str) -> Result<Log, Failure> {
    let filter: EnvFilter = filter.parse().map_err(|fault| Failure::new(Exit::Usage, fault))?;
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let queue = Arc::new(Queue::default());
    let (writer, lines) = (Arc::clone(&queue), Arc::clone(&queue));
    thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || writer.write_to(io::stderr()))
        .map_err(|fault| Failure::new(Exit::Failed, fault))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || Lines(Arc::clone(&lines)))
        .with_ansi(!no_color && io::stderr().is_terminal())
        .with_target(false)
        .try_init()
        .map_err(|fault| Failure::new(Exit::Failed, fault))?;
    Ok(Log(queue))
}

impl Log {
    /// Waits until everything so far is written, for at most [`LOG_FLUSH_TIMEOUT`]: then what else goes to standard
    /// error stands behind it.
    pub(super) fn flush(&self) {
        self.0.flush(LOG_FLUSH_TIMEOUT);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.flush();
    }
}

/// One event's text becomes one line of the queue.
struct Lines(Arc<Queue>);

impl Write for Lines {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.push(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    /// Of `lines`.
    bytes: usize,
    /// Lines dropped since the last one that was queued.
    missed: u64,
    /// One line is taken out and being written.
    is_writing: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing here can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, text: &[u8]) {
        let mut state = self.lock();
        if state.bytes + text.len() > LOG_QUEUE_BYTES {
            state.missed += 1;
            return;
        }
        state.tell_missed();
        state.add(text.to_vec());
        self.changed.notify_all();
    }

    /// Writes what is queued, for ever. An error is nobody's to hear of.
    fn write_to(&self, mut out: impl Write) {
        loop {
            let line = {
                let waits = |state: &mut State| state.lines.is_empty();
                let waited = self.changed.wait_while(self.lock(), waits);
                let mut state = waited.unwrap_or_else(PoisonError::into_inner);
                let line = state.lines.pop_front().unwrap_or_default();
                state.bytes = state.bytes.saturating_sub(line.len());
                state.is_writing = true;
                line
            };
            let _ = out.write_all(&line);
            self.lock().is_writing = false;
            self.changed.notify_all();
        }
    }

    fn flush(&self, limit: Duration) {
        let mut state = self.lock();
        state.tell_missed();
        self.changed.notify_all();
        let waits = |state: &mut State| state.is_writing || !state.lines.is_empty();
        // Written or not: there is nothing more to do about it.
        let _ = self.changed.wait_timeout_while(state, limit, waits);
    }
}

impl State {
    fn add(&mut self, line: Vec<u8>) {
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    fn tell_missed(&mut self) {
        match std::mem::take(&mut self.missed) {
            0 => {}
            missed => {
                let missed = Counted(missed, "log line");
                self.add(format!("twolane: {missed} dropped: standard error was not read\n").into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Tells what it was given, then takes it only when it is let.
    struct Slow {
        given: Sender<String>,
        go: Receiver<()>,
    }

    impl Write for Slow {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            let text_len = text.len();
            self.given
                .send(String::from_utf8_lossy(text).into_owned())
                .map_err(|_| io::ErrorKind::BrokenPipe)?;
            self.go.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(text_len)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_does_not_fit_is_counted_where_it_would_have_stood() {
        let queue = Arc::new(Queue::default());
        let (given, gives) = channel();
        let (lets, go) = channel();
        let writer = Arc::clone(&queue);
        thread::spawn(move || writer.write_to(Slow { given, go }));
        queue.push(b"first\n");
        assert_eq!(gives.recv().unwrap(), "first\n");
        queue.push(&vec![b'x'; LOG_QUEUE_BYTES]);
        for _ in 0..3 {
            queue.push(b"does not fit\n");
        }
        lets.send(()).unwrap();
        assert_eq!(gives.recv().unwrap().len(), LOG_QUEUE_BYTES);
        queue.push(b"last\n");
        lets.send(()).unwrap();
        assert_eq!(gives.recv().unwrap(), "twolane: 3 log lines dropped: standard error was not read\n");
        lets.send(()).unwrap();
        assert_eq!(gives.recv().unwrap(), "last\n");
        // Nobody lets it go on, and still the end comes.
        queue.flush(Duration::ZERO);
    }
}

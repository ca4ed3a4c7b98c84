//! One thread that commits for all who wait: as many changes in a commit as came while the last one went to disk.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::change::{Change, Outcome};
use super::engine::{Engine, EngineFault};

/// Changes that may wait for a commit; more are refused.
const WAITING_MAX: usize = 4096;

/// Changes of one commit.
const BATCH_CHANGES: usize = 1024;

/// Bytes of one commit, the last change aside.
const BATCH_BYTES: usize = 32 * 1024 * 1024;

/// After how long an engine that did not recover is tried again where no change comes by.
const MEND_AFTER: Duration = Duration::from_millis(500);

/// Why a change was not made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreFault {
    /// Too many wait already.
    #[error("{WAITING_MAX} changes wait for the disk")]
    Busy,
    /// The commit failed. Whether the change is on disk will be known once the engine has recovered; a claim that is
    /// will be given back.
    #[error("{0}")]
    Engine(Arc<EngineFault>),
    /// The store is closed.
    #[error("the store is closed")]
    Closed,
}

/// A store: an engine and the thread that commits to it. Dropping it lets the thread end after what waits.
#[derive(Debug)]
pub struct Store<E: Engine> {
    engine: Arc<E>,
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

struct Job {
    change: Change,
    answer: oneshot::Sender<Result<Outcome, StoreFault>>,
}

impl<E: Engine> Store<E> {
    /// Starts the thread.
    pub fn start(engine: E) -> std::io::Result<Self> {
        let engine = Arc::new(engine);
        let (queue, jobs) = sync_channel(WAITING_MAX);
        let committer =
            Committer { engine: Arc::clone(&engine), jobs, failed: false, to_unclaim: Vec::new() };
        let thread =
            std::thread::Builder::new().name("committer".to_owned()).spawn(move || committer.run())?;
        Ok(Self { engine, queue: Some(queue), thread: Some(thread) })
    }

    /// What is there to be read. A read sees every change that was answered.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// Makes one change and returns once it is durable. Dropping the future does not undo it.
    pub async fn change(&self, change: Change) -> Result<Outcome, StoreFault> {
        let (answer, answered) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(StoreFault::Closed)?;
        queue.try_send(Job { change, answer }).map_err(|full| match full {
            TrySendError::Full(_) => StoreFault::Busy,
            TrySendError::Disconnected(_) => StoreFault::Closed,
        })?;
        answered.await.unwrap_or(Err(StoreFault::Closed))
    }
}

impl<E: Engine> Drop for Store<E> {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported where it happened.
            drop(thread.join());
        }
    }
}

struct Committer<E> {
    engine: Arc<E>,
    jobs: Receiver<Job>,
    /// The last commit failed and the engine has not recovered.
    failed: bool,
    /// Claims of commits that failed, and those whose giving back did: nobody acts on them, so what of them is on disk
    /// is given back.
    to_unclaim: Vec<Change>,
}

impl<E: Engine> Committer<E> {
    fn run(mut self) {
        while let Some(first) = self.next() {
            let (changes, answers) = self.gather(first);
            match self.commit(&changes) {
                Ok(outcomes) => {
                    for (answer, outcome) in answers.into_iter().zip(outcomes) {
                        // Who no longer waits finds it by looking it up.
                        let _ = answer.send(Ok(outcome));
                    }
                }
                Err(fault) => {
                    let fault = Arc::new(fault);
                    for answer in answers {
                        let _ = answer.send(Err(StoreFault::Engine(Arc::clone(&fault))));
                    }
                }
            }
        }
    }

    /// Waits for a change, and mends meanwhile what is to be mended. `None` once nobody can ask any more.
    fn next(&mut self) -> Option<Job> {
        while self.failed || !self.to_unclaim.is_empty() {
            match self.jobs.recv_timeout(MEND_AFTER) {
                Ok(job) => return Some(job),
                // Whoever asks for a change is told what is wrong.
                Err(RecvTimeoutError::Timeout) => drop(self.mend()),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        self.jobs.recv().ok()
    }

    /// All that waits, up to the bounds of a commit.
    fn gather(&self, first: Job) -> (Vec<Change>, Vec<oneshot::Sender<Result<Outcome, StoreFault>>>) {
        let (mut changes, mut answers) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        let mut next = Some(first);
        while let Some(job) = next.take() {
            bytes += job.change.weight_bytes();
            changes.push(job.change);
            answers.push(job.answer);
            if changes.len() < BATCH_CHANGES && bytes < BATCH_BYTES {
                next = self.jobs.try_recv().ok();
            }
        }
        (changes, answers)
    }

    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, EngineFault> {
        self.mend()?;
        let committed = self.engine.commit(changes);
        if committed.is_err() {
            self.failed = true;
            self.to_unclaim.extend(changes.iter().filter_map(unclaim));
            // At once where that is possible, so that reads go on meanwhile.
            let _ = self.mend();
        }
        committed
    }

    /// Brings the engine back after a fault, and takes back the claims of that commit.
    fn mend(&mut self) -> Result<(), EngineFault> {
        if self.failed {
            self.engine.recover()?;
            self.failed = false;
        }
        if !self.to_unclaim.is_empty() {
            let given_back = self.engine.commit(&self.to_unclaim);
            self.failed = given_back.is_err();
            given_back?;
            self.to_unclaim.clear();
        }
        Ok(())
    }
}

fn unclaim(change: &Change) -> Option<Change> {
    match change {
        Change::Claim(claim) => Some(Change::Unclaim { key: claim.key.clone(), holder: claim.holder }),
        Change::Unclaim { .. } => Some(change.clone()),
        _ => None,
    }
}

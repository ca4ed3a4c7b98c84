//! A bare committer thread over the engine of our store: the same two commits with nothing around them.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use redb::{Database, Durability, ReadableTable as _, TableDefinition};
use tokio::sync::oneshot;

use super::{Keeper, RECORD_BYTES};

const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("records");
const REPLIES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("replies");
const DUE: TableDefinition<'_, (u64, &str), ()> = TableDefinition::new("due");
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// One of a request's two commits.
pub(super) enum Step {
    Claim(String),
    Finish(String),
}

/// A thread that commits all that waits at once.
pub(super) struct Committer(Sender<(Step, oneshot::Sender<()>)>);

impl Committer {
    pub(super) fn start(commit: impl FnMut(&[Step]) + Send + 'static) -> Self {
        let (queue, jobs) = channel();
        std::thread::spawn(move || run(&jobs, commit));
        Self(queue)
    }

    /// Returns once the step is durable.
    async fn step(&self, step: Step) {
        let (done, waiting) = oneshot::channel();
        self.0.send((step, done)).expect("a committer");
        waiting.await.expect("a commit");
    }

    pub(super) async fn turn(&self, key: String) {
        self.step(Step::Claim(key.clone())).await;
        self.step(Step::Finish(key)).await;
    }
}

fn run(jobs: &Receiver<(Step, oneshot::Sender<()>)>, mut commit: impl FnMut(&[Step])) {
    while let Ok(first) = jobs.recv() {
        let (steps, waiting): (Vec<_>, Vec<_>) = std::iter::once(first).chain(jobs.try_iter()).unzip();
        commit(&steps);
        for done in waiting {
            done.send(()).expect("somebody waits");
        }
    }
}

pub(crate) struct Bare(Committer);

impl Bare {
    /// In a file of `folder`, with replies of so many bytes.
    pub(crate) fn start(folder: &Path, reply_bytes: usize) -> Self {
        let database = Database::create(folder.join("bare.redb")).expect("a database");
        let reply = vec![0x42; reply_bytes];
        let mut time = 0;
        Self(Committer::start(move |steps| commit(&database, steps, &reply, &mut time)))
    }
}

/// As durable, and as quick to open again, as our store's commits are.
fn commit(database: &Database, steps: &[Step], reply: &[u8], time: &mut u64) {
    let mut transaction = database.begin_write().expect("a transaction");
    transaction.set_durability(Durability::Immediate).expect("durability");
    transaction.set_quick_repair(true);
    {
        let mut records = transaction.open_table(RECORDS).expect("a table");
        let mut replies = transaction.open_table(REPLIES).expect("a table");
        let mut due = transaction.open_table(DUE).expect("a table");
        let mut meta = transaction.open_table(META).expect("a table");
        for step in steps {
            *time += 1;
            match step {
                Step::Claim(key) => {
                    assert!(records.get(key.as_str()).expect("a look").is_none(), "a new key");
                    records.insert(key.as_str(), [0; RECORD_BYTES].as_slice()).expect("a record");
                    meta.insert("mark", *time).expect("a mark");
                }
                Step::Finish(key) => {
                    records.insert(key.as_str(), [1; RECORD_BYTES].as_slice()).expect("a record");
                    replies.insert(key.as_str(), reply).expect("a reply");
                    due.insert((*time, key.as_str()), ()).expect("its time");
                }
            }
        }
    }
    transaction.commit().expect("a commit");
}

impl Keeper for Bare {
    type Caller = ();

    async fn caller(&self) {}

    async fn turn(&self, (): &mut (), key: String) {
        self.0.turn(key).await;
    }
}

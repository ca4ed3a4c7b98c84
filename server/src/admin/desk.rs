//! Questions about a store of replies, and what answers them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::connector::callers_file;
use crate::connector::{Caller, CallersFault};
use crate::store::{
    Change, Checked, Engine as _, EngineFault, Listed, Outcome, RedbEngine, RequestKey, State, Store,
};

/// Requests of one page.
const PAGE: usize = 500;

/// One question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Whose store this is.
    Where,
    /// The next requests in the order of callers and ids.
    List {
        /// Those behind this one.
        after: Option<RequestKey>,
    },
    /// One request with its replies.
    Show(RequestKey),
    /// Decide a request whose end nobody saw.
    Resolve {
        /// Which.
        key: RequestKey,
        /// What it is from then on.
        verdict: Verdict,
    },
    /// The clock and its mark.
    Clock,
    /// The clock is right: make it the mark.
    AcceptClock,
    /// Read the callers file again.
    Reload,
    /// Hold every table against the others.
    Check,
    /// Copy everything into a new file.
    BackUp {
        /// An absolute path.
        to: PathBuf,
    },
}

/// What a person may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub enum Verdict {
    /// It failed: its caller gets a reply that says so, of the kind Internal.
    Failed,
    /// It is over: its caller is refused as of a reply that is gone.
    Retired,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// To [`Ask::Where`].
    Here {
        /// The directory of the store.
        data_dir: PathBuf,
        /// The process that holds it.
        pid: u32,
    },
    /// To [`Ask::List`]; none at the end.
    Rows(Vec<Row>),
    /// To [`Ask::Show`], and to [`Ask::Resolve`] once it is done.
    Shown {
        /// The request.
        row: Row,
        /// The id of the key in hexadecimal and the bytes of each of its replies.
        replies: Vec<(String, usize)>,
    },
    /// Nothing is known of the request.
    Unknown,
    /// It is not indeterminate, so that nothing was changed.
    Stands(Stage),
    /// To both questions of the clock, in milliseconds of the Unix epoch.
    Clock {
        /// What it is held against.
        mark_unix_ms: u64,
        /// What it shows.
        clock_unix_ms: u64,
    },
    /// To [`Ask::Reload`].
    Reloaded {
        /// Who may ask now.
        callers: usize,
    },
    /// To [`Ask::Check`].
    Checked(Checked),
    /// To [`Ask::BackUp`].
    BackedUp {
        /// Bytes of the copy.
        bytes: u64,
    },
    /// It could not be done.
    Failed(String),
}

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// The server runs it.
    Running,
    /// It was claimed by a server that is gone: nobody knows whether its provider ran.
    Indeterminate,
    /// It has its reply.
    Finished,
    /// Its reply is gone, or it never had one.
    Retired,
    /// A person decided that it failed; its reply is made when it is asked for again.
    Resolved,
}

impl Stage {
    /// As it is shown and asked for.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Indeterminate => "indeterminate",
            Self::Finished => "finished",
            Self::Retired => "retired",
            Self::Resolved => "resolved",
        }
    }
}

/// One request of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Whose, and under which id.
    pub key: RequestKey,
    /// How far it is.
    pub stage: Stage,
    /// Since when, in milliseconds of the Unix epoch.
    pub since_unix_ms: u64,
    /// When it was claimed.
    pub claimed_at_unix_ms: u64,
    /// Until when it might have been started.
    pub expires_at_unix_ms: u64,
    /// What it is bound to, in hexadecimal.
    pub binding_sha256: String,
}

/// Who holds a store.
pub trait Holds: Send + Sync + 'static {
    /// The store.
    fn store(&self) -> &Store<RedbEngine>;

    /// Whether this process runs the request now.
    fn runs(&self, key: &RequestKey) -> bool;

    /// Makes the clock the mark. False where that could not be stored.
    fn accept_clock(&self) -> impl Future<Output = bool> + Send;

    /// Lets these ask from now on, and nobody else.
    fn admit(&self, callers: Vec<Caller>) -> impl Future<Output = Result<(), CallersFault>> + Send;
}

/// A store that no server holds.
#[derive(Debug)]
pub struct Closed(pub Store<RedbEngine>);

impl Holds for Closed {
    fn store(&self) -> &Store<RedbEngine> {
        &self.0
    }

    fn runs(&self, _: &RequestKey) -> bool {
        false
    }

    async fn accept_clock(&self) -> bool {
        self.0.change(Change::AcceptClock { now_unix_ms: now_unix_ms() }).await.is_ok()
    }

    /// Nobody asks where nothing serves.
    async fn admit(&self, _: Vec<Caller>) -> Result<(), CallersFault> {
        Ok(())
    }
}

/// What answers: who holds the store, and where it is.
#[derive(Debug)]
pub struct Desk<H> {
    holder: Arc<H>,
    data_dir: PathBuf,
    callers_file: Option<PathBuf>,
    /// What was read last is what is admitted last.
    reloading: Arc<Mutex<()>>,
}

impl<H> Clone for Desk<H> {
    fn clone(&self) -> Self {
        Self {
            holder: Arc::clone(&self.holder),
            data_dir: self.data_dir.clone(),
            callers_file: self.callers_file.clone(),
            reloading: Arc::clone(&self.reloading),
        }
    }
}

impl<H: Holds> Desk<H> {
    /// A desk before the store in `data_dir`.
    pub fn new(holder: Arc<H>, data_dir: &Path) -> Self {
        let data_dir = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
        Self { holder, data_dir, callers_file: None, reloading: Arc::default() }
    }

    /// With the file that says who may ask.
    #[must_use]
    pub fn with_callers_file(self, callers_file: Option<PathBuf>) -> Self {
        Self { callers_file, ..self }
    }

    /// Answers one question. What reads all of the store does so on a thread of its own.
    pub async fn answer(&self, ask: Ask) -> Said {
        let said = match ask {
            Ask::Where => Ok(Said::Here { data_dir: self.data_dir.clone(), pid: std::process::id() }),
            Ask::List { after } => self.list(after.as_ref()),
            Ask::Show(key) => self.show(key),
            Ask::Resolve { key, verdict } => return self.resolve(key, verdict).await,
            Ask::Clock => self.clock(),
            Ask::AcceptClock => {
                if self.holder.accept_clock().await {
                    self.clock()
                } else {
                    return Said::Failed("the clock's mark could not be stored".to_owned());
                }
            }
            Ask::Reload => return self.reload().await,
            Ask::Check => return self.aside(|engine| Ok(Said::Checked(engine.check()?))).await,
            Ask::BackUp { to } => return self.back_up(to).await,
        };
        said.unwrap_or_else(failed)
    }

    fn engine(&self) -> &RedbEngine {
        self.holder.store().engine()
    }

    fn row(&self, (key, record): Listed) -> Row {
        let (stage, since_unix_ms) = match record.state {
            State::Claimed { .. } if self.holder.runs(&key) => (Stage::Running, record.claimed_at_unix_ms),
            State::Claimed { .. } => (Stage::Indeterminate, record.claimed_at_unix_ms),
            State::Finished { completed_at_unix_ms } => (Stage::Finished, completed_at_unix_ms),
            State::Retired { at_unix_ms } => (Stage::Retired, at_unix_ms),
            State::Resolved { at_unix_ms } => (Stage::Resolved, at_unix_ms),
        };
        Row {
            key,
            stage,
            since_unix_ms,
            claimed_at_unix_ms: record.claimed_at_unix_ms,
            expires_at_unix_ms: record.expires_at_unix_ms,
            binding_sha256: hex(&record.binding),
        }
    }

    fn list(&self, after: Option<&RequestKey>) -> Result<Said, EngineFault> {
        let page = self.engine().list(after, PAGE)?;
        Ok(Said::Rows(page.into_iter().map(|listed| self.row(listed)).collect()))
    }

    fn show(&self, key: RequestKey) -> Result<Said, EngineFault> {
        let Some(found) = self.engine().find(&key, &[0; 16])? else { return Ok(Said::Unknown) };
        let replies = self.engine().replies(&key)?;
        let replies = replies.iter().map(|(key_id, sealed)| (hex(key_id), sealed.len())).collect();
        Ok(Said::Shown { row: self.row((key, found.record)), replies })
    }

    async fn resolve(&self, key: RequestKey, verdict: Verdict) -> Said {
        let found = match self.engine().find(&key, &[0; 16]) {
            Ok(Some(found)) => found.record,
            Ok(None) => return Said::Unknown,
            Err(fault) => return failed(fault),
        };
        let stage = self.row((key.clone(), found)).stage;
        // Looked up before it was asked whether it runs: this very claim is not started again, another is not touched.
        let (State::Claimed { holder }, Stage::Indeterminate) = (found.state, stage) else {
            return Said::Stands(stage);
        };
        let at_unix_ms = now_unix_ms();
        let change = match verdict {
            Verdict::Failed => Change::Resolve { key: key.clone(), holder, at_unix_ms },
            Verdict::Retired => Change::Retire { key: key.clone(), holder, at_unix_ms },
        };
        match self.holder.store().change(change).await {
            Ok(Outcome::Done) => self.show(key).unwrap_or_else(failed),
            Ok(Outcome::Stands(record)) => Said::Stands(self.row((key, record)).stage),
            Ok(_) => Said::Unknown,
            Err(fault) => Said::Failed(fault.to_string()),
        }
    }

    fn clock(&self) -> Result<Said, EngineFault> {
        Ok(Said::Clock { mark_unix_ms: self.engine().mark_unix_ms()?, clock_unix_ms: now_unix_ms() })
    }

    async fn reload(&self) -> Said {
        let Some(path) = &self.callers_file else {
            return Said::Failed("nothing serves from a callers file here".to_owned());
        };
        let _one_at_a_time = self.reloading.lock().await;
        let read = match callers_file::read(path) {
            Ok(callers) => callers,
            Err(fault) => return Said::Failed(format!("{fault}; the callers are those from before")),
        };
        let callers = read.len();
        match self.holder.admit(read).await {
            Ok(()) => Said::Reloaded { callers },
            Err(fault) => Said::Failed(format!("{fault}; the callers are those from before")),
        }
    }

    async fn back_up(&self, to: PathBuf) -> Said {
        if !to.is_absolute() {
            return Said::Failed(format!("{} is no absolute path", to.display()));
        }
        let said = self.aside(move |engine| {
            let copied = engine.back_up(&to);
            Ok(match copied {
                Ok(bytes) => Said::BackedUp { bytes },
                Err(fault) => Said::Failed(format!("{}: {fault}", to.display())),
            })
        });
        said.await
    }

    async fn aside(
        &self,
        work: impl FnOnce(&RedbEngine) -> Result<Said, EngineFault> + Send + 'static,
    ) -> Said {
        let holder = Arc::clone(&self.holder);
        let done = tokio::task::spawn_blocking(move || work(holder.store().engine()).unwrap_or_else(failed));
        done.await.unwrap_or_else(|fault| Said::Failed(fault.to_string()))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what a fault is mapped with")]
fn failed(fault: EngineFault) -> Said {
    Said::Failed(fault.to_string())
}

fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

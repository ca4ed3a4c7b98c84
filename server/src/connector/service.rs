//! One request to one answer: opened, judged, looked up, claimed, run, stored, and only then replied to.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use twolane_core::connector::admit::{self, Judged, Refused, Stopped, arrive, judge};
use twolane_core::connector::carriage::ReplyTo;
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::Refusal;
use twolane_core::connector::failure::Failure;
use twolane_core::connector::replay::{self, Asked, Decision, Now, Terms, decide};
use twolane_core::connector::seal::SealKey;

use super::answer::Held;
use super::backend::{ProviderBackend, Turn};
use super::callers::{Caller, Callers, CallersFault};
use super::room::Room;
use super::seals::Seals;
use super::time::{Judged as JudgedClock, Time};
use super::{answer, lookup, refusals};
use crate::admin::desk::Holds;
use crate::stop_points::{self, Point};
use crate::store::{
    Change, Claim, Engine, EngineFault, Holder, Outcome, ProcessId, RedbEngine, RequestKey, Store, StoreFault,
};

/// Looks at the store again that often where another was faster.
const ATTEMPTS: u32 = 4;

/// What an answer may take beside its run before its connection is closed. Its reply is stored all the same.
const ANSWER_MARGIN: Duration = Duration::from_secs(60);

/// How a service answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How far ahead of now a request may expire.
    pub skew: Duration,
    /// How long a run may take.
    pub run_time: Duration,
    /// How long a run has to end once it is told to.
    pub grace: Duration,
    /// Bytes of a frame, without its length prefix.
    pub frame_max: u64,
    /// Where the store is, for the room on its disk; none is asked for where `None`.
    pub data_dir: Option<PathBuf>,
}

/// What goes back on a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// A frame, its length prefix included.
    Frame(Vec<u8>),
    /// Nothing; why, for the log.
    Silent(&'static str),
}

/// What answers requests. It is bound to no connection.
#[derive(Debug)]
pub struct Service<B, E: Engine> {
    pub(super) backend: Arc<B>,
    pub(super) store: Arc<Store<E>>,
    callers: RwLock<Arc<Callers>>,
    pub(super) seals: Seals<E>,
    pub(super) clock: JudgedClock,
    pub(super) settings: Settings,
    pub(super) refusals: refusals::Refusals,
    pub(super) running: Running,
    pub(super) cancel: CancellationToken,
    runs: TaskTracker,
    room: Room,
    process: ProcessId,
    serial: AtomicU64,
}

/// The requests that run now, each with what it is bound to and the most bytes of its reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Running(Arc<Mutex<HashMap<RequestKey, (Digest, u64)>>>);

/// One of them; gone when dropped.
#[derive(Debug)]
pub(super) struct Run {
    running: Running,
    key: RequestKey,
}

/// A request that was opened.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) caller: Arc<Caller>,
    /// The place of the key that opened it.
    pub(super) place: usize,
    /// Whose, and under which id; that may be longer than an id.
    pub(super) key: RequestKey,
}

impl Opened {
    pub(super) fn seal_key(&self) -> Option<&SealKey> {
        self.caller.keys.get(self.place)
    }
}

/// Why a service does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServiceFault {
    /// The store's mark cannot be read.
    #[error(transparent)]
    Engine(#[from] EngineFault),
    /// No random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(getrandom::Error),
}

impl<B: ProviderBackend, E: Engine> Service<B, E> {
    /// A service over a store that it alone writes.
    pub fn new(
        backend: Arc<B>,
        store: Arc<Store<E>>,
        callers: Callers,
        time: Box<dyn Time>,
        settings: Settings,
    ) -> Result<Arc<Self>, ServiceFault> {
        let mark_ms = store.engine().mark_unix_ms()?;
        let mut process = [0; 16];
        getrandom::fill(&mut process).map_err(ServiceFault::Random)?;
        Ok(Arc::new(Self {
            backend,
            seals: Seals::new(Arc::clone(&store)),
            store,
            callers: RwLock::new(Arc::new(callers)),
            clock: JudgedClock::start(time, mark_ms),
            room: Room::new(settings.data_dir.clone()),
            settings,
            refusals: refusals::Refusals::default(),
            running: Running::default(),
            cancel: CancellationToken::new(),
            runs: TaskTracker::new(),
            process,
            serial: AtomicU64::new(0),
        }))
    }

    fn callers(&self) -> Arc<Callers> {
        Arc::clone(&self.callers.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Who may ask from now on. What was asked before ends under the keys that it was asked with.
    pub async fn admit(&self, mut callers: Callers) {
        callers.follow(&self.callers());
        *self.callers.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(callers);
        self.reserve_seals().await;
    }

    /// Bytes of a frame, without its length prefix.
    pub fn frame_max(&self) -> u64 {
        self.settings.frame_max
    }

    /// Answers the body of one frame. A run goes on where this future is dropped.
    pub async fn answer(self: &Arc<Self>, body: &[u8]) -> Answer {
        let mut scratch = vec![0; admit::scratch_len(body.len())];
        let arrived = match arrive(body, &mut scratch) {
            Ok(arrived) => arrived,
            Err(Stopped::Silent(_)) => return Answer::Silent("no operation request"),
            Err(Stopped::Failed(reply_to, failure)) => return failed(reply_to, failure),
        };
        let (reply_to, envelope) = (arrived.request.reply_to(), arrived.envelope);
        let callers = self.callers();
        let caller = callers.find(envelope.caller_runtime_id);
        let keys: Vec<&SealKey> = caller.iter().flat_map(|caller| &caller.keys).collect();
        let payload_max = caller.map_or(0, |caller| caller.bounds.payload_max);
        let terms = admit::Caller { keys: &keys, payload_max };
        let opened = arrived.open(terms, &callers.decoy, callers.keys_max);
        let (Some(caller), Ok(opened)) = (caller, opened) else {
            return failed(reply_to, Failure::NotAdmitted);
        };
        let key = RequestKey {
            caller: envelope.caller_runtime_id.to_owned(),
            request_id: envelope.request_id.to_owned(),
        };
        let request = Opened { caller: Arc::clone(caller), place: opened.key, key };
        match judge(opened.plaintext, envelope.caller_runtime_id, envelope.request_id) {
            Ok(judged) => self.judged(request, judged).await,
            Err(refused) => self.refuse(&request, refused).await,
        }
    }

    async fn judged(self: &Arc<Self>, request: Opened, judged: Judged<'_>) -> Answer {
        let binding = judged.binding;
        let refuse = |refusal| Refused { refusal, binding };
        let asked = asked(&request.caller, &judged);
        for _ in 0..ATTEMPTS {
            let found = match self.find(&request, binding) {
                Ok(found) => found,
                // What is stored may be the answer, so that none is better than a refusal.
                Err(_) => return Answer::Silent("the store cannot be read"),
            };
            let terms = self.terms(&request.caller);
            match decide(found.record, &asked, &terms, self.clock.now()) {
                Decision::Stored => match found.sealed {
                    Some(frame) => return Answer::Frame(frame),
                    None => return Answer::Silent("a stored reply is not there"),
                },
                Decision::SealAgain => match self.seal_again(&request).await {
                    Some(frame) => return Answer::Frame(frame),
                    None => continue,
                },
                Decision::Fail => match self.fail(&request, &judged).await {
                    Some(frame) => return Answer::Frame(frame),
                    None => continue,
                },
                Decision::Refuse(refusal) => return self.refuse(&request, refuse(refusal)).await,
                Decision::Run { output_tokens_max } => {
                    let place = Arc::clone(&request.caller.places).try_acquire_owned().ok();
                    let payload_max = request.caller.bounds.payload_max;
                    let run = self.running.enter(&request.key, binding, payload_max);
                    let (Some(place), Some(run)) = (place, run) else { continue };
                    let turn = answer::turn(&judged, output_tokens_max);
                    match self.start(request.clone(), binding, turn, (place, run)).await {
                        Started::Ended(answer) => return answer,
                        Started::Stands => {}
                        Started::Late => return self.refuse(&request, refuse(Refusal::Expired)).await,
                        Started::NoRoom => return self.refuse(&request, refuse(Refusal::Capacity)).await,
                    }
                }
            }
        }
        self.refuse(&request, refuse(Refusal::Capacity)).await
    }

    fn terms(&self, caller: &Caller) -> Terms {
        let running_max = caller.bounds.running_max;
        Terms {
            output_tokens_max: caller.bounds.output_tokens_max,
            skew_ms: u64::try_from(self.settings.skew.as_millis()).unwrap_or(u64::MAX),
            running: if caller.places.available_permits() == 0 { running_max } else { 0 },
            running_max,
            has_room: !self.runs.is_closed()
                && self.backend.readiness().is_ok()
                && self.room.has(self.running.payload_bytes().saturating_add(caller.bounds.payload_max)),
        }
    }

    /// Claims and runs on a task of its own, so that a caller who leaves loses nothing, and a claim is never left
    /// without its run.
    async fn start(self: &Arc<Self>, request: Opened, binding: Digest, turn: Turn, held: Held) -> Started {
        let service = Arc::clone(self);
        let run = self.runs.spawn(async move {
            // Before anything is paid for: a reply that cannot be sealed would be lost.
            let Some(nonce) = service.reply_nonce(&request).await else {
                return Started::Ended(Answer::Silent("nothing can be sealed"));
            };
            match service.claim(&request, binding, &turn).await {
                Ok(Claimed::Ours) => Started::Ended(service.run_to_end(request, turn, nonce, held).await),
                Ok(Claimed::Late) => Started::Late,
                Ok(Claimed::Stands) => Started::Stands,
                Err(_) => Started::NoRoom,
            }
        });
        // A panic has been reported where it happened.
        run.await.unwrap_or(Started::Ended(Answer::Silent("the run failed within the server")))
    }

    /// Claims durably: nothing reaches the provider before. A claim that was written too late is given back.
    async fn claim(&self, request: &Opened, binding: Digest, turn: &Turn) -> Result<Claimed, StoreFault> {
        let Now::Trusted { ms: now_unix_ms } = self.clock.now() else { return Ok(Claimed::Stands) };
        let key = request.key.clone();
        let holder = Holder { process: self.process, serial: self.serial.fetch_add(1, Ordering::Relaxed) };
        let expires_at_unix_ms = turn.invocation.expires_at_unix_ms;
        let claim = Claim { key: key.clone(), binding: binding.0, expires_at_unix_ms, now_unix_ms, holder };
        stop_points::pass(Point::ClaimAsked);
        if self.store.change(Change::Claim(claim)).await? != Outcome::Done {
            return Ok(Claimed::Stands);
        }
        stop_points::pass(Point::ClaimCommitted);
        self.clock.marked(now_unix_ms);
        stop_points::pass(Point::ClockMarked);
        if self.clock.unix_ms() > expires_at_unix_ms {
            stop_points::pass(Point::GiveBackAsked);
            self.store.change(Change::Unclaim { key, holder }).await?;
            stop_points::pass(Point::GivenBack);
            return Ok(Claimed::Late);
        }
        Ok(Claimed::Ours)
    }

    /// Takes no new claims and gives the runs `drain`, then tells them to end. What ends is stored.
    pub async fn stop(&self, drain: Duration) {
        self.runs.close();
        if tokio::time::timeout(drain, self.runs.wait()).await.is_err() {
            self.cancel.cancel();
            let ending = self.settings.grace + answer::STORE_TIME;
            let _ = tokio::time::timeout(ending, self.runs.wait()).await;
        }
    }

    /// Lets go of what is older than it has to be kept, until nothing is.
    pub async fn purge(&self, retention: replay::Retention) {
        lookup::purge(self, retention).await;
    }

    /// A person says that the clock is right. False where that could not be stored, and then nothing changes.
    pub async fn accept_clock(&self) -> bool {
        let now_unix_ms = self.clock.shown_unix_ms();
        let stored = self.store.change(Change::AcceptClock { now_unix_ms }).await.is_ok();
        if stored {
            self.clock.accept();
        }
        stored
    }

    /// Reserves seals of every key, so that there are some in hand should the disk fail.
    pub async fn reserve_seals(&self) {
        for key in self.callers().key_ids() {
            self.seals.prepare(key).await;
        }
    }

    /// How long an answer may take: its run, its end, and a while for its reply to be stored.
    pub fn answer_time(&self) -> Duration {
        self.settings.run_time + self.settings.grace + ANSWER_MARGIN
    }
}

impl<B: ProviderBackend> Holds for Service<B, RedbEngine> {
    fn store(&self) -> &Store<RedbEngine> {
        &self.store
    }

    fn runs(&self, key: &RequestKey) -> bool {
        self.running.binding(key).is_some()
    }

    async fn accept_clock(&self) -> bool {
        Self::accept_clock(self).await
    }

    async fn admit(&self, callers: Vec<Caller>) -> Result<(), CallersFault> {
        let callers = Callers::new(callers, self.settings.frame_max)?;
        Self::admit(self, callers).await;
        Ok(())
    }
}

/// What came of a claim.
enum Claimed {
    /// It is durable.
    Ours,
    /// It was, but its request expired meanwhile: it was given back.
    Late,
    /// Another was faster, or the clock is not to be believed any more.
    Stands,
}

/// What came of a start.
enum Started {
    /// It ran.
    Ended(Answer),
    /// Its request expired meanwhile.
    Late,
    /// Another was faster.
    Stands,
    /// It could not be stored.
    NoRoom,
}

fn asked(caller: &Caller, judged: &Judged<'_>) -> Asked {
    let fields = judged.invocation.fields();
    Asked {
        binding: judged.binding,
        expires_at_unix_ms: fields.expires_at_unix_ms,
        max_output_tokens: fields.request.max_output_tokens,
        model_allowed: caller.may_ask(fields.request.model.as_str()),
    }
}

fn failed(reply_to: ReplyTo<'_>, failure: Failure) -> Answer {
    let mut frame = vec![0; 4];
    if failure.write(reply_to, &mut frame).is_err() {
        return Answer::Silent("a failure that fits no frame");
    }
    let len = u32::try_from(frame.len() - 4).unwrap_or(u32::MAX);
    frame.iter_mut().zip(len.to_be_bytes()).for_each(|(place, byte)| *place = byte);
    Answer::Frame(frame)
}

impl Running {
    /// Takes `key`, if nobody has it.
    fn enter(&self, key: &RequestKey, binding: Digest, payload_max: u64) -> Option<Run> {
        use std::collections::hash_map::Entry;
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => {
                place.insert((binding, payload_max));
                Some(Run { running: self.clone(), key: key.clone() })
            }
        }
    }

    pub(super) fn binding(&self, key: &RequestKey) -> Option<Digest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).map(|(binding, _)| *binding)
    }

    /// What all their replies may come to.
    fn payload_bytes(&self) -> u64 {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.values().fold(0, |sum, (_, payload_max)| sum.saturating_add(*payload_max))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

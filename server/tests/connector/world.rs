//! A whole service on real sockets, a backend that counts its runs, and a client.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use twolane::connector::backend::failed;
use twolane::connector::listen::{self, Bounds, Watch};
use twolane::connector::{
    Bounds as CallerBounds, Caller, Callers, Events, NotReady, Outcome, ProviderBackend, Service, Settings,
    Time, Turn,
};
use twolane::stop::{self, Stopper};
use twolane::store::{RedbEngine, Store};
use twolane_core::connector::answer::{Reply, Sent, believe, open_reply};
use twolane_core::connector::document::{
    Completed, Disposition, Document as _, FailureKind, OwnedInvocation, Refusal, StopReason, Valid,
};
use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::seal::SealKey;
use twolane_core::connector::sealed::{SealedFault, seal_invocation};
use twolane_core::connector::text::Id;

use crate::ask::{Ask, id};

/// Frames of these tests.
pub(crate) const FRAME_MAX: u64 = 65_536;

/// When the tests play, by a clock that they set.
pub(crate) const NOW_MS: u64 = 1_000_000;

pub(crate) fn secret_text(number: u8) -> String {
    format!("a secret that belongs to a test, number {number:03}")
}

pub(crate) fn secret(number: u8) -> SealKey {
    SealKey::from_secret(&secret_text(number)).unwrap()
}

/// A clock that stands where it is put.
#[derive(Clone, Debug)]
pub(crate) struct Hands {
    pub(crate) unix_ms: Arc<AtomicU64>,
    pub(crate) monotonic_ms: Arc<AtomicU64>,
}

impl Hands {
    /// Lets time pass for both.
    pub(crate) fn pass(&self, ms: u64) {
        self.unix_ms.fetch_add(ms, Ordering::Relaxed);
        self.monotonic_ms.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Time for Hands {
    fn unix_ms(&self) -> u64 {
        self.unix_ms.load(Ordering::Relaxed)
    }

    fn monotonic_ms(&self) -> u64 {
        self.monotonic_ms.load(Ordering::Relaxed)
    }
}

/// Counts its runs by request, and waits for a permit before it ends each.
#[derive(Debug)]
pub(crate) struct Counting {
    transport: Id<Box<str>>,
    pub(crate) runs: AtomicUsize,
    pub(crate) asked: Mutex<Vec<(String, u32)>>,
    pub(crate) gate: Semaphore,
}

impl Counting {
    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

impl ProviderBackend for Counting {
    fn transport(&self) -> Id<&str> {
        self.transport.borrow()
    }

    fn readiness(&self) -> Result<(), NotReady> {
        Ok(())
    }

    async fn execute(&self, turn: &Turn, events: &Events, cancel: &CancellationToken) -> Outcome {
        let run = self.runs.fetch_add(1, Ordering::SeqCst);
        let request_id = turn.invocation.request.request_id.as_str().to_owned();
        self.asked.lock().unwrap().push((request_id, turn.max_output_tokens.get()));
        let Some(permit) = cancel.run_until_cancelled(self.gate.acquire()).await else {
            return failed(FailureKind::Internal, "cancelled");
        };
        permit.unwrap().forget();
        events.text(&format!("run {run}")).unwrap();
        Outcome::Completed(Completed {
            stop_reason: StopReason::EndTurn,
            provider_response_id: None,
            input_tokens: None,
            output_tokens: Some(2),
            reasoning_output_tokens: None,
            cached_input_tokens: None,
        })
    }
}

/// A running service.
pub(crate) struct World {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) service: Arc<Service<Counting, RedbEngine>>,
    pub(crate) backend: Arc<Counting>,
    pub(crate) hands: Hands,
    stopper: Stopper,
    serving: JoinHandle<()>,
}

/// The first caller's bounds.
pub(crate) fn bounds() -> CallerBounds {
    CallerBounds {
        models: vec!["model-1".to_owned()],
        output_tokens_max: NonZeroU32::new(100).unwrap(),
        running_max: 2,
        payload_max: 16_384,
    }
}

impl World {
    /// Over the store in `folder`, with `keys` of the first caller; `open` runs may end without being let.
    pub(crate) async fn start(folder: &Path, keys: &[u8], open: usize) -> Self {
        let unix_ms = Arc::new(AtomicU64::new(NOW_MS));
        let hands = Hands { unix_ms, monotonic_ms: Arc::new(AtomicU64::new(5)) };
        Self::start_at(folder, keys, open, hands, Bounds::default()).await
    }

    pub(crate) async fn start_at(
        folder: &Path,
        keys: &[u8],
        open: usize,
        hands: Hands,
        sockets: Bounds,
    ) -> Self {
        let store = Arc::new(Store::start(RedbEngine::open(&folder.join("replay.redb")).unwrap()).unwrap());
        let backend = Arc::new(Counting {
            transport: id("counting"),
            runs: AtomicUsize::new(0),
            asked: Mutex::default(),
            gate: Semaphore::new(open),
        });
        let callers = vec![
            Caller::new(id("caller-1"), keys.iter().map(|key| secret(*key)).collect(), bounds()),
            Caller::new(id("caller-2"), vec![secret(200)], bounds()),
        ];
        let settings = Settings {
            skew: Duration::from_secs(300),
            run_time: Duration::from_secs(60),
            grace: Duration::from_millis(100),
            frame_max: FRAME_MAX,
            data_dir: Some(folder.to_owned()),
        };
        let callers = Callers::new(callers, FRAME_MAX).unwrap();
        let clock = Box::new(hands.clone());
        let service = Service::new(Arc::clone(&backend), store, callers, clock, settings).unwrap();
        let listener = listen::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stopper, stop) = stop::channel();
        let serving =
            tokio::spawn(listen::serve(Arc::clone(&service), listener, sockets, Watch::none(), stop));
        Self { address, service, backend, hands, stopper, serving }
    }

    /// Stops as on SIGTERM.
    pub(crate) async fn stop(self) {
        self.stopper.stop();
        self.serving.await.unwrap();
    }

    /// Sends bytes and reads all that comes back.
    pub(crate) async fn send(&self, frame: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(frame).await.unwrap();
        let mut reply = Vec::new();
        // A reset is a close like any other.
        let _ = stream.read_to_end(&mut reply).await;
        reply
    }

    pub(crate) async fn ask(&self, ask: &Ask, key: u8) -> Vec<u8> {
        self.send(&sealed(&ask.invocation(), &secret(key))).await
    }
}

pub(crate) fn nonce() -> Nonce {
    let mut nonce = Nonce([0; 12]);
    getrandom::fill(&mut nonce.0).unwrap();
    nonce
}

/// The frame of an invocation.
pub(crate) fn sealed(invocation: &Valid<OwnedInvocation>, key: &SealKey) -> Vec<u8> {
    let nonce = nonce();
    let Err(SealedFault::BufferTooShort { needed, .. }) = seal_invocation(&mut [], key, nonce, invocation)
    else {
        panic!("sealed into nothing");
    };
    let mut frame = vec![0; usize::try_from(needed).unwrap()];
    seal_invocation(&mut frame, key, nonce, invocation).unwrap();
    frame
}

/// What a caller makes of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Text(String),
    Failed(FailureKind),
    Refused(Refusal),
    Hint(String),
    Nothing,
}

/// Opens a reply under a numbered secret.
pub(crate) fn told(ask: &Ask, key: u8, frame: &[u8]) -> Told {
    told_under(ask, &secret(key), frame)
}

/// Opens a reply as a client does, which believes nothing that is not bound to what it sent.
pub(crate) fn told_under(ask: &Ask, key: &SealKey, frame: &[u8]) -> Told {
    if frame.is_empty() {
        return Told::Nothing;
    }
    let (prefix, body) = frame.split_first_chunk::<4>().unwrap();
    assert_eq!(u32::from_be_bytes(*prefix) as usize, body.len());
    let mut body = body.to_vec();
    let plaintext = match open_reply(&mut body, key, ask.caller, ask.request_id).unwrap() {
        Reply::Hint(hint) => return Told::Hint(hint.code.to_owned()),
        Reply::Sealed(plaintext) => plaintext,
    };
    let invocation = ask.invocation();
    invocation.check().unwrap();
    let sent = Sent {
        caller_runtime_id: ask.caller,
        request_id: ask.request_id,
        model: ask.model,
        native_request_sha256: invocation.native_request_sha256,
        provider_request_sha256: invocation.provider_request_sha256,
    };
    match &believe(plaintext, &sent).unwrap().disposition {
        Disposition::Refused(refusal) => Told::Refused(*refusal),
        Disposition::Transported(transported) => match transported.receipt.outcome {
            twolane_core::connector::document::Outcome::Failed(failed) => Told::Failed(failed.failure_kind),
            twolane_core::connector::document::Outcome::Completed(_) => Told::Text(
                transported
                    .events
                    .iter()
                    .map(|event| match event.payload {
                        twolane_core::connector::document::EventPayload::TextDelta { text } => text.text(),
                        _ => panic!("a tool call"),
                    })
                    .collect(),
            ),
        },
    }
}

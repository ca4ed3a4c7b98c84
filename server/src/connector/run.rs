//! One run: its time, its end, and the reply that it always gets.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Disposition, FailureKind, OwnedResult, SchemaId, TransportReceipt, TransportResult, Transported, Valid,
};
use twolane_core::connector::text::Id;

use super::backend::{Outcome, ProviderBackend, Turn, failed};
use super::events::{Event, Events, Said};

/// What a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// How long it has to end once it is told to.
    pub grace: Duration,
    /// Canonical bytes of its result; at least those of a failure, which every bound of a caller has room for.
    pub result_bytes: usize,
}

/// A result that keeps every rule and its bound.
pub type Reply = Valid<OwnedResult>;

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// With a reply to keep.
    Reply(Box<Reply>),
    /// It was cancelled and did not end: nobody knows what the provider did.
    Unknown,
}

/// Runs `turn` to its end, whatever the backend does. It is bound to no connection; only `cancel` ends it early.
pub async fn run<B: ProviderBackend>(
    backend: &Arc<B>,
    turn: Turn,
    limits: Limits,
    cancel: &CancellationToken,
) -> RunEnd {
    let events = Events::new(limits.result_bytes);
    let stop = cancel.child_token();
    let mut running = {
        let (backend, turn, events, stop) = (Arc::clone(backend), turn.clone(), events.clone(), stop.clone());
        tokio::spawn(async move { backend.execute(&turn, &events, &stop).await })
    };
    let outcome = tokio::select! {
        ended = &mut running => outcome_of(ended),
        () = tokio::time::sleep(limits.time) => {
            stop.cancel();
            match end(running, limits.grace).await {
                // Ready just then: it was paid for.
                Some(Ok(outcome @ Outcome::Completed(_))) => outcome,
                _ => {
                    let words = format!("the backend took longer than {} s", limits.time.as_secs());
                    failed(FailureKind::Timeout, &words)
                }
            }
        }
        () = cancel.cancelled() => match end(running, limits.grace).await {
            Some(ended) => outcome_of(ended),
            None => return RunEnd::Unknown,
        },
    };
    RunEnd::Reply(Box::new(reply(&turn, backend.transport(), outcome, events.close(), limits.result_bytes)))
}

/// Waits for a run that was told to end; drops it where it does not.
async fn end(mut running: JoinHandle<Outcome>, grace: Duration) -> Option<Result<Outcome, JoinError>> {
    let ended = timeout(grace, &mut running).await.ok();
    if ended.is_none() {
        running.abort();
    }
    ended
}

/// A panic is reported where it happens; its words may hold anything, so none of them go to the caller.
fn outcome_of(ended: Result<Outcome, JoinError>) -> Outcome {
    ended.unwrap_or_else(|_| failed(FailureKind::Internal, "the backend failed within itself"))
}

/// The reply to `turn`, or that it is longer than `bytes_max`.
fn reply(turn: &Turn, transport: Id<&str>, outcome: Outcome, said: Said, bytes_max: usize) -> Reply {
    let whole = match said {
        Said::All(events) => valid(turn, transport, outcome, events).filter(|whole| fits(whole, bytes_max)),
        Said::TooLarge => None,
    };
    let too_large = || {
        let words = format!("the result is longer than the {bytes_max} bytes that the caller takes");
        valid(turn, transport, failed(FailureKind::ResultTooLarge, &words), Vec::new())
    };
    match whole.or_else(too_large) {
        Some(reply) => reply,
        None => unreachable!("a result without events breaks no rule between its fields"),
    }
}

/// The reply to a turn that failed with these words.
pub(super) fn failure(turn: &Turn, transport: Id<&str>, words: &str) -> Reply {
    let failed = failed(FailureKind::Internal, words);
    match valid(turn, transport, failed, Vec::new()) {
        Some(reply) => reply,
        None => unreachable!("a result without events breaks no rule between its fields"),
    }
}

fn fits(reply: &Reply, bytes_max: usize) -> bool {
    reply.canonical_len().is_ok_and(|len| len <= bytes_max as u64)
}

fn valid(turn: &Turn, transport: Id<&str>, outcome: Outcome, events: Vec<Event>) -> Option<Reply> {
    let invocation = &turn.invocation;
    let (caller, request) = (&invocation.caller_runtime_id, &invocation.request);
    let (native, provider) = (invocation.native_request_sha256, invocation.provider_request_sha256);
    let receipt = TransportReceipt {
        schema_id: SchemaId::NEW,
        request_id: request.request_id.clone(),
        caller_runtime_id: caller.clone(),
        native_request_sha256: native,
        provider_request_sha256: provider,
        model: request.model.clone(),
        transport: transport.to_owned(),
        outcome,
    };
    Valid::new(TransportResult {
        schema_id: SchemaId::NEW,
        request_id: request.request_id.clone(),
        caller_runtime_id: caller.clone(),
        binding_sha256: Digest::binding(caller.as_str(), request.request_id.as_str(), &native, &provider),
        disposition: Disposition::Transported(Transported { events, receipt }),
    })
    .ok()
}

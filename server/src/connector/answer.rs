//! Sealed answers: of runs, of refusals, and of stored replies under another key.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};
use tracing::{error, warn};
use twolane_core::connector::admit::{Judged, Refused};
use twolane_core::connector::answer::{Reply as OpenReply, open_reply};
use twolane_core::connector::document::{
    Disposition, Refusal, ResultParts, SchemaId, TransportResult, Valid,
};
use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::seal::SealKey;
use twolane_core::connector::sealed::{SealedFault, seal_again, seal_malformed, seal_result};
use twolane_core::connector::text::Id;
use twolane_core::limits::{CONNECTOR_PREFIX_LEN, SEAL_TAG_LEN};

use super::backend::{ProviderBackend, Turn};
use super::refusals::{Lookup, Name};
use super::run::{Limits, Reply, RunEnd, failure, run};
use super::service::{Answer, Opened, Run, Service};
use crate::stop_points::{self, Point};
use crate::store::{self, Change, Engine, Outcome};

/// What the reply to a resolved request says.
const RESOLVED: &str = "an operator resolved it: whether the provider ran is not known";

/// How long a reply is tried to be stored once the server stops.
pub(super) const STORE_TIME: Duration = Duration::from_secs(5);

/// Between two tries to store a reply, at first and at most.
const BACKOFF: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// What a run holds while it runs.
pub(super) type Held = (OwnedSemaphorePermit, Run);

/// What the backend is asked.
pub(super) fn turn(judged: &Judged<'_>, max_output_tokens: NonZeroU32) -> Turn {
    Turn { invocation: judged.invocation.to_owned(), max_output_tokens }
}

impl<B: ProviderBackend, E: Engine> Service<B, E> {
    /// Runs a claimed turn, stores its reply, and gives that.
    pub(super) async fn run_to_end(&self, request: Opened, turn: Turn, nonce: Nonce, held: Held) -> Answer {
        let payload_max = usize::try_from(request.caller.bounds.payload_max).unwrap_or(usize::MAX);
        let limits = Limits {
            time: self.settings.run_time,
            grace: self.settings.grace,
            result_bytes: payload_max - SEAL_TAG_LEN,
        };
        stop_points::pass(Point::RunBegun);
        let frame = match run(&self.backend, turn, limits, &self.cancel).await {
            RunEnd::Reply(reply) => self.finish(&request, &reply, nonce).await,
            RunEnd::Unknown => {
                warn!(caller = request.key.caller, "a run did not end in time: its request is Indeterminate");
                None
            }
        };
        drop(held);
        frame.map_or(Answer::Silent("the run ended without a reply"), Answer::Frame)
    }

    /// Seals a reply and stores it, as long as that takes: the provider was paid.
    async fn finish(&self, request: &Opened, reply: &Reply, nonce: Nonce) -> Option<Vec<u8>> {
        let key = request.seal_key()?;
        let frame = sealed(|buffer| seal_result(buffer, key, nonce, reply).map(|frame| frame.len()))?;
        stop_points::pass(Point::ReplySealed);
        let change = Change::Finish {
            key: request.key.clone(),
            reply: store::Reply { key_id: key.id().0, sealed: frame.clone() },
            completed_at_unix_ms: self.clock.unix_ms(),
        };
        let mut backoff = BACKOFF[0];
        let mut give_up_at = None;
        loop {
            stop_points::pass(Point::FinishAsked);
            match self.store.change(change.clone()).await {
                Ok(Outcome::Done) => {
                    stop_points::pass(Point::FinishCommitted);
                    return Some(frame);
                }
                Ok(outcome) => {
                    error!(
                        ?outcome,
                        caller = request.key.caller,
                        "a reply was not stored: something else stands"
                    );
                    return None;
                }
                Err(fault) => {
                    warn!(%fault, caller = request.key.caller, "a reply is not stored yet; trying again");
                }
            }
            if self.cancel.is_cancelled()
                && *give_up_at.get_or_insert(Instant::now() + STORE_TIME) <= Instant::now()
            {
                return None;
            }
            sleep(backoff).await;
            backoff = (backoff * 2).min(BACKOFF[1]);
        }
    }

    /// The stored reply under the key that opened the request, stored as well.
    pub(super) async fn seal_again(&self, request: &Opened) -> Option<Vec<u8>> {
        let key = request.seal_key()?;
        let (caller, request_id) = (request.key.caller.as_str(), request.key.request_id.as_str());
        let replies = self.store.engine().replies(&request.key).ok()?;
        let (mut body, other) = replies.into_iter().find_map(|(key_id, mut frame)| {
            let other = request.caller.keys.iter().find(|known| known.id().0 == key_id)?;
            Some((frame.split_off(CONNECTOR_PREFIX_LEN.min(frame.len())), other))
        })?;
        let Ok(OpenReply::Sealed(result)) = open_reply(&mut body, other, caller, request_id) else {
            error!(caller, "a stored reply does not open with the key it was sealed under");
            return None;
        };
        let nonce = self.nonce(key).await?;
        let ids = [caller, request_id];
        let frame = sealed(|buffer| seal_again(buffer, key, nonce, ids, result).map(|frame| frame.len()))?;
        let reply = store::Reply { key_id: key.id().0, sealed: frame.clone() };
        stop_points::pass(Point::ResealAsked);
        match self.store.change(Change::Reseal { key: request.key.clone(), reply }).await {
            Ok(Outcome::Done) => {
                stop_points::pass(Point::ResealCommitted);
                Some(frame)
            }
            // Another was faster, or it was let go of: looked up again.
            _ => None,
        }
    }

    /// The reply to a request that a person resolved: it failed. Stored as every reply is.
    pub(super) async fn fail(&self, request: &Opened, judged: &Judged<'_>) -> Option<Vec<u8>> {
        let nonce = self.reply_nonce(request).await?;
        let key = request.seal_key()?;
        let turn = turn(judged, request.caller.bounds.output_tokens_max);
        let reply = failure(&turn, self.backend.transport(), RESOLVED);
        let frame = sealed(|buffer| seal_result(buffer, key, nonce, &reply).map(|frame| frame.len()))?;
        let change = Change::Finish {
            key: request.key.clone(),
            reply: store::Reply { key_id: key.id().0, sealed: frame.clone() },
            completed_at_unix_ms: self.clock.unix_ms(),
        };
        match self.store.change(change).await {
            Ok(Outcome::Done) => Some(frame),
            // Another was faster: looked up again.
            _ => None,
        }
    }

    /// Refuses an opened request under the key that opened it.
    pub(super) async fn refuse(&self, request: &Opened, refused: Refused) -> Answer {
        let Some(key) = request.seal_key() else { return Answer::Silent("no key") };
        let name = Name {
            caller: request.key.caller.clone(),
            request_id: request.key.request_id.clone(),
            refusal: refused.refusal,
            binding: refused.binding,
            key: key.id(),
        };
        match self.refusals.look_up(&name, self.clock.monotonic_ms()) {
            Lookup::Kept(frame) => return Answer::Frame(frame),
            Lookup::TooMany => return Answer::Silent("too many refusals in a second"),
            Lookup::Fresh => {}
        }
        let Some(nonce) = self.nonce(key).await else { return Answer::Silent("nothing can be sealed") };
        match refusal(request, refused, key, nonce) {
            Some(frame) if frame.len() as u64 <= self.settings.frame_max + CONNECTOR_PREFIX_LEN as u64 => {
                stop_points::pass(Point::RefusalSealed);
                Answer::Frame(self.refusals.keep(name, frame))
            }
            _ => Answer::Silent("a refusal that fits no frame"),
        }
    }

    /// What the reply to `request` will be sealed with.
    pub(super) async fn reply_nonce(&self, request: &Opened) -> Option<Nonce> {
        self.nonce(request.seal_key()?).await
    }

    async fn nonce(&self, key: &SealKey) -> Option<Nonce> {
        match self.seals.take(key.id()).await {
            Ok(nonce) => Some(nonce),
            Err(fault) => {
                error!(%fault, "nothing can be sealed");
                None
            }
        }
    }
}

/// Only a malformed request may have an id that is none.
fn refusal(request: &Opened, refused: Refused, key: &SealKey, nonce: Nonce) -> Option<Vec<u8>> {
    let ids = [request.key.caller.as_str(), request.key.request_id.as_str()];
    let Refused { refusal, binding } = refused;
    if refusal == Refusal::Malformed {
        return sealed(|buffer| seal_malformed(buffer, key, nonce, ids, &binding).map(|frame| frame.len()));
    }
    let result: Valid<ResultParts<'_>> = Valid::new(TransportResult {
        schema_id: SchemaId::NEW,
        request_id: Id::new(ids[1]).ok()?,
        caller_runtime_id: Id::new(ids[0]).ok()?,
        binding_sha256: binding,
        disposition: Disposition::Refused(refusal),
    })
    .ok()?;
    sealed(|buffer| seal_result(buffer, key, nonce, &result).map(|frame| frame.len()))
}

/// A buffer of the length that `seal` asks for, with what it writes. The nonce is used once: a buffer that is too
/// short is refused before anything is sealed.
fn sealed(seal: impl Fn(&mut [u8]) -> Result<usize, SealedFault>) -> Option<Vec<u8>> {
    let needed = match seal(&mut []) {
        Err(SealedFault::BufferTooShort { needed, .. }) => usize::try_from(needed).ok()?,
        _ => return None,
    };
    let mut frame = vec![0; needed];
    let len = seal(&mut frame).ok()?;
    frame.truncate(len);
    Some(frame)
}

//! A caller at one address: prepares, seals and sends, and believes what is sealed and bound.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::task::spawn_blocking;
use twolane_core::connector::answer::{self, ResponseFault, ResultFault, Sent, believe, open_reply};
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Disposition, Event as Said, OwnedRequest, SchemaId, TransportInvocation, Valid,
};
use twolane_core::connector::seal::SealKey;
use twolane_core::connector::sealed::{SealedFault, seal_invocation};
use twolane_core::connector::text::{Id, TextFault};
use twolane_core::limits::CONNECTOR_PREFIX_LEN;

use crate::exchange::{Bounds, ExchangeFault, Lost, exchange};
use crate::prepared::Prepared;
use crate::seals::{Seals, SealsFault};
use crate::store::{PrepareFault, Store};

/// One piece of what a model said.
pub type Event = Said<Box<str>>;

/// What came of a request, bound to it: a refusal, or what was said and a receipt that tells how it ended.
pub type Reply = Disposition<Box<str>, Vec<Event>>;

/// Why there is no client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientFault {
    /// An address that other machines could be at.
    #[error("{0} is not a loopback address; sealed turns stay on this machine: use 127.0.0.1 or ::1")]
    NotLoopback(SocketAddr),
    /// A caller that is no id.
    #[error("the caller's id: {0}")]
    Caller(TextFault),
}

/// What anyone at the address may have said, without a seal. It proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// What kind of failure.
    pub code: String,
    /// For people.
    pub message: String,
}

/// Why a request has no reply that can be believed.
#[derive(Debug, thiserror::Error)]
pub enum SendFault {
    /// It was prepared for another caller.
    #[error("the request is of another caller")]
    OtherCaller,
    /// Its frame is longer than a frame may be.
    #[error("the request needs a frame of {needed} bytes, {max} are allowed")]
    RequestTooLong {
        /// Bytes of the frame.
        needed: u64,
        /// The bound.
        max: u64,
    },
    /// Nothing may be sealed.
    #[error(transparent)]
    Seals(#[from] SealsFault),
    /// The connection brought nothing. The same bytes may be sent again.
    #[error(transparent)]
    Lost(Lost),
    /// A reply that is not read.
    #[error("a reply of {announced} bytes was announced, at most {max} are read")]
    ReplyTooLong {
        /// Bytes of its body.
        announced: u32,
        /// The bound.
        max: u64,
    },
    /// What came is no reply to this request, or not under this key.
    #[error("what came is no reply to this request: {0}")]
    Response(ResponseFault),
    /// What was sealed is not bound to this request.
    #[error("the sealed result is not of this request: {0}")]
    Result(ResultFault),
    /// A failure that nobody vouches for.
    #[error("an unsealed answer: {:?}", .0.code)]
    Hint(Hint),
}

/// A caller at one address.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    caller: Id<Box<str>>,
    key: SealKey,
    store: Store,
    seals: Arc<Seals>,
    bounds: Bounds,
}

impl Client {
    /// A caller with one of its keys: the one that every reply will be sealed under. The store counts its seals.
    pub fn new(
        address: SocketAddr,
        caller: &str,
        key: SealKey,
        store: Store,
        bounds: Bounds,
    ) -> Result<Self, ClientFault> {
        if !address.ip().is_loopback() {
            return Err(ClientFault::NotLoopback(address));
        }
        let caller = Id::new(caller.into()).map_err(ClientFault::Caller)?;
        let seals = Arc::new(Seals::new(store.clone(), key.id()));
        Ok(Self { address, caller, key, store, seals, bounds })
    }

    /// Dates a request once and for ever, and stores it; nothing is sent. A run may begin for it within `lifetime`.
    /// `native_request_sha256` is the digest of the request in the caller's own form. Waits for the disk.
    pub fn prepare(
        &self,
        request: Valid<OwnedRequest>,
        native_request_sha256: Digest,
        lifetime: Duration,
    ) -> Result<Prepared, PrepareFault> {
        let expires =
            SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_add(lifetime);
        let invocation = TransportInvocation {
            schema_id: SchemaId::NEW,
            caller_runtime_id: Id::clone(&self.caller),
            expires_at_unix_ms: u64::try_from(expires.as_millis()).unwrap_or(u64::MAX),
            native_request_sha256,
            provider_request_sha256: request.sha256().map_err(|_| PrepareFault::TooLong)?,
            request,
        };
        self.store.put(Valid::new(invocation)?)
    }

    /// Sends a request once, sealed anew, and gives the reply that is bound to it.
    pub async fn send(&self, prepared: &Prepared) -> Result<Reply, SendFault> {
        let frame = self.seal(prepared).await?;
        let mut body = exchange(self.address, &frame, &self.bounds).await.map_err(|fault| match fault {
            ExchangeFault::Lost(lost) => SendFault::Lost(lost),
            ExchangeFault::TooLong { announced } => {
                SendFault::ReplyTooLong { announced, max: self.bounds.frame_max }
            }
        })?;
        self.open(prepared, &mut body)
    }

    /// Seals counted for the key on disk, by all processes that use the store; 0 before the first.
    pub fn seals(&self) -> u64 {
        self.seals.counted()
    }

    /// The frame, under a nonce of its own.
    async fn seal(&self, prepared: &Prepared) -> Result<Vec<u8>, SendFault> {
        let (invocation, max) = (prepared.invocation(), self.bounds.frame_max);
        if invocation.caller_runtime_id != self.caller {
            return Err(SendFault::OtherCaller);
        }
        let seals = Arc::clone(&self.seals);
        let taken = spawn_blocking(move || seals.take()).await;
        let nonce = taken.unwrap_or(Err(SealsFault::Ended))?;
        let too_long = |needed| SendFault::RequestTooLong { needed, max };
        let needed = match seal_invocation(&mut [], &self.key, nonce, invocation) {
            Err(SealedFault::BufferTooShort { needed, .. }) => needed,
            _ => return Err(too_long(u64::MAX)),
        };
        if needed.saturating_sub(CONNECTOR_PREFIX_LEN as u64) > max {
            return Err(too_long(needed));
        }
        let mut frame = vec![0; usize::try_from(needed).map_err(|_| too_long(needed))?];
        seal_invocation(&mut frame, &self.key, nonce, invocation).map_err(|_| too_long(needed))?;
        Ok(frame)
    }

    /// Believes a reply that is sealed under the key and bound to the request.
    fn open(&self, prepared: &Prepared, body: &mut [u8]) -> Result<Reply, SendFault> {
        let invocation = prepared.invocation();
        let (caller, request_id) = (self.caller.as_str(), invocation.request.request_id.as_str());
        let sent = Sent {
            caller_runtime_id: caller,
            request_id,
            model: invocation.request.model.as_str(),
            native_request_sha256: invocation.native_request_sha256,
            provider_request_sha256: invocation.provider_request_sha256,
        };
        match open_reply(body, &self.key, caller, request_id).map_err(SendFault::Response)? {
            answer::Reply::Sealed(plaintext) => {
                let result = believe(plaintext, &sent).map_err(SendFault::Result)?;
                Ok(result.to_owned().into_parts().disposition)
            }
            answer::Reply::Hint(hint) => {
                Err(SendFault::Hint(Hint { code: hint.code.to_owned(), message: hint.message.to_owned() }))
            }
        }
    }
}

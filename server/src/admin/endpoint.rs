//! The admin endpoint of a server: on loopback, behind the handshake of every endpoint, found by `admin.json`.
//!
//! A question is a Request frame with JSON in its body, its answer the Response frame of the same correlation id. What
//! is no question ends the connection.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, warn};
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};

use super::ADMIN;
use super::desk::{Ask, Desk, Holds, Said};
use crate::inspect::Tap;
use crate::limits::{ADMIN_ASK_BYTES_MAX, ADMIN_HANDSHAKE_TIMEOUT, ADMIN_IDLE_TIMEOUT, ADMIN_PEERS};
use crate::net::connection_file::{self, PublishFault, Published};
use crate::net::handshake;
use crate::net::identity::{Identity, IdentityFault};
use crate::net::inbox::{Found, Inbox, Taken};
use crate::net::observe::Observer;
use crate::stop::Stop;

/// Between two tries of accepting.
const BACKOFF: Duration = Duration::from_millis(100);

/// Why there is no endpoint.
#[derive(Debug, thiserror::Error)]
pub enum AdminFault {
    /// No key.
    #[error(transparent)]
    Identity(#[from] IdentityFault),
    /// No socket.
    #[error("cannot listen on loopback (admin): {0}")]
    Listen(io::Error),
    /// No file.
    #[error(transparent)]
    Publish(#[from] PublishFault),
}

/// An endpoint that is published and serves nobody yet.
#[derive(Debug)]
pub struct Endpoint {
    identity: Identity,
    listener: TcpListener,
    published: Published,
}

impl Endpoint {
    /// Where `admin.json` is in a run directory.
    pub fn file(run_dir: &Path) -> PathBuf {
        run_dir.join(format!("{ADMIN}.json"))
    }

    /// Listens on a free port of loopback and says so in `file`, under a key made now.
    pub async fn publish(file: &Path) -> Result<Self, AdminFault> {
        let identity = Identity::fresh()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(address).await.map_err(AdminFault::Listen)?;
        let address = listener.local_addr().map_err(AdminFault::Listen)?;
        let published = connection_file::publish(file, &identity, address, Version::V1)?;
        Ok(Self { identity, listener, published })
    }

    /// Answers until it is told to stop, and takes the file away. Errors of accepting are waited out.
    pub async fn run<H: Holds>(self, desk: Desk<H>, mut stop: Stop) {
        let (identity, places) = (Arc::new(self.identity), Arc::new(Semaphore::new(ADMIN_PEERS)));
        let mut peers = JoinSet::new();
        loop {
            tokio::select! {
                () = stop.requested() => break,
                Some(_) = peers.join_next(), if !peers.is_empty() => {}
                accepted = self.listener.accept() => match (accepted, Arc::clone(&places).try_acquire_owned()) {
                    (Ok((stream, _)), Ok(place)) => {
                        let (identity, desk) = (Arc::clone(&identity), desk.clone());
                        peers.spawn(async move {
                            if let Err(reason) = one(stream, &identity, &desk).await {
                                debug!(%reason, "admin: connection closed");
                            }
                            drop(place);
                        });
                    }
                    (Ok(_), Err(_)) => warn!(most = ADMIN_PEERS, "admin: no place, closed"),
                    (Err(fault), _) => {
                        warn!(%fault, "admin: accepting failed; trying again in {BACKOFF:?}");
                        sleep(BACKOFF).await;
                    }
                },
            }
        }
        self.published.remove();
        peers.shutdown().await;
    }
}

/// Why a connection ended: for the log.
pub(super) type Reason = Box<dyn std::error::Error + Send + Sync>;

async fn one<H: Holds>(stream: TcpStream, identity: &Identity, desk: &Desk<H>) -> Result<(), Reason> {
    let observer = Observer::new(Tap::off(), 1, ADMIN);
    let mut peer =
        handshake::accept(stream, identity, Instant::now() + ADMIN_HANDSHAKE_TIMEOUT, &observer).await?;
    let mut inbox = Inbox::new(peer.unread, ADMIN_ASK_BYTES_MAX).with_version(Version::V1);
    loop {
        while let Some(found) = inbox.take()? {
            let Found::Frame(frame) = found else { return Err("a question that is too long".into()) };
            if frame.header.frame_type() != FrameType::Request {
                return Err("no question".into());
            }
            let ask: Ask = serde_json::from_slice(frame.body())?;
            let said = desk.answer(ask).await;
            timeout(ADMIN_IDLE_TIMEOUT, peer.stream.write_all(&response(&frame, &said)?)).await??;
        }
        if timeout(ADMIN_IDLE_TIMEOUT, inbox.read(&mut peer.stream)).await?? == 0 {
            return Ok(());
        }
    }
}

fn response(to: &Taken, said: &Said) -> Result<Vec<u8>, Reason> {
    frame(FrameType::Response, to.header.corr(), &serde_json::to_vec(said)?)
}

/// A frame of version 1 on channel 0.
pub(super) fn frame(frame_type: FrameType, corr: u64, body: &[u8]) -> Result<Vec<u8>, Reason> {
    let header = Header::new(Parts {
        version: Version::V1,
        frame_type,
        flags: Flags::from_bits(0),
        channel: 0,
        epoch: 0,
        corr,
        len: u32::try_from(body.len())?,
    })?;
    Ok([&header.encode()[..], body].concat())
}

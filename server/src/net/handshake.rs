//! Drives the core's handshakes over a socket, under one absolute deadline.

use std::io;

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use twolane_core::handshake::{
    ClientHandshake, ClientStep, DaemonId, DaemonVerTooLong, HandshakeFault, Key, ServerHandshake,
    ServerStep, Stage,
};
use twolane_core::limits::{HANDSHAKE_MESSAGE_MAX, HANDSHAKE_PREFIX_LEN};

use super::identity::{Identity, nonce};
use super::observe::Observer;
use crate::inspect::tap::{Direction, Kind};

/// Why a peer was not authenticated. For the log, the metrics and the local caller; the peer is told nothing.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticateFault {
    /// A message was refused.
    #[error(transparent)]
    Refused(#[from] HandshakeFault),
    /// The deadline passed.
    #[error("handshake not finished in time: {stage} was still awaited")]
    Late {
        /// The message that did not come or could not be sent.
        stage: Stage,
    },
    /// The peer closed the connection.
    #[error("the peer closed the connection where {stage} was awaited")]
    Ended {
        /// The message that did not come.
        stage: Stage,
    },
    /// The socket failed.
    #[error("handshake failed at {stage}: {source}")]
    Socket {
        /// The message that was awaited or sent.
        stage: Stage,
        /// Why.
        source: io::Error,
    },
    /// No random bytes for a nonce.
    #[error("the system's random source failed: {0}")]
    Random(#[from] getrandom::Error),
    /// We announce too long a version.
    #[error(transparent)]
    Version(#[from] DaemonVerTooLong),
}

impl AuthenticateFault {
    /// The name of the reason in metrics and output for machines.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Refused(fault) => fault.reason.name(),
            Self::Late { .. } => "late",
            Self::Ended { .. } => "ended",
            Self::Socket { .. } => "socket",
            Self::Random(_) => "random",
            Self::Version(_) => "version_too_long",
        }
    }
}

/// An authenticated peer, with what it sent behind the handshake.
#[derive(Debug)]
pub struct Authenticated {
    /// The socket.
    pub stream: TcpStream,
    /// Bytes of frames that came with the last message.
    pub unread: BytesMut,
    /// What the peer says of itself (role or version). It proves nothing.
    pub claim: String,
}

/// The server's side. Message 3 may be followed by frames at once: they are in `unread`.
pub async fn accept(
    stream: TcpStream,
    identity: &Identity,
    deadline: Instant,
    observer: &Observer,
) -> Result<Authenticated, AuthenticateFault> {
    let Identity { key, daemon_id } = identity;
    let mut handshake = ServerHandshake::new(key, *daemon_id, nonce()?, super::DAEMON_VER)?;
    let mut wire = Wire { stream, unread: BytesMut::new(), deadline, stage: Stage::ClientHello };
    loop {
        let received = handshake.receive(&wire.unread)?;
        wire.take(received.consumed, Direction::AToB, observer);
        match received.step {
            ServerStep::Need(len) => wire.read(len).await?,
            ServerStep::Prove(message) => {
                wire.stage = Stage::ServerProof;
                wire.send(&message).await?;
                observer.offer(Direction::BToA, Kind::Handshake, &message);
                wire.stage = Stage::ClientAuth;
            }
            ServerStep::Authenticated => {
                let claim = handshake.role().unwrap_or_default().to_owned();
                return Ok(Authenticated { stream: wire.stream, unread: wire.unread, claim });
            }
        }
    }
}

/// The client's side. Where the server proves nothing, or another process than the expected one answers, not one
/// byte of message 3 is sent.
pub async fn open(
    stream: TcpStream,
    key: &Key,
    expected: DaemonId,
    deadline: Instant,
    observer: &Observer,
) -> Result<Authenticated, AuthenticateFault> {
    let mut handshake = ClientHandshake::new(key, expected, nonce()?);
    let mut wire = Wire { stream, unread: BytesMut::new(), deadline, stage: Stage::ClientHello };
    let hello = handshake.hello();
    wire.send(&hello).await?;
    observer.offer(Direction::AToB, Kind::Handshake, &hello);
    wire.stage = Stage::ServerProof;
    loop {
        let received = handshake.receive(&wire.unread)?;
        wire.take(received.consumed, Direction::BToA, observer);
        match received.step {
            ClientStep::Need(len) => wire.read(len).await?,
            ClientStep::Authenticated { auth } => {
                wire.stage = Stage::ClientAuth;
                wire.send(&auth).await?;
                observer.offer(Direction::AToB, Kind::Handshake, &auth);
                let claim = handshake.daemon_ver().unwrap_or_default().to_owned();
                return Ok(Authenticated { stream: wire.stream, unread: wire.unread, claim });
            }
        }
    }
}

struct Wire {
    stream: TcpStream,
    unread: BytesMut,
    deadline: Instant,
    stage: Stage,
}

impl Wire {
    /// Reads until `len` bytes are there, of which no message asks for more than its bound.
    async fn read(&mut self, len: usize) -> Result<(), AuthenticateFault> {
        let stage = self.stage;
        let bound = HANDSHAKE_PREFIX_LEN + HANDSHAKE_MESSAGE_MAX;
        while self.unread.len() < len {
            self.unread.reserve(bound);
            match timeout_at(self.deadline, self.stream.read_buf(&mut self.unread)).await {
                Err(_) => return Err(AuthenticateFault::Late { stage }),
                Ok(Err(source)) => return Err(AuthenticateFault::Socket { stage, source }),
                Ok(Ok(0)) => return Err(AuthenticateFault::Ended { stage }),
                Ok(Ok(_)) => {}
            }
        }
        Ok(())
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), AuthenticateFault> {
        let stage = self.stage;
        match timeout_at(self.deadline, self.stream.write_all(message)).await {
            Err(_) => Err(AuthenticateFault::Late { stage }),
            Ok(Err(source)) => Err(AuthenticateFault::Socket { stage, source }),
            Ok(Ok(())) => Ok(()),
        }
    }

    /// Drops a whole message from the unread bytes and shows it.
    fn take(&mut self, consumed: usize, direction: Direction, observer: &Observer) {
        if consumed > 0 {
            let message = self.unread.get(..consumed).unwrap_or_default();
            observer.offer(direction, Kind::Handshake, message);
            self.unread.advance(consumed.min(self.unread.len()));
        }
    }
}

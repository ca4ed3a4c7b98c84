//! The client's side.

use core::fmt;

use super::message::{Message, ServerProof, Sighted, split};
use super::proof::{client_auth, verify_server_proof};
use super::{Claim, DaemonId, HandshakeFault, HandshakeReason, Key, Nonce, Received, Stage, keep_claim};
use crate::limits::CLIENT_WRITTEN_MAX;

/// The client's side of one handshake: send [`hello`](Self::hello), then hand over what comes back.
///
/// Message 3 exists only once the server has proven that it holds the key and is the expected process.
///
/// ```
/// use twolane_core::handshake::{ClientHandshake, ClientStep, DaemonId, Key, ServerHandshake, ServerStep};
///
/// let (key, daemon_id) = (Key::new(&[7; 32]).unwrap(), DaemonId([1; 16]));
/// // The nonces are random in earnest.
/// let mut client = ClientHandshake::new(&key, daemon_id, [2; 32]);
/// let mut server = ServerHandshake::new(&key, daemon_id, [3; 32], "twolane 0.1").unwrap();
/// let ServerStep::Prove(proof) = server.receive(&client.hello())?.step else { panic!("a whole message 1") };
///
/// // A part of message 2 tells how long it is.
/// let ClientStep::Need(len) = client.receive(&proof[..4])?.step else { panic!("a part is not enough") };
/// assert_eq!(len, proof.len());
/// let received = client.receive(&proof)?;
/// let ClientStep::Authenticated { auth } = received.step else { panic!("the server proved itself") };
/// assert_eq!((received.consumed, client.daemon_ver()), (proof.len(), Some("twolane 0.1")));
/// assert!(matches!(server.receive(&auth)?.step, ServerStep::Authenticated));
/// # Ok::<(), twolane_core::handshake::HandshakeFault>(())
/// ```
pub struct ClientHandshake {
    key: Key,
    expected: DaemonId,
    nonce: Nonce,
    daemon_ver: Option<Claim>,
    end: Option<HandshakeReason>,
}

/// What the client does next.
#[derive(Clone, Debug)]
// No heap to put the message on; there is one step at a time.
#[allow(clippy::large_enum_variant)]
pub enum ClientStep {
    /// So many unread bytes make the next call useful.
    Need(usize),
    /// The server is the one expected: send `auth`, then frames. What is unread are frames.
    Authenticated {
        /// Message 3.
        auth: Message<CLIENT_WRITTEN_MAX>,
    },
}

impl ClientHandshake {
    /// A handshake with the process `expected`. `nonce` has to be fresh random bytes.
    pub fn new(key: &Key, expected: DaemonId, nonce: Nonce) -> Self {
        Self { key: key.clone(), expected, nonce, daemon_ver: None, end: None }
    }

    /// Message 1, to send first.
    pub fn hello(&self) -> Message<CLIENT_WRITTEN_MAX> {
        Message::client_hello(&self.nonce)
    }

    /// Looks at what was received and is still unread. After a fault the handshake stays failed.
    pub fn receive(&mut self, unread: &[u8]) -> Result<Received<ClientStep>, HandshakeFault> {
        let outcome = match self.end {
            Some(reason) => Err(reason),
            None => self.read_proof(unread),
        };
        match &outcome {
            Ok(Received { step: ClientStep::Need(_), .. }) => {}
            Ok(_) => self.end = Some(HandshakeReason::Finished),
            Err(reason) => self.end = Some(*reason),
        }
        outcome.map_err(|reason| HandshakeFault { stage: Stage::ServerProof, reason })
    }

    /// What the server claims to run, up to 64 bytes of it, as soon as its message was read. Nobody vouches for it;
    /// it may hold any character.
    pub fn daemon_ver(&self) -> Option<&str> {
        self.daemon_ver.as_deref()
    }

    #[inline(never)]
    fn read_proof(&mut self, unread: &[u8]) -> Result<Received<ClientStep>, HandshakeReason> {
        let (consumed, json) = match split(unread)? {
            Sighted::Need(len) => return Ok(Received { consumed: 0, step: ClientStep::Need(len) }),
            Sighted::Message { consumed, json } => (consumed, unread.get(json).unwrap_or_default()),
        };
        let message = ServerProof::parse(json)?;
        self.daemon_ver = Some(keep_claim(message.daemon_ver));
        let ServerProof { daemon_id, server_nonce, server_proof, .. } = message;
        if !verify_server_proof(&self.key, &self.nonce, &server_nonce, &daemon_id, &server_proof) {
            return Err(HandshakeReason::ProofMismatch);
        }
        if daemon_id != self.expected {
            return Err(HandshakeReason::WrongDaemon);
        }
        let auth = client_auth(&self.key, &self.nonce, &server_nonce, &daemon_id);
        let step = ClientStep::Authenticated { auth: Message::client_auth(&auth) };
        Ok(Received { consumed, step })
    }
}

/// Neither key nor nonce.
impl fmt::Debug for ClientHandshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientHandshake")
            .field("expected", &self.expected)
            .field("daemon_ver", &self.daemon_ver)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

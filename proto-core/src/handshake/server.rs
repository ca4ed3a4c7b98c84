//! The server's side.

use core::fmt;

use heapless::String;

use super::message::{ClientAuth, ClientHello, Message, Sighted, split};
use super::proof::{server_proof, verify_client_auth};
use super::{Claim, DaemonId, HandshakeFault, HandshakeReason, Key, Nonce, Received, Stage, keep_claim};
use crate::limits::DAEMON_VER_WRITTEN_MAX;

/// The server's side of one handshake: hand over what comes, send what it says.
///
/// ```
/// use twolane_core::handshake::{ClientHandshake, ClientStep, DaemonId, Key, ServerHandshake, ServerStep};
///
/// let (key, daemon_id) = (Key::new(&[7; 32]).unwrap(), DaemonId([1; 16]));
/// // The nonces are random in earnest.
/// let mut server = ServerHandshake::new(&key, daemon_id, [3; 32], "twolane 0.1").unwrap();
/// assert!(matches!(server.receive(&[])?.step, ServerStep::Need(4)));
///
/// let mut client = ClientHandshake::new(&key, daemon_id, [2; 32]);
/// let ServerStep::Prove(proof) = server.receive(&client.hello())?.step else { panic!("a whole message 1") };
/// assert_eq!(server.role(), Some("client"));
/// let ClientStep::Authenticated { auth } = client.receive(&proof)?.step else { panic!("a whole message 2") };
/// let received = server.receive(&auth)?;
/// assert!(matches!(received.step, ServerStep::Authenticated));
/// assert_eq!(received.consumed, auth.len());
/// # Ok::<(), twolane_core::handshake::HandshakeFault>(())
/// ```
pub struct ServerHandshake {
    key: Key,
    daemon_id: DaemonId,
    nonce: Nonce,
    daemon_ver: String<DAEMON_VER_WRITTEN_MAX>,
    role: Option<Claim>,
    /// The client's nonce, once its hello was read.
    client_nonce: Option<Nonce>,
    end: Option<HandshakeFault>,
}

/// What the server does next.
#[derive(Clone, Debug)]
// No heap to put the message on; there is one step at a time.
#[allow(clippy::large_enum_variant)]
pub enum ServerStep {
    /// So many unread bytes make the next call useful.
    Need(usize),
    /// Message 2, to send; then go on.
    Prove(Message),
    /// The client holds the key. What is unread are frames; nothing is sent.
    Authenticated,
}

/// The version of this server, from the local caller, is longer than a message has room for.
///
/// ```
/// use twolane_core::handshake::{DaemonId, DaemonVerTooLong, Key, ServerHandshake};
///
/// let key = Key::new(&[7; 32]).unwrap();
/// let refused = ServerHandshake::new(&key, DaemonId([1; 16]), [3; 32], &"v".repeat(65));
/// assert_eq!(refused.unwrap_err(), DaemonVerTooLong { len: 65 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("daemon_ver has {len} bytes, at most 64 are allowed")]
pub struct DaemonVerTooLong {
    /// Its length in bytes.
    pub len: usize,
}

impl ServerHandshake {
    /// A handshake as the process `daemon_id`. `nonce` has to be fresh random bytes; `daemon_ver` is a claim of at
    /// most [`DAEMON_VER_WRITTEN_MAX`] bytes.
    pub fn new(
        key: &Key,
        daemon_id: DaemonId,
        nonce: Nonce,
        daemon_ver: &str,
    ) -> Result<Self, DaemonVerTooLong> {
        let too_long = DaemonVerTooLong { len: daemon_ver.len() };
        let daemon_ver = String::try_from(daemon_ver).map_err(|_| too_long)?;
        Ok(Self { key: key.clone(), daemon_id, nonce, daemon_ver, role: None, client_nonce: None, end: None })
    }

    /// Looks at what was received and is still unread. After a fault the handshake stays failed.
    pub fn receive(&mut self, unread: &[u8]) -> Result<Received<ServerStep>, HandshakeFault> {
        if let Some(fault) = self.end {
            return Err(fault);
        }
        let (stage, outcome) = match self.client_nonce {
            None => (Stage::ClientHello, self.read_hello(unread)),
            Some(client_nonce) => (Stage::ClientAuth, self.read_auth(unread, &client_nonce)),
        };
        match outcome {
            Ok(received) => {
                if matches!(received.step, ServerStep::Authenticated) {
                    self.end = Some(HandshakeFault { stage, reason: HandshakeReason::Finished });
                }
                Ok(received)
            }
            Err(reason) => {
                let fault = HandshakeFault { stage, reason };
                self.end = Some(fault);
                Err(fault)
            }
        }
    }

    /// What the client claims to be, up to 64 bytes of it, as soon as its hello was read. Nobody vouches for it;
    /// it may hold any character.
    pub fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    fn read_hello(&mut self, unread: &[u8]) -> Result<Received<ServerStep>, HandshakeReason> {
        let (consumed, json) = match split(unread)? {
            Sighted::Need(len) => return Ok(Received { consumed: 0, step: ServerStep::Need(len) }),
            Sighted::Message { consumed, json } => (consumed, unread.get(json).unwrap_or_default()),
        };
        let hello = ClientHello::parse(json)?;
        self.role = Some(keep_claim(hello.role));
        self.client_nonce = Some(hello.nonce);
        let proof = server_proof(&self.key, &hello.nonce, &self.nonce, &self.daemon_id);
        let message = Message::server_proof(&self.daemon_id, &self.nonce, &self.daemon_ver, &proof);
        Ok(Received { consumed, step: ServerStep::Prove(message) })
    }

    fn read_auth(
        &self,
        unread: &[u8],
        client_nonce: &Nonce,
    ) -> Result<Received<ServerStep>, HandshakeReason> {
        let (consumed, json) = match split(unread)? {
            Sighted::Need(len) => return Ok(Received { consumed: 0, step: ServerStep::Need(len) }),
            Sighted::Message { consumed, json } => (consumed, unread.get(json).unwrap_or_default()),
        };
        let ClientAuth { client_auth } = ClientAuth::parse(json)?;
        if !verify_client_auth(&self.key, client_nonce, &self.nonce, &self.daemon_id, &client_auth) {
            return Err(HandshakeReason::ProofMismatch);
        }
        Ok(Received { consumed, step: ServerStep::Authenticated })
    }
}

/// Neither key nor nonces.
impl fmt::Debug for ServerHandshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerHandshake")
            .field("daemon_id", &self.daemon_id)
            .field("role", &self.role)
            .field("hello_read", &self.client_nonce.is_some())
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

//! The handshake that precedes the first frame: two state machines fed with bytes, and its messages for readers
//! of captures (docs/wire.md, "Handshake").
//!
//! Nonces come from the host; deadlines are the host's. A failing side sends nothing: the reason stays local.

mod client;
pub(crate) mod field;
mod key;
pub mod message;
mod proof;
mod server;

use core::fmt;

pub use client::{ClientHandshake, ClientStep};
pub use field::{FieldFault, FieldReason};
pub use key::{Key, KeyFault, KeyTextFault, KeyTextReason};
pub use message::{Message, MessageFault};
pub use server::{DaemonVerTooLong, ServerHandshake, ServerStep};

use crate::limits::{CLAIM_KEPT_MAX, DAEMON_ID_LEN, NONCE_LEN};
use crate::scan::string::JsonStr;
use message::LengthFault;

/// Fresh random bytes of one side for one handshake.
///
/// ```
/// use twolane_core::handshake::Nonce;
///
/// // From the system's random source in earnest; without one, no handshake.
/// let drawn = [0x5a; 32];
/// let nonce: Nonce = drawn;
/// assert_eq!(nonce.len(), twolane_core::limits::NONCE_LEN);
/// ```
pub type Nonce = [u8; NONCE_LEN];

/// Which process serves an endpoint. Not a secret.
///
/// ```
/// use twolane_core::handshake::DaemonId;
///
/// assert_eq!(DaemonId([0xa7; 16]).to_string(), "a7".repeat(16));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DaemonId(pub [u8; DAEMON_ID_LEN]);

/// 32 hexadecimal digits.
impl fmt::Display for DaemonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for DaemonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DaemonId({self})")
    }
}

/// One step of a side. Drop `consumed` bytes from the front of what was received, whatever the step is.
/// Bytes behind the last message are frames and stay.
#[derive(Clone, Debug)]
#[must_use = "`consumed` bytes have to be dropped from the front of the buffer"]
pub struct Received<S> {
    /// Bytes that are done with.
    pub consumed: usize,
    /// What to do next.
    pub step: S,
}

/// Which message of the handshake.
///
/// ```
/// use twolane_core::handshake::Stage;
///
/// let stages = [Stage::ClientHello, Stage::ServerProof, Stage::ClientAuth];
/// assert_eq!(stages.map(Stage::name), ["ClientHello", "ServerProof", "ClientAuth"]);
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Message 1, from the client.
    ClientHello,
    /// Message 2, from the server.
    ServerProof,
    /// Message 3, from the client.
    ClientAuth,
}

impl Stage {
    /// The name of the stage in logs, metrics and output for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClientHello => "ClientHello",
            Self::ServerProof => "ServerProof",
            Self::ClientAuth => "ClientAuth",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a handshake failed, on which message. For the log, metrics and the local caller; the peer is told nothing.
///
/// ```
/// use twolane_core::handshake::{
///     ClientHandshake, DaemonId, HandshakeFault, HandshakeReason, Key, Received, ServerHandshake, ServerStep, Stage,
/// };
///
/// // A server with another key, and one that holds the key but is another process.
/// let key = Key::new(&[7; 32]).unwrap();
/// let cases = [
///     (Key::new(&[8; 32]).unwrap(), DaemonId([1; 16]), HandshakeReason::ProofMismatch),
///     (key.clone(), DaemonId([9; 16]), HandshakeReason::WrongDaemon),
/// ];
/// for (other_key, other_id, reason) in cases {
///     let mut client = ClientHandshake::new(&key, DaemonId([1; 16]), [2; 32]);
///     let mut server = ServerHandshake::new(&other_key, other_id, [3; 32], "").unwrap();
///     let Ok(Received { step: ServerStep::Prove(proof), .. }) = server.receive(&client.hello()) else {
///         panic!("a hello holds no secret")
///     };
///     assert_eq!(client.receive(&proof).unwrap_err(), HandshakeFault { stage: Stage::ServerProof, reason });
/// }
/// assert_eq!((Stage::ServerProof.name(), HandshakeReason::WrongDaemon.name()), ("ServerProof", "wrong_daemon"));
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("handshake failed at {stage}: {reason}")]
pub struct HandshakeFault {
    /// The message that was expected or refused.
    pub stage: Stage,
    /// Why.
    pub reason: HandshakeReason,
}

/// Why a message of the handshake was refused.
///
/// ```
/// use twolane_core::handshake::HandshakeReason;
///
/// let reason = HandshakeReason::MessageTooLong { len: 5000 };
/// assert_eq!(reason.name(), "message_too_long");
/// assert_eq!(reason.to_string(), "the message is 5000 bytes long, at most 4096 are allowed");
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeReason {
    /// A length prefix of 0.
    #[error("the message is empty")]
    MessageEmpty,
    /// A length prefix over [`HANDSHAKE_MESSAGE_MAX`](crate::limits::HANDSHAKE_MESSAGE_MAX).
    #[error("the message is {len} bytes long, at most 4096 are allowed")]
    MessageTooLong {
        /// The announced length in bytes.
        len: u32,
    },
    /// The message is not what the stage demands.
    #[error(transparent)]
    Message(MessageFault),
    /// The peer does not hold our key.
    #[error("the peer's proof does not match: it holds another key")]
    ProofMismatch,
    /// The peer holds our key but is not the process of the connection file.
    #[error("the peer holds the key but another daemon id than the one expected")]
    WrongDaemon,
    /// The local caller handed over bytes after the handshake had succeeded: they are frames.
    #[error("the handshake had already succeeded; what follows are frames")]
    Finished,
}

impl HandshakeReason {
    /// The name of the reason in metrics and output for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MessageEmpty => "message_empty",
            Self::MessageTooLong { .. } => "message_too_long",
            Self::Message(_) => "message_malformed",
            Self::ProofMismatch => "proof_mismatch",
            Self::WrongDaemon => "wrong_daemon",
            Self::Finished => "finished",
        }
    }
}

impl From<LengthFault> for HandshakeReason {
    fn from(fault: LengthFault) -> Self {
        match fault {
            LengthFault::Empty => Self::MessageEmpty,
            LengthFault::TooLong { len } => Self::MessageTooLong { len },
        }
    }
}

impl From<MessageFault> for HandshakeReason {
    fn from(fault: MessageFault) -> Self {
        Self::Message(fault)
    }
}

/// A peer's claim, cut to its bound between two characters.
type Claim = heapless::String<CLAIM_KEPT_MAX>;

fn keep_claim(text: JsonStr<'_>) -> Claim {
    let mut claim = Claim::new();
    for character in text.chars() {
        if claim.push(character).is_err() {
            break;
        }
    }
    claim
}

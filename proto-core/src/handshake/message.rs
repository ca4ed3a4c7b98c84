//! The three messages: cutting them off a stream, reading and writing them.

use core::fmt;
use core::ops::{Deref, Range};

use heapless::Vec;

use super::field::{each_known, exact_bytes, string, write_string};
use super::{DaemonId, Nonce};
use crate::limits::{
    CLIENT_WRITTEN_MAX, DAEMON_ID_LEN, DAEMON_VER_WRITTEN_MAX, HANDSHAKE_MESSAGE_MAX, HANDSHAKE_PREFIX_LEN,
    HANDSHAKE_WRITTEN_MAX, NONCE_LEN, PROOF_LEN,
};
use crate::scan::decimal::write_decimal;
use crate::scan::string::JsonStr;
use crate::scan::value::Value;

pub use super::field::FieldFault as MessageFault;
pub use super::proof::{verify_client_auth, verify_server_proof};

/// What the front of the unread bytes holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sighted {
    /// So many unread bytes make the next call useful.
    Need(usize),
    /// A whole message.
    Message {
        /// Its bytes, length prefix included.
        consumed: usize,
        /// Where in the unread bytes its JSON text stands.
        json: Range<usize>,
    },
}

/// Why a length prefix is refused, before a byte behind it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LengthFault {
    /// A length of 0.
    #[error("a handshake message of 0 bytes")]
    Empty,
    /// A length over [`HANDSHAKE_MESSAGE_MAX`].
    #[error("a handshake message of {len} bytes, at most 4096 are allowed")]
    TooLong {
        /// The announced length in bytes.
        len: u32,
    },
}

/// Looks for one message at the front of the unread bytes: a u32 little-endian length of 1..=4096, then its text.
///
/// ```
/// use twolane_core::handshake::message::{LengthFault, Sighted, split};
///
/// let unread = b"\x0f\0\0\0{\"role\":\"none\"}...";
/// assert_eq!(split(&unread[..2]), Ok(Sighted::Need(4)));
/// assert_eq!(split(&unread[..9]), Ok(Sighted::Need(19)));
/// let Ok(Sighted::Message { consumed, json }) = split(unread) else { panic!("a whole message") };
/// assert_eq!((consumed, &unread[json]), (19, &br#"{"role":"none"}"#[..]));
/// // A length is refused before a byte behind it has come.
/// assert_eq!(split(&4097_u32.to_le_bytes()), Err(LengthFault::TooLong { len: 4097 }));
/// ```
pub fn split(unread: &[u8]) -> Result<Sighted, LengthFault> {
    let Some((prefix, _)) = unread.split_first_chunk::<HANDSHAKE_PREFIX_LEN>() else {
        return Ok(Sighted::Need(HANDSHAKE_PREFIX_LEN));
    };
    let announced = u32::from_le_bytes(*prefix);
    let len = match usize::try_from(announced) {
        Ok(0) => return Err(LengthFault::Empty),
        Ok(len @ 1..=HANDSHAKE_MESSAGE_MAX) => len,
        _ => return Err(LengthFault::TooLong { len: announced }),
    };
    let consumed = HANDSHAKE_PREFIX_LEN + len;
    if unread.len() < consumed {
        return Ok(Sighted::Need(consumed));
    }
    Ok(Sighted::Message { consumed, json: HANDSHAKE_PREFIX_LEN..consumed })
}

/// Message 1, from the client.
///
/// ```
/// use twolane_core::handshake::message::{ClientHello, Message};
/// use twolane_core::handshake::{ClientHandshake, DaemonId, Key};
///
/// let client = ClientHandshake::new(&Key::new(&[7; 32]).unwrap(), DaemonId([1; 16]), [2; 32]);
/// let sent: Message<176> = client.hello();
/// // Behind the length prefix.
/// let hello = ClientHello::parse(&sent[4..]).unwrap();
/// assert_eq!(hello.nonce, [2; 32]);
/// assert!(hello.role == *"client");
/// ```
#[derive(Clone)]
pub struct ClientHello<'a> {
    /// The client's nonce.
    pub nonce: Nonce,
    /// What the client claims to be.
    pub role: JsonStr<'a>,
}

impl<'a> ClientHello<'a> {
    /// Reads the JSON text of a message.
    #[inline(never)]
    pub fn parse(json: &'a [u8]) -> Result<Self, MessageFault> {
        const KNOWN: [&str; 2] = ["client_nonce", "role"];
        let object = Value::parse(json)?;
        let mut hello = Self { nonce: [0; NONCE_LEN], role: JsonStr::EMPTY };
        let seen = each_known(&object, &KNOWN, &mut |name, value| -> Result<(), MessageFault> {
            match name {
                "client_nonce" => exact_bytes(value, name, &mut hello.nonce),
                _ => string(value, name).map(|role| hello.role = role),
            }
        })?;
        seen.all(&object, &KNOWN)?;
        Ok(hello)
    }
}

/// The nonce is left out.
impl fmt::Debug for ClientHello<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientHello").field("role", &self.role).finish_non_exhaustive()
    }
}

/// Message 2, from the server.
///
/// ```
/// use twolane_core::handshake::message::{ClientAuth, ServerProof, verify_client_auth, verify_server_proof};
/// use twolane_core::handshake::{ClientHandshake, ClientStep, DaemonId, Key, ServerHandshake, ServerStep};
///
/// // What a capture holds of a handshake between the two, as a reader with the key sees it.
/// let (key, daemon_id) = (Key::new(&[7; 32]).unwrap(), DaemonId([1; 16]));
/// let mut client = ClientHandshake::new(&key, daemon_id, [2; 32]);
/// let mut server = ServerHandshake::new(&key, daemon_id, [3; 32], "twolane 0.1").unwrap();
/// let ServerStep::Prove(message_2) = server.receive(&client.hello())?.step else { panic!("a whole message 1") };
/// let ClientStep::Authenticated { auth } = client.receive(&message_2)?.step else { panic!("a whole message 2") };
///
/// let proof = ServerProof::parse(&message_2[4..]).unwrap();
/// assert_eq!((proof.daemon_id, proof.server_nonce), (daemon_id, [3; 32]));
/// assert!(verify_server_proof(&key, &[2; 32], &proof.server_nonce, &proof.daemon_id, &proof.server_proof));
/// let auth = ClientAuth::parse(&auth[4..]).unwrap();
/// assert!(verify_client_auth(&key, &[2; 32], &proof.server_nonce, &proof.daemon_id, &auth.client_auth));
/// # Ok::<(), twolane_core::handshake::HandshakeFault>(())
/// ```
#[derive(Clone)]
pub struct ServerProof<'a> {
    /// The process that the server says it is; covered by the proof.
    pub daemon_id: DaemonId,
    /// The server's nonce.
    pub server_nonce: Nonce,
    /// What the server claims to run.
    pub daemon_ver: JsonStr<'a>,
    /// The proof that it holds the key.
    pub server_proof: [u8; PROOF_LEN],
}

impl<'a> ServerProof<'a> {
    /// Reads the JSON text of a message.
    #[inline(never)]
    pub fn parse(json: &'a [u8]) -> Result<Self, MessageFault> {
        const KNOWN: [&str; 4] = ["daemon_id", "server_nonce", "daemon_ver", "server_proof"];
        let object = Value::parse(json)?;
        let mut proof = Self {
            daemon_id: DaemonId([0; DAEMON_ID_LEN]),
            server_nonce: [0; NONCE_LEN],
            daemon_ver: JsonStr::EMPTY,
            server_proof: [0; PROOF_LEN],
        };
        let seen = each_known(&object, &KNOWN, &mut |name, value| -> Result<(), MessageFault> {
            match name {
                "daemon_id" => exact_bytes(value, name, &mut proof.daemon_id.0),
                "server_nonce" => exact_bytes(value, name, &mut proof.server_nonce),
                "daemon_ver" => string(value, name).map(|version| proof.daemon_ver = version),
                _ => exact_bytes(value, name, &mut proof.server_proof),
            }
        })?;
        seen.all(&object, &KNOWN)?;
        Ok(proof)
    }
}

/// The nonce and the proof are left out.
impl fmt::Debug for ServerProof<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerProof")
            .field("daemon_id", &self.daemon_id)
            .field("daemon_ver", &self.daemon_ver)
            .finish_non_exhaustive()
    }
}

/// Message 3, from the client.
///
/// ```
/// use twolane_core::handshake::MessageFault;
/// use twolane_core::handshake::message::ClientAuth;
///
/// let fault: MessageFault = ClientAuth::parse(br#"{"client_auth":[1,2,3]}"#).unwrap_err();
/// assert_eq!(fault.to_string(), "byte 15: member `client_auth`: 3 elements, expected 32");
/// ```
#[derive(Clone)]
pub struct ClientAuth {
    /// The proof that the client holds the key.
    pub client_auth: [u8; PROOF_LEN],
}

impl ClientAuth {
    /// Reads the JSON text of a message.
    #[inline(never)]
    pub fn parse(json: &[u8]) -> Result<Self, MessageFault> {
        const KNOWN: [&str; 1] = ["client_auth"];
        let object = Value::parse(json)?;
        let mut client_auth = [0; PROOF_LEN];
        let seen = each_known(&object, &KNOWN, &mut |name, value| -> Result<(), MessageFault> {
            exact_bytes(value, name, &mut client_auth)
        })?;
        seen.all(&object, &KNOWN)?;
        Ok(Self { client_auth })
    }
}

/// The proof is left out.
impl fmt::Debug for ClientAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAuth").finish_non_exhaustive()
    }
}

/// One whole message to send, length prefix included; it has place for `MAX` bytes.
#[derive(Clone)]
pub struct Message<const MAX: usize = HANDSHAKE_WRITTEN_MAX> {
    bytes: Vec<u8, MAX>,
}

impl Message<CLIENT_WRITTEN_MAX> {
    #[inline(never)]
    pub(crate) fn client_hello(nonce: &Nonce) -> Self {
        let mut writer = Writer::new();
        writer.text(HELLO[0]);
        writer.numbers(nonce);
        writer.text(HELLO[1]);
        writer.finish()
    }

    #[inline(never)]
    pub(crate) fn client_auth(client_auth: &[u8; PROOF_LEN]) -> Self {
        let mut writer = Writer::new();
        writer.text(AUTH[0]);
        writer.numbers(client_auth);
        writer.text(AUTH[1]);
        writer.finish()
    }
}

impl Message {
    /// `daemon_ver` has at most [`DAEMON_VER_WRITTEN_MAX`] bytes.
    pub(crate) fn server_proof(
        daemon_id: &DaemonId,
        server_nonce: &Nonce,
        daemon_ver: &str,
        server_proof: &[u8; PROOF_LEN],
    ) -> Self {
        let mut writer = Writer::new();
        writer.text(PROOF[0]);
        writer.numbers(&daemon_id.0);
        writer.text(PROOF[1]);
        writer.numbers(server_nonce);
        writer.text(PROOF[2]);
        // The writer takes all that can come: see the assertion below.
        let _ = write_string(&mut writer, daemon_ver);
        writer.text(PROOF[3]);
        writer.numbers(server_proof);
        writer.text(PROOF[4]);
        writer.finish()
    }
}

impl<const MAX: usize> Deref for Message<MAX> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The content is left out: it may be a proof.
impl<const MAX: usize> fmt::Debug for Message<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message({} bytes)", self.bytes.len())
    }
}

// What stands around the values of each message.
const HELLO: [&str; 2] = ["{\"client_nonce\":", ",\"role\":\"client\"}"];
const PROOF: [&str; 5] =
    ["{\"daemon_id\":", ",\"server_nonce\":", ",\"daemon_ver\":", ",\"server_proof\":", "}"];
const AUTH: [&str; 2] = ["{\"client_auth\":", "}"];

// The longest message that we can write fits: every number of three digits, every byte of the version an escape.
const _: () = {
    const fn numbers(count: usize) -> usize {
        "[]".len() + count * "255".len() + (count - 1) * ",".len()
    }
    let version = "\"\"".len() + DAEMON_VER_WRITTEN_MAX * "\\u0000".len();
    let mut len =
        HANDSHAKE_PREFIX_LEN + numbers(DAEMON_ID_LEN) + numbers(NONCE_LEN) + version + numbers(PROOF_LEN);
    let mut part = 0;
    while part < PROOF.len() {
        len += PROOF[part].len();
        part += 1;
    }
    assert!(len <= HANDSHAKE_WRITTEN_MAX);
    let (hello, auth) = (HELLO[0].len() + HELLO[1].len(), AUTH[0].len() + AUTH[1].len());
    let longer = if hello > auth { hello } else { auth };
    assert!(
        NONCE_LEN == PROOF_LEN && HANDSHAKE_PREFIX_LEN + numbers(NONCE_LEN) + longer <= CLIENT_WRITTEN_MAX
    );
};

/// Fills a message behind its length prefix.
struct Writer<const MAX: usize> {
    bytes: Vec<u8, MAX>,
}

impl<const MAX: usize> Writer<MAX> {
    fn new() -> Self {
        let mut writer = Self { bytes: Vec::new() };
        writer.push(&[0; HANDSHAKE_PREFIX_LEN]);
        writer
    }

    /// Everything that is ever pushed fits: see the assertion above.
    fn push(&mut self, bytes: &[u8]) {
        let pushed = self.bytes.extend_from_slice(bytes);
        debug_assert!(pushed.is_ok(), "a message longer than the longest one");
    }

    fn text(&mut self, text: &str) {
        self.push(text.as_bytes());
    }

    fn numbers(&mut self, numbers: &[u8]) {
        let mut before = "[";
        for &number in numbers {
            self.text(before);
            before = ",";
            // The writer takes all that can come: see the assertion above.
            let _ = write_decimal(self, u64::from(number));
        }
        self.text("]");
    }

    fn finish(mut self) -> Message<MAX> {
        let len = u32::try_from(self.bytes.len().saturating_sub(HANDSHAKE_PREFIX_LEN)).unwrap_or(u32::MAX);
        if let Some(prefix) = self.bytes.first_chunk_mut() {
            *prefix = len.to_le_bytes();
        }
        Message { bytes: self.bytes }
    }
}

impl<const MAX: usize> fmt::Write for Writer<MAX> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text(text);
        Ok(())
    }
}

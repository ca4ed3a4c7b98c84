//! The three messages: cutting them off a stream, reading and writing them.

use core::fmt;
use core::ops::{Deref, Range};

use heapless::Vec;

use super::field::{byte_array, each_known, missing, string, write_string};
use super::{DaemonId, Nonce};
use crate::limits::{
    DAEMON_ID_LEN, DAEMON_VER_WRITTEN_MAX, HANDSHAKE_MESSAGE_MAX, HANDSHAKE_PREFIX_LEN,
    HANDSHAKE_WRITTEN_MAX, NONCE_LEN, PROOF_LEN,
};
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
#[derive(Clone)]
pub struct ClientHello<'a> {
    /// The client's nonce.
    pub nonce: Nonce,
    /// What the client claims to be.
    pub role: JsonStr<'a>,
}

impl<'a> ClientHello<'a> {
    /// Reads the JSON text of a message.
    pub fn parse(json: &'a [u8]) -> Result<Self, MessageFault> {
        let object = Value::parse(json)?;
        let (mut nonce, mut role) = (None, None);
        each_known(&object, &["client_nonce", "role"], |name, value| -> Result<(), MessageFault> {
            match name {
                "client_nonce" => nonce = Some(byte_array(value, name)?),
                _ => role = Some(string(value, name)?),
            }
            Ok(())
        })?;
        Ok(Self {
            nonce: nonce.ok_or(missing(&object, "client_nonce"))?,
            role: role.ok_or(missing(&object, "role"))?,
        })
    }
}

/// The nonce is left out.
impl fmt::Debug for ClientHello<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientHello").field("role", &self.role).finish_non_exhaustive()
    }
}

/// Message 2, from the server.
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
    pub fn parse(json: &'a [u8]) -> Result<Self, MessageFault> {
        let object = Value::parse(json)?;
        let (mut daemon_id, mut server_nonce, mut daemon_ver, mut server_proof) = (None, None, None, None);
        let known = ["daemon_id", "server_nonce", "daemon_ver", "server_proof"];
        each_known(&object, &known, |name, value| -> Result<(), MessageFault> {
            match name {
                "daemon_id" => daemon_id = Some(DaemonId(byte_array(value, name)?)),
                "server_nonce" => server_nonce = Some(byte_array(value, name)?),
                "daemon_ver" => daemon_ver = Some(string(value, name)?),
                _ => server_proof = Some(byte_array(value, name)?),
            }
            Ok(())
        })?;
        Ok(Self {
            daemon_id: daemon_id.ok_or(missing(&object, "daemon_id"))?,
            server_nonce: server_nonce.ok_or(missing(&object, "server_nonce"))?,
            daemon_ver: daemon_ver.ok_or(missing(&object, "daemon_ver"))?,
            server_proof: server_proof.ok_or(missing(&object, "server_proof"))?,
        })
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
#[derive(Clone)]
pub struct ClientAuth {
    /// The proof that the client holds the key.
    pub client_auth: [u8; PROOF_LEN],
}

impl ClientAuth {
    /// Reads the JSON text of a message.
    pub fn parse(json: &[u8]) -> Result<Self, MessageFault> {
        let object = Value::parse(json)?;
        let mut client_auth = None;
        each_known(&object, &["client_auth"], |name, value| -> Result<(), MessageFault> {
            client_auth = Some(byte_array(value, name)?);
            Ok(())
        })?;
        Ok(Self { client_auth: client_auth.ok_or(missing(&object, "client_auth"))? })
    }
}

/// The proof is left out.
impl fmt::Debug for ClientAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAuth").finish_non_exhaustive()
    }
}

/// One whole message to send, length prefix included.
#[derive(Clone)]
pub struct Message {
    bytes: Vec<u8, HANDSHAKE_WRITTEN_MAX>,
}

impl Message {
    pub(crate) fn client_hello(nonce: &Nonce) -> Self {
        let mut writer = Writer::new();
        writer.text(HELLO[0]);
        writer.numbers(nonce);
        writer.text(HELLO[1]);
        writer.finish()
    }

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

    pub(crate) fn client_auth(client_auth: &[u8; PROOF_LEN]) -> Self {
        let mut writer = Writer::new();
        writer.text(AUTH[0]);
        writer.numbers(client_auth);
        writer.text(AUTH[1]);
        writer.finish()
    }
}

impl Deref for Message {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The content is left out: it may be a proof.
impl fmt::Debug for Message {
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
};

/// Fills a message behind its length prefix.
struct Writer {
    bytes: Vec<u8, HANDSHAKE_WRITTEN_MAX>,
}

impl Writer {
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
            let digits = [b'0' + number / 100, b'0' + number / 10 % 10, b'0' + number % 10];
            let leading_zeros = usize::from(number < 100) + usize::from(number < 10);
            self.push(digits.get(leading_zeros..).unwrap_or_default());
        }
        self.text("]");
    }

    fn finish(mut self) -> Message {
        let len = u32::try_from(self.bytes.len().saturating_sub(HANDSHAKE_PREFIX_LEN)).unwrap_or(u32::MAX);
        if let Some(prefix) = self.bytes.first_chunk_mut() {
            *prefix = len.to_le_bytes();
        }
        Message { bytes: self.bytes }
    }
}

impl fmt::Write for Writer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text(text);
        Ok(())
    }
}

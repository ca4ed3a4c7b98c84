//! The transcript of another implementation, and both sides set up as it was recorded.

use serde_json::Value;
use twolane_core::handshake::message::{Sighted, split};
use twolane_core::handshake::{ClientHandshake, DaemonId, Key, Nonce, ServerHandshake};

pub(crate) fn file() -> Value {
    serde_json::from_str(include_str!("../../../fixtures/vectors/handshake.json")).unwrap()
}

pub(crate) fn hex(text: &Value) -> Vec<u8> {
    let digits = text.as_str().unwrap();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

pub(crate) struct Transcript {
    pub(crate) key: Key,
    pub(crate) daemon_id: DaemonId,
    pub(crate) client_nonce: Nonce,
    pub(crate) server_nonce: Nonce,
    pub(crate) daemon_ver: String,
    pub(crate) server_proof: [u8; 32],
    pub(crate) client_auth: [u8; 32],
    /// The three messages, prefix included.
    pub(crate) messages: [Vec<u8>; 3],
}

impl Transcript {
    pub(crate) fn read() -> Self {
        let transcript = &file()["transcript"];
        let bytes = |name: &str| hex(&transcript[name]);
        Self {
            key: Key::new(&bytes("key_hex")).unwrap(),
            daemon_id: DaemonId(bytes("daemon_id_hex").try_into().unwrap()),
            client_nonce: bytes("client_nonce_hex").try_into().unwrap(),
            server_nonce: bytes("server_nonce_hex").try_into().unwrap(),
            daemon_ver: transcript["daemon_ver"].as_str().unwrap().to_owned(),
            server_proof: bytes("server_proof_hex").try_into().unwrap(),
            client_auth: bytes("client_auth_hex").try_into().unwrap(),
            messages: [0, 1, 2].map(|index| hex(&transcript["messages"][index]["wire_hex"])),
        }
    }

    pub(crate) fn client(&self) -> ClientHandshake {
        ClientHandshake::new(&self.key, self.daemon_id, self.client_nonce)
    }

    pub(crate) fn server(&self) -> ServerHandshake {
        ServerHandshake::new(&self.key, self.daemon_id, self.server_nonce, &self.daemon_ver).unwrap()
    }

    /// A server that has already answered the hello.
    pub(crate) fn server_after_hello(&self) -> ServerHandshake {
        let mut server = self.server();
        let _ = server.receive(&self.messages[0]).unwrap();
        server
    }
}

/// A message around a JSON text.
pub(crate) fn message(json: impl AsRef<[u8]>) -> Vec<u8> {
    let json = json.as_ref();
    let mut message = u32::try_from(json.len()).unwrap().to_le_bytes().to_vec();
    message.extend_from_slice(json);
    message
}

/// The JSON text of a whole message.
pub(crate) fn json_of(message: &[u8]) -> &[u8] {
    match split(message) {
        Ok(Sighted::Message { json, .. }) => &message[json],
        other => panic!("{other:?}"),
    }
}

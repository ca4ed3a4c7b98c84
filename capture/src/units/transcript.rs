//! The handshake of one connection as a capture shows it: which message is which, and whether its proof is right.

use twolane_core::connector::carriage::begins;
use twolane_core::handshake::message::{
    ClientAuth, ClientHello, MessageFault, ServerProof, split, verify_client_auth, verify_server_proof,
};
use twolane_core::handshake::{DaemonId, FieldReason, HandshakeReason, Key, Nonce, Stage};
use twolane_core::limits::{CONNECTOR_PREFIX_LEN, HANDSHAKE_PREFIX_LEN, PROOF_LEN};

/// What of the handshake went by on one connection.
#[derive(Debug, Default, Clone)]
pub struct Transcript {
    client_nonce: Option<Nonce>,
    server: Option<(DaemonId, Nonce)>,
    authenticated: bool,
}

/// One message, read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Message {
    Hello(Nonce),
    Proof { daemon_id: DaemonId, nonce: Nonce, proof: [u8; PROOF_LEN] },
    Auth([u8; PROOF_LEN]),
}

impl Message {
    pub(super) fn stage(&self) -> Stage {
        match self {
            Self::Hello(_) => Stage::ClientHello,
            Self::Proof { .. } => Stage::ServerProof,
            Self::Auth(_) => Stage::ClientAuth,
        }
    }
}

impl Transcript {
    /// Takes the JSON text of the next message of either side and says whether its proof is right under `key`:
    /// `None` without a key, for what carries no proof or is malformed, and where a message that it proves was not
    /// seen.
    pub fn verify(&mut self, json: &[u8], key: Option<&Key>) -> Option<bool> {
        self.take(&recognise(json).ok()?, key)
    }

    pub(super) fn take(&mut self, message: &Message, key: Option<&Key>) -> Option<bool> {
        match *message {
            Message::Hello(nonce) => {
                self.client_nonce = Some(nonce);
                None
            }
            Message::Proof { daemon_id, nonce, proof } => {
                self.server = Some((daemon_id, nonce));
                Some(verify_server_proof(key?, self.client_nonce.as_ref()?, &nonce, &daemon_id, &proof))
            }
            Message::Auth(proof) => {
                self.authenticated = true;
                let (daemon_id, nonce) = self.server?;
                Some(verify_client_auth(key?, self.client_nonce.as_ref()?, &nonce, &daemon_id, &proof))
            }
        }
    }

    /// Whether any message went by.
    pub(super) fn has_begun(&self) -> bool {
        self.client_nonce.is_some() || self.server.is_some() || self.authenticated
    }

    /// Whether a message of `stage` may come now, behind what its own side sent. A capture does not say which of two
    /// packets of opposite directions was sent first, and what was not seen may have been sent.
    pub(super) fn awaits(&self, stage: Stage) -> bool {
        match stage {
            Stage::ClientHello => self.client_nonce.is_none() && !self.authenticated,
            Stage::ServerProof => self.server.is_none(),
            Stage::ClientAuth => !self.authenticated,
        }
    }
}

/// Whether the front of a direction is a handshake message and no frame: a frame has 1 or 2 where a message has the
/// brace of its object or white space before it. False as long as fewer than five bytes are there.
pub(super) fn begins_message(unread: &[u8]) -> bool {
    let is_text = |byte: &u8| matches!(byte, b'{' | b' ' | b'\t' | b'\r' | b'\n');
    unread.get(HANDSHAKE_PREFIX_LEN).is_some_and(is_text) && split(unread).is_ok()
}

/// Whether the front of a direction is a message of the connector; `None` where more bytes are needed to tell.
pub(super) fn begins_connector(unread: &[u8]) -> Option<bool> {
    begins(unread.get(CONNECTOR_PREFIX_LEN..)?)
}

/// Which message a text is, or why it is none, with the stage whose members it has.
pub(super) fn recognise(json: &[u8]) -> Result<Message, (Option<Stage>, HandshakeReason)> {
    let hello = match ClientHello::parse(json) {
        Ok(hello) => return Ok(Message::Hello(hello.nonce)),
        Err(fault) => fault,
    };
    let proof = match ServerProof::parse(json) {
        Ok(ServerProof { daemon_id, server_nonce: nonce, server_proof: proof, .. }) => {
            return Ok(Message::Proof { daemon_id, nonce, proof });
        }
        Err(fault) => fault,
    };
    let auth = match ClientAuth::parse(json) {
        Ok(auth) => return Ok(Message::Auth(auth.client_auth)),
        Err(fault) => fault,
    };
    // The message meant is the one whose first member is there, however broken.
    let lacks = |fault: &MessageFault, first| fault.reason == FieldReason::Missing(first);
    let candidates = [
        (Stage::ClientAuth, auth, lacks(&auth, "client_auth")),
        (Stage::ServerProof, proof, lacks(&proof, "daemon_id")),
        (Stage::ClientHello, hello, lacks(&hello, "client_nonce")),
    ];
    let meant = candidates.iter().filter(|(.., lacks)| !lacks);
    match (meant.clone().count(), meant.clone().next()) {
        (1, Some(&(stage, fault, _))) => Err((Some(stage), HandshakeReason::Message(fault))),
        _ => Err((None, HandshakeReason::Message(hello))),
    }
}

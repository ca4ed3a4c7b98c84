//! The proofs: HMAC-SHA256 under the connection key over a label and what both sides said.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{DaemonId, Key, Nonce};
use crate::limits::PROOF_LEN;

const SERVER_LABEL: &[u8] = b"subc-server-v1";
const CLIENT_LABEL: &[u8] = b"subc-client-v1";

/// Bytes of a block of SHA-256.
const BLOCK_LEN: usize = 64;

/// The proof of message 2.
pub(crate) fn server_proof(
    key: &Key,
    client: &Nonce,
    server: &Nonce,
    daemon_id: &DaemonId,
) -> [u8; PROOF_LEN] {
    over(SERVER_LABEL, key, client, server, daemon_id).finalize().into_bytes().into()
}

/// The proof of message 3.
pub(crate) fn client_auth(
    key: &Key,
    client: &Nonce,
    server: &Nonce,
    daemon_id: &DaemonId,
) -> [u8; PROOF_LEN] {
    over(CLIENT_LABEL, key, client, server, daemon_id).finalize().into_bytes().into()
}

/// Whether `proof` is what a server with `key` says in message 2. The time taken does not depend on the proof.
///
/// ```
/// use twolane_core::handshake::message::{ServerProof, verify_server_proof};
/// use twolane_core::handshake::{ClientHandshake, DaemonId, Key, Received, ServerHandshake, ServerStep};
///
/// // Message 2 as a capture holds it, for a reader with the key.
/// let (key, daemon_id) = (Key::new(&[7; 32]).unwrap(), DaemonId([1; 16]));
/// let client = ClientHandshake::new(&key, daemon_id, [2; 32]);
/// let mut server = ServerHandshake::new(&key, daemon_id, [3; 32], "").unwrap();
/// let Ok(Received { step: ServerStep::Prove(message), .. }) = server.receive(&client.hello()) else {
///     panic!("a whole message 1")
/// };
/// let ServerProof { server_nonce, daemon_id, server_proof, .. } = ServerProof::parse(&message[4..]).unwrap();
/// assert!(verify_server_proof(&key, &[2; 32], &server_nonce, &daemon_id, &server_proof));
/// // It vouches for the process too.
/// assert!(!verify_server_proof(&key, &[2; 32], &server_nonce, &DaemonId([9; 16]), &server_proof));
/// ```
#[must_use]
pub fn verify_server_proof(
    key: &Key,
    client_nonce: &Nonce,
    server_nonce: &Nonce,
    daemon_id: &DaemonId,
    proof: &[u8; PROOF_LEN],
) -> bool {
    over(SERVER_LABEL, key, client_nonce, server_nonce, daemon_id).verify_slice(proof).is_ok()
}

/// Whether `proof` is what a client with `key` says in message 3. The time taken does not depend on the proof.
///
/// ```
/// use twolane_core::handshake::message::verify_client_auth;
/// use twolane_core::handshake::{DaemonId, Key};
///
/// // A guess is no proof.
/// let key = Key::new(&[7; 32]).unwrap();
/// assert!(!verify_client_auth(&key, &[2; 32], &[3; 32], &DaemonId([1; 16]), &[0; 32]));
/// ```
#[must_use]
pub fn verify_client_auth(
    key: &Key,
    client_nonce: &Nonce,
    server_nonce: &Nonce,
    daemon_id: &DaemonId,
    proof: &[u8; PROOF_LEN],
) -> bool {
    over(CLIENT_LABEL, key, client_nonce, server_nonce, daemon_id).verify_slice(proof).is_ok()
}

fn over(label: &[u8], key: &Key, client: &Nonce, server: &Nonce, daemon_id: &DaemonId) -> Hmac<Sha256> {
    keyed(key.bytes()).chain_update(label).chain_update(client).chain_update(server).chain_update(daemon_id.0)
}

/// An HMAC keyed with any number of bytes. HMAC begins by bringing a key to one block; done here, no fault is left
/// that would have to be handled where none can be.
fn keyed(key: &[u8]) -> Hmac<Sha256> {
    let mut block = Zeroizing::new([0; BLOCK_LEN]);
    match block.get_mut(..key.len()) {
        Some(front) => front.copy_from_slice(key),
        None => {
            let digest = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(key)));
            block.iter_mut().zip(digest.iter()).for_each(|(place, byte)| *place = *byte);
        }
    }
    Hmac::new((&*block).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::KEY_LEN_MAX;

    #[test]
    fn a_key_of_any_length_keys_as_hmac_itself_does() {
        let key: std::vec::Vec<u8> = (1..=KEY_LEN_MAX).map(|byte| byte.to_le_bytes()[0]).collect();
        for len in 0..=key.len() {
            let ours = keyed(&key[..len]).chain_update(b"text").finalize();
            let theirs =
                Hmac::<Sha256>::new_from_slice(&key[..len]).unwrap().chain_update(b"text").finalize();
            assert!(ours == theirs, "a key of {len} bytes");
        }
    }
}

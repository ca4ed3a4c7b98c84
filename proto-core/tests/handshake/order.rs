//! What is checked first, what leaves a side when, and that a failed side stays failed.

use twolane_core::handshake::{
    ClientHandshake, ClientStep, DaemonId, HandshakeFault, HandshakeReason, Key, ServerHandshake, ServerStep,
    Stage,
};

use crate::vector::{Transcript, message};

const OTHER_ID: DaemonId = DaemonId([0xee; 16]);

fn fault(stage: Stage, reason: HandshakeReason) -> HandshakeFault {
    HandshakeFault { stage, reason }
}

/// The message 2 that a server with `key` and `daemon_id` answers the transcript's hello with.
fn proof_of(transcript: &Transcript, key: &Key, daemon_id: DaemonId) -> Vec<u8> {
    let mut server = ServerHandshake::new(key, daemon_id, transcript.server_nonce, "v").unwrap();
    let step = server.receive(&transcript.messages[0]).unwrap().step;
    let ServerStep::Prove(proof) = step else { panic!("{step:?}") };
    proof.to_vec()
}

#[test]
fn a_server_with_another_key_gets_no_message_3() {
    let transcript = Transcript::read();
    let proof = proof_of(&transcript, &Key::new(&[9; 32]).unwrap(), transcript.daemon_id);
    let refused = transcript.client().receive(&proof).unwrap_err();
    assert_eq!(refused, fault(Stage::ServerProof, HandshakeReason::ProofMismatch));
}

#[test]
fn a_server_with_the_key_and_another_id_gets_no_message_3() {
    let transcript = Transcript::read();
    let proof = proof_of(&transcript, &transcript.key, OTHER_ID);
    let refused = transcript.client().receive(&proof).unwrap_err();
    assert_eq!(refused, fault(Stage::ServerProof, HandshakeReason::WrongDaemon));
}

#[test]
fn the_proof_is_checked_before_the_id() {
    let transcript = Transcript::read();
    let proof = proof_of(&transcript, &Key::new(&[9; 32]).unwrap(), OTHER_ID);
    let refused = transcript.client().receive(&proof).unwrap_err();
    assert_eq!(refused, fault(Stage::ServerProof, HandshakeReason::ProofMismatch));
}

#[test]
fn the_proof_covers_the_id_in_the_message() {
    // The right proof of another process under the expected id must not pass.
    let transcript = Transcript::read();
    let mut proof =
        String::from_utf8(proof_of(&transcript, &transcript.key, OTHER_ID)[4..].to_vec()).unwrap();
    let (theirs, expected) = (format!("{:?}", [0xee; 16]), format!("{:?}", transcript.daemon_id.0));
    proof = proof.replace(&theirs.replace(' ', ""), &expected);
    let refused = transcript.client().receive(&message(proof)).unwrap_err();
    assert_eq!(refused, fault(Stage::ServerProof, HandshakeReason::ProofMismatch));
}

#[test]
fn a_client_with_another_key_is_refused() {
    let transcript = Transcript::read();
    let key = Key::new(&[9; 32]).unwrap();
    let mut client = ClientHandshake::new(&key, transcript.daemon_id, transcript.client_nonce);
    let step = client.receive(&proof_of(&transcript, &key, transcript.daemon_id)).unwrap().step;
    let ClientStep::Authenticated { auth } = step else { panic!("{step:?}") };
    let refused = transcript.server_after_hello().receive(&auth).unwrap_err();
    assert_eq!(refused, fault(Stage::ClientAuth, HandshakeReason::ProofMismatch));
}

#[test]
fn a_recorded_message_3_fails_against_a_fresh_nonce() {
    let transcript = Transcript::read();
    let mut server = ServerHandshake::new(&transcript.key, transcript.daemon_id, [1; 32], "v").unwrap();
    let _ = server.receive(&transcript.messages[0]).unwrap();
    let refused = server.receive(&transcript.messages[2]).unwrap_err();
    assert_eq!(refused, fault(Stage::ClientAuth, HandshakeReason::ProofMismatch));
}

#[test]
fn a_failed_side_refuses_what_would_have_been_right() {
    let transcript = Transcript::read();
    let mut client = transcript.client();
    let first = client.receive(&message("{}")).unwrap_err();
    assert_eq!(client.receive(&transcript.messages[1]).unwrap_err(), first);
    let mut server = transcript.server();
    let first = server.receive(&message("{}")).unwrap_err();
    assert_eq!(first.stage, Stage::ClientHello);
    assert_eq!(server.receive(&transcript.messages[0]).unwrap_err(), first);
    let mut server = transcript.server_after_hello();
    let first = server.receive(&transcript.messages[0]).unwrap_err();
    assert_eq!(first.stage, Stage::ClientAuth);
    assert_eq!(server.receive(&transcript.messages[2]).unwrap_err(), first);
}

#[test]
fn a_finished_side_reads_no_frames() {
    let transcript = Transcript::read();
    let mut client = transcript.client();
    let _ = client.receive(&transcript.messages[1]).unwrap();
    let refused = client.receive(&transcript.messages[1]).unwrap_err();
    assert_eq!(refused, fault(Stage::ServerProof, HandshakeReason::Finished));
    let mut server = transcript.server_after_hello();
    let _ = server.receive(&transcript.messages[2]).unwrap();
    let refused = server.receive(&transcript.messages[2]).unwrap_err();
    assert_eq!(refused, fault(Stage::ClientAuth, HandshakeReason::Finished));
}

#[test]
fn a_key_of_any_allowed_length_authenticates() {
    let transcript = Transcript::read();
    for len in [32, 33, 63, 64, 65, 127, 128] {
        let key = Key::new(&vec![len; usize::from(len)]).unwrap();
        let mut client = ClientHandshake::new(&key, transcript.daemon_id, [3; 32]);
        let mut server = ServerHandshake::new(&key, transcript.daemon_id, [4; 32], "v").unwrap();
        let ServerStep::Prove(proof) = server.receive(&client.hello()).unwrap().step else { panic!() };
        let ClientStep::Authenticated { auth } = client.receive(&proof).unwrap().step else { panic!() };
        assert!(matches!(server.receive(&auth).unwrap().step, ServerStep::Authenticated));
    }
}

//! Both roles against the transcript, cut in every way.

use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
use twolane_core::frame::{FrameDecoder, Item, encode_frame};
use twolane_core::handshake::message::{verify_client_auth, verify_server_proof};
use twolane_core::handshake::{ClientHandshake, ClientStep, Received, ServerHandshake, ServerStep};

use crate::vector::Transcript;

#[test]
fn the_client_says_the_transcript_byte_for_byte() {
    let transcript = Transcript::read();
    let mut client = transcript.client();
    assert_eq!(*client.hello(), transcript.messages[0]);
    let Received { consumed, step } = client.receive(&transcript.messages[1]).unwrap();
    let ClientStep::Authenticated { auth } = step else { panic!("{step:?}") };
    assert_eq!(*auth, transcript.messages[2]);
    assert_eq!(consumed, transcript.messages[1].len());
    assert_eq!(client.daemon_ver(), Some("vector-1"));
}

#[test]
fn the_server_says_the_transcript_byte_for_byte() {
    let transcript = Transcript::read();
    let mut server = transcript.server();
    let Received { consumed, step } = server.receive(&transcript.messages[0]).unwrap();
    let ServerStep::Prove(proof) = step else { panic!("{step:?}") };
    assert_eq!(*proof, transcript.messages[1]);
    assert_eq!(consumed, transcript.messages[0].len());
    assert_eq!(server.role(), Some("client"));
    let Received { consumed, step } = server.receive(&transcript.messages[2]).unwrap();
    assert!(matches!(step, ServerStep::Authenticated));
    assert_eq!(consumed, transcript.messages[2].len());
}

#[test]
fn a_capture_can_be_verified_with_the_key() {
    let Transcript { key, client_nonce, server_nonce, daemon_id, server_proof, client_auth, .. } =
        Transcript::read();
    assert!(verify_server_proof(&key, &client_nonce, &server_nonce, &daemon_id, &server_proof));
    assert!(verify_client_auth(&key, &client_nonce, &server_nonce, &daemon_id, &client_auth));
    // One side's proof is never the other's, and the nonces have their places.
    assert!(!verify_client_auth(&key, &client_nonce, &server_nonce, &daemon_id, &server_proof));
    assert!(!verify_server_proof(&key, &client_nonce, &server_nonce, &daemon_id, &client_auth));
    assert!(!verify_server_proof(&key, &server_nonce, &client_nonce, &daemon_id, &server_proof));
}

/// What a side did with a stream: what it sent, and what it left unread after it was authenticated.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    sent: Vec<u8>,
    rest: Option<Vec<u8>>,
}

/// Feeds a client with the pieces, each call seeing all that is unread.
fn run_client(mut client: ClientHandshake, pieces: &[&[u8]]) -> Run {
    let mut unread = Vec::new();
    let mut run = Run { sent: client.hello().to_vec(), rest: None };
    for piece in pieces {
        unread.extend_from_slice(piece);
        if run.rest.is_some() {
            continue;
        }
        let Received { consumed, step } = client.receive(&unread).unwrap();
        unread.drain(..consumed);
        match step {
            ClientStep::Need(len) => assert!(len > unread.len(), "waits for what is there"),
            ClientStep::Authenticated { auth } => {
                run.sent.extend_from_slice(&auth);
                run.rest = Some(Vec::new());
            }
        }
    }
    run.rest = run.rest.map(|_| unread);
    run
}

/// Feeds a server with the pieces, each call seeing all that is unread.
fn run_server(mut server: ServerHandshake, pieces: &[&[u8]]) -> Run {
    let mut unread = Vec::new();
    let mut run = Run { sent: Vec::new(), rest: None };
    for piece in pieces {
        unread.extend_from_slice(piece);
        while run.rest.is_none() {
            let Received { consumed, step } = server.receive(&unread).unwrap();
            unread.drain(..consumed);
            match step {
                ServerStep::Need(len) => {
                    assert!(len > unread.len(), "waits for what is there");
                    break;
                }
                ServerStep::Prove(message) => run.sent.extend_from_slice(&message),
                ServerStep::Authenticated => run.rest = Some(Vec::new()),
            }
        }
    }
    run.rest = run.rest.map(|_| unread);
    run
}

fn ping() -> Vec<u8> {
    let parts = Parts {
        version: Version::V1,
        frame_type: FrameType::Request,
        flags: Flags::CONTROL_LAST,
        channel: 7,
        epoch: 0,
        corr: 9,
        len: 4,
    };
    let mut frame = vec![0; 64];
    let len = encode_frame(&Header::new(parts).unwrap(), b"body", &mut frame).unwrap();
    frame.truncate(len);
    frame
}

#[test]
fn every_split_point_gives_the_same_run_and_loses_no_byte() {
    let transcript = Transcript::read();
    let [hello, proof, auth] = &transcript.messages;
    let to_server = [&hello[..], auth, &ping()].concat();
    let to_client = [&proof[..], &ping()].concat();
    // Each is a whole handshake, seconds long under Miri.
    let step = if cfg!(miri) { 31 } else { 1 };
    for cut in (0..=to_server.len()).step_by(step) {
        let (first, second) = to_server.split_at(cut);
        let run = run_server(transcript.server(), &[first, second]);
        assert_eq!(run, Run { sent: proof.clone(), rest: Some(ping()) }, "cut at {cut}");
    }
    for cut in (0..=to_client.len()).step_by(step) {
        let (first, second) = to_client.split_at(cut);
        let run = run_client(transcript.client(), &[first, second]);
        assert_eq!(run, Run { sent: [&hello[..], auth].concat(), rest: Some(ping()) }, "cut at {cut}");
    }
}

#[test]
fn one_byte_at_a_time_gives_the_same_run() {
    let transcript = Transcript::read();
    let [hello, proof, auth] = &transcript.messages;
    let to_server = [&hello[..], auth, &ping()].concat();
    let run = run_server(transcript.server(), &to_server.chunks(1).collect::<Vec<_>>());
    assert_eq!(run, Run { sent: proof.clone(), rest: Some(ping()) });
    let to_client = [&proof[..], &ping()].concat();
    let run = run_client(transcript.client(), &to_client.chunks(1).collect::<Vec<_>>());
    assert_eq!(run, Run { sent: [&hello[..], auth].concat(), rest: Some(ping()) });
}

#[test]
fn a_frame_in_the_segment_of_message_3_is_decoded_whole() {
    let transcript = Transcript::read();
    let mut unread = [&transcript.messages[2][..], &ping()].concat();
    let Received { consumed, step } = transcript.server_after_hello().receive(&unread).unwrap();
    assert!(matches!(step, ServerStep::Authenticated));
    unread.drain(..consumed);
    let decoded = FrameDecoder::new(1024).decode(&unread).unwrap();
    let Item::Frame(frame) = decoded.item else { panic!("{:?}", decoded.item) };
    assert_eq!((frame.header.corr(), frame.body), (9, &b"body"[..]));
    assert_eq!(decoded.consumed, unread.len());
}

#[test]
fn what_is_needed_is_said_exactly() {
    let transcript = Transcript::read();
    let whole = &transcript.messages[0];
    for have in 0..whole.len() {
        let step = transcript.server().receive(&whole[..have]).unwrap().step;
        let ServerStep::Need(need) = step else { panic!("{step:?}") };
        assert_eq!(need, if have < 4 { 4 } else { whole.len() }, "with {have} bytes");
    }
}

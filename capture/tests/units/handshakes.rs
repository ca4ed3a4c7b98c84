//! Handshakes as captures show them.

use twolane_capture::row::Kind;
use twolane_capture::units::{Options, UnitFault, Units};
use twolane_capture::{Direction, Opening, Piece, SegmentSink};
use twolane_core::handshake::{HandshakeReason, Stage};

use crate::wire::{Keeper, Kept, Script, delta, handshake, key};

fn exchange(key_byte: Option<u8>) -> Vec<Kept> {
    let mut units = Units::new(Keeper::default(), Options::default());
    units.set_key(key_byte.map(key));
    let [hello, proof, auth] = handshake();
    for (direction, bytes) in [
        (Direction::AToB, hello),
        (Direction::BToA, proof),
        (Direction::AToB, [auth, delta(0)].concat()),
        (Direction::BToA, delta(0)),
    ] {
        units.piece(None, 1, direction, Piece::Bytes(&bytes));
    }
    units.into_sink().0
}

#[test]
fn its_three_messages_come_before_the_frames_of_both_sides() {
    let kinds: Vec<_> = exchange(None).iter().map(|unit| (unit.kind, unit.verified)).collect();
    let (message, frame) = ((Kind::Handshake, None), (Kind::Frame, None));
    assert_eq!(kinds, [message, message, message, frame, frame]);
}

#[test]
fn both_proofs_are_right_under_the_key_and_wrong_under_another() {
    let verdicts = |byte| exchange(Some(byte)).iter().map(|unit| unit.verified).collect::<Vec<_>>();
    assert_eq!(verdicts(1), [None, Some(true), Some(true), None, None]);
    assert_eq!(verdicts(2), [None, Some(false), Some(false), None, None]);
}

#[test]
fn an_auth_without_the_other_sides_message_cannot_be_judged() {
    let [hello, _, auth] = handshake();
    let mut units = Units::new(Keeper::default(), Options::default()).with_key(key(1));
    units.piece(None, 1, Direction::AToB, Piece::Bytes(&[hello, auth].concat()));
    assert_eq!(units.sink().0.iter().map(|unit| unit.verified).collect::<Vec<_>>(), [None, None]);
}

#[test]
fn a_malformed_message_is_shown_with_its_fault_and_reading_goes_on() {
    let text = br#"{"client_nonce":[1,2],"role":"client"}"#;
    let mut stream = u32::try_from(text.len()).unwrap().to_le_bytes().to_vec();
    stream.extend(text);
    stream.extend(delta(0));
    let units = Script::new(Opening::Syn).bytes(&stream).end();
    assert!(matches!(units[0].fault, Some(UnitFault::Handshake(HandshakeReason::Message(_)))));
    assert_eq!((units[0].kind, units[1].kind), (Kind::Handshake, Kind::Frame));
}

#[test]
fn a_second_hello_is_out_of_place() {
    let [hello, ..] = handshake();
    let units = Script::new(Opening::Syn).bytes(&[hello.clone(), hello].concat()).end();
    assert_eq!(units[0].fault, None);
    assert_eq!(units[1].fault, Some(UnitFault::OutOfPlace { stage: Stage::ClientHello }));
}

#[test]
fn a_message_over_its_bound_is_refused_by_name() {
    let mut stream = 5000_u32.to_le_bytes().to_vec();
    stream.extend(b"{\"client_nonce\"");
    let units = Script::new(Opening::Syn).bytes(&stream).end();
    let expected = UnitFault::Handshake(HandshakeReason::MessageTooLong { len: 5000 });
    assert_eq!(units[0].fault, Some(expected));
    assert_eq!(units[1].fault, Some(UnitFault::Undecoded { bytes: stream.len() as u64 }));
}

#[test]
fn a_message_in_a_stream_joined_at_its_beginning_is_no_guess() {
    let [hello, _, auth] = handshake();
    let units = Script::new(Opening::Joined).bytes(&[hello, auth, delta(0)].concat()).end();
    assert_eq!(
        units.iter().map(|unit| unit.kind).collect::<Vec<_>>(),
        [Kind::Handshake, Kind::Handshake, Kind::Frame]
    );
    assert!(units.iter().all(|unit| unit.marks == 0 && unit.fault.is_none()));
}

#[test]
fn a_capture_that_changed_the_places_of_two_sides_messages_blames_nobody() {
    let [hello, proof, auth] = handshake();
    let mut script = Script::new(Opening::Syn);
    script.say(Direction::BToA, Piece::Opened { how: Opening::Syn, ends: None });
    script.say(Direction::BToA, Piece::Bytes(&proof));
    let units = script.bytes(&hello).bytes(&auth).end();
    assert_eq!(units.len(), 3);
    assert!(units.iter().all(|unit| unit.fault.is_none()), "{units:?}");
}

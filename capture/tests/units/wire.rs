//! Frames to test with, and a sink that keeps what it is given.

use twolane_capture::row::{Kind, LawMark};
use twolane_capture::units::{Options, Unit, UnitFault, UnitSink, Units, verified};
use twolane_capture::{Direction, Opening, Piece, SegmentSink};
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
use twolane_core::frame::encode_frame;
use twolane_core::handshake::{ClientHandshake, ClientStep, DaemonId, Key, ServerHandshake, ServerStep};
use twolane_core::lanes::law::Breach;

/// One unit, owned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    pub(crate) kind: Kind,
    pub(crate) connection: u32,
    pub(crate) direction: Direction,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) seq: u64,
    pub(crate) tag: u8,
    pub(crate) marks: u8,
    pub(crate) law: LawMark,
    pub(crate) verified: Option<bool>,
    pub(crate) fault: Option<UnitFault>,
    pub(crate) breach: Option<Breach>,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct Keeper(pub(crate) Vec<Kept>);

impl UnitSink for Keeper {
    fn unit(&mut self, unit: &Unit<'_>) {
        assert_eq!(unit.index, self.0.len() as u64, "units are numbered from 0");
        let row = unit.row;
        self.0.push(Kept {
            kind: row.kind,
            connection: row.connection,
            direction: row.direction,
            offset: row.offset,
            len: row.len,
            seq: row.seq,
            tag: row.tag,
            marks: row.marks,
            law: row.law,
            verified: verified(&row),
            fault: unit.fault,
            breach: unit.breach,
            bytes: row.bytes.to_vec(),
        });
    }
}

/// Pieces of one direction of connection 1, for the tests to write down.
pub(crate) struct Script {
    units: Units<Keeper>,
}

impl Script {
    pub(crate) fn new(how: Opening) -> Self {
        Self::with(how, Options::default())
    }

    pub(crate) fn with(how: Opening, options: Options) -> Self {
        let mut script = Self { units: Units::new(Keeper::default(), options) };
        script.say(Direction::AToB, Piece::Opened { how, ends: None });
        script
    }

    pub(crate) fn say(&mut self, direction: Direction, piece: Piece<'_>) {
        self.units.piece(Some(7), 1, direction, piece);
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.say(Direction::AToB, Piece::Bytes(bytes));
        self
    }

    pub(crate) fn missing(mut self, bytes: u64) -> Self {
        self.say(Direction::AToB, Piece::Missing { bytes });
        self
    }

    pub(crate) fn end(mut self) -> Vec<Kept> {
        let reason = twolane_capture::CloseReason::EndOfCapture;
        self.say(Direction::AToB, Piece::Closed { reason });
        self.units.into_sink().0
    }
}

pub(crate) fn frame(flags: Flags, channel: u16, body: &[u8]) -> Vec<u8> {
    let header = Header::new(Parts {
        version: Version::V1,
        frame_type: FrameType::StreamData,
        flags,
        channel,
        epoch: 0,
        corr: 9,
        len: u32::try_from(body.len()).unwrap(),
    })
    .unwrap();
    let mut out = vec![0; 17 + body.len()];
    encode_frame(&header, body, &mut out).unwrap();
    out
}

pub(crate) fn payload(seq: u64, payload: &str) -> Vec<u8> {
    format!(r#"{{"version":1,"run_id":"r","step_id":9,"seq":{seq},"payload":{payload}}}"#).into_bytes()
}

/// A display frame of channel 3.
pub(crate) fn delta(seq: u64) -> Vec<u8> {
    let text = r#"{"type":"text_delta","message_id":"m","delta":"words of some length"}"#;
    frame(Flags::display(Version::V1), 3, &payload(seq, text))
}

pub(crate) fn gap(seq: u64, dropped: u64) -> Vec<u8> {
    let text = format!(r#"{{"type":"display_gap","dropped":{dropped}}}"#);
    frame(Flags::display(Version::V1), 3, &payload(seq, &text))
}

/// The last control frame of channel 3.
pub(crate) fn finished(seq: u64) -> Vec<u8> {
    frame(Flags::CONTROL_LAST, 3, &payload(seq, r#"{"type":"finished"}"#))
}

pub(crate) fn key(byte: u8) -> Key {
    Key::new(&[byte; 32]).unwrap()
}

/// The three messages of a handshake under `key(1)`.
pub(crate) fn handshake() -> [Vec<u8>; 3] {
    let id = DaemonId([5; 16]);
    let mut client = ClientHandshake::new(&key(1), id, [2; 32]);
    let mut server = ServerHandshake::new(&key(1), id, [3; 32], "test").unwrap();
    let hello = client.hello().to_vec();
    let ServerStep::Prove(proof) = server.receive(&hello).unwrap().step else { panic!("no proof") };
    let ClientStep::Authenticated { auth, .. } = client.receive(&proof).unwrap().step else {
        panic!("no auth")
    };
    [hello, proof.to_vec(), auth.to_vec()]
}

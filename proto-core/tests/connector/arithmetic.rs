//! The arithmetic of frames against real frames, and its inverse against brute force.

use twolane_core::connector::arithmetic::{
    FRAME_BYTES_MAX, FrameBound, FrameBoundFault, base64_bytes, envelope_bytes, frame_bytes,
    frame_bytes_for_payload, payload_bytes_for_frame,
};
use twolane_core::connector::carriage::{
    ACCEPTED, OPERATION, OperationRequest, OperationResponse, PAYLOAD_ENCODING, SERVICE_ID,
};
use twolane_core::connector::document::Schemas;
use twolane_core::connector::envelope::{Envelope, EnvelopeSchema, MessageKind, Nonce};
use twolane_core::scan::msgpack::{Counted, Output};

/// Lengths around each change of a header.
const IDS: [usize; 9] = [1, 31, 32, 33, 127, 128, 255, 256, 300];

fn real_envelope(kind: MessageKind, caller: usize, request: usize, payload: usize) -> Vec<u8> {
    let (caller, request) = ("c".repeat(caller), "r".repeat(request));
    let envelope = Envelope {
        caller_runtime_id: &caller,
        request_id: &request,
        message_kind: kind,
        nonce: Nonce([0; 12]),
    };
    let mut bytes = Vec::new();
    envelope.write_front(&mut bytes, u32::try_from(payload).unwrap()).unwrap();
    bytes.put(&vec![0; payload]).unwrap();
    bytes
}

/// The frame as the carriage writes it around a text of `text` characters.
fn real_frame(kind: MessageKind, request: usize, text: u64) -> u64 {
    let (request, payload) = ("r".repeat(request), "A".repeat(usize::try_from(text).unwrap()));
    let message = OperationRequest {
        message_id: &request,
        service_id: SERVICE_ID,
        operation: OPERATION,
        payload_schema: EnvelopeSchema::ID,
        payload_encoding: Some(PAYLOAD_ENCODING),
        payload: &payload,
        source_runtime_id: None,
        target_runtime_id: None,
    };
    let mut count = Counted(0);
    match kind {
        MessageKind::Invocation => message.write(&mut count).unwrap(),
        MessageKind::Result => {
            OperationResponse::of(message.reply_to(), ACCEPTED, EnvelopeSchema::ID, &payload)
                .write(&mut count)
                .unwrap();
        }
    }
    count.0
}

fn u(len: usize) -> u64 {
    u64::try_from(len).unwrap()
}

#[test]
fn the_closed_form_is_the_length_of_real_messages_at_every_change_of_a_header() {
    for kind in [MessageKind::Invocation, MessageKind::Result] {
        for caller in IDS {
            for request in IDS {
                let mut payloads = vec![16, 17, 18, 254, 255, 256, 257, 65_534, 65_535, 65_536, 65_537];
                // Around the payloads whose base64 has 255, 256, 65,535 and 65,536 characters.
                for text in [255, 256, 65_535, 65_536] {
                    let around = (16..70_000).find(|payload| {
                        base64_bytes(envelope_bytes(kind, u(caller), u(request), *payload)) >= text
                    });
                    let around = usize::try_from(around.unwrap()).unwrap();
                    payloads.extend(around.saturating_sub(4).max(16)..around + 4);
                }
                for payload in payloads {
                    let envelope = real_envelope(kind, caller, request, payload);
                    let closed = envelope_bytes(kind, u(caller), u(request), u(payload));
                    let at = format!("{kind:?}, ids of {caller} and {request}, payload of {payload}");
                    assert_eq!(closed, u(envelope.len()), "{at}");
                    let frame = frame_bytes(kind, u(caller), u(request), u(payload));
                    assert_eq!(frame, Some(real_frame(kind, request, base64_bytes(closed))), "{at}");
                }
            }
        }
    }
}

#[test]
fn the_numbers_of_the_specification() {
    for (payload, frame) in [(16, 1368), (1024, 2712), (4096, 6808), (65_536, 88_734), (1_048_576, 1_399_454)]
    {
        assert_eq!(frame_bytes_for_payload(payload), Some(frame), "payload of {payload}");
    }
    for (frame, payload) in
        [(8192, 5134), (65_536, 48_142), (1_048_576, 785_417), (1_052_672, 788_489), (16_777_216, 12_581_897)]
    {
        assert_eq!(payload_bytes_for_frame(frame), Some(payload), "frame of {frame}");
    }
    assert_eq!(payload_bytes_for_frame(1367), None);
    // The last group of base64 has room for one more.
    assert_eq!((payload_bytes_for_frame(1368), frame_bytes_for_payload(17)), (Some(17), Some(1368)));
    assert_eq!(frame_bytes_for_payload(15), None);
}

#[test]
fn the_inverse_is_what_trying_every_payload_gives() {
    let mut frame = 0;
    for payload in 16..100_000 {
        let needed = frame_bytes_for_payload(payload).unwrap();
        while frame < needed {
            let below = (payload > 16).then_some(payload - 1);
            assert_eq!(payload_bytes_for_frame(frame), below, "frame of {frame}");
            frame += 1;
        }
    }
}

#[test]
fn frames_end_where_the_prefix_ends() {
    let most = payload_bytes_for_frame(FRAME_BYTES_MAX).unwrap();
    assert!(frame_bytes_for_payload(most).is_some_and(|frame| frame <= u64::from(u32::MAX)));
    assert_eq!(frame_bytes_for_payload(most + 1), None);
    assert_eq!(payload_bytes_for_frame(u64::MAX), Some(most));
    for payload in [u64::MAX, u64::MAX - 3, 1 << 62] {
        assert_eq!(frame_bytes_for_payload(payload), None);
    }
}

#[test]
fn bounds_that_disagree_are_refused_with_the_frame_that_is_needed() {
    let bound = FrameBound::new(6808, 4096).unwrap();
    assert_eq!((bound.frame(), bound.payload()), (6808, 4096));
    assert_eq!(
        FrameBound::new(6807, 4096),
        Err(FrameBoundFault::FrameTooSmall { payload: 4096, needed: 6808, found: 6807 })
    );
    assert_eq!(
        FrameBound::new(1_048_576, 1_048_576),
        Err(FrameBoundFault::FrameTooSmall { payload: 1_048_576, needed: 1_399_454, found: 1_048_576 })
    );
    assert_eq!(FrameBound::new(6808, 4095), Err(FrameBoundFault::PayloadTooSmall { found: 4095 }));
    assert_eq!(FrameBound::new(1 << 32, 4096), Err(FrameBoundFault::TooLarge));
    assert_eq!(FrameBound::new(FRAME_BYTES_MAX, 1 << 32), Err(FrameBoundFault::TooLarge));
}

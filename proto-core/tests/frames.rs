//! Streams of frames cut anywhere, ended anywhere, and broken in every way the envelope knows.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small by construction")]

use proptest::prelude::*;
use twolane_core::buffer::{Event, FrameBuffer};
use twolane_core::envelope::{Flags, FrameType, Header, HeaderFault, Parts, Version};
use twolane_core::frame::{
    Decoded, EncodeFault, EndFault, FrameDecoder, FrameFault, FrameReason, Item, Part, encode_frame,
};
use twolane_core::limits::{BODY_LEN_MAX, HEADER_LEN_MAX};

fn header(version: Version, len: u32, corr: u64) -> Header {
    Header::new(Parts {
        version,
        frame_type: FrameType::StreamData,
        flags: Flags::CONTROL,
        channel: 7,
        epoch: 0,
        corr,
        len,
    })
    .unwrap()
}

fn frame(version: Version, body: &[u8], corr: u64) -> Vec<u8> {
    let mut out = vec![0; HEADER_LEN_MAX + body.len()];
    let len = encode_frame(&header(version, body.len() as u32, corr), body, &mut out).unwrap();
    out.truncate(len);
    out
}

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Frame(u64, Vec<u8>),
    Oversize(u64, u32),
    Fault(FrameFault),
}

/// Decodes `wire` handed over in chunks, keeping unread bytes as a caller does.
fn decode_in_chunks<'a>(
    limit: u32,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Seen>, Vec<u8>, FrameDecoder) {
    let (mut decoder, mut unread, mut seen) = (FrameDecoder::new(limit), Vec::new(), Vec::new());
    for chunk in chunks {
        unread.extend_from_slice(chunk);
        loop {
            let Decoded { consumed, item } = match decoder.decode(&unread) {
                Ok(decoded) => decoded,
                Err(fault) => {
                    if !matches!(seen.last(), Some(Seen::Fault(_))) {
                        seen.push(Seen::Fault(fault));
                    }
                    break;
                }
            };
            let need = match item {
                Item::Need(more) => Some(more),
                Item::Frame(frame) => {
                    seen.push(Seen::Frame(frame.header.corr(), frame.body.to_vec()));
                    None
                }
                Item::Oversize(header) => {
                    seen.push(Seen::Oversize(header.corr(), header.body_len()));
                    None
                }
            };
            unread.drain(..consumed);
            if let Some(more) = need {
                assert!(more > unread.len(), "asked for {more} bytes with {} unread", unread.len());
                break;
            }
        }
    }
    (seen, unread, decoder)
}

#[test]
fn every_split_point_gives_the_same_frames() {
    for version in [Version::V1, Version::V2] {
        let bodies: [&[u8]; 4] = [b"", b"first", &[0xff; 40], b"x"];
        let wire: Vec<u8> =
            bodies.iter().zip(1..).flat_map(|(body, corr)| frame(version, body, corr)).collect();
        let expected: Vec<Seen> =
            bodies.iter().zip(1..).map(|(body, corr)| Seen::Frame(corr, body.to_vec())).collect();
        for split in 0..=wire.len() {
            let (first, second) = wire.split_at(split);
            let (seen, unread, decoder) = decode_in_chunks(1000, [first, second].into_iter());
            assert_eq!(seen, expected, "split at {split}");
            assert!(unread.is_empty());
            assert_eq!(decoder.offset(), wire.len() as u64);
        }
        assert_eq!(decode_in_chunks(1000, wire.chunks(1)).0, expected);
    }
}

#[test]
fn an_oversize_body_is_skipped_and_the_stream_stays_in_step() {
    let wire: Vec<u8> =
        [frame(Version::V1, b"ok", 1), frame(Version::V1, &[9; 300], 2), frame(Version::V1, b"after", 3)]
            .concat();
    let expected =
        vec![Seen::Frame(1, b"ok".into()), Seen::Oversize(2, 300), Seen::Frame(3, b"after".into())];
    for chunk in 1..wire.len() {
        let (seen, unread, _) = decode_in_chunks(100, wire.chunks(chunk));
        assert_eq!(seen, expected, "chunks of {chunk}");
        assert!(unread.is_empty());
    }
}

#[test]
fn an_oversize_body_is_never_asked_for_whole() {
    let mut decoder = FrameDecoder::new(100);
    let head = header(Version::V1, BODY_LEN_MAX, 1).encode();
    let Ok(Decoded { consumed: 17, item: Item::Oversize(_) }) = decoder.decode(&head) else { panic!() };
    let Ok(Decoded { consumed: 0, item: Item::Need(1) }) = decoder.decode(&[]) else { panic!() };
    let Ok(Decoded { consumed: 3, item: Item::Need(1) }) = decoder.decode(&[1, 2, 3]) else { panic!() };
    assert_eq!(decoder.offset(), 20);
}

#[test]
fn a_body_over_64_mib_ends_the_stream_before_anything_is_waited_for() {
    let head = header(Version::V1, BODY_LEN_MAX + 1, 1).encode();
    let fault = FrameFault { offset: 0, reason: FrameReason::BodyTooLong { len: BODY_LEN_MAX + 1 } };
    let mut decoder = FrameDecoder::new(u32::MAX);
    assert_eq!(decoder.decode(&head), Err(fault));
    assert_eq!(decoder.decode(&frame(Version::V1, b"good", 1)), Err(fault), "it stays failed");
}

#[test]
fn a_pure_header_of_version_1_does_not_wait_for_21_bytes() {
    let ping = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
    let Ok(Decoded { consumed: 17, item: Item::Frame(frame) }) = FrameDecoder::new(10).decode(&ping) else {
        panic!()
    };
    assert_eq!(frame.header.frame_type(), FrameType::Ping);
}

#[test]
fn a_changed_version_is_refused_by_name_at_its_fifth_byte() {
    for (first, second) in [(Version::V1, Version::V2), (Version::V2, Version::V1)] {
        let before = frame(first, b"a", 1);
        let wire = [&before[..], &frame(second, b"b", 2)[..5]].concat();
        let (seen, _, _) = decode_in_chunks(10, wire.chunks(1));
        let reason = FrameReason::VersionChanged { latched: first, found: second };
        assert_eq!(
            seen,
            [Seen::Frame(1, b"a".into()), Seen::Fault(FrameFault { offset: before.len() as u64, reason })]
        );
    }
}

#[test]
fn an_unknown_version_is_refused_at_its_fifth_byte() {
    let reason = FrameReason::Header(HeaderFault::UnknownVersion { found: 9 });
    assert_eq!(FrameDecoder::new(10).decode(&[0, 0, 0, 0, 9]), Err(FrameFault { offset: 0, reason }));
}

#[test]
fn a_stream_may_end_only_between_frames_and_says_where_else_it_did() {
    let whole = frame(Version::V1, b"body", 1);
    let ends = [
        (0, None),
        (1, Some((Part::Prefix, 5, 1))),
        (4, Some((Part::Prefix, 5, 4))),
        (5, Some((Part::Header, 17, 5))),
        (16, Some((Part::Header, 17, 16))),
        (17, Some((Part::Body, 4, 0))),
        (19, Some((Part::Body, 4, 2))),
        (21, None),
    ];
    for (len, expected) in ends {
        let (_, unread, decoder) = decode_in_chunks(10, [&whole[..len]].into_iter());
        let expected = expected.map(|(part, expected, actual)| EndFault { part, expected, actual });
        assert_eq!(decoder.end(&unread).err(), expected, "end after {len} bytes");
    }
    let (_, unread, decoder) = decode_in_chunks(2, [&whole[..19]].into_iter());
    assert_eq!(decoder.end(&unread), Err(EndFault { part: Part::Body, expected: 2, actual: 0 }));
}

#[test]
fn nothing_is_written_where_a_reader_would_refuse() {
    let mut out = [0xee; 64];
    let mismatch = encode_frame(&header(Version::V1, 9, 1), b"four", &mut out);
    assert_eq!(mismatch, Err(EncodeFault::LengthMismatch { announced: 9, actual: 4 }));
    let small = encode_frame(&header(Version::V1, 4, 1), b"four", &mut out[..20]);
    assert_eq!(small, Err(EncodeFault::BufferTooSmall { needed: 21, available: 20 }));
    let long = vec![0; BODY_LEN_MAX as usize + 1];
    let long = encode_frame(&header(Version::V1, BODY_LEN_MAX + 1, 1), &long, &mut out);
    assert_eq!(long, Err(EncodeFault::BodyTooLong { len: BODY_LEN_MAX + 1 }));
    assert_eq!(out, [0xee; 64]);
}

#[test]
fn a_fixed_buffer_hands_out_what_fits_and_skips_what_does_not() {
    let mut storage = [0; 64];
    let fits = 64 - HEADER_LEN_MAX;
    let wire = [
        frame(Version::V1, &vec![1; fits], 1),
        frame(Version::V1, &vec![2; fits + 1], 2),
        frame(Version::V1, b"", 3),
    ]
    .concat();
    let mut frames = FrameBuffer::new(&mut storage).unwrap();
    let (mut rest, mut seen) = (&wire[..], Vec::new());
    while !rest.is_empty() {
        let space = frames.space();
        assert!(!space.is_empty(), "a buffer without room would wait for ever");
        let count = space.len().min(rest.len()).min(13);
        space[..count].copy_from_slice(&rest[..count]);
        frames.advance(count);
        rest = &rest[count..];
        while let Some(event) = frames.take().unwrap() {
            seen.push(match event {
                Event::Frame(frame) => (frame.header.corr(), Some(frame.body.len())),
                Event::Oversize(header) => (header.corr(), None),
            });
        }
    }
    assert_eq!(seen, [(1, Some(fits)), (2, None), (3, Some(0))]);
    assert_eq!(frames.end(), Ok(()));
}

#[test]
fn whole_frames_end_before_what_is_none_and_the_decoder_goes_on_there() {
    let two = [frame(Version::V1, b"one", 1), frame(Version::V1, b"", 2)].concat();
    let other_version = frame(Version::V2, b"x", 3);
    let too_long = frame(Version::V1, &[9; 300], 3);
    let cut = &too_long[..9];
    for (behind, named) in [
        (&b""[..], Ok(Item::Need(5))),
        (cut, Ok(Item::Need(17))),
        (&too_long, Ok(Item::Oversize(header(Version::V1, 300, 3)))),
        (&other_version, Err(FrameReason::VersionChanged { latched: Version::V1, found: Version::V2 })),
    ] {
        let wire = [&two[..], behind].concat();
        let mut decoder = FrameDecoder::new(100);
        let mut frames = decoder.whole_frames(&wire);
        let seen: Vec<_> = frames.by_ref().map(|frame| (frame.header.corr(), frame.body.to_vec())).collect();
        assert_eq!(seen, [(1, b"one".to_vec()), (2, b"".to_vec())]);
        let rest = frames.unread();
        assert_eq!(rest, behind);
        assert_eq!(decoder.offset(), two.len() as u64);
        let next = decoder.decode(rest).map(|decoded| decoded.item).map_err(|fault| fault.reason);
        assert_eq!(next, named);
    }
}

#[test]
fn no_frame_is_whole_inside_a_skipped_body_or_behind_a_fault() {
    let inside = frame(Version::V1, b"not a frame", 2);
    let oversize = header(Version::V1, 300, 1).encode();
    let mut decoder = FrameDecoder::new(100);
    assert!(decoder.decode(&oversize).is_ok());
    assert_eq!(decoder.whole_frames(&inside).count(), 0);
    let mut decoder = FrameDecoder::new(100);
    assert!(decoder.decode(&[0; 5]).is_err());
    assert_eq!(decoder.whole_frames(&inside).count(), 0);
}

proptest! {
    #[test]
    fn any_bytes_in_any_chunks_give_the_same_outcome(
        wire in proptest::collection::vec(any::<u8>(), 0..200),
        legal in 0usize..4,
        chunk in 1usize..40,
        limit in 0u32..64,
    ) {
        let mut stream: Vec<u8> = (0..legal).flat_map(|n| frame(Version::V1, &vec![7; n * 9], n as u64)).collect();
        stream.extend(wire);
        let whole = decode_in_chunks(limit, [&stream[..]].into_iter());
        let cut = decode_in_chunks(limit, stream.chunks(chunk));
        prop_assert_eq!(whole.0, cut.0);
        prop_assert_eq!(whole.2.offset(), cut.2.offset());
    }
}

//! A buffer of frames beyond every cache, walked from header to header.

use std::hint::black_box;

use subc_protocol::{HEADER_LEN, decode_header};
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
use twolane_core::frame::{FrameDecoder, encode_frame};

use crate::timing::{Thing, judge, medians};

/// Bytes of a frame, header included.
const FRAME_BYTES: usize = 256;

/// Ours has to make so many times the peer's frames a second.
const PEER_RATIO_MIN: f64 = 2.2;

/// And pass over bytes at this share of the speed of reading each.
const READING_SHARE_MIN: f64 = 0.75;

/// False where the promise was not kept.
pub(crate) fn bench(rounds: u32, mib: u64) -> bool {
    println!("walk: {mib} MiB of frames of {FRAME_BYTES} bytes; medians of {rounds} rounds");
    let wire = wire(mib as usize * 1024 * 1024 / FRAME_BYTES);
    let frames = (wire.len() / FRAME_BYTES) as u64;
    let [ours, peer, least, reading] = medians(
        rounds,
        1,
        [
            Thing::new(frames, &mut || assert_eq!(walk(black_box(&wire)), frames)),
            Thing::new(frames, &mut || assert_eq!(peer_walk(black_box(&wire)), frames)),
            Thing::new(frames, &mut || assert_eq!(least_walk(black_box(&wire)), frames)),
            Thing::new(frames, &mut || {
                black_box(sum(black_box(&wire)));
            }),
        ],
    );
    row("FrameDecoder::whole_frames", ours);
    row("subc-protocol 0.1.0 decode_header, then on by len", peer);
    row("the least: len alone with our read ahead", least);
    row("every byte, added up by eight", reading);
    let (peer_ratio, share) = (peer / ours, reading / ours);
    println!("  ours makes {peer_ratio:.2}x the peer's frames and {share:.2} of reading every byte");
    println!("  the least walk makes {:.2}x the peer's frames", peer / least);
    judge(
        &format!("{PEER_RATIO_MIN}x, {READING_SHARE_MIN}"),
        peer_ratio >= PEER_RATIO_MIN && share >= READING_SHARE_MIN,
    )
}

fn row(name: &str, frame_ns: f64) {
    println!(
        "  {name:<52}{frame_ns:>8.2} ns a frame{:>8.1} M frames/s{:>8.2} GB/s",
        1e3 / frame_ns,
        FRAME_BYTES as f64 / frame_ns
    );
}

fn wire(frames: usize) -> Vec<u8> {
    let body = [b'x'; FRAME_BYTES - HEADER_LEN];
    let header = Header::new(Parts {
        version: Version::V1,
        frame_type: FrameType::StreamData,
        flags: Flags::display(Version::V1),
        channel: 1,
        epoch: 0,
        corr: 1,
        len: body.len() as u32,
    });
    let mut frame = [0; FRAME_BYTES];
    encode_frame(&header.expect("a legal header"), &body, &mut frame).expect("a frame");
    frame.repeat(frames)
}

fn walk(wire: &[u8]) -> u64 {
    let mut decoder = FrameDecoder::new(u32::MAX);
    let mut frames = 0;
    for frame in decoder.whole_frames(wire) {
        black_box(frame.header);
        frames += 1;
    }
    frames
}

/// What a peer's program does: a header, then on by what it announces.
fn peer_walk(mut unread: &[u8]) -> u64 {
    let mut frames = 0;
    while let Ok(header) = decode_header(unread) {
        let Some(rest) = unread.get(HEADER_LEN + header.len as usize..) else { break };
        unread = rest;
        black_box(header);
        frames += 1;
    }
    frames
}

/// What any walk has to do, and the page ahead that ours touches.
fn least_walk(mut unread: &[u8]) -> u64 {
    let mut frames = 0;
    while let Some(len) = unread.first_chunk() {
        black_box(unread.get(4096).copied());
        let Some(rest) = unread.get(HEADER_LEN + u32::from_le_bytes(*len) as usize..) else { break };
        unread = rest;
        frames += 1;
    }
    frames
}

fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    words.fold(0, u64::wrapping_add)
}

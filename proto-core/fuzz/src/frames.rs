//! A stream gives the same frames however it is cut, and every byte of it is in one of them.

use twolane_core::frame::{EndFault, FrameDecoder, FrameFault, Item, encode_frame};

use crate::seeds::Seeds;

/// Everything that a stream gave.
#[derive(Debug, PartialEq)]
struct Read {
    frames: Vec<Vec<u8>>,
    oversize: usize,
    offset: u64,
    end: Result<Result<(), EndFault>, FrameFault>,
}

/// The first byte says how the rest is cut and how long a body may be.
pub fn run(bytes: &[u8]) {
    let Some((&how, stream)) = bytes.split_first() else { return };
    let limit = if how & 1 == 0 { u32::MAX } else { 32 };
    let whole = read(stream.chunks(stream.len().max(1)), limit);
    let pieces = read(stream.chunks(usize::from(how >> 1) + 1), limit);
    assert_eq!(whole, pieces);
    if limit == u32::MAX && whole.end == Ok(Ok(())) {
        assert_eq!(whole.frames.concat(), stream, "frames written again are the stream");
    }
}

/// Streams of several real frames.
pub fn seeds(seeds: &Seeds) -> Vec<Vec<u8>> {
    let versions = [1, 2].map(|version| {
        let same = seeds.frames.iter().filter(|frame| frame.get(4) == Some(&version));
        same.flatten().copied().collect::<Vec<u8>>()
    });
    let alone = seeds.frames.iter().cloned();
    alone.chain(versions).map(|stream| [&[6], &stream[..]].concat()).collect()
}

fn read<'a>(chunks: impl Iterator<Item = &'a [u8]>, limit: u32) -> Read {
    let mut decoder = FrameDecoder::new(limit);
    let (mut unread, mut frames, mut oversize) = (Vec::new(), Vec::new(), 0);
    for chunk in chunks {
        unread.extend_from_slice(chunk);
        loop {
            let decoded = match decoder.decode(&unread) {
                Ok(decoded) => decoded,
                Err(fault) => {
                    assert_eq!(
                        decoder.decode(&unread).map(drop),
                        Err(fault),
                        "a failed decoder stays failed"
                    );
                    return Read { frames, oversize, offset: decoder.offset(), end: Err(fault) };
                }
            };
            let consumed = decoded.consumed;
            assert!(consumed <= unread.len());
            let waits = match decoded.item {
                Item::Frame(frame) => {
                    let mut out = vec![0; unread.len()];
                    let len =
                        encode_frame(&frame.header, frame.body, &mut out).expect("a frame that was read");
                    out.truncate(len);
                    frames.push(out);
                    false
                }
                Item::Oversize(header) => {
                    assert!(header.body_len() > limit);
                    oversize += 1;
                    false
                }
                Item::Need(need) => {
                    assert!(need > unread.len() - consumed, "a need that is already met");
                    true
                }
            };
            unread.drain(..consumed);
            if waits {
                break;
            }
        }
    }
    Read { frames, oversize, offset: decoder.offset(), end: Ok(decoder.end(&unread)) }
}

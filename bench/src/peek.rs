//! All that routing needs, out of a header: ours with every rule of the version against the first peer's.

use std::hint::black_box;

use subc_protocol::{HEADER_LEN, decode_header};
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Peeked, Version, peek};

use crate::timing::{Thing, judge, medians};

/// Together 4 KiB: they stay in the first cache.
const HEADERS: usize = 240;

/// Passes over all of them in one round.
const CALLS: u32 = 40_000;

/// What ours may take at most, as a share of the peer's time.
const RATIO_MAX: f64 = 1.1;

/// False where the promise was not kept.
pub(crate) fn bench(rounds: u32) -> bool {
    println!(
        "peek: {HEADERS} legal headers of version 1 in the first cache, every rule checked; medians of {rounds} rounds"
    );
    let headers = headers();
    let [ours, peer] = medians(
        rounds,
        CALLS,
        [
            Thing::new(HEADERS as u64, &mut || {
                for header in black_box(&headers) {
                    let Ok(Peeked::Header(header)) = peek(header) else { panic!("a legal header") };
                    black_box(header);
                }
            }),
            Thing::new(HEADERS as u64, &mut || {
                for header in black_box(&headers) {
                    black_box(decode_header(header).expect("a legal header"));
                }
            }),
        ],
    );
    println!("  envelope::peek                    {ours:>8.2} ns");
    println!("  subc-protocol 0.1.0 decode_header {peer:>8.2} ns   ours takes {:.2}x of it", ours / peer);
    judge(&format!("at most {RATIO_MAX}x"), ours <= RATIO_MAX * peer)
}

/// Headers of every type that the peer reads too, all flags that are legal in turn.
fn headers() -> Vec<[u8; HEADER_LEN]> {
    let header = |place: usize| {
        let frame_type = FrameType::ALL[place % FrameType::ALL.len()];
        let flags = [0x00, 0x02, 0x04, 0x0a, 0x0c, 0x03][place % 6];
        let len = if frame_type.is_pure_header() { 0 } else { 64 + place as u32 };
        let header = Header::new(Parts {
            version: Version::V1,
            frame_type,
            flags: Flags::from_bits(flags),
            channel: place as u16,
            epoch: 0,
            corr: place as u64,
            len,
        });
        header.expect("a legal header").encode().first_chunk().copied().expect("a version 1 header")
    };
    (0..HEADERS).map(header).collect()
}

//! The header alone: what a router needs.

use twolane_core::envelope::{Peeked, peek};

/// Where a frame goes: its channel, lane and length; or how many bytes are missing, or that it is illegal.
pub fn run(bytes: &[u8]) -> u32 {
    match peek(bytes) {
        Ok(Peeked::Header(header)) => {
            let lane = header.lane().map_or(0, |lane| lane as u32 + 1);
            header.body_len() ^ u32::from(header.channel()) << 8 ^ lane
        }
        Ok(Peeked::Need(len)) => u32::try_from(len).unwrap_or(0),
        Err(_) => u32::MAX,
    }
}

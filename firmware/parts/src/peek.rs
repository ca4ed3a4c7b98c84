//! The header alone: what a router needs.

use twolane_core::envelope::{Peeked, peek};

/// Where a frame goes and how long it is; or how many bytes are missing, or that it is illegal.
pub fn run(bytes: &[u8]) -> u32 {
    match peek(bytes) {
        Ok(Peeked::Header(header)) => header.body_len() ^ u32::from(header.channel()),
        Ok(Peeked::Need(len)) => u32::try_from(len).unwrap_or(0),
        Err(_) => u32::MAX,
    }
}

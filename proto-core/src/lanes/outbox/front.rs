//! Frames from their front: header and body up to the payload, which only a brace follows.

use alloc::vec::Vec;
use core::fmt::Write;

use super::PushFault;
use super::slot::Slot;
use crate::body::{check_origin, write_origin, write_seq};
use crate::envelope::{Flags, FrameType, Header, Parts, Version, field};
use crate::limits::INTEGER_MAX;
use crate::scan::decimal::write_decimal;

/// Makes `front` the front of a frame up to its seq, its length not filled in: all frames of one slot and lane have
/// the same behind the length, and no other slot's front begins so.
pub(super) fn open(
    version: Version,
    flags: Flags,
    slot: Slot<'_>,
    front: &mut Vec<u8>,
) -> Result<(), PushFault> {
    if let Slot::Step(place) = slot {
        check_origin(place.run_id, place.step_id)?;
    }
    let generation = slot.generation();
    let header = Header::new(Parts {
        version,
        frame_type: FrameType::StreamData,
        flags,
        channel: generation.channel,
        epoch: generation.epoch,
        corr: slot.corr(),
        len: 0,
    })?;
    front.clear();
    front.extend_from_slice(&header.encode());
    // Bytes in memory take all that is written.
    let _ = match slot {
        Slot::Step(place) => write_origin(&mut Tail(front), place.run_id, place.step_id),
        Slot::Unit { .. } => Tail(front).write_str("{\"kind\":\"control\",\"seq\":"),
        Slot::Event { .. } => Tail(front).write_str("{\"kind\":\"display\",\"seq\":"),
    };
    Ok(())
}

/// Completes an opened front of a frame whose payload has `payload_len` bytes.
pub(super) fn close(
    front: &mut Vec<u8>,
    slot: Slot<'_>,
    seq: u64,
    payload_len: usize,
) -> Result<(), PushFault> {
    if seq > INTEGER_MAX {
        return Err(PushFault::SeqExhausted);
    }
    let mut out = Tail(front);
    let _ = match slot {
        Slot::Step(_) => write_seq(&mut out, seq),
        Slot::Unit { cursor, .. } => write_decimal(&mut out, seq)
            .and_then(|()| out.write_str(",\"cursor\":"))
            .and_then(|()| cursor.write(&mut out))
            .and_then(|()| out.write_str(",\"unit\":")),
        Slot::Event { .. } => write_decimal(&mut out, seq).and_then(|()| out.write_str(",\"event\":")),
    };
    let len = front.len() - header_len(front) + payload_len + 1;
    fill_len(front, u32::try_from(len).map_err(|_| PushFault::ControlTooLong { len })?);
    Ok(())
}

/// Appends the gap that stands for `dropped` frames to `out`: it has the front of the last of them.
pub(super) fn append_gap(front: &[u8], dropped: u64, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(front);
    let _ = write!(Tail(out), "{{\"type\":\"display_gap\",\"dropped\":{dropped}}}}}");
    let frame = out.get_mut(start..).unwrap_or_default();
    // A front and a number: always few bytes.
    let len = u32::try_from(frame.len() - header_len(frame)).unwrap_or(0);
    fill_len(frame, len);
}

fn header_len(frame: &[u8]) -> usize {
    let version = frame.get(field::VERSION).copied().and_then(Version::from_number);
    version.map_or(0, Version::header_len)
}

/// Writes the length of a frame's body into its header.
pub(super) fn fill_len(frame: &mut [u8], len: u32) {
    if let Some(place) = frame.first_chunk_mut() {
        *place = len.to_le_bytes();
    }
}

/// Text at the end of bytes.
struct Tail<'a>(&'a mut Vec<u8>);

impl Write for Tail<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

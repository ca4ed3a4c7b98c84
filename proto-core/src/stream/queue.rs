//! Encoded frames of one lane in the caller's memory, and how far the first of them was sent.

use crate::buffer::BufferTooSmall;
use crate::envelope::{Header, Peeked, peek};
use crate::frame::{EncodeFault, encode_frame};
use crate::limits::HEADER_LEN_MAX;

#[derive(Debug)]
pub(super) struct Queue<'b> {
    storage: &'b mut [u8],
    start: usize,
    end: usize,
    /// Bytes of the first frame that are still to be sent, where some of it were; 0 between two frames.
    begun: usize,
}

impl<'b> Queue<'b> {
    pub(super) const fn new(storage: &'b mut [u8]) -> Result<Self, BufferTooSmall> {
        if storage.len() < HEADER_LEN_MAX {
            return Err(BufferTooSmall { available: storage.len() });
        }
        Ok(Self { storage, start: 0, end: 0, begun: 0 })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Whether a part of the first frame was sent, so that the rest has to follow.
    pub(super) const fn is_begun(&self) -> bool {
        self.begun > 0
    }

    /// Adds a frame behind the others; a fault leaves all as it was.
    pub(super) fn push(&mut self, header: &Header, body: &[u8]) -> Result<(), EncodeFault> {
        if 0 < self.start && self.start <= self.end && self.end <= self.storage.len() {
            self.storage.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let free = self.storage.get_mut(self.end..).unwrap_or_default();
        self.end += encode_frame(header, body, free)?;
        Ok(())
    }

    /// The bytes to send next: the rest of the first frame, or of all of them.
    pub(super) fn front(&self, all: bool) -> &[u8] {
        let end = if all { self.end } else { self.start + self.first_len() };
        self.storage.get(self.start..end.min(self.end)).unwrap_or_default()
    }

    /// Notes that `count` bytes from the front were sent.
    pub(super) fn sent(&mut self, count: usize) {
        let mut left = count.min(self.end - self.start);
        while left > 0 {
            let first = self.first_len();
            let step = left.min(first);
            self.start += step;
            self.begun = first - step;
            left -= step;
            if step == 0 {
                break;
            }
        }
    }

    /// Bytes of the first frame that are still to be sent.
    fn first_len(&self) -> usize {
        if self.begun > 0 {
            return self.begun;
        }
        let queued = self.storage.get(self.start..self.end).unwrap_or_default();
        match peek(queued) {
            Ok(Peeked::Header(header)) => header.version().header_len() + header.body_len() as usize,
            // Only whole frames are ever pushed.
            _ => queued.len(),
        }
    }
}

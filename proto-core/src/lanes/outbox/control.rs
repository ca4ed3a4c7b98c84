//! Unsent control of all generations: the frames one behind the other in one ring of bytes, so that none costs an
//! allocation.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::slot::Key;

/// Bytes that the ring keeps when it is empty.
const KEPT_BYTES: usize = 64 * 1024;

/// One frame of the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    /// Whose order it keeps.
    pub(super) key: Key,
    /// Ends the stream; when its display will be shed rather than waited for.
    pub(super) last: Option<u64>,
    len: usize,
}

/// Control frames in order.
#[derive(Debug, Default)]
pub(super) struct ControlQueue {
    frames: VecDeque<Control>,
    bytes: VecDeque<u8>,
}

impl ControlQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Bytes of all frames.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn get(&self, place: usize) -> Option<&Control> {
        self.frames.get(place)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Control> {
        self.frames.iter()
    }

    /// Queues the frame that `parts` are.
    pub(super) fn push(&mut self, key: Key, last: Option<u64>, parts: &[&[u8]]) {
        let before = self.bytes.len();
        for part in parts {
            self.bytes.extend(*part);
        }
        self.frames.push_back(Control { key, last, len: self.bytes.len() - before });
    }

    /// Moves the frame at `place` to the end of `out`; false where none is.
    pub(super) fn take(&mut self, place: usize, out: &mut Vec<u8>) -> bool {
        let start = self.frames.iter().take(place).map(|control| control.len).sum();
        let taken = if place == 0 { self.frames.pop_front() } else { self.frames.remove(place) };
        let Some(Control { len, .. }) = taken else { return false };
        let (front, back) = self.bytes.as_slices();
        let in_front = front.get(start..).unwrap_or_default();
        let in_front = in_front.get(..len).unwrap_or(in_front);
        out.extend_from_slice(in_front);
        let start_in_back = start.saturating_sub(front.len());
        let in_back = back.get(start_in_back..).unwrap_or_default();
        out.extend_from_slice(in_back.get(..len - in_front.len()).unwrap_or_default());
        drop(self.bytes.drain(start..start + len));
        if self.is_empty() {
            self.bytes.shrink_to(KEPT_BYTES);
            self.frames.shrink_to(KEPT_BYTES / size_of::<Control>());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    #[test]
    fn frames_leave_whole_in_any_order_and_around_the_ring_s_end() {
        let key = Key::Subscription(1);
        let mut queue = ControlQueue::default();
        let frame = |number: u8| vec![number; 5 + usize::from(number % 7)];
        let mut waiting = Vec::new();
        for number in 0..200 {
            let whole = frame(number);
            let (front, rest) = whole.split_at(2);
            queue.push(key, None, &[front, rest]);
            waiting.push(number);
            // The second of three or more overtakes, as behind a LAST that waits.
            if waiting.len() > 2 + usize::from(number % 5) {
                for place in [1, 0] {
                    let mut out = vec![9];
                    assert!(queue.take(place, &mut out));
                    assert_eq!(out, [vec![9], frame(waiting.remove(place))].concat());
                }
            }
            let bytes: usize = waiting.iter().map(|number| frame(*number).len()).sum();
            assert_eq!((queue.len(), queue.bytes()), (waiting.len(), bytes));
        }
        assert!(!queue.take(waiting.len(), &mut Vec::new()));
    }
}

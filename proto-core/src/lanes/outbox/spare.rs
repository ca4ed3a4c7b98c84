//! Storage of display frames that have gone, for those to come.

use alloc::vec::Vec;

/// Bytes that are kept without a frame in them.
const KEPT_BYTES: usize = 64 * 1024;

/// Empty vectors with room.
#[derive(Debug, Default)]
pub(super) struct Spare {
    frames: Vec<Vec<u8>>,
    bytes: usize,
}

impl Spare {
    /// How many are kept.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// An empty vector, with room where there is one.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let frame = self.frames.pop().unwrap_or_default();
        self.bytes -= frame.capacity();
        frame
    }

    /// Takes the storage of a frame that has gone, or frees it.
    pub(super) fn give(&mut self, mut frame: Vec<u8>) {
        if self.bytes + frame.capacity() <= KEPT_BYTES {
            frame.clear();
            self.bytes += frame.capacity();
            self.frames.push(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_empty_and_has_a_bound() {
        let mut spare = Spare::default();
        for _ in 0..100 {
            spare.give([1; 1024].to_vec());
        }
        assert!(spare.bytes <= KEPT_BYTES);
        let kept = core::iter::from_fn(|| Some(spare.take()).filter(|frame| frame.capacity() > 0));
        let kept: Vec<_> = kept.collect();
        assert!(kept.iter().all(Vec::is_empty));
        assert_eq!(kept.len(), KEPT_BYTES / 1024);
        assert_eq!(spare.bytes, 0);
    }
}

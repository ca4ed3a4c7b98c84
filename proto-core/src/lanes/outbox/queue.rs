//! The unsent display of one generation: what is merged, what is shed, and what stands in for it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use super::front::fill_len;
use super::payload::{Assembled, Role};
use super::spare::Spare;
use crate::envelope::field;
use crate::limits::COALESCED_TEXT_MAX;

/// Bytes of storage that the front of a shed frame may go on to hold.
const FRONT_KEPT_BYTES: usize = 4096;

/// One place in the queue.
#[derive(Debug)]
pub(super) struct Entry {
    /// Order among all generations.
    pub(super) arrival: u64,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    /// A frame to send.
    Frame { frame: Vec<u8>, payload: Range<usize>, role: Role },
    /// So many seqs that will not be sent, and the front of the last: that of the gap too.
    Shed { front: Vec<u8>, dropped: u64 },
}

/// What a change of the queue did to its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Freed {
    pub(super) frames: usize,
    pub(super) bytes: usize,
}

impl Freed {
    fn add(&mut self, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes;
    }
}

/// Display entries in order. Two neighbours are never both shed.
#[derive(Debug, Default)]
pub(super) struct DisplayQueue {
    entries: VecDeque<Entry>,
}

impl DisplayQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn first_arrival(&self) -> Option<u64> {
        self.entries.front().map(|entry| entry.arrival)
    }

    pub(super) fn take(&mut self) -> Option<Entry> {
        self.entries.pop_front()
    }

    pub(super) fn push(&mut self, entry: Entry, spare: &mut Spare) {
        self.entries.push_back(entry);
        if let Some(before) = self.entries.len().checked_sub(2) {
            self.join_shed(before, spare);
        }
    }

    /// Joins a delta to the last entry if they differ in nothing but their text; the bytes that it grew by.
    ///
    /// `text` is the raw content of the delta's string within `payload`, `opened` the front of its frame up to the seq.
    pub(super) fn coalesce(&mut self, payload: &[u8], text: &Range<usize>, opened: &[u8]) -> Option<usize> {
        let back = self.entries.back_mut()?;
        let Content::Frame { frame, payload: place, role: Role::Delta { text: queued } } = &mut back.content
        else {
            return None;
        };
        let queued_payload = frame.get(place.clone())?;
        let same_step = frame.get(field::VERSION..)?.starts_with(opened.get(field::VERSION..)?);
        let same_around = queued_payload.get(..queued.start) == payload.get(..text.start)
            && queued_payload.get(queued.end..) == payload.get(text.end..);
        if !same_step || !same_around || queued.len() + text.len() > COALESCED_TEXT_MAX {
            return None;
        }
        let added = payload.get(text.clone())?;
        let at = place.start + queued.end;
        let len =
            u32::from_le_bytes(*frame.first_chunk::<4>()?).checked_add(u32::try_from(added.len()).ok()?)?;
        frame.splice(at..at, added.iter().copied());
        fill_len(frame, len);
        queued.end += added.len();
        place.end += added.len();
        Some(added.len())
    }

    /// Arrival of the oldest frame that the budget may shed: any but a reset.
    pub(super) fn oldest_sheddable(&self) -> Option<u64> {
        self.entries.iter().find(|entry| entry.is_sheddable()).map(|entry| entry.arrival)
    }

    /// Sheds the oldest frame that is no reset.
    pub(super) fn shed_oldest(&mut self, spare: &mut Spare) -> Freed {
        let Some(place) = self.entries.iter().position(Entry::is_sheddable) else { return Freed::default() };
        let mut freed = Freed::default();
        if let Some(entry) = self.entries.get_mut(place) {
            entry.shed(&mut freed);
        }
        self.join_shed(place, spare);
        if let Some(before) = place.checked_sub(1) {
            self.join_shed(before, spare);
        }
        freed
    }

    /// Sheds all that a reset makes void: every frame, an earlier reset included.
    pub(super) fn shed_all(&mut self, spare: &mut Spare) -> Freed {
        self.shed_where(|_, _| true, spare)
    }

    /// Sheds all but a reset, which only a later reset makes void.
    pub(super) fn shed_all_but_reset(&mut self, spare: &mut Spare) -> Freed {
        self.shed_where(|_, role| !matches!(role, Role::Reset), spare)
    }

    /// Sheds the deltas of a message that a control unit carries whole.
    pub(super) fn shed_assembled(&mut self, message: &Assembled<'_>, spare: &mut Spare) -> Freed {
        self.shed_where(|payload, role| matches!(role, Role::Delta { .. }) && message.covers(payload), spare)
    }

    fn shed_where(&mut self, is_void: impl Fn(&[u8], &Role) -> bool, spare: &mut Spare) -> Freed {
        let mut freed = Freed::default();
        for entry in &mut self.entries {
            if let Content::Frame { frame, payload, role } = &entry.content
                && is_void(frame.get(payload.clone()).unwrap_or_default(), role)
            {
                entry.shed(&mut freed);
            }
        }
        // From the back, where little has to move up.
        for before in (0..self.entries.len().saturating_sub(1)).rev() {
            self.join_shed(before, spare);
        }
        freed
    }

    /// Makes one entry of those at `place` and behind it, if both are shed: the front of the second is the gap's.
    fn join_shed(&mut self, place: usize, spare: &mut Spare) {
        let [Some(first), Some(second)] = [place, place + 1].map(|place| self.entries.get(place)) else {
            return;
        };
        let (Content::Shed { dropped: a, .. }, Content::Shed { dropped: b, .. }) =
            (&first.content, &second.content)
        else {
            return;
        };
        let (sum, since) = (a + b, first.arrival);
        if let Some(Content::Shed { front, .. }) = self.entries.remove(place).map(|entry| entry.content) {
            spare.give(front);
        }
        if let Some(Entry { arrival, content: Content::Shed { dropped, .. } }) = self.entries.get_mut(place) {
            *dropped = sum;
            *arrival = since;
        }
    }
}

impl Entry {
    fn is_sheddable(&self) -> bool {
        matches!(&self.content, Content::Frame { role, .. } if !matches!(role, Role::Reset))
    }

    fn shed(&mut self, freed: &mut Freed) {
        if let Content::Frame { frame, payload, .. } = &mut self.content {
            freed.add(frame.len());
            let mut front = core::mem::take(frame);
            front.truncate(payload.start);
            front.shrink_to(FRONT_KEPT_BYTES);
            self.content = Content::Shed { front, dropped: 1 };
        }
    }
}

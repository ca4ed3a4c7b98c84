//! The unsent display of one generation: what is merged, what is shed, and what stands in for it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use super::payload::{Assembled, Role};
use crate::envelope::field;
use crate::limits::COALESCED_TEXT_MAX;

/// Where a display body says it belongs, kept for the gap that may have to stand in for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) corr: u64,
    pub(super) run_id: Box<str>,
    pub(super) step_id: u64,
}

/// One place in the queue.
#[derive(Debug)]
pub(super) struct Entry {
    /// Order among all generations.
    pub(super) arrival: u64,
    /// Its seq; of the last frame that it covers where it was shed.
    pub(super) seq: u64,
    pub(super) origin: Origin,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    /// A frame to send.
    Frame { frame: Vec<u8>, payload: Range<usize>, role: Role },
    /// So many seqs that will not be sent.
    Shed { dropped: u64 },
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

    pub(super) fn push(&mut self, entry: Entry) {
        if let (Some(back), Content::Shed { dropped }) = (self.entries.back_mut(), &entry.content)
            && let Content::Shed { dropped: before } = &mut back.content
        {
            *before += dropped;
            back.seq = entry.seq;
            back.origin = entry.origin;
            return;
        }
        self.entries.push_back(entry);
    }

    /// Joins a delta to the last entry if they differ in nothing but their text; the bytes that it grew by.
    ///
    /// `text` is the raw content of the delta's string within `payload`.
    pub(super) fn coalesce(&mut self, payload: &[u8], text: &Range<usize>, origin: &Origin) -> Option<usize> {
        let back = self.entries.back_mut()?;
        let Content::Frame { frame, payload: place, role: Role::Delta { text: queued } } = &mut back.content
        else {
            return None;
        };
        let queued_payload = frame.get(place.clone())?;
        let same_around = queued_payload.get(..queued.start) == payload.get(..text.start)
            && queued_payload.get(queued.end..) == payload.get(text.end..);
        if back.origin != *origin || !same_around || queued.len() + text.len() > COALESCED_TEXT_MAX {
            return None;
        }
        let added = payload.get(text.clone())?;
        let at = place.start + queued.end;
        let len =
            u32::from_le_bytes(*frame.first_chunk::<4>()?).checked_add(u32::try_from(added.len()).ok()?)?;
        frame.splice(at..at, added.iter().copied());
        frame.get_mut(field::LEN)?.copy_from_slice(&len.to_le_bytes());
        queued.end += added.len();
        place.end += added.len();
        Some(added.len())
    }

    /// Arrival of the oldest frame that the budget may shed: any but a reset.
    pub(super) fn oldest_sheddable(&self) -> Option<u64> {
        self.entries.iter().find(|entry| entry.is_sheddable()).map(|entry| entry.arrival)
    }

    /// Sheds the oldest frame that is no reset.
    pub(super) fn shed_oldest(&mut self) -> Freed {
        let Some(place) = self.entries.iter().position(Entry::is_sheddable) else { return Freed::default() };
        let mut freed = Freed::default();
        if let Some(entry) = self.entries.get_mut(place) {
            entry.shed(&mut freed);
        }
        self.join_shed(place);
        if let Some(before) = place.checked_sub(1) {
            self.join_shed(before);
        }
        freed
    }

    /// Sheds all that a reset makes void: every frame, an earlier reset included.
    pub(super) fn shed_all(&mut self) -> Freed {
        self.shed_where(|_, _| true)
    }

    /// Sheds all but a reset, which only a later reset makes void.
    pub(super) fn shed_all_but_reset(&mut self) -> Freed {
        self.shed_where(|_, role| !matches!(role, Role::Reset))
    }

    /// Sheds the deltas of a message that a control unit carries whole.
    pub(super) fn shed_assembled(&mut self, message: &Assembled<'_>) -> Freed {
        self.shed_where(|payload, role| matches!(role, Role::Delta { .. }) && message.covers(payload))
    }

    fn shed_where(&mut self, is_void: impl Fn(&[u8], &Role) -> bool) -> Freed {
        let mut freed = Freed::default();
        for mut entry in core::mem::take(&mut self.entries) {
            if let Content::Frame { frame, payload, role } = &entry.content
                && is_void(frame.get(payload.clone()).unwrap_or_default(), role)
            {
                entry.shed(&mut freed);
            }
            self.push(entry);
        }
        freed
    }

    /// Makes one entry of those at `place` and behind it, if both are shed.
    fn join_shed(&mut self, place: usize) {
        let (Some(first), Some(second)) = (self.entries.get(place), self.entries.get(place + 1)) else {
            return;
        };
        let (Content::Shed { dropped: a }, Content::Shed { dropped: b }) = (&first.content, &second.content)
        else {
            return;
        };
        let (dropped, arrival) = (a + b, first.arrival);
        self.entries.remove(place);
        if let Some(joined) = self.entries.get_mut(place) {
            joined.content = Content::Shed { dropped };
            joined.arrival = arrival;
        }
    }
}

impl Entry {
    fn is_sheddable(&self) -> bool {
        matches!(&self.content, Content::Frame { role, .. } if !matches!(role, Role::Reset))
    }

    fn shed(&mut self, freed: &mut Freed) {
        if let Content::Frame { frame, .. } = &self.content {
            freed.add(frame.len());
            self.content = Content::Shed { dropped: 1 };
        }
    }
}

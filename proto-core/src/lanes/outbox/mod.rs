//! What a writer owes its peer: control in order and complete, display as far as it goes, every loss accounted for.
//!
//! Sans-IO: payloads and the time go in, encoded frames come out in the order in which they belong on the socket
//! (docs/wire.md, "Lanes").

mod control;
mod front;
mod payload;
mod queue;
mod reply;
mod slot;
mod spare;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use control::ControlQueue;
use front::{append_gap, close, open};
use payload::{Role, assembled, role};
use queue::{Content, DisplayQueue, Entry, Freed};
use slot::{Key, Slot};
use spare::Spare;

pub use reply::Reply;

use crate::body::{self, BodyFault, Payload, Tag};
use crate::envelope::{Flags, Generation, HeaderFault, Lane, Version};
use crate::limits::{
    CONTROL_BODY_MAX, CONTROL_QUEUE_BYTES, DISPLAY_BODY_MAX, DISPLAY_QUEUE_BYTES, DISPLAY_QUEUE_ENTRIES,
    INTEGER_MAX, LAST_WAIT_MS,
};
use crate::session::Cursor;

/// What an outbox holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Queued control bytes, headers included; over it the producer waits.
    pub control_bytes: usize,
    /// Queued display bytes, headers included; over it the oldest are shed.
    pub display_bytes: usize,
    /// Queued display frames; over it the oldest are shed.
    pub display_entries: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            control_bytes: CONTROL_QUEUE_BYTES,
            display_bytes: DISPLAY_QUEUE_BYTES,
            display_entries: DISPLAY_QUEUE_ENTRIES,
        }
    }
}

/// Where a payload belongs: the stream on the socket, and the run and step of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The stream.
    pub generation: Generation,
    /// The step's correlation.
    pub corr: u64,
    /// The run.
    pub run_id: &'a str,
    /// The step.
    pub step_id: u64,
}

/// Why a payload did not enter. Nothing changed: no seq was used.
///
/// ```
/// use twolane_core::envelope::{Generation, Version};
/// use twolane_core::lanes::outbox::{Budget, Outbox, Place, PushFault};
///
/// let place = Place { generation: Generation { epoch: 0, channel: 1 }, corr: 4, run_id: "run", step_id: 1 };
/// let mut outbox = Outbox::new(Version::V1, Budget { control_bytes: 100, ..Budget::default() });
/// let cancel = br#"{"type":"cancel"}"#;
/// outbox.push_control(0, place, cancel, false).unwrap();
/// // The producer waits until frames were taken.
/// assert_eq!(outbox.push_control(0, place, cancel, true), Err(PushFault::Full));
/// outbox.take_frame(0, &mut Vec::new());
/// outbox.push_control(0, place, cancel, true).unwrap();
/// assert_eq!(outbox.push_display(place, cancel), Err(PushFault::Ended));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushFault {
    /// The control queue is full: wait until frames were taken, then push again.
    #[error("control queue is full")]
    Full,
    /// The generation's LAST is queued; nothing may follow it.
    #[error("the generation ends with a control frame that is already queued")]
    Ended,
    /// No endpoint would take so long a control body.
    #[error("control body is {len} bytes, over the limit of {CONTROL_BODY_MAX}")]
    ControlTooLong {
        /// Bytes of the body.
        len: usize,
    },
    /// The lane's seq ran out.
    #[error("seq is beyond 2^53-1")]
    SeqExhausted,
    /// A gap that accounts for nothing.
    #[error("gap with dropped 0")]
    EmptyGap,
    /// The payload is none; offsets are in the payload.
    #[error("payload: {0}")]
    Payload(BodyFault),
    /// The place cannot be written as a body.
    #[error(transparent)]
    Body(#[from] body::WriteFault),
    /// The place cannot be written as a header.
    #[error(transparent)]
    Header(#[from] HeaderFault),
}

/// The queue of one connection's writer. Times are milliseconds of any clock that does not go back.
///
/// ```
/// use twolane_core::envelope::{Generation, Lane, Version};
/// use twolane_core::lanes::outbox::{Budget, Outbox, Place};
///
/// let place = Place { generation: Generation { epoch: 0, channel: 1 }, corr: 4, run_id: "run", step_id: 1 };
/// let mut outbox = Outbox::new(Version::V1, Budget { display_entries: 1, ..Budget::default() });
///
/// // The hop before lost two; then two events, of which the budget keeps one; then control that ends the generation.
/// outbox.push_gap(place, 2).unwrap();
/// assert_eq!(outbox.push_display(place, br#"{"type":"future","n":1}"#), Ok(0));
/// assert_eq!(outbox.push_display(place, br#"{"type":"future","n":2}"#), Ok(1));
/// outbox.push_control(50, place, br#"{"type":"cancel"}"#, true).unwrap();
/// assert!(outbox.has_display() && outbox.has_control() && outbox.queued_bytes() > 100);
/// assert_eq!(outbox.shed_total(), 1);
///
/// // Display goes before the LAST of its generation while there is time: until 150 ms.
/// assert!(!outbox.has_urgent(149));
/// assert_eq!((outbox.next_deadline_ms(), outbox.has_urgent(150)), (Some(150), true));
/// let mut wire = Vec::new();
/// assert_eq!(outbox.take_urgent(60, &mut wire), None);
/// while outbox.take_display(&mut wire) {}
/// assert_eq!(outbox.take_frame(60, &mut wire), Some(Lane::Control));
/// assert!(outbox.is_empty() && wire.ends_with(br#""payload":{"type":"cancel"}}"#));
/// ```
///
/// On a caller's socket, where subscriptions have their numbers each:
///
/// ```
/// use twolane_core::envelope::{FrameType, Header, Version};
/// use twolane_core::lanes::outbox::{Budget, Outbox, Reply};
/// use twolane_core::session::Cursor;
///
/// let mut outbox = Outbox::new(Version::V1, Budget::default());
/// outbox.push_reply(0, Reply::Attached, 7, br#"{"kind":"attached"}"#).unwrap();
/// let cursor = Cursor { wal_seq: 3, sub_index: 0, log_id: "c0ffee" };
/// outbox.push_unit(7, cursor, br#"{"type":"display_reset"}"#).unwrap();
/// outbox.push_event(7, br#"{"type":"future"}"#).unwrap();
/// outbox.push_event_gap(7, 2).unwrap();
/// // The subscription ends behind all of it: its display goes first.
/// outbox.push_reply(0, Reply::Response, 7, br#"{"result":null}"#).unwrap();
///
/// let mut frames = Vec::new();
/// while !outbox.is_empty() {
///     let mut frame = Vec::new();
///     outbox.take_frame(0, &mut frame);
///     frames.push(String::from_utf8(frame[17..].to_vec()).unwrap());
/// }
/// assert_eq!(frames, [
///     r#"{"kind":"attached"}"#,
///     r#"{"kind":"control","seq":0,"cursor":{"wal_seq":3,"sub_index":0,"log_id":"c0ffee"},"unit":{"type":"display_reset"}}"#,
///     r#"{"kind":"display","seq":0,"event":{"type":"future"}}"#,
///     r#"{"kind":"display","seq":2,"event":{"type":"display_gap","dropped":2}}"#,
///     r#"{"result":null}"#,
/// ]);
/// ```
#[derive(Debug)]
pub struct Outbox {
    version: Version,
    budget: Budget,
    control: ControlQueue,
    streams: BTreeMap<Key, Stream>,
    display: Freed,
    arrivals: u64,
    shed_total: u64,
    /// Where the front of a frame is put together.
    scratch: Vec<u8>,
    spare: Spare,
}

/// The numbers and the unsent display of one generation or subscription.
#[derive(Debug, Default)]
struct Stream {
    control_seq: u64,
    display_seq: u64,
    ended: bool,
    display: DisplayQueue,
}

impl Outbox {
    /// An empty outbox that writes envelopes of `version`.
    pub fn new(version: Version, budget: Budget) -> Self {
        Self {
            version,
            budget,
            control: ControlQueue::default(),
            streams: BTreeMap::new(),
            display: Freed::default(),
            arrivals: 0,
            shed_total: 0,
            scratch: Vec::new(),
            spare: Spare::default(),
        }
    }

    /// Queues a control payload. With `last` it ends its generation: it waits up to [`LAST_WAIT_MS`] for the
    /// generation's display, which is then shed.
    ///
    /// A `display_reset` makes void all display of its generation that is queued, an `assistant_message` the deltas
    /// that it was assembled from.
    pub fn push_control(
        &mut self,
        now_ms: u64,
        place: Place<'_>,
        payload: &[u8],
        last: bool,
    ) -> Result<(), PushFault> {
        self.push_control_to(now_ms, Slot::Step(place), payload, last)
    }

    /// Queues a control unit of the subscription `corr`, at `cursor` of its log (docs/wire.md, "Sessions").
    pub fn push_unit(&mut self, corr: u64, cursor: Cursor<'_>, unit: &[u8]) -> Result<(), PushFault> {
        self.push_control_to(0, Slot::Unit { corr, cursor }, unit, false)
    }

    fn push_control_to(
        &mut self,
        now_ms: u64,
        slot: Slot<'_>,
        payload: &[u8],
        last: bool,
    ) -> Result<(), PushFault> {
        let read = Payload::parse_enveloped(payload).map_err(PushFault::Payload)?;
        let seq = self.open_stream(slot.key())?.map_or(0, |stream| stream.control_seq);
        let mut front = core::mem::take(&mut self.scratch);
        let queued = self.queue_control(now_ms, slot, &read, seq, last, &mut front);
        self.scratch = front;
        queued?;
        let stream = self.streams.entry(slot.key()).or_default();
        stream.control_seq = seq + 1;
        stream.ended = last;
        let mut freed = Freed::default();
        if read.tag() == Some(Tag::DisplayReset) {
            freed = stream.display.shed_all(&mut self.spare);
        } else if let Some(message) = assembled(&read) {
            freed = stream.display.shed_assembled(&message, &mut self.spare);
        }
        self.account(freed);
        Ok(())
    }

    fn queue_control(
        &mut self,
        now_ms: u64,
        slot: Slot<'_>,
        payload: &Payload<'_>,
        seq: u64,
        last: bool,
        front: &mut Vec<u8>,
    ) -> Result<(), PushFault> {
        let flags = if last { Flags::CONTROL_LAST } else { Flags::CONTROL };
        open(self.version, flags, slot, front)?;
        close(front, slot, seq, payload.raw().len())?;
        self.check_room(front.len() + payload.raw().len() + 1)?;
        let deadline_ms = last.then(|| now_ms.saturating_add(LAST_WAIT_MS));
        self.control.push(slot.key(), deadline_ms, &[front, payload.raw(), b"}"]);
        Ok(())
    }

    /// Refuses a control frame that is too long for any peer, or for now.
    fn check_room(&self, frame_len: usize) -> Result<(), PushFault> {
        let len = frame_len - self.version.header_len();
        if len > CONTROL_BODY_MAX as usize {
            return Err(PushFault::ControlTooLong { len });
        }
        // One frame always fits an empty queue, so that a budget below it cannot stop a connection for ever.
        if !self.control.is_empty() && self.control.bytes() + frame_len > self.budget.control_bytes {
            return Err(PushFault::Full);
        }
        Ok(())
    }

    /// Queues a display payload; never waits. Returns how many frames were shed for it, itself included.
    ///
    /// A delta joins the last queued entry of its generation where they differ in nothing but their text; it then
    /// takes no seq of its own.
    pub fn push_display(&mut self, place: Place<'_>, payload: &[u8]) -> Result<u64, PushFault> {
        self.push_display_to(Slot::Step(place), payload)
    }

    /// [`push_display`](Self::push_display) for the subscription `corr`: the event is spliced as it came.
    pub fn push_event(&mut self, corr: u64, event: &[u8]) -> Result<u64, PushFault> {
        self.push_display_to(Slot::Event { corr }, event)
    }

    fn push_display_to(&mut self, slot: Slot<'_>, payload: &[u8]) -> Result<u64, PushFault> {
        let read = Payload::parse_enveloped(payload).map_err(PushFault::Payload)?;
        let shed_before = self.shed_total;
        let seq = self.open_stream(slot.key())?.map_or(0, |stream| stream.display_seq);
        let mut front = core::mem::take(&mut self.scratch);
        let queued = self.queue_display(slot, &read, seq, &mut front);
        self.scratch = front;
        queued?;
        self.shed_over_budget();
        Ok(self.shed_total - shed_before)
    }

    fn queue_display(
        &mut self,
        slot: Slot<'_>,
        payload: &Payload<'_>,
        seq: u64,
        front: &mut Vec<u8>,
    ) -> Result<(), PushFault> {
        open(self.version, Flags::display(self.version), slot, front)?;
        let role = role(payload);
        if let (Role::Delta { text }, Some(stream)) = (&role, self.streams.get_mut(&slot.key()))
            && let Some(grown) = stream.display.coalesce(payload.raw(), text, front)
        {
            self.display.bytes += grown;
            return Ok(());
        }
        close(front, slot, seq, payload.raw().len())?;
        let stream = self.streams.entry(slot.key()).or_default();
        stream.display_seq = seq + 1;
        let is_reset = role == Role::Reset;
        let void = if is_reset { stream.display.shed_all(&mut self.spare) } else { Freed::default() };
        let mut bytes = self.spare.take();
        bytes.extend_from_slice(front);
        let payload_len = payload.raw().len();
        let content = if front.len() + payload_len + 1 - self.version.header_len() > DISPLAY_BODY_MAX as usize
        {
            self.shed_total += 1;
            Content::Shed { front: bytes, dropped: 1 }
        } else {
            bytes.extend_from_slice(payload.raw());
            bytes.push(b'}');
            self.display.frames += 1;
            self.display.bytes += bytes.len();
            Content::Frame { frame: bytes, payload: front.len()..front.len() + payload_len, role }
        };
        let arrival = self.arrivals;
        self.arrivals += 1;
        stream.display.push(Entry { arrival, content }, &mut self.spare);
        self.account(void);
        Ok(())
    }

    /// Takes over a gap of the hop before: its `dropped` seqs are accounted for here too.
    pub fn push_gap(&mut self, place: Place<'_>, dropped: u64) -> Result<(), PushFault> {
        self.push_gap_to(Slot::Step(place), dropped)
    }

    /// [`push_gap`](Self::push_gap) for the subscription `corr`.
    pub fn push_event_gap(&mut self, corr: u64, dropped: u64) -> Result<(), PushFault> {
        self.push_gap_to(Slot::Event { corr }, dropped)
    }

    fn push_gap_to(&mut self, slot: Slot<'_>, dropped: u64) -> Result<(), PushFault> {
        if dropped == 0 {
            return Err(PushFault::EmptyGap);
        }
        let first = self.open_stream(slot.key())?.map_or(0, |stream| stream.display_seq);
        let next = first.checked_add(dropped).filter(|next| *next <= INTEGER_MAX + 1);
        let next = next.ok_or(PushFault::SeqExhausted)?;
        let mut front = self.spare.take();
        open(self.version, Flags::display(self.version), slot, &mut front)?;
        close(&mut front, slot, next - 1, 0)?;
        let stream = self.streams.entry(slot.key()).or_default();
        stream.display_seq = next;
        let arrival = self.arrivals;
        self.arrivals += 1;
        let content = Content::Shed { front, dropped };
        stream.display.push(Entry { arrival, content }, &mut self.spare);
        Ok(())
    }

    /// Appends the next frame to `out`: control where any may go, else display. `None` when nothing waits.
    pub fn take_frame(&mut self, now_ms: u64, out: &mut Vec<u8>) -> Option<Lane> {
        self.take_urgent(now_ms, out).or_else(|| self.take_display(out).then_some(Lane::Display))
    }

    /// Appends the next frame that must not wait for display to `out`.
    ///
    /// A control frame that ends its generation may go when the generation's display is gone. When its time is over
    /// the display is shed, and the gap that stands for it (and a reset, which is never shed so) is what goes first.
    pub fn take_urgent(&mut self, now_ms: u64, out: &mut Vec<u8>) -> Option<Lane> {
        let place = (0..self.control.len()).find(|place| self.may_go(*place, now_ms))?;
        let (key, last) = self.control.get(place).map(|control| (control.key, control.last))?;
        if last.is_some() {
            let stream = self.streams.get_mut(&key);
            let freed = stream.map(|stream| stream.display.shed_all_but_reset(&mut self.spare));
            self.account(freed.unwrap_or_default());
            if self.take_display_of(key, out) {
                return Some(Lane::Display);
            }
            self.streams.remove(&key);
        }
        self.control.take(place, out).then_some(Lane::Control)
    }

    /// Appends the next display frame or gap to `out`, of a generation that is about to end first.
    pub fn take_display(&mut self, out: &mut Vec<u8>) -> bool {
        let ending = self.control.iter().find(|control| control.last.is_some());
        if let Some(key) = ending.map(|control| control.key)
            && self.take_display_of(key, out)
        {
            return true;
        }
        let oldest = self
            .streams
            .iter()
            .filter_map(|(key, stream)| stream.display.first_arrival().map(|arrival| (arrival, *key)));
        let Some((_, key)) = oldest.min() else { return false };
        self.take_display_of(key, out)
    }

    /// When [`take_urgent`](Self::take_urgent) may give more by the passing of time alone.
    #[must_use]
    pub fn next_deadline_ms(&self) -> Option<u64> {
        self.control.iter().filter_map(|control| control.last).min()
    }

    /// Whether [`take_urgent`](Self::take_urgent) would give a frame.
    pub fn has_urgent(&self, now_ms: u64) -> bool {
        (0..self.control.len()).any(|place| self.may_go(place, now_ms))
    }

    /// Whether control waits, that which waits for its display included.
    pub fn has_control(&self) -> bool {
        !self.control.is_empty()
    }

    /// Whether display or a gap waits.
    pub fn has_display(&self) -> bool {
        self.streams.values().any(|stream| !stream.display.is_empty())
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        !self.has_control() && !self.has_display()
    }

    /// Display frames shed here since the start; what the hop before shed is not counted.
    pub const fn shed_total(&self) -> u64 {
        self.shed_total
    }

    /// Bytes that are queued on both lanes.
    pub fn queued_bytes(&self) -> usize {
        self.control.bytes() + self.display.bytes
    }

    fn open_stream(&self, key: Key) -> Result<Option<&Stream>, PushFault> {
        match self.streams.get(&key) {
            Some(stream) if stream.ended => Err(PushFault::Ended),
            found => Ok(found),
        }
    }

    fn may_go(&self, place: usize, now_ms: u64) -> bool {
        self.control.get(place).is_some_and(|control| match control.last {
            None => true,
            Some(deadline_ms) => {
                let stream = self.streams.get(&control.key);
                // Of its own stream nothing may be overtaken.
                let is_next = self.control.iter().take(place).all(|earlier| earlier.key != control.key);
                is_next && (now_ms >= deadline_ms || stream.is_none_or(|stream| stream.display.is_empty()))
            }
        })
    }

    fn take_display_of(&mut self, key: Key, out: &mut Vec<u8>) -> bool {
        let Some(entry) = self.streams.get_mut(&key).and_then(|stream| stream.display.take()) else {
            return false;
        };
        match entry.content {
            Content::Frame { frame, .. } => {
                self.display.frames -= 1;
                self.display.bytes -= frame.len();
                out.extend_from_slice(&frame);
                self.spare.give(frame);
            }
            Content::Shed { front, dropped } => {
                append_gap(&front, dropped, out);
                self.spare.give(front);
            }
        }
        true
    }

    fn account(&mut self, freed: Freed) {
        self.display.frames -= freed.frames;
        self.display.bytes -= freed.bytes;
        self.shed_total += freed.frames as u64;
    }

    fn shed_over_budget(&mut self) {
        while self.display.bytes > self.budget.display_bytes
            || self.display.frames > self.budget.display_entries
        {
            let streams = self
                .streams
                .iter()
                .filter_map(|(key, stream)| stream.display.oldest_sheddable().map(|arrival| (arrival, *key)));
            let Some((_, key)) = streams.min() else { return };
            let stream = self.streams.get_mut(&key);
            let freed = stream.map(|stream| stream.display.shed_oldest(&mut self.spare));
            self.account(freed.unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    /// Frames that are taken and frames that are shed both leave their storage to those that follow.
    #[test]
    fn a_flood_that_is_taken_or_shed_stays_in_its_storage() {
        let generation = Generation { epoch: 0, channel: 1 };
        let place = Place { generation, corr: 1, run_id: "run", step_id: 1 };
        let mut outbox = Outbox::new(Version::V1, Budget { display_entries: 4, ..Budget::default() });
        for n in 0..100 {
            // The first few fill the queue and what stands for the shed.
            assert!(n < 6 || outbox.spare.len() > 0, "event {n} finds no storage");
            let event = format!("{{\"type\":\"future\",\"n\":{}}}", 1000 + n);
            outbox.push_display(place, event.as_bytes()).unwrap();
            if n % 10 == 9 {
                while outbox.take_display(&mut Vec::new()) {}
            }
        }
    }
}

//! What a writer owes its peer: control in order and complete, display as far as it goes, every loss accounted for.
//!
//! Sans-IO: payloads and the time go in, encoded frames come out in the order in which they belong on the socket
//! (docs/wire.md, "Lanes").

mod control;
mod payload;
mod queue;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use control::ControlQueue;
use payload::{Role, assembled, role};
use queue::{Content, DisplayQueue, Entry, Freed, Origin};

use crate::body::{self, BodyFault, Payload, Tag};
use crate::envelope::{Flags, FrameType, Generation, Header, HeaderFault, Lane, Parts, Version};
use crate::limits::{
    CONTROL_BODY_MAX, CONTROL_QUEUE_BYTES, DISPLAY_BODY_MAX, DISPLAY_QUEUE_BYTES, DISPLAY_QUEUE_ENTRIES,
    INTEGER_MAX, LAST_WAIT_MS,
};

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

impl Place<'_> {
    fn origin(&self) -> Origin {
        Origin { corr: self.corr, run_id: self.run_id.into(), step_id: self.step_id }
    }
}

/// Why a payload did not enter. Nothing changed: no seq was used.
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
#[derive(Debug)]
pub struct Outbox {
    version: Version,
    budget: Budget,
    control: ControlQueue,
    streams: BTreeMap<Generation, Stream>,
    display: Freed,
    arrivals: u64,
    shed_total: u64,
    /// Where a frame is put together.
    scratch: Vec<u8>,
}

/// One generation's numbers and its unsent display.
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
        let read = Payload::parse_enveloped(payload).map_err(PushFault::Payload)?;
        let seq = self.open_stream(place.generation)?.map_or(0, |stream| stream.control_seq);
        let flags = if last { Flags::CONTROL_LAST } else { Flags::CONTROL };
        let mut scratch = core::mem::take(&mut self.scratch);
        scratch.clear();
        let pushed = self.push_encoded(now_ms, place, &read, seq, flags, &mut scratch);
        // One long frame must not be paid for as long as the outbox lives.
        scratch.shrink_to(SCRATCH_KEPT_BYTES);
        self.scratch = scratch;
        pushed?;
        let stream = self.streams.entry(place.generation).or_default();
        stream.control_seq = seq + 1;
        stream.ended = last;
        let mut freed = Freed::default();
        if read.tag() == Some(Tag::DisplayReset) {
            freed = stream.display.shed_all();
        } else if let Some(message) = assembled(&read) {
            freed = stream.display.shed_assembled(&message);
        }
        self.account(freed);
        Ok(())
    }

    fn push_encoded(
        &mut self,
        now_ms: u64,
        place: Place<'_>,
        payload: &Payload<'_>,
        seq: u64,
        flags: Flags,
        frame: &mut Vec<u8>,
    ) -> Result<(), PushFault> {
        self.encode(place, flags, seq, payload, frame)?;
        let len = frame.len() - self.version.header_len();
        if len > CONTROL_BODY_MAX as usize {
            return Err(PushFault::ControlTooLong { len });
        }
        // One frame always fits an empty queue, so that a budget below it cannot stop a connection for ever.
        if !self.control.is_empty() && self.control.bytes() + frame.len() > self.budget.control_bytes {
            return Err(PushFault::Full);
        }
        let deadline_ms = flags.is_last().then(|| now_ms.saturating_add(LAST_WAIT_MS));
        self.control.push(place.generation, deadline_ms, frame);
        Ok(())
    }

    /// Queues a display payload; never waits. Returns how many frames were shed for it, itself included.
    ///
    /// A delta joins the last queued entry of its generation where they differ in nothing but their text; it then
    /// takes no seq of its own.
    pub fn push_display(&mut self, place: Place<'_>, payload: &[u8]) -> Result<u64, PushFault> {
        let read = Payload::parse_enveloped(payload).map_err(PushFault::Payload)?;
        let shed_before = self.shed_total;
        let seq = self.open_stream(place.generation)?.map_or(0, |stream| stream.display_seq);
        let origin = place.origin();
        let role = role(&read);
        if let (Role::Delta { text }, Some(stream)) = (&role, self.streams.get_mut(&place.generation))
            && let Some(grown) = stream.display.coalesce(payload, text, &origin)
        {
            self.display.bytes += grown;
            self.shed_over_budget();
            return Ok(self.shed_total - shed_before);
        }
        let mut frame = Vec::new();
        self.encode(place, Flags::display(self.version), seq, &read, &mut frame)?;
        let stream = self.streams.entry(place.generation).or_default();
        stream.display_seq = seq + 1;
        let is_reset = role == Role::Reset;
        let void = if is_reset { stream.display.shed_all() } else { Freed::default() };
        let arrival = self.arrivals;
        self.arrivals += 1;
        let too_long = frame.len() - self.version.header_len() > DISPLAY_BODY_MAX as usize;
        let content = if too_long {
            self.shed_total += 1;
            Content::Shed { dropped: 1 }
        } else {
            self.display.frames += 1;
            self.display.bytes += frame.len();
            // The payload is the last member of a body, before its closing brace.
            let end = frame.len() - 1;
            Content::Frame { frame, payload: end - payload.len()..end, role }
        };
        stream.display.push(Entry { arrival, seq, origin, content });
        self.account(void);
        self.shed_over_budget();
        Ok(self.shed_total - shed_before)
    }

    /// Takes over a gap of the hop before: its `dropped` seqs are accounted for here too.
    pub fn push_gap(&mut self, place: Place<'_>, dropped: u64) -> Result<(), PushFault> {
        if dropped == 0 {
            return Err(PushFault::EmptyGap);
        }
        let first = self.open_stream(place.generation)?.map_or(0, |stream| stream.display_seq);
        let next = first.checked_add(dropped).filter(|next| *next <= INTEGER_MAX + 1);
        let next = next.ok_or(PushFault::SeqExhausted)?;
        let origin = place.origin();
        // What cannot be written must not be queued.
        self.encode_gap(&origin, place.generation, next - 1, dropped)?;
        let stream = self.streams.entry(place.generation).or_default();
        stream.display_seq = next;
        let arrival = self.arrivals;
        self.arrivals += 1;
        stream.display.push(Entry { arrival, seq: next - 1, origin, content: Content::Shed { dropped } });
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
        let (generation, last) = self.control.get(place).map(|control| (control.generation, control.last))?;
        if last.is_some() {
            let freed = self.streams.get_mut(&generation).map(|stream| stream.display.shed_all_but_reset());
            self.account(freed.unwrap_or_default());
            if self.take_display_of(generation, out) {
                return Some(Lane::Display);
            }
            self.streams.remove(&generation);
        }
        self.control.take(place, out).then_some(Lane::Control)
    }

    /// Appends the next display frame or gap to `out`, of a generation that is about to end first.
    pub fn take_display(&mut self, out: &mut Vec<u8>) -> bool {
        let ending = self.control.iter().find(|control| control.last.is_some());
        let ending = ending.map(|control| control.generation);
        if let Some(generation) = ending
            && self.take_display_of(generation, out)
        {
            return true;
        }
        let oldest = self.streams.iter().filter_map(|(generation, stream)| {
            stream.display.first_arrival().map(|arrival| (arrival, *generation))
        });
        let Some((_, generation)) = oldest.min() else { return false };
        self.take_display_of(generation, out)
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

    fn open_stream(&self, generation: Generation) -> Result<Option<&Stream>, PushFault> {
        match self.streams.get(&generation) {
            Some(stream) if stream.ended => Err(PushFault::Ended),
            found => Ok(found),
        }
    }

    fn may_go(&self, place: usize, now_ms: u64) -> bool {
        self.control.get(place).is_some_and(|control| match control.last {
            None => true,
            Some(deadline_ms) => {
                let stream = self.streams.get(&control.generation);
                // Of its own generation nothing may be overtaken.
                let is_next = self.control.iter().take(place).all(|c| c.generation != control.generation);
                is_next && (now_ms >= deadline_ms || stream.is_none_or(|stream| stream.display.is_empty()))
            }
        })
    }

    fn take_display_of(&mut self, generation: Generation, out: &mut Vec<u8>) -> bool {
        let Some(entry) = self.streams.get_mut(&generation).and_then(|stream| stream.display.take()) else {
            return false;
        };
        match entry.content {
            Content::Frame { frame, .. } => {
                self.display.frames -= 1;
                self.display.bytes -= frame.len();
                out.extend_from_slice(&frame);
            }
            Content::Shed { dropped } => {
                // Its place was accepted when its frames were queued, so it can be written.
                if let Ok(frame) = self.encode_gap(&entry.origin, generation, entry.seq, dropped) {
                    out.extend_from_slice(&frame);
                }
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
            let streams = self.streams.iter().filter_map(|(generation, stream)| {
                stream.display.oldest_sheddable().map(|arrival| (arrival, *generation))
            });
            let Some((_, generation)) = streams.min() else { return };
            let freed = self.streams.get_mut(&generation).map(|stream| stream.display.shed_oldest());
            self.account(freed.unwrap_or_default());
        }
    }

    fn encode_gap(
        &self,
        origin: &Origin,
        generation: Generation,
        seq: u64,
        dropped: u64,
    ) -> Result<Vec<u8>, PushFault> {
        let mut payload = String::new();
        // Writing to a String cannot fail.
        let _ = write!(payload, "{{\"type\":\"display_gap\",\"dropped\":{dropped}}}");
        let payload = Payload::parse_enveloped(payload.as_bytes()).map_err(PushFault::Payload)?;
        let Origin { corr, run_id, step_id } = origin;
        let place = Place { generation, corr: *corr, run_id, step_id: *step_id };
        let mut frame = Vec::new();
        self.encode(place, Flags::display(self.version), seq, &payload, &mut frame)?;
        Ok(frame)
    }

    /// Appends a frame to `frame`, which is empty.
    fn encode(
        &self,
        place: Place<'_>,
        flags: Flags,
        seq: u64,
        payload: &Payload<'_>,
        frame: &mut Vec<u8>,
    ) -> Result<(), PushFault> {
        if seq > INTEGER_MAX {
            return Err(PushFault::SeqExhausted);
        }
        let header_len = self.version.header_len();
        frame.reserve(header_len + ENVELOPE_ROOM + place.run_id.len() + payload.raw().len());
        frame.resize(header_len, 0);
        body::write_read(&mut Tail(frame), place.run_id, place.step_id, seq, payload)?;
        let len = frame.len() - header_len;
        let header = Header::new(Parts {
            version: self.version,
            frame_type: FrameType::StreamData,
            flags,
            channel: place.generation.channel,
            epoch: place.generation.epoch,
            corr: place.corr,
            len: u32::try_from(len).map_err(|_| PushFault::ControlTooLong { len })?,
        })?;
        let bytes = header.encode();
        if let Some(front) = frame.get_mut(..bytes.len()) {
            front.copy_from_slice(&bytes);
        }
        Ok(())
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

/// Bytes of a body beside its run id and payload, about: only a guess for one allocation.
const ENVELOPE_ROOM: usize = 96;

/// Bytes of the scratch that are kept between two frames.
const SCRATCH_KEPT_BYTES: usize = 16 * 1024;

//! The sending side of a connection as its producers see it: two lanes and no socket.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use twolane_core::envelope::{Flags, FrameType, Generation, Header, Lane, Parts, Version};
use twolane_core::lanes::outbox::{Budget, Outbox, Place, PushFault};

/// Answers (Pong) that may wait, in bytes; at it the peer is read no further until it reads.
pub const ANSWERS_BYTES_MAX: usize = 16 * 1024;

/// Why a payload was not queued.
#[derive(Debug, thiserror::Error)]
pub enum SendFault {
    /// The connection is closing or gone.
    #[error("the connection is closed")]
    Closed,
    /// The payload cannot be written.
    #[error(transparent)]
    Refused(PushFault),
}

/// Both lanes of one connection; clones are the same lanes.
#[derive(Clone, Debug)]
pub struct Lanes {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    started: Instant,
    state: Mutex<State>,
    /// There may be something to write, or the phase changed. The writer alone waits for it.
    filled: Notify,
    /// Something was written, or the phase changed.
    drained: Notify,
}

#[derive(Debug)]
struct State {
    outbox: Outbox,
    /// Frames outside the two lanes, encoded. They go first.
    answers: Vec<u8>,
    version: Version,
    budget: Budget,
    /// Whether anything was queued: from then on the version stays.
    written: bool,
    awaited: Awaited,
    phase: Phase,
    live: BTreeSet<Generation>,
    next_channel: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// What is queued is still written, then Goodbye where it is wanted.
    Closing {
        goodbye: bool,
    },
    Closed,
}

/// What the writer waits for, if it does: set before it waits, under the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Nothing,
    /// The socket has no room; display would change nothing.
    Control,
    Anything,
}

/// What the writer got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    /// Nothing waits.
    Empty,
    /// Frames; `control` where one of them is no display frame.
    Frames { control: bool },
    /// Nothing will follow.
    End,
}

/// What the writer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// Whatever is next, display only up to so many bytes of the batch.
    Both { display_bytes: usize },
    /// Only what must not wait for display.
    Urgent,
}

/// What waits to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Something that must not wait for display, or the end.
    pub(super) urgent: bool,
    /// Something besides display, that which still waits for its display included.
    pub(super) control: bool,
    /// When more becomes urgent by the passing of time alone.
    pub(super) deadline: Option<Instant>,
}

impl Lanes {
    /// Empty lanes that write in `version` and hold at most `budget`.
    pub fn new(version: Version, budget: Budget) -> Self {
        let state = State {
            outbox: Outbox::new(version, budget),
            answers: Vec::new(),
            version,
            budget,
            written: false,
            awaited: Awaited::Nothing,
            phase: Phase::Open,
            live: BTreeSet::new(),
            next_channel: 1,
        };
        let shared = Shared {
            started: Instant::now(),
            state: Mutex::new(state),
            filled: Notify::new(),
            drained: Notify::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Queues a control payload, waiting for room. With `last` the generation ends.
    pub async fn control(&self, place: Place<'_>, payload: &[u8], last: bool) -> Result<(), SendFault> {
        // Nearly always there is room, and who need not wait is not put among those who do.
        match self.try_control(place, payload, last) {
            Err(SendFault::Refused(PushFault::Full)) => {}
            done => return done,
        }
        loop {
            let mut drained = pin!(self.shared.drained.notified());
            drained.as_mut().enable();
            match self.try_control(place, payload, last) {
                Err(SendFault::Refused(PushFault::Full)) => drained.await,
                done => return done,
            }
        }
    }

    fn try_control(&self, place: Place<'_>, payload: &[u8], last: bool) -> Result<(), SendFault> {
        // Only a LAST has a time.
        let now_ms = if last { self.now_ms() } else { 0 };
        let mut state = self.lock();
        if state.phase != Phase::Open {
            return Err(SendFault::Closed);
        }
        state.outbox.push_control(now_ms, place, payload, last).map_err(SendFault::Refused)?;
        self.queued(state, Lane::Control);
        Ok(())
    }

    /// Queues a display payload; never waits.
    pub fn display(&self, place: Place<'_>, payload: &[u8]) -> Result<(), SendFault> {
        self.queue_display(|outbox| outbox.push_display(place, payload).map(|_| ()))
    }

    /// Takes over a gap of the hop before; never waits.
    pub fn gap(&self, place: Place<'_>, dropped: u64) -> Result<(), SendFault> {
        self.queue_display(|outbox| outbox.push_gap(place, dropped))
    }

    fn queue_display(
        &self,
        push: impl FnOnce(&mut Outbox) -> Result<(), PushFault>,
    ) -> Result<(), SendFault> {
        let mut state = self.lock();
        if state.phase != Phase::Open {
            return Err(SendFault::Closed);
        }
        push(&mut state.outbox).map_err(SendFault::Refused)?;
        self.queued(state, Lane::Display);
        Ok(())
    }

    /// Wakes a writer that waits for what was queued, once. A busy one comes back by itself: it need not be woken for
    /// each frame.
    fn queued(&self, mut state: MutexGuard<'_, State>, lane: Lane) {
        state.written = true;
        let wakes = match state.awaited {
            Awaited::Nothing => false,
            Awaited::Control => lane == Lane::Control,
            Awaited::Anything => true,
        };
        if wakes {
            state.awaited = Awaited::Nothing;
        }
        drop(state);
        if wakes {
            self.shared.filled.notify_one();
        }
    }

    /// Queues a frame without a body that echoes `header`, waiting for room.
    pub async fn answer(&self, frame_type: FrameType, header: &Header) -> Result<(), SendFault> {
        loop {
            let mut drained = pin!(self.shared.drained.notified());
            drained.as_mut().enable();
            if self.try_answer(frame_type, header)? {
                return Ok(());
            }
            drained.await;
        }
    }

    /// False where there is no room.
    fn try_answer(&self, frame_type: FrameType, header: &Header) -> Result<bool, SendFault> {
        let mut state = self.lock();
        if state.phase != Phase::Open {
            return Err(SendFault::Closed);
        }
        let answer = pure_header(state.version, frame_type, header.generation(), header.corr());
        if state.answers.len() + answer.len() > ANSWERS_BYTES_MAX {
            return Ok(false);
        }
        state.answers.extend_from_slice(&answer);
        self.queued(state, Lane::Control);
        Ok(true)
    }

    /// A side that has not written yet answers in the version of the first frame it read.
    /// False if it has written in another.
    pub fn adopt(&self, version: Version) -> bool {
        let mut state = self.lock();
        if state.version != version && !state.written {
            state.version = version;
            state.outbox = Outbox::new(version, state.budget);
        }
        state.version == version
    }

    /// Takes a generation that the peer chose. False if it is live.
    pub fn claim(&self, generation: Generation) -> bool {
        self.lock().live.insert(generation)
    }

    /// Takes the next free generation of our own: 1, 2, ..., never 0. `None` if all are live.
    pub fn claim_next(&self) -> Option<Generation> {
        let mut state = self.lock();
        for _ in 0..u16::MAX {
            let generation = Generation { epoch: 0, channel: state.next_channel };
            state.next_channel = state.next_channel.checked_add(1).unwrap_or(1);
            if state.live.insert(generation) {
                return Some(generation);
            }
        }
        None
    }

    /// Gives a generation back after its LAST.
    pub fn release(&self, generation: Generation) {
        self.lock().live.remove(&generation);
    }

    /// Generations in use.
    pub fn live(&self) -> usize {
        self.lock().live.len()
    }

    /// Display frames shed so far.
    pub fn shed_total(&self) -> u64 {
        self.lock().outbox.shed_total()
    }

    /// Bytes that wait to be written. Never more than the budget's bytes of both lanes and [`ANSWERS_BYTES_MAX`].
    pub fn queued_bytes(&self) -> usize {
        let state = self.lock();
        state.outbox.queued_bytes() + state.answers.len()
    }

    /// Takes nothing more; what is queued is written, then Goodbye if `goodbye`.
    pub fn close(&self, goodbye: bool) {
        let mut state = self.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Closing { goodbye };
        }
        drop(state);
        self.wake();
    }

    /// Takes nothing more and writes nothing more.
    pub fn abandon(&self) {
        self.lock().phase = Phase::Closed;
        self.wake();
    }

    /// Appends up to `limit` bytes of frames to `batch`, one whole frame at least: answers first, for half of it, then
    /// control, then as much display as `share` allows. Control never waits behind the display of a batch, and in its
    /// own lane it goes in order, so that `limit` may be long where display must be short. Each frame is shown to `each` as it was appended.
    pub(super) fn take_batch(
        &self,
        batch: &mut Vec<u8>,
        limit: usize,
        share: Share,
        mut each: impl FnMut(&[u8]),
    ) -> Batch {
        let mut state = self.lock();
        if state.phase == Phase::Closed {
            return Batch::End;
        }
        let mut control = !state.answers.is_empty();
        // Half a batch: a peer that pings without end must not keep its control from it.
        let header_len = state.version.header_len();
        let answered = state.answers.len().min((limit / 2).max(header_len) / header_len * header_len);
        let taken = batch.len()..batch.len() + answered;
        batch.extend(state.answers.drain(..answered));
        batch.get(taken).unwrap_or_default().chunks(header_len).for_each(&mut each);
        let now_ms = self.now_ms();
        while batch.len() < limit {
            let start = batch.len();
            let taken = match share {
                Share::Both { display_bytes } if start < display_bytes => {
                    state.outbox.take_frame(now_ms, batch)
                }
                _ => state.outbox.take_urgent(now_ms, batch),
            };
            let Some(lane) = taken else { break };
            control |= lane == Lane::Control;
            each(batch.get(start..).unwrap_or_default());
        }
        if let (true, Share::Both { .. }, Phase::Closing { goodbye }) = (batch.is_empty(), share, state.phase)
        {
            state.phase = Phase::Closed;
            if !goodbye {
                return Batch::End;
            }
            let origin = Generation { epoch: 0, channel: 0 };
            batch.extend_from_slice(&pure_header(state.version, FrameType::Goodbye, origin, 0));
            each(batch);
            control = true;
        }
        if batch.is_empty() {
            state.awaited = Awaited::Anything;
            return Batch::Empty;
        }
        state.awaited = Awaited::Nothing;
        drop(state);
        self.shared.drained.notify_waiters();
        Batch::Frames { control }
    }

    /// What waits for a socket without room. Control that is queued from now on wakes [`filled`](Self::filled).
    pub(super) fn waiting(&self) -> Waiting {
        let mut state = self.lock();
        state.awaited = Awaited::Control;
        let urgent = !state.answers.is_empty()
            || state.phase == Phase::Closed
            || state.outbox.has_urgent(self.now_ms());
        // Where nothing is urgent there is no control but LAST, and not much to look through.
        let deadline_ms = if urgent { None } else { state.outbox.next_deadline_ms() };
        Waiting {
            urgent,
            control: !state.answers.is_empty() || state.phase != Phase::Open || state.outbox.has_control(),
            deadline: deadline_ms.map(|at_ms| self.shared.started + Duration::from_millis(at_ms)),
        }
    }

    /// Waits until something was queued or the phase changed. For the writer alone.
    pub(super) async fn filled(&self) {
        self.shared.filled.notified().await;
    }

    /// The outbox's clock.
    fn now_ms(&self) -> u64 {
        u64::try_from(self.shared.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn wake(&self) {
        self.shared.filled.notify_one();
        self.shared.drained.notify_waiters();
    }

    /// No holder of this lock runs foreign code, so a poisoned state is still whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A frame without a body; empty for fields that no header may have, which an echoed legal header never gives.
pub(crate) fn pure_header(
    version: Version,
    frame_type: FrameType,
    generation: Generation,
    corr: u64,
) -> Vec<u8> {
    let parts = Parts {
        version,
        frame_type,
        flags: Flags::CONTROL,
        channel: generation.channel,
        epoch: generation.epoch,
        corr,
        len: 0,
    };
    Header::new(parts).map(|header| header.encode().to_vec()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn place(channel: u16) -> Place<'static> {
        Place { generation: Generation { epoch: 0, channel }, corr: 1, run_id: "run", step_id: 1 }
    }

    fn take(lanes: &Lanes) -> (Batch, Vec<u8>) {
        let mut out = Vec::new();
        let share = Share::Both { display_bytes: 1 << 20 };
        (lanes.take_batch(&mut out, 1 << 20, share, |_| {}), out)
    }

    #[tokio::test]
    async fn a_full_control_queue_makes_the_producer_wait_and_loses_nothing() {
        let lanes = Lanes::new(Version::V1, Budget::default());
        let payload = format!("{{\"type\":\"finished\",\"x\":\"{}\"}}", "y".repeat(1 << 20));
        let producer = {
            let (lanes, payload) = (lanes.clone(), payload.clone());
            tokio::spawn(async move {
                for _ in 0..40 {
                    lanes.control(place(1), payload.as_bytes(), false).await.unwrap();
                }
            })
        };
        let mut bytes = 0;
        while bytes < 40 * payload.len() {
            match take(&lanes) {
                (Batch::Frames { .. }, out) => bytes += out.len(),
                _ => tokio::task::yield_now().await,
            }
        }
        producer.await.unwrap();
    }

    #[tokio::test]
    async fn answers_take_half_a_batch_and_control_the_rest() {
        let lanes = Lanes::new(Version::V1, Budget::default());
        let parts = Parts {
            version: Version::V1,
            frame_type: FrameType::Ping,
            flags: Flags::CONTROL,
            channel: 1,
            epoch: 0,
            corr: 7,
            len: 0,
        };
        let ping = Header::new(parts).unwrap();
        for _ in 0..100 {
            lanes.answer(FrameType::Pong, &ping).await.unwrap();
        }
        lanes.control(place(1), b"{\"type\":\"step_started\"}", false).await.unwrap();
        let (mut types, limit) = (Vec::new(), 40 * Version::V1.header_len());
        while types.len() < 101 {
            let share = Share::Both { display_bytes: limit };
            lanes.take_batch(&mut Vec::new(), limit, share, |frame| types.push(frame[5]));
        }
        let control = FrameType::StreamData.code();
        assert_eq!(types.iter().position(|&found| found == control), Some(20));
        assert_eq!(types.iter().filter(|&&found| found == FrameType::Pong.code()).count(), 100);
    }

    #[tokio::test]
    async fn behind_control_a_batch_takes_display_only_while_it_is_short() {
        let lanes = Lanes::new(Version::V1, Budget::default());
        let share = Share::Both { display_bytes: 150 };
        for control in [1, 8] {
            for n in 0..8 {
                lanes.display(place(1), format!("{{\"type\":\"x\",\"n\":{n}}}").as_bytes()).unwrap();
            }
            for _ in 0..control {
                lanes.control(place(1), b"{\"type\":\"step_started\"}", false).await.unwrap();
            }
            let (mut batch, mut display) = (Vec::new(), 0);
            lanes.take_batch(&mut batch, 4000, share, |frame| display += usize::from(frame[6] == 4));
            assert_eq!(display, if control == 1 { 1 } else { 0 });
            take(&lanes);
        }
    }

    #[tokio::test]
    async fn a_writer_is_woken_for_what_it_waits_for_and_not_for_each_frame() {
        let lanes = Lanes::new(Version::V1, Budget::default());
        let woken = || tokio::task::unconstrained(lanes.filled()).now_or_never().is_some();
        let display = || lanes.display(place(1), b"{\"type\":\"display_reset\"}").unwrap();
        let control = || lanes.try_control(place(1), b"{\"type\":\"step_started\"}", false).unwrap();
        display();
        control();
        assert!(!woken(), "nobody waits");
        while take(&lanes).0 != Batch::Empty {}
        display();
        assert!(woken(), "an empty batch waits for both lanes");
        lanes.waiting();
        display();
        assert!(!woken(), "a full socket waits for control alone");
        control();
        assert!(woken());
        control();
        assert!(!woken(), "once");
    }

    #[tokio::test]
    async fn a_side_that_wrote_nothing_answers_in_the_version_it_read() {
        let lanes = Lanes::new(Version::V1, Budget::default());
        assert!(lanes.adopt(Version::V2));
        lanes.control(place(1), b"{\"type\":\"finished\"}", true).await.unwrap();
        assert_eq!(take(&lanes).1[4], 2);
        assert!(!lanes.adopt(Version::V1));
    }

    #[tokio::test]
    async fn closing_writes_what_is_queued_then_goodbye_then_nothing() {
        let lanes = Lanes::new(Version::V1, Budget::default());
        lanes.display(place(1), b"{\"type\":\"display_reset\"}").unwrap();
        lanes.close(true);
        assert!(matches!(lanes.display(place(1), b"{\"type\":\"display_reset\"}"), Err(SendFault::Closed)));
        assert_eq!(take(&lanes).0, Batch::Frames { control: false });
        assert_eq!(take(&lanes).1[5], FrameType::Goodbye.code());
        assert_eq!(take(&lanes).0, Batch::End);
    }

    #[test]
    fn our_own_generations_skip_zero_and_live_ones() {
        let lanes = Lanes::new(Version::V1, Budget::default());
        assert!(lanes.claim(Generation { epoch: 0, channel: 2 }));
        assert!(!lanes.claim(Generation { epoch: 0, channel: 2 }));
        assert_eq!(lanes.claim_next().map(|generation| generation.channel), Some(1));
        assert_eq!(lanes.claim_next().map(|generation| generation.channel), Some(3));
        lanes.lock().next_channel = u16::MAX;
        assert_eq!(lanes.claim_next().map(|generation| generation.channel), Some(u16::MAX));
        assert_eq!(lanes.claim_next().map(|generation| generation.channel), Some(4));
    }
}

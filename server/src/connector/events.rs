//! What a run says while it runs, up to its bound.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use twolane_core::connector::document::{self, EventPayload};
use twolane_core::connector::text::{Content, Id, TextFault};
use twolane_core::limits::EVENTS_MAX;

/// One thing that a provider said.
pub type Event = document::Event<Box<str>>;

/// Bytes that an event takes in a result beside its texts, about.
const AROUND_BYTES: usize = 32;

/// The events of one run; clones are the same.
#[derive(Clone, Debug)]
pub struct Events {
    state: Arc<Mutex<State>>,
    bytes_max: usize,
}

#[derive(Debug)]
struct State {
    events: Vec<Event>,
    bytes_left: usize,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    TooLarge,
    Closed,
}

/// Why an event was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventFault {
    /// The reply would be longer than its caller takes. So is the run's whole result, from now on.
    #[error("the result is longer than the caller takes")]
    TooLarge,
    /// The run is over.
    #[error("the run is over")]
    Closed,
    /// A text breaks its rule.
    #[error("{field}: {fault}")]
    Text {
        /// Which one.
        field: &'static str,
        /// How.
        fault: TextFault,
    },
}

/// What a run said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    All(Vec<Event>),
    TooLarge,
}

impl Events {
    /// No events yet, and room for about `bytes_max` of them.
    pub fn new(bytes_max: usize) -> Self {
        let state = State { events: Vec::new(), bytes_left: bytes_max, phase: Phase::Open };
        Self { state: Arc::new(Mutex::new(state)), bytes_max }
    }

    /// About how many bytes there was room for at first.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// More text. An empty one is nothing.
    pub fn text(&self, text: &str) -> Result<(), EventFault> {
        if text.is_empty() {
            return Ok(());
        }
        let content = Content::new(text.into()).map_err(of("text"))?;
        self.push(text.len(), EventPayload::TextDelta { text: content })
    }

    /// A tool that the model calls.
    pub fn tool_call(&self, call_id: &str, name: &str, arguments: &str) -> Result<(), EventFault> {
        let payload = EventPayload::ToolCall {
            call_id: Id::new(call_id.into()).map_err(of("call_id"))?,
            name: Id::new(name.into()).map_err(of("name"))?,
            arguments: Content::new(arguments.into()).map_err(of("arguments"))?,
        };
        self.push(call_id.len() + name.len() + arguments.len(), payload)
    }

    fn push(&self, text_bytes: usize, payload: EventPayload<Box<str>>) -> Result<(), EventFault> {
        let mut state = self.lock();
        match state.phase {
            Phase::Open => {}
            Phase::TooLarge => return Err(EventFault::TooLarge),
            Phase::Closed => return Err(EventFault::Closed),
        }
        let sequence = u32::try_from(state.events.len()).unwrap_or(u32::MAX);
        let bytes_left = state.bytes_left.checked_sub(text_bytes.saturating_add(AROUND_BYTES));
        match bytes_left.filter(|_| sequence < EVENTS_MAX) {
            Some(bytes_left) => {
                state.bytes_left = bytes_left;
                state.events.push(Event { sequence: sequence.into(), payload });
                Ok(())
            }
            None => {
                state.phase = Phase::TooLarge;
                state.events = Vec::new();
                Err(EventFault::TooLarge)
            }
        }
    }

    /// Ends the run: what was said, and nothing after it.
    pub(super) fn close(&self) -> Said {
        let mut state = self.lock();
        let was = std::mem::replace(&mut state.phase, Phase::Closed);
        match was {
            Phase::TooLarge => Said::TooLarge,
            Phase::Open | Phase::Closed => Said::All(std::mem::take(&mut state.events)),
        }
    }

    /// No holder of this lock runs foreign code, so a poisoned state is still whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of(field: &'static str) -> impl Fn(TextFault) -> EventFault {
    move |fault| EventFault::Text { field, fault }
}

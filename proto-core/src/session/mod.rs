//! What callers and runners say to each other (docs/wire.md, "Sessions").
//!
//! | file | what |
//! |---|---|
//! | `cursor` | a place in a session's log |
//! | `wire` | reading and writing of owned types, by the scanner alone |
//! | `mode` | closed for writers and stores, open for readers |
//! | `json`, `scalar` | free JSON in its own text; ids, numbers |
//! | `content`, `failure` | messages, tool calls and results; errors, usage |
//! | `unit` | control units of a run |
//! | `step` | what a runner asks of a provider |
//! | `request`, `answer` | methods with their parameters; what they answer |
//! | `frame` | what a subscription brings |

mod cursor;

#[cfg(feature = "alloc")]
mod answer;
#[cfg(feature = "alloc")]
mod content;
#[cfg(feature = "alloc")]
mod failure;
#[cfg(feature = "alloc")]
mod frame;
#[cfg(feature = "alloc")]
mod json;
#[cfg(feature = "alloc")]
mod mode;
#[cfg(feature = "alloc")]
mod request;
#[cfg(feature = "alloc")]
mod scalar;
#[cfg(feature = "alloc")]
mod step;
#[cfg(feature = "alloc")]
mod unit;
#[cfg(feature = "alloc")]
mod wire;

pub use cursor::Cursor;

#[cfg(feature = "alloc")]
pub use answer::{
    Cancelled, Code, FinalMessage, Refused, RunResult, RunState, RunStatus, SendState, SessionEntry,
    SessionList, SessionMessages, StoredMessage,
};
#[cfg(feature = "alloc")]
pub use content::{AssistantMessage, Block, Message, ProviderState, Role, ToolCall, ToolOutput, ToolResult};
#[cfg(feature = "alloc")]
pub use failure::{ErrorClass, Failure, FinishReason, Usage};
#[cfg(feature = "alloc")]
pub use frame::{Attached, Subscribed};
#[cfg(feature = "alloc")]
pub use json::Json;
#[cfg(feature = "alloc")]
pub use mode::{Closed, Mode, Open, OpenState, Spelled};
#[cfg(feature = "alloc")]
pub use request::{
    CancelAt, CancelParams, From, Method, ReadParams, ResumeParams, RunParams, SendParams, StatusParams,
    SubscribeParams, View,
};
#[cfg(feature = "alloc")]
pub use scalar::{Id, Number, OwnedCursor, Seconds};
#[cfg(feature = "alloc")]
pub use step::{Generation, Model, StepRequest, Tool, ToolChoice};
#[cfg(feature = "alloc")]
pub use unit::{ControlUnit, PauseReason, RunReason};
#[cfg(feature = "alloc")]
pub use wire::Wire;

//! Bodies of the lanes (docs/wire.md, "Bodies"): borrowed readers that allocate nothing.

mod approval;
mod content;
mod control;
mod display;
mod envelope;
mod fault;
mod peek;
mod plain;
mod read;
mod rules;
mod tag;
mod write;

pub use approval::Approval;
pub use content::{ErrorClass, FinishReason, ProviderError, Usage};
pub use control::ProviderControl;
pub use display::DisplayEvent;
pub use envelope::{BODY_SCHEMA_VERSION, Body, Payload};
pub use fault::{BodyFault, BodyReason, Expected};
pub use peek::{Peeked, peek};
#[cfg(feature = "alloc")]
pub(crate) use read::not_negative;
pub use tag::{Direction, Tag};
pub use write::{WriteFault, write, write_into};
#[cfg(feature = "alloc")]
pub(crate) use write::{check_origin, write_origin, write_seq};

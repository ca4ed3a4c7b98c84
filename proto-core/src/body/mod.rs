//! Bodies of the lanes (docs/wire.md, "Bodies"): borrowed readers that allocate nothing.

mod content;
mod control;
mod display;
mod envelope;
mod fault;
mod read;
mod tag;

pub use content::{ErrorClass, FinishReason, ProviderError, Usage};
pub use control::ProviderControl;
pub use display::DisplayEvent;
pub use envelope::{BODY_SCHEMA_VERSION, Body, Payload};
pub use fault::{BodyFault, BodyReason, Expected};
pub use tag::{Direction, Tag};

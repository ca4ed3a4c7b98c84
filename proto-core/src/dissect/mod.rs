//! Any bytes of the wire to named fields with byte ranges and values (docs/wire.md, all of it).
//!
//! Nothing is refused: what could be read is told, then the fault. [`frame`], [`body`] and [`handshake`] tell a
//! [`Sink`] without a heap and with constant stack, `connector` and `document` with one; with `alloc`, [`Tree`] holds the same as a list.

#[cfg(feature = "alloc")]
mod connector;
mod fault;
mod field;
mod handshake;
mod header;
mod json;
mod payload;
mod schema;
#[cfg(feature = "alloc")]
mod tree;

#[cfg(feature = "alloc")]
pub use connector::{connector, document};
pub use fault::{Fault, FaultReason};
pub use field::{Field, FieldName, FieldValue, NodeKind, Sink};
pub use handshake::handshake;
pub use header::frame;
pub use payload::body;
#[cfg(feature = "alloc")]
pub use tree::{Node, Tree};

pub use crate::handshake::Stage;

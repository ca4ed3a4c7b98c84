//! MessagePack: [`Scanner`] for bytes of any shape, [`Reader`] for one canonical form, [`Writer`] for writing it.
//!
//! The canonical form is the shortest header of every value, `str` for text, `bin` for bytes, unsigned formats for
//! numbers that are not negative.

mod fault;
mod header;
mod read;
mod scanner;
mod write;

pub use fault::{MsgpackFault, MsgpackReason};
pub use header::{Kind, Token};
pub use read::Reader;
pub use scanner::{Scanner, validate};
pub use write::{Counted, Full, Output, Writer, Written};

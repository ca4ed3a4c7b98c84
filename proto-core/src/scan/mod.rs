//! Allocation-free pull scanners that give byte spans.
//!
//! [`json::Scanner`] gives tokens and the first fault; [`value`] gives the members of one object with duplicate
//! names refused; [`string::JsonStr`] reads a string without unescaping it into a buffer.

pub(crate) mod decimal;
pub mod json;
pub mod msgpack;
pub(crate) mod skip;
pub mod string;
pub mod value;

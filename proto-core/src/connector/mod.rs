//! The connector: one sealed request, one sealed reply (docs/connector.md).

pub mod digest;
pub mod document;
#[cfg(feature = "std")]
pub mod over_serde;
#[cfg(feature = "schema")]
pub mod schema;
pub mod text;

//! The connector: one sealed request, one sealed reply (docs/connector.md).
//!
//! [`document`] holds what is said, [`carriage`] and [`envelope`] what is around it on the wire. A caller seals an
//! invocation with `sealed::seal_invocation` and believes a reply after `answer::open_reply` and [`answer::believe`];
//! a server goes from [`admit::arrive`] over `Arrived::open` to [`admit::judge`].

pub mod admit;
pub mod answer;
pub mod arithmetic;
pub mod base64;
pub mod carriage;
pub mod digest;
pub mod document;
pub mod envelope;
pub mod failure;
#[cfg(all(feature = "seal", feature = "alloc"))]
pub mod open;
#[cfg(feature = "alloc")]
pub mod outside;
#[cfg(feature = "std")]
pub mod over_serde;
pub mod replay;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(feature = "seal")]
pub mod seal;
#[cfg(feature = "seal")]
pub mod sealed;
pub mod text;

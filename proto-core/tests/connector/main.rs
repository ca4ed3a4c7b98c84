//! The connector's contract (docs/connector.md).

mod arithmetic;
mod base64;
mod carriage;
mod documents;
mod identity;
mod made;
mod replay;
mod rules;
mod sealed;
mod tolerance;

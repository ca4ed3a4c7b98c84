//! The connector's contract (docs/connector.md).

mod arithmetic;
mod base64;
mod carriage;
mod documents;
mod goldens;
mod identity;
mod made;
mod opened;
mod replay;
mod rules;
mod sealed;
mod tolerance;

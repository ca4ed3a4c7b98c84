//! The connector's contract (docs/connector.md).

mod documents;
mod made;
mod rules;
mod tolerance;

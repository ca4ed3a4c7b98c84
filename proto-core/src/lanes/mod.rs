//! The two lanes: the law that every reader checks, and the outbox that every writer fills.

pub mod law;
#[cfg(feature = "alloc")]
pub mod outbox;

//! What must outlive the process: claims, finished replies, tombstones, seal counters and the clock's mark.
//!
//! [`Engine`] is what keeps it, many changes in one durable commit. [`Store`] is what the rest of the server holds: it
//! gathers waiting changes of many callers into each commit and answers none of them before the commit is on disk.
//! `docs/store.md` draws every byte.

mod change;
mod committer;
mod engine;
mod record;
mod redb;

pub use change::{Change, Claim, Outcome, Purge, Reply};
pub use committer::{Store, StoreFault};
pub use engine::{Engine, EngineFault, Found, Listed, Replies};
pub use record::{Binding, Holder, KeyId, ProcessId, Record, RequestKey, State};
pub use redb::{Checked, FORMAT, RedbEngine};

//! Bounds of the server that are no settings: what a peer, a page or a reader of ours may cost.

use std::time::Duration;

/// Bytes of log that wait for standard error; a line more is dropped and counted. As much as a pipe holds.
pub(crate) const LOG_QUEUE_BYTES: usize = 64 * 1024;

/// How long an ending command waits for its log to be written: a reader that is there needs far less.
pub(crate) const LOG_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

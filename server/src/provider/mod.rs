//! Where a run's events come from.
//!
//! | file | what |
//! |---|---|
//! | `script` | a file of timed events, read and checked |
//! | `words` | cuts a text into the deltas of a typing model |
//! | `player` | plays a script into the lanes of a connection |
//! | `runs` | the runs of one connection: started, cancelled, ended |

pub mod player;
pub mod runs;
pub mod script;
mod words;

use std::sync::Arc;
use std::time::Duration;

pub use script::{Script, ScriptFault};

/// What answers an endpoint's peers; clones are the same provider.
#[derive(Clone, Debug)]
pub struct Provider {
    script: Arc<Script>,
}

impl Provider {
    /// A provider that plays `script`.
    pub fn script(script: Script) -> Self {
        Self { script: Arc::new(script) }
    }

    /// What it plays, for people.
    pub fn name(&self) -> &str {
        &self.script.name
    }

    /// Whether it plays to a peer that asked for nothing.
    pub fn plays_unasked(&self) -> bool {
        self.script.start.on_connect()
    }

    /// Whether it answers step requests.
    pub fn answers_requests(&self) -> bool {
        self.script.start.on_request()
    }

    /// After which pause it plays again to a peer that asked for nothing.
    pub fn repeat_after(&self) -> Option<Duration> {
        self.script.repeat_after
    }

    pub(crate) fn playable(&self) -> Arc<Script> {
        Arc::clone(&self.script)
    }
}

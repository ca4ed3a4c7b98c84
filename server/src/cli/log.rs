//! Logs: to standard error, in colour where a person looks at it.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use super::{Exit, Failure};

/// Starts logging with a filter that the configuration checked.
pub(super) fn start(filter: &str) -> Result<(), Failure> {
    let filter: EnvFilter = filter.parse().map_err(|fault| Failure::new(Exit::Usage, fault))?;
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(!no_color && std::io::stderr().is_terminal())
        .with_target(false)
        .try_init()
        .map_err(|fault| Failure::new(Exit::Failed, fault))
}

//! `twolane reload`: the callers of a running server are read again.

use clap::Args;

use super::desk::{Desk, Which};
use super::store::{line, unexpected};
use super::{Exit, Failure, Global};
use crate::admin::desk::{Ask, Said};

/// Which server.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane keygen -o runner-1.new.key      the new key, named first in key_files of the callers file\n  \
    twolane reload                          from now on both keys are taken; turns that run go on\n\n\
    A file that cannot be used changes nothing, and is named. What was asked under a key that is gone ends under it.")]
pub(super) struct Options {
    #[command(flatten)]
    which: Which,
}

/// Asks the server.
pub(super) fn run(global: &Global, options: Options) -> Result<Exit, Failure> {
    let mut desk = Desk::of_server(global, options.which)?;
    match desk.ask(Ask::Reload)? {
        Said::Reloaded { callers } => line(&format!("{callers} callers"))?,
        said => return Err(unexpected(&said)),
    }
    Ok(Exit::Done)
}

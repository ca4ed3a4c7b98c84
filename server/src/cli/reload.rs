//! `twolane reload`: the callers of a running server are read again.

use clap::Args;

use super::desk::Desk;
use super::store::{line, unexpected};
use super::{Exit, Failure, Global, environment};
use crate::admin::desk::{Ask, Said};

/// Which server.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane keygen -o runner-1.new.key      the new key, named first in key_files of the callers file\n  \
    twolane reload                          from now on both keys are taken; turns that run go on\n\n\
    A file that cannot be used changes nothing, and is named. What was asked under a key that is gone ends under it.")]
pub(super) struct Options {
    /// Directory in which the server's files are [default: the setting run_dir]
    #[arg(long, value_name = "DIR")]
    run_dir: Option<String>,
    /// Directory of the store that it serves from [default: the setting data_dir]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
}

/// Asks the server.
pub(super) fn run(global: &Global, options: Options) -> Result<Exit, Failure> {
    let layers = global.layers().flag("run_dir", options.run_dir).flag("data_dir", options.data_dir);
    let mut desk = Desk::of_server(&layers.resolve(&environment())?.typed()?)?;
    match desk.ask(Ask::Reload)? {
        Said::Reloaded { callers } => line(&format!("{callers} callers"))?,
        said => return Err(unexpected(&said)),
    }
    Ok(Exit::Done)
}

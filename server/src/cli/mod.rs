//! The command line: one file a command.
//!
//! Standard output carries results, standard error everything else.

mod attach;
mod attach_request;
mod attach_shown;
mod banner;
mod call;
mod call_advice;
mod call_request;
mod call_shown;
mod config;
mod decode;
mod desk;
mod generate;
mod keygen;
mod log;
mod open;
mod open_files;
mod open_page;
mod reload;
mod replay;
mod running;
mod serve;
mod signals;
mod store;
mod tap;
mod tap_copy;

use std::error::Error;
use std::fmt;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::config::{ConfigFault, Environment, Layers};

/// The wire between agent runners, model providers and callers: served, read and checked.
#[derive(Debug, Parser)]
#[command(name = "twolane", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, \
    3 cannot reach or authenticate, 4 damaged input.\n\
    Start with `twolane serve` in one terminal and `twolane attach` in another.")]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Args, Debug)]
struct Global {
    /// Configuration file [default: $XDG_CONFIG_HOME/twolane/config.toml where present]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What is logged to standard error: error, warn, info, debug, trace, or target=level,...
    #[arg(long, global = true, value_name = "FILTER")]
    log: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the provider endpoint and the page
    Serve(Box<serve::Options>),
    /// Attach to a lane endpoint: authenticate, print frames, check the seq law
    #[command(alias = "listen")]
    Attach(attach::Options),
    /// Decode a capture, a byte stream or a dump: table, tree or JSON
    Decode(decode::Options),
    /// Write the live traffic of a running server as a capture
    Tap(tap::Options),
    /// Ask a model through a connector: sealed, and paid for once however often it is sent
    Call(Box<call::Options>),
    /// Open captured messages of a connector with their key: the documents as JSON
    Open(open::Options),
    /// Make the secret of a connector's caller
    Keygen(keygen::Options),
    /// Print a new address of a running server's page
    OpenPage(open_page::Options),
    /// Read the replay store of sealed turns, and decide what no program may
    Replay(replay::Options),
    /// Let a running server read its callers again
    Reload(reload::Options),
    /// Check the replay store, or copy it into a file, also while a server holds it
    Store(store::Options),
    /// Print every setting with its value, where it came from, unit and meaning
    Config(config::Options),
    /// Check the configuration without starting anything
    CheckConfig(config::CheckOptions),
    /// Write what packagers need
    Generate(generate::Options),
}

impl Cli {
    /// Does what was asked and says how it went.
    pub fn run(self) -> Exit {
        let Self { global, command } = self;
        let done = match command {
            Command::Serve(options) => serve::run(&global, *options),
            Command::Attach(options) => attach::run(&global, &options),
            Command::Decode(options) => decode::run(options),
            Command::Tap(options) => tap::run(&global, &options),
            Command::Call(options) => call::run(&global, &options),
            Command::Open(options) => open::run(&options),
            Command::Keygen(options) => keygen::run(&options),
            Command::OpenPage(options) => open_page::run(&global, options),
            Command::Replay(options) => replay::run(&global, options),
            Command::Reload(options) => reload::run(&global, options),
            Command::Store(options) => store::run(&global, options),
            Command::Config(options) => config::run(&global, &options),
            Command::CheckConfig(config::CheckOptions {}) => config::check(&global),
            Command::Generate(options) => generate::run(options),
        };
        match done {
            Ok(exit) => exit,
            Err(failure) => {
                // Nothing can be said where standard error is gone.
                let _ = writeln!(std::io::stderr(), "twolane: {failure}");
                failure.exit
            }
        }
    }
}

impl Global {
    /// The layers of settings as this command line gives them.
    fn layers(&self) -> Layers {
        Layers::new(self.config.clone()).flag("log", self.log.clone())
    }
}

/// How a command ended; the numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The operation failed: refused, not found, law broken.
    Failed = 1,
    /// Wrong usage or configuration.
    Usage = 2,
    /// Cannot reach or authenticate.
    Unreachable = 3,
    /// The input is damaged; what could be read was printed.
    Damaged = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A command that could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    error: Box<dyn Error + Send + Sync>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { exit, error: error.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl From<ConfigFault> for Failure {
    fn from(fault: ConfigFault) -> Self {
        Self::new(Exit::Usage, fault)
    }
}

/// Ends a command whose reader is gone quietly: `| head` is no failure.
pub(crate) fn written(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(fault) if fault.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Failed, fault))
        }
        _ => Ok(()),
    }
}

/// Warns of variables that look like settings and set nothing.
fn warn_of_unknown(environment: &Environment) {
    for variable in environment.unknown() {
        // Where standard error is gone, nobody is there to be warned.
        let _ = writeln!(std::io::stderr(), "twolane: warning: {variable}");
    }
}

/// The process's environment, for settings.
fn environment() -> Environment {
    Environment::of_process()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("twolane"), "{}", command.get_name());
        }
    }
}

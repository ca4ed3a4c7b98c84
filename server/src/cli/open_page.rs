//! `twolane open-page`.

use std::io::Write as _;

use clap::Args;

use super::running::{self, Running};
use super::{Exit, Failure, Global, environment, written};
use crate::inspect::ask;

/// Which server's page.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane open-page                          the server of this user's run directory\n  \
    twolane open-page --run-dir /run/agents    another one\n  \
    xdg-open \"$(twolane open-page)\"            straight into the browser\n\n\
    The address works once and for 10 minutes. Whoever opens it stays in for 12 hours.")]
pub(super) struct Options {
    /// The running server's directory of connection files and ports.json
    #[arg(long, value_name = "DIR")]
    run_dir: Option<String>,
    /// Print {"url":..,"expires_in_s":..} instead of the bare address
    #[arg(long)]
    json: bool,
}

/// Prints an address with a fresh code.
pub(super) fn run(global: &Global, options: Options) -> Result<Exit, Failure> {
    let config = global.layers().flag("run_dir", options.run_dir).resolve(&environment())?.typed()?;
    let Running { address, token } = Running::find(&config.run_dir)?;
    let code = ask::fresh_code(address, &token).map_err(running::refused)?;
    let url = code.page_url(address);
    let mut out = std::io::stdout().lock();
    written(if options.json {
        let line = serde_json::json!({ "url": url, "expires_in_s": code.expires_in_s });
        writeln!(out, "{line}")
    } else {
        writeln!(out, "{url}")
    })?;
    Ok(Exit::Done)
}

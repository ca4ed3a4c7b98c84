//! `twolane open-page`.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use clap::Args;
use serde::Deserialize;

use super::{Exit, Failure, Global, environment, written};
use crate::inspect::ask::{self, AskFault};
use crate::inspect::token_file::read_token;
use crate::server::PORTS_FILE;

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
    let address = page_address(&config.run_dir)?;
    let token = read_token(&config.run_dir).map_err(|fault| Failure::new(Exit::Unreachable, fault))?;
    let code = ask::fresh_code(address, &token).map_err(refused)?;
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

/// Where the server that runs with this directory serves its page.
fn page_address(run_dir: &Path) -> Result<SocketAddr, Failure> {
    #[derive(Deserialize)]
    struct Ports {
        http: Option<SocketAddr>,
    }
    let path = run_dir.join(PORTS_FILE);
    let text = std::fs::read(&path).map_err(|fault| {
        let text = format!(
            "no server runs with {}: cannot read {PORTS_FILE}: {fault}; start one with `twolane serve`, or name its --run-dir",
            run_dir.display()
        );
        Failure::new(Exit::Unreachable, text)
    })?;
    let ports: Ports = serde_json::from_slice(&text).map_err(|fault| {
        Failure::new(Exit::Unreachable, format!("{} is not a list of ports: {fault}", path.display()))
    })?;
    ports
        .http
        .ok_or_else(|| Failure::new(Exit::Failed, "this server serves no page; start it without --no-http"))
}

fn refused(fault: AskFault) -> Failure {
    let exit = match &fault {
        AskFault::Refused { status, .. } if *status != 401 => Exit::Failed,
        _ => Exit::Unreachable,
    };
    Failure::new(exit, fault)
}

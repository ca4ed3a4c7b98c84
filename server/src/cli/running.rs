//! The server that runs with a run directory, as the command line finds it.

use std::net::SocketAddr;
use std::path::Path;

use serde::Deserialize;
use zeroize::Zeroizing;

use super::{Exit, Failure};
use crate::inspect::ask::AskFault;
use crate::inspect::token_file::read_token;
use crate::server::PORTS_FILE;

/// Where it is asked, and what lets the same user in.
pub(super) struct Running {
    /// The page's address.
    pub(super) address: SocketAddr,
    /// The token for the command line.
    pub(super) token: Zeroizing<String>,
}

impl Running {
    /// Reads what the server wrote into its run directory.
    pub(super) fn find(run_dir: &Path) -> Result<Self, Failure> {
        let address = page_address(run_dir)?;
        let token = read_token(run_dir).map_err(|fault| Failure::new(Exit::Unreachable, fault))?;
        Ok(Self { address, token })
    }
}

/// The bound ports that a server wrote.
#[derive(Deserialize)]
struct Ports {
    http: Option<SocketAddr>,
    connector: Option<SocketAddr>,
}

/// Where the server that runs with this directory serves its page.
fn page_address(run_dir: &Path) -> Result<SocketAddr, Failure> {
    ports(run_dir)?
        .http
        .ok_or_else(|| Failure::new(Exit::Failed, "this server serves no page; start it without --no-http"))
}

/// Where it answers sealed turns.
pub(super) fn connector_address(run_dir: &Path) -> Result<SocketAddr, Failure> {
    ports(run_dir)?.connector.ok_or_else(|| {
        Failure::new(
            Exit::Failed,
            "this server answers no sealed turns; start it with --connector, or name another's",
        )
    })
}

fn ports(run_dir: &Path) -> Result<Ports, Failure> {
    let path = run_dir.join(PORTS_FILE);
    let text = std::fs::read(&path).map_err(|fault| {
        let text = format!(
            "no server runs with {}: cannot read {PORTS_FILE}: {fault}; start one with `twolane serve`, or name its --run-dir",
            run_dir.display()
        );
        Failure::new(Exit::Unreachable, text)
    })?;
    serde_json::from_slice(&text).map_err(|fault| {
        Failure::new(Exit::Unreachable, format!("{} is not a list of ports: {fault}", path.display()))
    })
}

/// What a refusal of the server comes to.
pub(super) fn refused(fault: AskFault) -> Failure {
    let exit = match &fault {
        AskFault::Refused { status, .. } if *status != 401 => Exit::Failed,
        _ => Exit::Unreachable,
    };
    Failure::new(exit, fault)
}

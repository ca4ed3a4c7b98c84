//! Connecting to an endpoint as a client.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::Instant;

use super::connection_file::Known;
use super::handshake::{self, AuthenticateFault, Authenticated};
use super::observe::Observer;
use super::socket::{self, Tuning};
use crate::inspect::Tap;

/// Why there is no authenticated connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectFault {
    /// No address of the file takes connections.
    #[error(
        "cannot connect to {address}: {source}; the connection file is stale unless its server is just starting"
    )]
    Unreachable {
        /// The last one tried.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Something listens there, but not the process of the file.
    #[error("{address}: {source}")]
    Unauthenticated {
        /// Where it listens.
        address: SocketAddr,
        /// Why.
        source: AuthenticateFault,
    },
    /// A file without addresses; no reader gives one out.
    #[error("the connection file names no address")]
    NoAddress,
}

/// Tries the file's addresses in order until one is authenticated. `limit` is the deadline of each, connecting
/// included.
pub async fn connect(known: &Known, tuning: Tuning, limit: Duration) -> Result<Authenticated, ConnectFault> {
    connect_tapped(known, tuning, limit, &Tap::off()).await
}

/// The same, with the messages of each handshake shown to `tap`; the first address is its connection 1.
pub async fn connect_tapped(
    known: &Known,
    tuning: Tuning,
    limit: Duration,
    tap: &Tap,
) -> Result<Authenticated, ConnectFault> {
    let mut fault = ConnectFault::NoAddress;
    for (number, &address) in (1..).zip(&known.addresses) {
        let deadline = Instant::now() + limit;
        let stream = match socket::connect(address, tuning, limit).await {
            Ok(stream) => stream,
            Err(source) => {
                fault = ConnectFault::Unreachable { address, source };
                continue;
            }
        };
        let observer = Observer::new(tap.clone(), number, "");
        match handshake::open(stream, &known.key, known.daemon_id, deadline, &observer).await {
            Ok(authenticated) => return Ok(authenticated),
            Err(source) => fault = ConnectFault::Unauthenticated { address, source },
        }
    }
    Err(fault)
}

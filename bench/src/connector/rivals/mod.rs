//! What else takes a request once and keeps its answer.

mod bare;
mod log;
mod postgres;
mod redis;
mod twolane;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

pub(super) use bare::Bare;
pub(super) use log::Log;
pub(super) use postgres::Postgres;
pub(super) use redis::Redis;
pub(super) use twolane::Twolane;

/// Bytes of a record beside its reply: about those of ours.
const RECORD_BYTES: usize = 96;

/// Claims a request durably, unless it is there, and then keeps its answer durably.
pub(super) trait Keeper: Send + Sync + 'static {
    /// What a caller has of its own, such as a connection.
    type Caller: Send;

    /// A caller more.
    fn caller(&self) -> impl Future<Output = Self::Caller> + Send;

    /// One turn of a caller.
    fn turn(&self, caller: &mut Self::Caller, key: String) -> impl Future<Output = ()> + Send;
}

/// A server of a rival, which ends with this.
struct Process(Child);

impl Process {
    fn start(command: &mut Command, install: &str) -> Result<Self, String> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child.map(Self).map_err(|fault| missing(command, &fault.to_string(), install))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn missing(command: &Command, fault: &str, install: &str) -> String {
    let program = PathBuf::from(command.get_program());
    format!("{}: {fault}; try: {install}", program.display())
}

/// Waits until `connect` gives something: a server takes a while to begin.
async fn patiently<T, E: std::fmt::Display>(
    what: &str,
    mut connect: impl AsyncFnMut() -> Result<T, E>,
) -> Result<T, String> {
    let mut tries = 0;
    loop {
        match connect().await {
            Ok(connected) => return Ok(connected),
            Err(fault) if tries == 100 => return Err(format!("{what} does not answer: {fault}")),
            Err(_) => tries += 1,
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

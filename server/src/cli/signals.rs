//! What asks a command to end.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM, which no longer end the process by themselves.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next one and gives its name. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

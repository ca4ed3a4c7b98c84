//! What asks a command to end.

use std::future::pending;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT, SIGTERM and SIGHUP, which no longer end the process by themselves.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` where it stays as it is: a process under `nohup` outlives its terminal.
    hangup: Option<Signal>,
}

impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> std::io::Result<Self> {
        // Asked first: listening replaces what was inherited.
        let hangup = if is_hangup_ours() { Some(signal(SignalKind::hangup())?) } else { None };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
        })
    }

    /// Waits for the next one and gives its name. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> &'static str {
        let hangup = async {
            match &mut self.hangup {
                Some(signal) => signal.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = hangup => "SIGHUP",
        }
    }
}

/// Whether SIGHUP is known not to be ignored. Where the system does not say, it is left alone: to take it over from
/// `nohup` would be worse than the files of a run directory that a closed terminal leaves behind.
fn is_hangup_ours() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored(&status).is_some_and(|signals| signals & 1 == 0)
}

/// The ignored signals in `/proc/PID/status`; bit 0 is signal 1, SIGHUP.
fn ignored(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ignored_signals_are_read_from_their_line() {
        let status = "SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000440\n";
        assert_eq!(ignored(status), Some(0x1001));
        assert_eq!(ignored("Name:\ttwolane\n"), None);
    }
}

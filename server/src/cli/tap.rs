//! `twolane tap`: the live traffic of a running server as a capture.

use std::io::{IsTerminal as _, Write as _, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::BytesMut;
use clap::Args;
use tokio::fs::OpenOptions;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::running::{self, Running};
use super::signals::Signals;
use super::tap_copy::Copied;
use super::{Exit, Failure, Global, environment};
use crate::inspect::ask;

/// Time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// How long the output may take over what it was given already, once the end was asked for.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Longer than anybody waits, in seconds: 10 years.
const SECONDS_MAX: u64 = 10 * 365 * 24 * 3600;

/// What to tap, where to, and for how long.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane tap -o run.pcapng                  until Ctrl-C or the server's end\n  \
    twolane tap -o - | twolane decode -        watch the frames\n  \
    twolane tap -o - --seconds 60 | twolane decode - --filter 'fault!=none'\n  \
    wireshark run.pcapng                       packets of link type USER0\n\n\
    The file holds whole frames and handshake messages, never a key; only you can\n\
    read it. It begins with the server's recent past. What the tap was too slow for\n\
    is counted in its place.\n\n\
    Exit codes:\n  \
    0  ended by Ctrl-C, SIGTERM, SIGHUP, --seconds, the server's end or a closed pipe\n  \
    1  the output cannot be written, or the server refuses\n  \
    3  cannot reach or authenticate")]
pub(super) struct Options {
    /// File to write, which is overwritten where it exists; - for standard output
    #[arg(long, short = 'o', value_name = "FILE.pcapng")]
    output: PathBuf,
    /// The running server's directory of ports.json and tap-token
    #[arg(long, value_name = "DIR")]
    run_dir: Option<String>,
    /// Stop after so many seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
    seconds: Option<u64>,
    /// Write the traffic of this endpoint only, such as providers
    #[arg(long, value_name = "NAME")]
    endpoint: Option<String>,
}

/// Writes until told to stop.
pub(super) fn run(global: &Global, options: &Options) -> Result<Exit, Failure> {
    let config = global.layers().flag("run_dir", options.run_dir.clone()).resolve(&environment())?.typed()?;
    if is_stdout(&options.output) && stdout().is_terminal() {
        let text = "a capture is no text for a terminal; pipe it on (`| twolane decode -`) or name a file";
        return Err(Failure::new(Exit::Usage, text));
    }
    let server = Running::find(&config.run_dir)?;
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| Failure::new(Exit::Failed, fault))?;
    let done = runtime.block_on(tap(options, &server));
    // A write that nobody takes must not hold the process.
    runtime.shutdown_background();
    done
}

async fn tap(options: &Options, server: &Running) -> Result<Exit, Failure> {
    let signals = Signals::listen().map_err(|fault| Failure::new(Exit::Failed, fault))?;
    let (stream, unread) = ask::tap(server.address, &server.token).await.map_err(running::refused)?;
    // Only now, so that a refusal leaves an older file as it is.
    let output = open(&options.output).await?;
    let name = if is_stdout(&options.output) {
        "standard output".to_owned()
    } else {
        options.output.display().to_string()
    };
    say(&format!("tapping the server at {} into {name}; Ctrl-C ends", server.address));
    let mut tapping = Tapping {
        stream,
        unread,
        signals,
        output,
        copied: Copied::new(options.endpoint.clone()),
        // Where the frames themselves may be shown on the same terminal, a line of progress would garble them.
        is_progress_shown: stderr().is_terminal() && !is_stdout(&options.output),
    };
    let until = options.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let ended = tapping.run(until).await;
    if tapping.is_progress_shown {
        let _ = write!(stderr(), "\r\x1b[K");
    }
    let reason = match ended {
        Ok(ended) => ended.words(),
        Err(fault) => return Err(Failure::new(Exit::Failed, format!("{name}: {fault}"))),
    };
    say(&format!("{}; {reason}", tapping.copied.tally()));
    Ok(Exit::Done)
}

struct Tapping {
    stream: TcpStream,
    unread: BytesMut,
    signals: Signals,
    output: Box<dyn AsyncWrite + Unpin>,
    copied: Copied,
    is_progress_shown: bool,
}

/// Why a tap ended.
#[derive(Clone, Copy)]
enum Ended {
    Signal(&'static str),
    Time,
    Server,
    /// Nobody reads the output any more.
    OutputGone,
    /// The output took nothing after the end was asked for.
    OutputStuck,
}

impl Ended {
    const fn words(self) -> &'static str {
        match self {
            Self::Signal(name) => name,
            Self::Time => "the time is over",
            Self::Server => "the server ended",
            Self::OutputGone => "nobody reads the output any more",
            Self::OutputStuck => "the output takes nothing more; its last units are not written",
        }
    }
}

impl Tapping {
    async fn run(&mut self, until: Option<Instant>) -> Result<Ended, String> {
        let mut progress = interval(PROGRESS_EVERY);
        progress.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let time_is_over = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(time_is_over);
        loop {
            self.copied.take(&self.unread).map_err(|fault| format!("what the server sent: {fault}"))?;
            self.unread.clear();
            if let Some(ended) = self.write().await? {
                return Ok(ended);
            }
            tokio::select! {
                name = self.signals.next() => return Ok(Ended::Signal(name)),
                () = &mut time_is_over => return Ok(Ended::Time),
                // A server that was killed has ended too.
                read = self.stream.read_buf(&mut self.unread) => if !matches!(read, Ok(1..)) {
                    return Ok(Ended::Server);
                },
                _ = progress.tick(), if self.is_progress_shown => {
                    let _ = write!(stderr(), "\r\x1b[K{}", self.copied.tally());
                }
            }
        }
    }

    /// Writes whole packets, all that there are. A signal lets the output finish what it was given.
    async fn write(&mut self) -> Result<Option<Ended>, String> {
        let written = self.copied.take_out();
        if written.is_empty() {
            return Ok(None);
        }
        let write = async {
            self.output.write_all(&written).await?;
            self.output.flush().await
        };
        tokio::pin!(write);
        let mut asked = None;
        let done = loop {
            let limit = asked.map_or_else(Instant::now, |(_, limit)| limit);
            tokio::select! {
                done = &mut write => break done,
                name = self.signals.next(), if asked.is_none() => {
                    asked = Some((name, Instant::now() + END_LIMIT));
                }
                () = sleep_until(limit), if asked.is_some() => return Ok(Some(Ended::OutputStuck)),
            }
        };
        match done {
            Ok(()) => Ok(asked.map(|(name, _)| Ended::Signal(name))),
            Err(fault) if fault.kind() == std::io::ErrorKind::BrokenPipe => Ok(Some(Ended::OutputGone)),
            Err(fault) => Err(format!("cannot write: {fault}")),
        }
    }
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// What people and models said to each other is in it: the file is its owner's alone.
async fn open(path: &Path) -> Result<Box<dyn AsyncWrite + Unpin>, Failure> {
    if is_stdout(path) {
        return Ok(Box::new(tokio::io::stdout()));
    }
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).await;
    match opened {
        Ok(file) => Ok(Box::new(file)),
        Err(fault) => Err(Failure::new(Exit::Usage, format!("cannot write {}: {fault}", path.display()))),
    }
}

/// Where standard error is gone, the capture is written all the same.
fn say(line: &str) {
    let _ = writeln!(stderr(), "twolane: {line}");
}

//! The backend that is a program: one JSON document to its standard input, one JSON object a line from its output.
//!
//! The program gets `{"max_output_tokens":N,"invocation":{...}}`, the invocation as in its JSON Schema, and the end of
//! the file. It answers with lines, each one of
//!
//! ```json
//! {"TextDelta":{"text":"Hello"}}
//! {"ToolCall":{"call_id":"c1","name":"look_up","arguments":"{}"}}
//! {"Completed":{"stop_reason":"EndTurn","output_tokens":2}}
//! {"Failed":{"failure_kind":"RateLimited","message":"slow down","retry_after_ms":1000}}
//! ```
//!
//! of which the last two end the run. Its standard error is the server's.

use std::ffi::OsString;
use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use twolane_core::connector::document::{Completed, Failed, FailureKind, OwnedInvocation, Valid};
use twolane_core::connector::text::Id;

use super::backend::{NotReady, Outcome, ProviderBackend, Turn, failed};
use super::events::{EventFault, Events};
use crate::stop_points::{self, Point};

/// Bytes that a line of the program may have, its end included, however little its caller takes.
pub const LINE_BYTES_MIN: u64 = 4 * 1024 * 1024;

/// Bytes of JSON for one of text: each may be written as `\u00ff`.
const ESCAPED_BYTES: u64 = 6;

/// Lines of the program: the events of a result and how it ended.
pub const LINES_MAX: u32 = twolane_core::limits::EVENTS_MAX + 1;

/// How long a program that said how its run ended has to exit.
const EXIT_TIME: Duration = Duration::from_secs(1);

/// A program that runs turns, started anew for each.
#[derive(Clone, Debug)]
pub struct Exec {
    program: PathBuf,
    arguments: Vec<OsString>,
    transport: Id<Box<str>>,
}

/// What the program reads.
#[derive(Serialize)]
struct Asked<'a> {
    max_output_tokens: NonZeroU32,
    invocation: &'a Valid<OwnedInvocation>,
}

/// What it says, a line at a time.
#[derive(Deserialize)]
enum Line {
    TextDelta { text: String },
    ToolCall { call_id: String, name: String, arguments: String },
    Completed(Completed<Box<str>>),
    Failed(Failed<Box<str>>),
}

/// Why a run of a program failed that was not told by it.
#[derive(Debug, thiserror::Error)]
enum ProgramFault {
    #[error("the program cannot be started: {0}")]
    Start(io::Error),
    #[error("line {line} of the program is no event: {category:?} at column {column}")]
    Line { line: u32, column: usize, category: serde_json::error::Category },
    #[error("line {line} of the program: {fault}")]
    Event { line: u32, fault: EventFault },
    #[error("line {line} of the program is longer than {most} bytes")]
    LongLine { line: u32, most: u64 },
    #[error("the program wrote more than {LINES_MAX} lines")]
    Lines,
    #[error("the program ended without saying how the run did")]
    Silent,
    #[error("the program's output cannot be read: {0}")]
    Output(io::Error),
    #[error("cancelled")]
    Cancelled,
}

impl Exec {
    /// A program with its arguments, and what receipts call it.
    pub fn new(program: PathBuf, arguments: Vec<OsString>, transport: Id<Box<str>>) -> Self {
        Self { program, arguments, transport }
    }

    /// The same, named in receipts as `exec`.
    pub fn of_command(program: &str, arguments: &[String]) -> Self {
        let transport = Id::new("exec".into()).unwrap_or_else(|_| unreachable!("a word is an id"));
        Self::new(program.into(), arguments.iter().map(OsString::from).collect(), transport)
    }

    fn start(&self) -> Result<(Group, ChildStdin, ChildStdout), ProgramFault> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(ProgramFault::Start)?;
        stop_points::pass(Point::ProgramStarted);
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok((Group(child), input, output)),
            _ => unreachable!("both were asked for"),
        }
    }

    async fn run(
        &self,
        turn: &Turn,
        events: &Events,
        cancel: &CancellationToken,
    ) -> Result<Outcome, ProgramFault> {
        let (group, input, output) = self.start()?;
        let talk = async {
            // A program may answer before it has read all, or without reading at all.
            let mut listening = pin!(listen(output, events));
            tokio::select! {
                biased;
                outcome = &mut listening => outcome,
                _ = ask(input, turn) => listening.await,
            }
        };
        let outcome = tokio::select! {
            outcome = talk => outcome,
            () = cancel.cancelled() => {
                group.signal(Signal::TERM);
                group.exited().await.map_err(ProgramFault::Output)?;
                return Err(ProgramFault::Cancelled);
            }
        }?;
        // What it left running ends with it, also where it is gone itself.
        let _ = tokio::time::timeout(EXIT_TIME, group.exited()).await;
        Ok(outcome)
    }
}

impl ProviderBackend for Exec {
    fn transport(&self) -> Id<&str> {
        self.transport.borrow()
    }

    fn readiness(&self) -> Result<(), NotReady> {
        // A bare name is looked up in PATH by the system, at each start.
        match self.program.components().count() > 1 && !self.program.is_file() {
            true => Err(NotReady(format!("{} is no file", self.program.display()))),
            false => Ok(()),
        }
    }

    async fn execute(&self, turn: &Turn, events: &Events, cancel: &CancellationToken) -> Outcome {
        self.run(turn, events, cancel).await.unwrap_or_else(|fault| {
            let kind = match fault {
                ProgramFault::Start(_) | ProgramFault::Cancelled => FailureKind::Internal,
                ProgramFault::Event { fault: EventFault::TooLarge, .. } => FailureKind::ResultTooLarge,
                _ => FailureKind::ProviderStream,
            };
            failed(kind, &fault.to_string())
        })
    }
}

async fn ask(mut input: ChildStdin, turn: &Turn) -> io::Result<()> {
    let asked = Asked { max_output_tokens: turn.max_output_tokens, invocation: &turn.invocation };
    input.write_all(&serde_json::to_vec(&asked)?).await?;
    input.shutdown().await?;
    stop_points::pass(Point::ProgramAsked);
    Ok(())
}

async fn listen(output: ChildStdout, events: &Events) -> Result<Outcome, ProgramFault> {
    let mut output = BufReader::new(output);
    let mut bytes = Vec::new();
    let most = line_bytes_max(events.bytes_max());
    for line in 1..=LINES_MAX {
        bytes.clear();
        let mut bounded = (&mut output).take(most);
        let read = bounded.read_until(b'\n', &mut bytes).await.map_err(ProgramFault::Output)?;
        if read == 0 {
            return Err(ProgramFault::Silent);
        }
        if bytes.last() != Some(&b'\n') && bounded.limit() == 0 {
            return Err(ProgramFault::LongLine { line, most });
        }
        let said = serde_json::from_slice(&bytes).map_err(|fault| ProgramFault::Line {
            line,
            column: fault.column(),
            category: fault.classify(),
        })?;
        let kept = match said {
            Line::TextDelta { text } => events.text(&text),
            Line::ToolCall { call_id, name, arguments } => events.tool_call(&call_id, &name, &arguments),
            Line::Completed(completed) => {
                stop_points::pass(Point::ProgramEnded);
                return Ok(Outcome::Completed(completed));
            }
            Line::Failed(failed) => return Ok(Outcome::Failed(failed)),
        };
        kept.map_err(|fault| ProgramFault::Event { line, fault })?;
        stop_points::pass(Point::ProgramSaid);
    }
    Err(ProgramFault::Lines)
}

/// Bytes of a line that holds as much text as a caller takes, however it is written.
fn line_bytes_max(result_bytes: usize) -> u64 {
    LINE_BYTES_MIN.saturating_add((result_bytes as u64).saturating_mul(ESCAPED_BYTES))
}

/// A program and all that it started, which end with this value. It is not waited for before, so that its number stays
/// its own and its group's.
struct Group(Child);

impl Group {
    fn id(&self) -> Option<Pid> {
        self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    /// Returns once the program is gone; what it started may run on.
    async fn exited(&self) -> io::Result<()> {
        let mut children = signal(SignalKind::child())?;
        let Some(id) = self.id() else { return Ok(()) };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while waitid(WaitId::Pid(id), look)?.is_none() {
            children.recv().await;
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.id() {
            // Gone already is as good.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

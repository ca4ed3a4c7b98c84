//! `twolane attach`: a runner's side of a lane endpoint, for people and scripts.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use bytes::BytesMut;
use clap::{Args, ValueEnum};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::time::timeout;
use tracing::info;
use twolane_core::envelope::{FrameType, Generation, Version};
use twolane_core::limits::BODY_LEN_MAX;

use super::attach_law::Laws;
use super::attach_request::Request;
use super::frame_line::{Printer, Style};
use super::{Exit, Failure, Global, environment, log, written};
use crate::config::Config;
use crate::net::client::{self, ConnectFault};
use crate::net::connection_file;
use crate::net::inbox::{Found, Inbox, Taken};
use crate::net::lanes::pure_header;

/// How long our Goodbye may take to leave.
const GOODBYE_LIMIT: Duration = Duration::from_secs(1);

/// What to attach to, and when to stop.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane attach                                        the server of the standard run directory\n  \
    twolane attach --connection-file /run/x/providers.json --json | jq .\n  \
    twolane attach --step --until last                    ask for a step, read its answer, check the law\n  \
    twolane attach --request step.json --generation 7     ask with a StepRequest of your own\n\n\
    Without --connection-file: $TWOLANE_PROVIDERS_FILE, else providers.json in the run directory.\n\
    Exit codes: 0 the law was kept, 1 it was broken or the connection failed, 3 cannot reach or authenticate.")]
pub(super) struct Options {
    /// Connection file of the endpoint
    #[arg(long, short = 'f', value_name = "FILE")]
    connection_file: Option<String>,
    /// Run directory in which providers.json is looked for
    #[arg(long, value_name = "DIR")]
    run_dir: Option<String>,
    /// Version to write and to expect, whatever the file declares: 1 or 2
    #[arg(long, value_name = "N", value_parser = version)]
    wire_version: Option<Version>,
    /// One JSON object a line, the law's verdict last
    #[arg(long)]
    json: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<Format>,
    /// Print whole bodies instead of their beginnings
    #[arg(long)]
    full: bool,
    /// Send a step request with the StepRequest of this file (- for standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "step")]
    request: Option<PathBuf>,
    /// Send a step request with a small StepRequest of our own
    #[arg(long)]
    step: bool,
    /// Generation of the step request
    #[arg(long, value_name = "N", default_value_t = 1)]
    generation: u16,
    /// Correlation of the step request, never 0
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    corr: u64,
    /// Stop after so many frames
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Stop after the first control frame with LAST
    #[arg(long, value_name = "WHAT")]
    until: Option<Until>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Table,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Until {
    /// The first control frame with LAST
    Last,
}

fn version(text: &str) -> Result<Version, String> {
    let known = text.parse().ok().and_then(Version::from_number);
    known.ok_or_else(|| "expected 1 or 2".to_owned())
}

/// Attaches, prints, and says whether the law was kept.
pub(super) fn run(global: &Global, options: &Options) -> Result<Exit, Failure> {
    let layers = global
        .layers()
        .flag("providers_file", options.connection_file.clone())
        .flag("run_dir", options.run_dir.clone());
    let config = layers.resolve(&environment())?.typed()?;
    log::start(&config.log)?;
    let request = Request::from_options(
        options.request.as_deref(),
        options.step,
        Generation { epoch: 0, channel: options.generation },
        options.corr,
    )?;
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| Failure::new(Exit::Failed, fault))?;
    runtime.block_on(attach(&config, options, request))
}

async fn attach(config: &Config, options: &Options, request: Option<Request>) -> Result<Exit, Failure> {
    let path = config.providers_file();
    let known = connection_file::read(&path).map_err(|fault| {
        let hint = "is the server running? `twolane serve` prints where its file is";
        Failure::new(Exit::Unreachable, format!("{fault}\n  {hint}"))
    })?;
    let peer = client::connect(&known, config.tuning, config.handshake_limit).await.map_err(|fault| {
        let hint = match &fault {
            ConnectFault::Unauthenticated { .. } => "does the file belong to the server that runs now?",
            _ => "start a server with `twolane serve`, or name another file with --connection-file",
        };
        Failure::new(Exit::Unreachable, format!("{fault}\n  file: {}\n  {hint}", path.display()))
    })?;
    let version = options.wire_version.unwrap_or(known.version);
    let server = peer.claim.escape_debug().to_string();
    info!(file = %path.display(), server, version = version.number(), "attached");

    let style = match (options.json, options.format) {
        (true, _) | (_, Some(Format::Json)) => Style::Json,
        _ if options.full => Style::Full,
        _ => Style::Short,
    };
    let mut session = Session {
        stream: peer.stream,
        inbox: Inbox::new(peer.unread, BODY_LEN_MAX).with_version(version),
        version,
        laws: Laws::default(),
        printer: Printer::new(style),
        left: options.count,
        until: options.until,
    };
    if let Some(request) = request {
        let frame = request.frame(version)?;
        session.stream.write_all(&frame).await.map_err(|fault| Failure::new(Exit::Failed, fault))?;
    }
    session.run().await
}

struct Session {
    stream: TcpStream,
    inbox: Inbox,
    version: Version,
    laws: Laws,
    printer: Printer,
    left: Option<u64>,
    until: Option<Until>,
}

/// How reading ended.
enum Ended {
    /// What was asked for came, or the person had enough.
    Enough,
    /// The server ended the connection between frames.
    ByServer,
    /// The connection failed.
    Fault(String),
    /// Nobody reads our output any more.
    OutputGone,
}

impl Session {
    async fn run(mut self) -> Result<Exit, Failure> {
        let mut out = std::io::stdout();
        written(out.write_all(self.printer.head().as_bytes()))?;
        let ended = self.read(&mut out).await?;
        if matches!(ended, Ended::Enough | Ended::OutputGone) {
            self.say_goodbye().await;
        }
        let verdict = self.printer.verdict(&self.laws);
        match self.printer.style() {
            Style::Json => written(out.write_all(verdict.as_bytes()))?,
            // A person's verdict is no result of theirs to pipe on.
            Style::Full | Style::Short => written(std::io::stderr().write_all(verdict.as_bytes()))?,
        }
        let awaited = self.left.is_some_and(|left| left > 0) || self.until.is_some();
        match ended {
            Ended::Fault(reason) => Err(Failure::new(Exit::Failed, reason)),
            Ended::ByServer if awaited => {
                let reason = "the server ended the connection before what was waited for came";
                Err(Failure::new(Exit::Failed, reason))
            }
            _ if self.laws.kept() => Ok(Exit::Done),
            _ => Ok(Exit::Failed),
        }
    }

    async fn read(&mut self, out: &mut impl std::io::Write) -> Result<Ended, Failure> {
        let mut lines = String::new();
        loop {
            lines.clear();
            let ended = self.take_frames(&mut lines).await;
            let result = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
            if result.as_ref().is_err_and(|fault| fault.kind() == std::io::ErrorKind::BrokenPipe) {
                return Ok(Ended::OutputGone);
            }
            written(result)?;
            if let Some(ended) = ended {
                return Ok(ended);
            }
            tokio::select! {
                _ = tokio::signal::ctrl_c() => return Ok(Ended::Enough),
                read = self.inbox.read(&mut self.stream) => match read {
                    Ok(0) => return Ok(self.inbox.end().map_or_else(
                        |fault| Ended::Fault(fault.to_string()),
                        |()| Ended::ByServer,
                    )),
                    Ok(_) => {}
                    Err(fault) => return Ok(Ended::Fault(format!("reading failed: {fault}"))),
                },
            }
        }
    }

    /// Prints and checks all whole frames that were read.
    async fn take_frames(&mut self, lines: &mut String) -> Option<Ended> {
        loop {
            let offset = self.inbox.offset();
            let frame = match self.inbox.take() {
                Ok(None) => return None,
                Ok(Some(Found::Frame(frame))) => frame,
                // Nothing legal is over this limit.
                Ok(Some(Found::Oversize(header))) => Taken { header, bytes: BytesMut::new() },
                Err(fault) => return Some(Ended::Fault(fault.to_string())),
            };
            let checked = self.laws.check(&frame.header, frame.body());
            self.printer.frame(&frame, offset, &checked, lines);
            if let Some(ended) = self.react(&frame).await {
                return Some(ended);
            }
        }
    }

    async fn react(&mut self, frame: &Taken) -> Option<Ended> {
        let header = &frame.header;
        match header.frame_type() {
            FrameType::Goodbye => return Some(Ended::ByServer),
            FrameType::Ping => {
                let pong = pure_header(self.version, FrameType::Pong, header.generation(), header.corr());
                if let Err(fault) = self.stream.write_all(&pong).await {
                    return Some(Ended::Fault(format!("writing failed: {fault}")));
                }
            }
            _ => {}
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return Some(Ended::Enough);
            }
        }
        let is_last = header.flags().is_last() && header.lane() == Ok(twolane_core::envelope::Lane::Control);
        if self.until == Some(Until::Last) && is_last {
            self.until = None;
            return Some(Ended::Enough);
        }
        None
    }

    /// A clean end where the server still listens; it is no failure where not.
    async fn say_goodbye(&mut self) {
        let origin = Generation { epoch: 0, channel: 0 };
        let goodbye = pure_header(self.version, FrameType::Goodbye, origin, 0);
        let said = async {
            self.stream.write_all(&goodbye).await?;
            self.stream.shutdown().await
        };
        let _ = timeout(GOODBYE_LIMIT, said).await;
    }
}

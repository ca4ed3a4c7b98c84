//! `twolane attach`: a runner's side of a lane endpoint, for people and scripts.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::time::timeout;
use tracing::info;
use twolane_capture::units::{Options as Reading, Units};
use twolane_capture::{Direction, Filter};
use twolane_core::envelope::{FrameType, Generation, Lane, Version};
use twolane_core::limits::BODY_LEN_MAX;

use super::attach_request::{Request, is_of_our_run};
use super::attach_shown::Shown;
use super::decode::{Format, Printer};
use super::signals::Signals;
use super::{Exit, Failure, Global, environment, log};
use crate::config::Config;
use crate::inspect::{Bounds, Tap};
use crate::net::client::{self, ConnectFault};
use crate::net::connection_file;
use crate::net::inbox::{Found, Inbox, Taken};
use crate::net::lanes::pure_header;

/// How long our Goodbye may take to leave.
const GOODBYE_LIMIT: Duration = Duration::from_secs(1);

/// What the messages of a handshake may take on their way to being shown, for each of a file's addresses.
const HANDSHAKE_BYTES: usize = 256 * 1024;

/// A generation that a server does not choose by itself: one that plays unasked counts up from 1 (docs/wire.md, Lanes).
const GENERATION: u16 = 0x8000;

/// What to attach to, and when to stop.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane attach                            the server of this user's run directory\n  \
    twolane attach --connection-file /run/x/providers.json --json | jq .\n  \
    twolane attach --step --until last        ask for a step, read its answer\n  \
    twolane attach --request step.json --generation 40000\n\n\
    Without --connection-file: $TWOLANE_PROVIDERS_FILE, else providers.json in the\n\
    run directory. What is shown and how is the same as `twolane decode` shows it.\n\
    A server that plays unasked takes generations from 1 on; ask in the upper half.\n\n\
    Exit codes:\n  \
    0  the law was kept\n  \
    1  it was broken, or the connection failed\n  \
    3  cannot reach or authenticate")]
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
    /// Print only what passes this filter, such as 'lane=control'; the law is checked on all
    #[arg(long, value_name = "EXPR", value_parser = Filter::parse)]
    filter: Option<Filter>,
    /// Do not cut lines at the width of the terminal
    #[arg(long)]
    full: bool,
    /// Send a step request with the StepRequest of this file (- for standard input)
    #[arg(long, value_name = "FILE", group = "asking")]
    request: Option<PathBuf>,
    /// Send a step request with a small StepRequest of our own
    #[arg(long, group = "asking")]
    step: bool,
    /// Generation of the step request: 1 to 65535, one that is not live
    #[arg(long, value_name = "N", default_value_t = GENERATION, requires = "asking",
        value_parser = clap::value_parser!(u16).range(1..))]
    generation: u16,
    /// Correlation of the step request, never 0
    #[arg(long, value_name = "N", default_value_t = 1, requires = "asking",
        value_parser = clap::value_parser!(u64).range(1..))]
    corr: u64,
    /// Stop after so many frames, at least 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Stop after the first control frame with LAST
    #[arg(long, value_name = "WHAT")]
    until: Option<Until>,
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

impl Options {
    fn generation(&self) -> Generation {
        Generation { epoch: 0, channel: self.generation }
    }
}

/// Attaches, prints, and says whether the law was kept.
pub(super) fn run(global: &Global, options: &Options) -> Result<Exit, Failure> {
    let layers = global
        .layers()
        .flag("providers_file", options.connection_file.clone())
        .flag("run_dir", options.run_dir.clone());
    let config = layers.resolve(&environment())?.typed()?;
    // Written to its end before a failure is told.
    let _log = log::start(&config.log)?;
    let request =
        Request::from_options(options.request.as_deref(), options.step, options.generation(), options.corr)?;
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
    let signals = Signals::listen().map_err(|fault| Failure::new(Exit::Failed, fault))?;
    let tap = Tap::new(Bounds { recent_bytes: 0, queue_bytes: HANDSHAKE_BYTES, listeners: 1 });
    let listener = tap.listen();
    let connected = client::connect_tapped(&known, config.tuning, config.handshake_limit, &tap).await;
    let peer = connected.map_err(|fault| {
        let hint = match &fault {
            ConnectFault::Unauthenticated { .. } => "does the file belong to the server that runs now?",
            _ => "start a server with `twolane serve`, or name another file with --connection-file",
        };
        Failure::new(Exit::Unreachable, format!("{fault}\n  file: {}\n  {hint}", path.display()))
    })?;
    let version = options.wire_version.unwrap_or(known.version);
    let server = peer.claim.escape_debug().to_string();
    info!(file = %path.display(), server, version = version.number(), "attached");

    let format = match (options.json, options.format) {
        (true, _) => Format::Json,
        (false, format) => format.unwrap_or(Format::Table),
    };
    let printer = Printer::new(format, options.filter.clone(), options.full);
    let mut units = Units::new(printer, Reading { version: Some(version), ..Reading::default() });
    units.set_key(Some(known.key));
    let mut session = Session {
        stream: peer.stream,
        inbox: Inbox::new(peer.unread, BODY_LEN_MAX).with_version(version),
        version,
        shown: Shown::begin(units, listener).await,
        left: options.count,
        until: options.until,
        unanswered: request.is_some().then(|| options.generation()),
    };
    if let Some(request) = request {
        session.send(&request.frame(version)?).await.map_err(|fault| Failure::new(Exit::Failed, fault))?;
    }
    session.run(signals).await
}

struct Session {
    stream: TcpStream,
    inbox: Inbox,
    version: Version,
    shown: Shown,
    left: Option<u64>,
    until: Option<Until>,
    /// The generation of a step request, until its first frame came.
    unanswered: Option<Generation>,
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
    async fn run(mut self, mut signals: Signals) -> Result<Exit, Failure> {
        let ended = self.read(&mut signals).await?;
        if matches!(ended, Ended::Enough | Ended::OutputGone) {
            self.say_goodbye().await;
        }
        let awaited = self.left.is_some() || self.until.is_some();
        let is_law_kept = self.shown.end()?;
        let failed = |reason: &str| Err(Failure::new(Exit::Failed, unanswered(reason, self.unanswered)));
        match ended {
            Ended::Fault(reason) => failed(&reason),
            Ended::ByServer if awaited || self.unanswered.is_some() => {
                failed("the server ended the connection before what was waited for came")
            }
            _ if is_law_kept => Ok(Exit::Done),
            _ => Ok(Exit::Failed),
        }
    }

    async fn read(&mut self, signals: &mut Signals) -> Result<Ended, Failure> {
        loop {
            let ended = self.take_frames().await;
            if !self.shown.flush()? {
                return Ok(Ended::OutputGone);
            }
            if let Some(ended) = ended {
                return Ok(ended);
            }
            tokio::select! {
                _ = signals.next() => return Ok(Ended::Enough),
                read = self.inbox.read(&mut self.stream) => match read {
                    Ok(0) => return Ok(self.at_end()),
                    Ok(_) => {}
                    Err(fault) => return Ok(Ended::Fault(format!("reading failed: {fault}"))),
                },
            }
        }
    }

    /// Shows and answers all whole frames that were read.
    async fn take_frames(&mut self) -> Option<Ended> {
        loop {
            let frame = match self.inbox.take() {
                Ok(None) => return None,
                Ok(Some(Found::Frame(frame))) => frame,
                Ok(Some(Found::Oversize(header))) => {
                    let reason = format!("a body of {} bytes is over the limit", header.body_len());
                    return Some(Ended::Fault(reason));
                }
                Err(fault) => {
                    // Shown as any reader of captures shows it.
                    self.shown.bytes(Direction::BToA, self.inbox.unread());
                    return Some(Ended::Fault(fault.to_string()));
                }
            };
            self.shown.bytes(Direction::BToA, &frame.bytes);
            if let Some(ended) = self.react(&frame).await {
                return Some(ended);
            }
        }
    }

    fn at_end(&mut self) -> Ended {
        self.shown.bytes(Direction::BToA, self.inbox.unread());
        match self.inbox.end() {
            Ok(()) => Ended::ByServer,
            Err(fault) => Ended::Fault(fault.to_string()),
        }
    }

    /// Sends and shows one frame.
    async fn send(&mut self, frame: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(frame).await?;
        self.shown.bytes(Direction::AToB, frame);
        Ok(())
    }

    async fn react(&mut self, frame: &Taken) -> Option<Ended> {
        let header = &frame.header;
        if self.unanswered == Some(header.generation()) && is_of_our_run(frame.body()) {
            self.unanswered = None;
        }
        match header.frame_type() {
            FrameType::Goodbye => return Some(Ended::ByServer),
            FrameType::Ping => {
                let pong = pure_header(self.version, FrameType::Pong, header.generation(), header.corr());
                if let Err(fault) = self.send(&pong).await {
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
        let is_last = header.flags().is_last() && header.lane() == Ok(Lane::Control);
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
            self.send(&goodbye).await?;
            self.stream.shutdown().await
        };
        let _ = timeout(GOODBYE_LIMIT, said).await;
    }
}

/// A reason, with what to try where the request was not answered.
fn unanswered(reason: &str, generation: Option<Generation>) -> String {
    match generation {
        None => reason.to_owned(),
        Some(Generation { channel, .. }) => format!(
            "{reason}\n  the request on generation {channel} was not answered: a live generation is refused; \
             try another --generation, or see the server's log"
        ),
    }
}

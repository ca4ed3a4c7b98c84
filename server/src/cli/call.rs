//! `twolane call`: one sealed turn through a connector.

use std::io::{IsTerminal as _, Write as _, stderr, stdout};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use tokio::runtime::Builder;
use tokio::time::{Instant, MissedTickBehavior, interval};
use twolane_client::{Bounds, CallFault, Client, PrepareFault, Prepared, Reply, ResumeFault, SealKey, Store};
use twolane_core::connector::document::Outcome;
use twolane_core::limits::{SEALS_MAX, SEALS_WARN};

use super::call_request::Asked;
use super::signals::Signals;
use super::{Exit, Failure, Global, call_advice, call_shown, environment, running, written};
use crate::config::time;
use crate::connector::callers_file::KEY_FILE_MAX;
use crate::net::address::parse_loopback;
use crate::net::secret_file;

/// Time between two looks of a person at the progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// What to ask, of whom, and how long to wait.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane call --connector 127.0.0.1:7342 --caller runner-1 --key-file runner-1.key --model model-a 'Hello'\n  \
    ... without --connector                    of the server that runs with the configured run directory\n  \
    ... --input request.json --json            a provider_request (fixtures/schemas), the answer as JSON\n  \
    ... --resume FILE                          the same request again, paid for once\n\n\
    The exact request is stored before it is sent, and stays there. While it is running,\n\
    finds no room or loses its connection it is sent again, for as long as --within says;\n\
    after that, or after Ctrl-C, --resume goes on with it. A request id is dated once:\n\
    files of the store may be deleted when their ids are never used again.\n\n\
    Exit codes:\n  \
    0  the model ended\n  \
    1  the turn was refused or failed, or its time is over\n  \
    2  wrong usage or configuration\n  \
    3  cannot reach or authenticate: what came is not believed\n  \
    4  the file of --resume is damaged")]
pub(super) struct Options {
    #[command(flatten)]
    asked: Asked,
    /// Where the connector listens: a literal loopback address [default: that of the server that runs
    /// with the run directory]
    #[arg(long, value_name = "ADDR", value_parser = parse_loopback)]
    connector: Option<SocketAddr>,
    /// Directory in which that server's files are [default: the setting run_dir]
    #[arg(long, value_name = "DIR", conflicts_with = "connector")]
    run_dir: Option<String>,
    /// Who asks: an id of the server's callers file [default with --resume: who asked]
    #[arg(long, value_name = "ID", required_unless_present = "resume")]
    caller: Option<String>,
    /// The caller's secret, made by `twolane keygen`
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// Where requests are stored before they are sent [default: $XDG_STATE_HOME/twolane/calls, or
    /// where the file of --resume is]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Go on with a stored request
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// How long to ask for the answer, such as 90s or 10m
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    within: Duration,
    /// How long the request may begin to run; a server allows 5m where it is not set otherwise
    #[arg(long, value_name = "TIME", default_value = "4m", value_parser = time, conflicts_with = "resume")]
    expires_in: Duration,
    /// Print the answer as one JSON object: events, receipt, refusal
    #[arg(long)]
    json: bool,
}

/// Asks until there is an answer.
pub(super) fn run(global: &Global, options: &Options) -> Result<Exit, Failure> {
    let connector = connector(global, options)?;
    let resumed = options.resume.as_deref().map(Prepared::resume).transpose()?;
    let client = client(connector, options, resumed.as_ref())?;
    let prepared = match resumed {
        Some(prepared) => prepared,
        None => {
            let (request, native) = options.asked.request()?;
            client.prepare(request, native, options.expires_in)?
        }
    };
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| Failure::new(Exit::Failed, fault))?;
    let answer = runtime.block_on(call(&client, &prepared, options.within));
    if client.seals() > SEALS_WARN {
        say(&format!("warning: the key has sealed {} of {SEALS_MAX} times: make a new one", client.seals()));
    }
    match answer? {
        Ok(reply) => show(&reply, &prepared, options.json),
        Err(fault) => {
            let (advice, exit) = call_advice::failed(&fault);
            Err(Failure::new(exit, format!("{fault}\n  {advice}\n  {}", stored(&prepared))))
        }
    }
}

/// The address that was given, or that of the server that runs.
fn connector(global: &Global, options: &Options) -> Result<SocketAddr, Failure> {
    if let Some(connector) = options.connector {
        return Ok(connector);
    }
    let layers = global.layers().flag("run_dir", options.run_dir.clone());
    let config = layers.resolve(&environment())?.typed()?;
    running::connector_address(&config.run_dir)
}

fn client(connector: SocketAddr, options: &Options, resumed: Option<&Prepared>) -> Result<Client, Failure> {
    let usage = |fault: String| Failure::new(Exit::Usage, fault);
    let text =
        secret_file::read(&options.key_file, KEY_FILE_MAX).map_err(|fault| usage(fault.to_string()))?;
    let key = SealKey::from_file(&text).map_err(|fault| {
        usage(format!("{}: {fault}; `twolane keygen` makes one", options.key_file.display()))
    })?;
    // A stored request is where the seals of its key are counted.
    let beside = options.resume.as_deref().and_then(Path::parent);
    let folder = match (&options.store, beside) {
        (Some(folder), _) => folder.clone(),
        (None, Some(folder)) if folder.as_os_str().is_empty() => PathBuf::from("."),
        (None, Some(folder)) => folder.to_owned(),
        (None, None) => Path::new(&environment().data_dir()).join("calls"),
    };
    let store = Store::open(&folder)
        .map_err(|fault| Failure::new(Exit::Failed, format!("cannot use {}: {fault}", folder.display())))?;
    let asked = resumed.map(|prepared| prepared.invocation().caller_runtime_id.as_str());
    let caller = options.caller.as_deref().or(asked).unwrap_or_default();
    Client::new(connector, caller, key, store, Bounds::default()).map_err(|fault| usage(fault.to_string()))
}

/// Waits for the answer, showing a person how long already and why.
async fn call(
    client: &Client,
    prepared: &Prepared,
    within: Duration,
) -> Result<Result<Reply, CallFault>, Failure> {
    let mut signals = Signals::listen().map_err(|fault| Failure::new(Exit::Failed, fault))?;
    let is_progress_shown = stderr().is_terminal();
    let started = Instant::now();
    let reason = std::cell::RefCell::new("sent".to_owned());
    let calling = client.call(prepared, within, |waiting| {
        *reason.borrow_mut() = format!("try {}: {}", waiting.attempts, waiting.reason);
    });
    tokio::pin!(calling);
    let mut progress = interval(PROGRESS_EVERY);
    progress.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let answer = loop {
        tokio::select! {
            answer = &mut calling => break Ok(answer),
            name = signals.next() => {
                let words = format!("{name}; the request may run all the same\n  {}", stored(prepared));
                break Err(Failure::new(Exit::Failed, words));
            }
            _ = progress.tick(), if is_progress_shown => {
                let _ = write!(stderr(), "\r\x1b[K{} s  {}", started.elapsed().as_secs(), reason.borrow());
            }
        }
    };
    if is_progress_shown {
        let _ = write!(stderr(), "\r\x1b[K");
    }
    answer
}

/// Prints what was answered. Partial words of a failed turn are printed too.
fn show(reply: &Reply, prepared: &Prepared, json: bool) -> Result<Exit, Failure> {
    let text = if json {
        call_shown::object(reply, prepared)
    } else {
        call_shown::text(reply, stdout().is_terminal())
    };
    let mut out = stdout().lock();
    let printed = written(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    for remark in call_shown::remarks(reply) {
        say(&remark);
    }
    printed?;
    match reply {
        Reply::Transported(transported) if matches!(transported.receipt.outcome, Outcome::Completed(_)) => {
            Ok(Exit::Done)
        }
        _ => Ok(Exit::Failed),
    }
}

/// How to go on.
fn stored(prepared: &Prepared) -> String {
    format!("go on with --resume {}", prepared.path().display())
}

/// Where standard error is gone, the answer is printed all the same.
fn say(line: &str) {
    let _ = writeln!(stderr(), "twolane: {line}");
}

impl From<ResumeFault> for Failure {
    fn from(fault: ResumeFault) -> Self {
        let exit = match &fault {
            ResumeFault::Unreadable { .. } => Exit::Usage,
            _ => Exit::Damaged,
        };
        Self::new(exit, fault)
    }
}

impl From<PrepareFault> for Failure {
    fn from(fault: PrepareFault) -> Self {
        let exit = match &fault {
            PrepareFault::Disk { .. } => Exit::Failed,
            _ => Exit::Usage,
        };
        Self::new(exit, fault)
    }
}

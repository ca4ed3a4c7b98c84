//! `twolane serve`.

use std::io::Write as _;

use clap::Args;
use tokio::runtime::Builder;
use tracing::info;

use super::log::Log;
use super::open_files::{self, Shortage};
use super::signals::Signals;
use super::{Exit, Failure, Global, banner, environment, log, warn_of_unknown};
use crate::config::{Config, Layers};
use crate::connector::callers_file;
use crate::server::{Server, StartFault};

/// Commands to start from.
const EXAMPLES: &str = "Examples:
  twolane serve                                  the built-in script, the page, free ports
  twolane serve --script run.toml --no-http      a script of your own, no page
  twolane serve --wire-version 2                 write version 2 envelopes
  twolane serve --providers 127.0.0.1:7341 --key-file key.hex --daemon-id 00112233445566778899aabbccddeeff
                                                 fixed port, key and id, for firmware
  twolane serve --connector 127.0.0.1:7342 --callers callers.toml
                                                 sealed turns too, each run once

Every flag is also a key of the configuration file and a TWOLANE_ variable; `twolane config` lists them.";

fn help() -> String {
    format!("{EXAMPLES}\n\nA callers file:\n\n{}", callers_file::EXAMPLE)
}

/// How to serve.
#[derive(Args, Debug)]
#[command(after_help = help())]
pub(super) struct Options {
    /// Where the provider endpoint listens: a literal loopback address
    #[arg(long, value_name = "ADDR")]
    providers: Option<String>,
    /// Where the page is served: a literal loopback address
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Serve no page
    #[arg(long, conflicts_with = "http")]
    no_http: bool,
    /// Directory of connection files and ports.json
    #[arg(long, value_name = "DIR")]
    run_dir: Option<String>,
    /// Version of the envelope that is written: 1 or 2
    #[arg(long, value_name = "N")]
    wire_version: Option<String>,
    /// What the script provider plays [default: the built-in script]
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// A fixed connection key: a connection file, 64 hex digits or a JSON array
    #[arg(long, value_name = "FILE")]
    key_file: Option<String>,
    /// A fixed daemon id: 32 hex digits
    #[arg(long, value_name = "HEX")]
    daemon_id: Option<String>,
    /// Authenticated connections at once
    #[arg(long, value_name = "N")]
    peers: Option<String>,
    /// Deadline of a whole handshake, such as 2s
    #[arg(long, value_name = "TIME")]
    handshake_limit: Option<String>,
    /// Close a peer that reads nothing for so long while control waits
    #[arg(long, value_name = "TIME")]
    stall_limit: Option<String>,
    /// How long a stopping server waits for its peers to read
    #[arg(long, value_name = "TIME")]
    drain: Option<String>,
    /// Where sealed turns are answered: a literal loopback address
    #[arg(long, value_name = "ADDR")]
    connector: Option<String>,
    /// Who may ask for sealed turns
    #[arg(long, value_name = "FILE")]
    callers: Option<String>,
    /// The program that runs sealed turns, with its arguments [default: the built-in script]
    #[arg(long, value_name = "COMMAND")]
    connector_exec: Option<String>,
    /// Directory of the replay store
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// Attach a reader of one's own, so that the page has traffic to show
    #[arg(long)]
    self_attach: bool,
}

impl Options {
    fn layers(self, layers: Layers) -> Layers {
        layers
            .flag("providers", self.providers)
            .flag("http", self.http.or_else(|| self.no_http.then(|| "off".to_owned())))
            .flag("run_dir", self.run_dir)
            .flag("wire_version", self.wire_version)
            .flag("script", self.script)
            .flag("key_file", self.key_file)
            .flag("daemon_id", self.daemon_id)
            .flag("peers", self.peers)
            .flag("handshake_limit", self.handshake_limit)
            .flag("stall_limit", self.stall_limit)
            .flag("drain", self.drain)
            .flag("connector", self.connector)
            .flag("callers", self.callers)
            .flag("connector_backend", self.connector_exec.is_some().then(|| "exec".to_owned()))
            .flag("connector_exec", self.connector_exec)
            .flag("data_dir", self.data_dir)
            .flag("self_attach", self.self_attach.then(|| "true".to_owned()))
    }
}

/// Serves until SIGTERM, SIGINT or, where it is not ignored, SIGHUP.
pub(super) fn run(global: &Global, options: Options) -> Result<Exit, Failure> {
    let environment = environment();
    warn_of_unknown(&environment);
    let config = options.layers(global.layers()).resolve(&environment)?.typed()?;
    let log = log::start(&config.log)?;
    let shortage = open_files::raise(&config);
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|fault| Failure::new(Exit::Failed, fault))?;
    let done = runtime.block_on(serve(&config, shortage, &log));
    // Tasks that would not end must not hold the process.
    runtime.shutdown_background();
    done
}

async fn serve(config: &Config, shortage: Option<Shortage>, log: &Log) -> Result<Exit, Failure> {
    let mut signals = Signals::listen().map_err(|fault| Failure::new(Exit::Failed, fault))?;
    let server = Server::start(config).await?;
    let text = banner::text(config, &server, shortage).map_err(|fault| Failure::new(Exit::Failed, fault))?;
    log.flush();
    // A server whose standard error is gone serves all the same.
    let _ = std::io::stderr().write_all(text.as_bytes());
    let name = signals.next().await;
    info!("{name}: stopping; a second signal ends at once");
    tokio::select! {
        () = server.stop() => {
            info!("stopped");
            Ok(Exit::Done)
        }
        name = signals.next() => Err(Failure::new(Exit::Failed, format!("ended at once by {name}"))),
    }
}

impl From<StartFault> for Failure {
    fn from(fault: StartFault) -> Self {
        let exit = match &fault {
            StartFault::Identity(_) | StartFault::Script(_) | StartFault::Callers(_) => Exit::Usage,
            _ => Exit::Failed,
        };
        Self::new(exit, fault)
    }
}

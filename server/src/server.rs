//! A whole server: its endpoints, the page, and the files by which they are found.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use bytes::BytesMut;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tracing::{debug, error, info, warn};
use twolane_core::limits::CONTROL_BODY_MAX;

use crate::config::{Config, Connector};
use crate::connector::callers_file::{self, CallersFileFault};
use crate::connector::exec::Exec;
use crate::connector::script::Script as Repeats;
use crate::connector::{self, ListenBounds, Plan, Serving, Watch};
use crate::inspect::{self, DoorFault, Inspect, Tap, TokenFile};
use crate::net::client::{self, ConnectFault};
use crate::net::connection_file::{self, Known, PublishFault, Published};
use crate::net::endpoint::{Endpoint, Limits};
use crate::net::identity::{Identity, IdentityFault};
use crate::net::inbox::Inbox;
use crate::net::socket;
use crate::provider::{Provider, Script, ScriptFault};
use crate::stop::{self, Stop, Stopper};

/// The provider endpoint's name in file names, labels and logs.
pub const PROVIDERS: &str = "providers";

/// The file with every bound port.
pub const PORTS_FILE: &str = "ports.json";

/// Why a server did not start. Nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
pub enum StartFault {
    /// No key or id.
    #[error(transparent)]
    Identity(#[from] IdentityFault),
    /// The script.
    #[error(transparent)]
    Script(#[from] ScriptFault),
    /// An address cannot be listened on.
    #[error("cannot listen on {address} ({what}): {source}; choose another port, or 0 for a free one")]
    Listen {
        /// For what.
        what: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// A file of the run directory.
    #[error(transparent)]
    Publish(#[from] PublishFault),
    /// The command line's token.
    #[error("cannot write the tap's token to {}: {source}", path.display())]
    Token {
        /// The run directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A server serves there already.
    #[error("another server (process {pid}) serves from {}; stop it, or choose another --run-dir", path.display())]
    Taken {
        /// The connection file.
        path: PathBuf,
        /// Its writer.
        pid: u32,
    },
    /// The endpoint does not authenticate its own server.
    #[error("the endpoint does not answer its own server: {0}")]
    SelfCheck(ConnectFault),
    /// The door before the page.
    #[error(transparent)]
    Door(#[from] DoorFault),
    /// Who may ask the connector.
    #[error(transparent)]
    Callers(#[from] CallersFileFault),
    /// The connector.
    #[error(transparent)]
    Connector(#[from] connector::StartFault),
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    stopper: Stopper,
    endpoint: Arc<Endpoint>,
    serving: JoinHandle<()>,
    providers: SocketAddr,
    published: Published,
    ports: PortsFile,
    page: Option<Page>,
    connector: Option<Serving>,
}

#[derive(Debug)]
struct Page {
    inspect: Inspect,
    address: SocketAddr,
    serving: JoinHandle<()>,
    /// Removes the token's file when dropped.
    _token: TokenFile,
}

impl Server {
    /// Starts everything that `config` names. When this returns, clients that read the connection file are served.
    pub async fn start(config: &Config) -> Result<Self, StartFault> {
        let script = match &config.script {
            Some(path) => Script::read(path)?,
            None => Script::built_in()?,
        };
        let identity = Identity::configured(config.key_file.as_deref(), config.daemon_id)?;
        connection_file::prepare_directory(&config.run_dir)?;
        let file = config.providers_file();
        refuse_taken(&file, config).await?;

        let (stopper, stop) = stop::channel();
        let listener = listen(config.providers, "providers", config)?;
        let providers = local_address(&listener, config.providers)?;
        let page = config.http.map(listen_page).transpose()?;
        let inspect = page
            .is_some()
            .then(|| Inspect::new(inspect::Config { tap: config.tap, ..inspect::Config::default() }))
            .transpose()?;
        let tap = inspect.as_ref().map_or_else(Tap::off, Inspect::tap);
        let connections = Arc::new(AtomicU64::new(0));
        let endpoint = Arc::new(Endpoint::new(
            PROVIDERS,
            identity,
            config.wire_version,
            limits(config),
            Provider::script(script),
            tap.clone(),
            Arc::clone(&connections),
        ));
        let serving = tokio::spawn(Arc::clone(&endpoint).run(listener, stop.clone()));

        let known = Known {
            addresses: vec![providers],
            key: endpoint.identity().key.clone(),
            daemon_id: endpoint.identity().daemon_id,
            version: config.wire_version,
            pid: std::process::id(),
        };
        client::connect(&known, config.tuning, config.handshake_limit)
            .await
            .map_err(StartFault::SelfCheck)?;
        let page = match (page, inspect) {
            (Some((listener, address)), Some(inspect)) => {
                Some(start_page(listener, address, inspect, config, stop.clone())?)
            }
            _ => None,
        };
        let connector = match &config.connector {
            Some(connector) => Some(start_connector(connector, config, Watch::new(tap, connections)).await?),
            None => None,
        };
        let ports = PortsFile::write(
            &config.run_dir,
            providers,
            page.as_ref().map(|page| page.address),
            connector.as_ref().map(Serving::address),
        )?;
        let published = connection_file::publish(&file, endpoint.identity(), providers, config.wire_version)?;
        endpoint.show();
        if config.self_attach {
            tokio::spawn(attach_self(known, config.clone(), stop));
        }
        Ok(Self { stopper, endpoint, serving, providers, published, ports, page, connector })
    }

    /// Where the provider endpoint listens.
    pub fn providers(&self) -> SocketAddr {
        self.providers
    }

    /// The provider endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The connection file.
    pub fn connection_file(&self) -> &Path {
        self.published.path()
    }

    /// Where the connector listens; `None` without one.
    pub fn connector(&self) -> Option<SocketAddr> {
        self.connector.as_ref().map(Serving::address)
    }

    /// The page's address with a fresh one-use code; `None` without a page.
    pub fn page_url(&self) -> Option<Result<String, DoorFault>> {
        self.page.as_ref().map(|page| page.inspect.page_url(page.address))
    }

    /// Stops: no new peers, runs ended, Goodbye to those who are there, what is queued written, files removed.
    pub async fn stop(self) {
        if !self.published.remove() {
            warn!(file = %self.published.path().display(), "the connection file is not ours any more: left there");
        }
        drop(self.ports);
        self.stopper.stop();
        if let Some(connector) = self.connector {
            connector.stop().await;
        }
        if let Err(fault) = self.serving.await {
            error!(%fault, "the provider endpoint failed");
        }
        if let Some(page) = self.page
            && let Err(fault) = page.serving.await
        {
            error!(%fault, "the page's server failed");
        }
    }
}

fn limits(config: &Config) -> Limits {
    Limits {
        handshake: config.handshake_limit,
        pending: config.pending_peers,
        waiting: config.waiting_peers,
        peers: config.peers,
        budget: config.budget,
        pace: config.pace,
        drain: config.drain,
        tuning: config.tuning,
    }
}

/// A file proves nothing, its process id neither: only a server that authenticates holds the place.
async fn refuse_taken(file: &Path, config: &Config) -> Result<(), StartFault> {
    let Ok(known) = connection_file::read(file) else { return Ok(()) };
    match client::connect(&known, config.tuning, config.handshake_limit).await {
        Ok(_) => Err(StartFault::Taken { path: file.to_owned(), pid: known.pid }),
        Err(fault) => {
            debug!(file = %file.display(), %fault, "replacing a stale connection file");
            Ok(())
        }
    }
}

fn listen(address: SocketAddr, what: &'static str, config: &Config) -> Result<TcpListener, StartFault> {
    socket::listen(address, config.tuning).map_err(|source| StartFault::Listen { what, address, source })
}

/// The page's own listener, which keeps the platform's buffers (a browser is no lane peer), and where it listens.
fn listen_page(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartFault> {
    let fault = |source| StartFault::Listen { what: "http", address, source };
    let listener = std::net::TcpListener::bind(address).map_err(fault)?;
    listener.set_nonblocking(true).map_err(fault)?;
    let bound = listener.local_addr().map_err(fault)?;
    Ok((TcpListener::from_std(listener).map_err(fault)?, bound))
}

fn local_address(listener: &TcpListener, asked: SocketAddr) -> Result<SocketAddr, StartFault> {
    listener.local_addr().map_err(|source| StartFault::Listen { what: "providers", address: asked, source })
}

/// How long a run has to end once it is told to.
const RUN_GRACE: Duration = Duration::from_secs(5);

async fn start_connector(
    connector: &Connector,
    config: &Config,
    watch: Watch,
) -> Result<Serving, StartFault> {
    let plan = Plan {
        address: connector.address,
        data_dir: config.data_dir.clone(),
        callers: callers_file::read(&connector.callers)?,
        callers_file: Some(connector.callers.clone()),
        frame_max: connector.frame_max.into(),
        skew: connector.skew,
        run_time: connector.run_limit,
        grace: RUN_GRACE,
        retention: connector.retention,
        bounds: ListenBounds { connections: connector.peers, drain: config.drain, ..ListenBounds::default() },
        run_dir: Some(config.run_dir.clone()),
    };
    Ok(match connector.exec.as_deref().and_then(<[String]>::split_first) {
        Some((program, arguments)) => {
            connector::start_watched(Exec::of_command(program, arguments), plan, watch).await?
        }
        None => connector::start_watched(Repeats::new(Duration::ZERO), plan, watch).await?,
    })
}

fn start_page(
    listener: TcpListener,
    address: SocketAddr,
    inspect: Inspect,
    config: &Config,
    mut stop: Stop,
) -> Result<Page, StartFault> {
    let token = inspect
        .publish_token(&config.run_dir)
        .map_err(|source| StartFault::Token { path: config.run_dir.clone(), source })?;
    let running = inspect.clone();
    let serving = tokio::spawn(async move {
        if let Err(fault) = running.run(listener, async move { stop.requested().await }).await {
            error!(%fault, "the page is not served any more");
        }
    });
    Ok(Page { inspect, address, serving, _token: token })
}

/// A reader of our own, so that the tap has traffic to show. Reads until told to stop.
async fn attach_self(known: Known, config: Config, mut stop: Stop) {
    let reading = async {
        loop {
            match client::connect(&known, config.tuning, config.handshake_limit).await {
                Ok(mut peer) => {
                    let unread = std::mem::replace(&mut peer.unread, BytesMut::new());
                    let mut inbox = Inbox::new(unread, CONTROL_BODY_MAX);
                    while let Ok(1..) = inbox.discard(&mut peer.stream).await {}
                }
                Err(fault) => info!(%fault, "our own reader was not authenticated"),
            }
            sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        () = reading => {}
        () = stop.requested() => {}
    }
}

/// `ports.json`: every bound port, for scripts; dropping it removes the file if it is still this server's.
#[derive(Debug)]
struct PortsFile {
    path: PathBuf,
    text: String,
}

impl PortsFile {
    fn write(
        run_dir: &Path,
        providers: SocketAddr,
        page: Option<SocketAddr>,
        connector: Option<SocketAddr>,
    ) -> Result<Self, PublishFault> {
        let path = run_dir.join(PORTS_FILE);
        let text = format!(
            "{}\n",
            serde_json::json!({
                "pid": std::process::id(),
                "providers": providers.to_string(),
                "http": page.map(|address| address.to_string()),
                "connector": connector.map(|address| address.to_string()),
            })
        );
        connection_file::put(&path, text.as_bytes())?;
        Ok(Self { path, text })
    }
}

impl Drop for PortsFile {
    fn drop(&mut self) {
        if std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            // A file that stays names ports where nobody listens; nothing depends on it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

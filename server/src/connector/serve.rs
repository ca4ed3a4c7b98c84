//! A whole connector: store, service, sockets. With a [`ProviderBackend`], all that a program for a provider needs.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};
use tracing::error;
use twolane_core::connector::replay::Retention;

use super::backend::{NotReady, ProviderBackend};
use super::callers::{Caller, Callers, CallersFault};
use super::listen::{self, Bounds, Watch};
use super::service::{Service, ServiceFault, Settings};
use super::time::SystemClock;
use crate::admin::desk::Desk;
use crate::admin::endpoint::{self as admin, AdminFault};
use crate::net::connection_file::{PublishFault, prepare_directory};
use crate::stop::{self, Stop, Stopper};
use crate::stop_points::{self, Point};
use crate::store::{Engine, EngineFault, RedbEngine, Store};

/// The store's file in the data directory.
pub const STORE_FILE: &str = "replay.redb";

/// Between two purges.
const PURGE_EVERY: Duration = Duration::from_secs(60);

/// What a connector needs to know.
#[derive(Debug)]
pub struct Plan {
    /// Where it listens: a literal loopback address.
    pub address: SocketAddr,
    /// Where its store is. Made with mode 0700 where it is not there.
    pub data_dir: PathBuf,
    /// Who may ask.
    pub callers: Vec<Caller>,
    /// Bytes of a frame, without its length prefix.
    pub frame_max: u64,
    /// How far ahead of now a request may expire.
    pub skew: Duration,
    /// How long a run may take.
    pub run_time: Duration,
    /// How long a run has to end once it is told to.
    pub grace: Duration,
    /// How long replies are kept.
    pub retention: Retention,
    /// The file that `callers` were read from, to be read again when an operator says so.
    pub callers_file: Option<PathBuf>,
    /// What connections may take.
    pub bounds: Bounds,
    /// The directory in which `admin.json` says where an operator may ask; nobody may where `None`.
    pub run_dir: Option<PathBuf>,
}

/// Why a connector does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartFault {
    /// The data directory.
    #[error(transparent)]
    Directory(#[from] PublishFault),
    /// The store.
    #[error("{}: {source}", path.display())]
    Store {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: EngineFault,
    },
    /// The callers.
    #[error(transparent)]
    Callers(#[from] CallersFault),
    /// The backend.
    #[error("the backend is not ready: {0}")]
    Backend(NotReady),
    /// The service.
    #[error(transparent)]
    Service(#[from] ServiceFault),
    /// The address.
    #[error("cannot listen on {address} (connector): {source}; choose another port, or 0 for a free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The admin endpoint.
    #[error(transparent)]
    Admin(#[from] AdminFault),
    /// The store's thread.
    #[error("the store's thread cannot be started: {0}")]
    Thread(io::Error),
}

/// A connector that serves.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    stopper: Stopper,
    task: JoinHandle<()>,
}

impl Serving {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes nothing new, lets the runs end, and closes the store.
    pub async fn stop(self) {
        self.stopper.stop();
        if let Err(fault) = self.task.await {
            error!(%fault, "the connector failed");
        }
    }
}

/// Starts a connector. When this returns, requests are answered.
pub async fn start<B: ProviderBackend>(backend: B, plan: Plan) -> Result<Serving, StartFault> {
    start_watched(backend, plan, Watch::none()).await
}

/// The same, shown on a tap.
pub async fn start_watched<B: ProviderBackend>(
    backend: B,
    plan: Plan,
    watch: Watch,
) -> Result<Serving, StartFault> {
    backend.readiness().map_err(StartFault::Backend)?;
    let callers = Callers::new(plan.callers, plan.frame_max)?;
    prepare_directory(&plan.data_dir)?;
    let path = plan.data_dir.join(STORE_FILE);
    let engine = RedbEngine::open(&path).map_err(|source| StartFault::Store { path, source })?;
    let store = Arc::new(Store::start(engine).map_err(StartFault::Thread)?);
    let settings = Settings {
        skew: plan.skew,
        run_time: plan.run_time,
        grace: plan.grace,
        frame_max: plan.frame_max,
        data_dir: Some(plan.data_dir.clone()),
    };
    let clock = Box::new(SystemClock);
    let service = Service::new(Arc::new(backend), store, callers, clock, settings)?;
    service.reserve_seals().await;
    let fault = |source| StartFault::Listen { address: plan.address, source };
    let listener = listen::bind(plan.address).await.map_err(fault)?;
    let address = listener.local_addr().map_err(fault)?;
    stop_points::pass(Point::Listening);
    let (stopper, stop) = stop::channel();
    let admin = match &plan.run_dir {
        Some(run_dir) => {
            let endpoint = admin::Endpoint::publish(&admin::Endpoint::file(run_dir)).await?;
            let desk = Desk::new(Arc::clone(&service), &plan.data_dir).with_callers_file(plan.callers_file);
            Some(tokio::spawn(endpoint.run(desk, stop.clone())))
        }
        None => None,
    };
    let task = tokio::spawn(async move {
        let purging = tokio::spawn(purge(Arc::clone(&service), plan.retention, stop.clone()));
        listen::serve(service, listener, plan.bounds, watch, stop).await;
        if let Err(fault) = purging.await {
            error!(%fault, "the purge failed");
        }
        if let Some(admin) = admin
            && let Err(fault) = admin.await
        {
            error!(%fault, "the admin endpoint failed");
        }
        stop_points::pass(Point::StoreClosed);
    });
    Ok(Serving { address, stopper, task })
}

async fn purge<B: ProviderBackend, E: Engine>(
    service: Arc<Service<B, E>>,
    retention: Retention,
    mut stop: Stop,
) {
    let mut ticks = interval(PURGE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => service.purge(retention).await,
            () = stop.requested() => return,
        }
    }
}

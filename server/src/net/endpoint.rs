//! An endpoint: accepts peers, bounds and authenticates them, serves each in a task of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{debug, info, warn};
use twolane_core::envelope::Version;
use twolane_core::lanes::outbox::Budget;

use super::connection;
use super::handshake;
use super::identity::Identity;
use super::observe::{Counters, Observer};
use super::socket::{Tuning, tune};
use super::writer::Pace;
use crate::inspect::Tap;
use crate::provider::Provider;
use crate::stop::Stop;

/// Bounds of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Deadline of a whole handshake, and of the wait for a place in it.
    pub handshake: Duration,
    /// Connections in their handshake at once.
    pub pending: usize,
    /// Connections that wait for a place in it.
    pub waiting: usize,
    /// Authenticated connections.
    pub peers: usize,
    /// What waits for one peer at most.
    pub budget: Budget,
    /// How it is written.
    pub pace: Pace,
    /// How long a stopping endpoint waits for its peers.
    pub drain: Duration,
    /// Buffers of its sockets.
    pub tuning: Tuning,
}

/// An endpoint of lane connections.
#[derive(Debug)]
pub struct Endpoint {
    pub(super) name: &'static str,
    pub(super) version: Version,
    pub(super) limits: Limits,
    pub(super) provider: Provider,
    pub(super) counters: Counters,
    identity: Identity,
    tap: Tap,
    connections: Arc<AtomicU64>,
    pending: Arc<Semaphore>,
    waiting: AtomicUsize,
    peers: Arc<Semaphore>,
    shown: AtomicBool,
}

impl Endpoint {
    /// An endpoint that serves nobody yet. `connections` numbers the connections of all endpoints of a server.
    pub fn new(
        name: &'static str,
        identity: Identity,
        version: Version,
        limits: Limits,
        provider: Provider,
        tap: Tap,
        connections: Arc<AtomicU64>,
    ) -> Self {
        Self {
            name,
            version,
            limits,
            provider,
            counters: Counters::default(),
            identity,
            tap,
            connections,
            pending: Arc::new(Semaphore::new(limits.pending)),
            waiting: AtomicUsize::new(0),
            peers: Arc::new(Semaphore::new(limits.peers)),
            shown: AtomicBool::new(false),
        }
    }

    /// Its key and daemon id.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What answers its peers.
    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// Its counts.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Shows connections on the tap from now on: those before are the endpoint's trials of itself.
    pub fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
    }

    /// Accepts peers until it is told to stop, then gives those that are there `limits.drain`. Errors of accepting
    /// are waited out: they never end an endpoint.
    pub async fn run(self: Arc<Self>, listener: TcpListener, mut stop: Stop) {
        let mut tasks = JoinSet::new();
        let mut backoff = BACKOFF_MIN;
        loop {
            tokio::select! {
                () = stop.requested() => break,
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        backoff = BACKOFF_MIN;
                        tasks.spawn(Arc::clone(&self).admit(stream, stop.clone()));
                    }
                    Err(fault) => {
                        warn!(endpoint = self.name, %fault, "accepting failed; trying again in {backoff:?}");
                        sleep(backoff).await;
                        backoff = (backoff * 2).min(BACKOFF_MAX);
                    }
                },
            }
        }
        drop(listener);
        let deadline = Instant::now() + self.limits.drain;
        while let Ok(Some(_)) = timeout_at(deadline, tasks.join_next()).await {}
        if !tasks.is_empty() {
            warn!(endpoint = self.name, connections = tasks.len(), "closing peers that did not read in time");
        }
        tasks.shutdown().await;
    }

    async fn admit(self: Arc<Self>, stream: TcpStream, mut stop: Stop) {
        Counters::one(&self.counters.accepted);
        let observer = self.observer();
        let connection = observer.connection();
        let served = async {
            let Some(place) = self.place().await else {
                Counters::one(&self.counters.turned_away);
                warn!(endpoint = self.name, connection, "no place in the handshake: connection closed");
                return None;
            };
            self.authenticate(stream, &observer, place).await
        };
        let (peer, _seat) = tokio::select! {
            () = stop.requested() => return,
            authenticated = served => match authenticated {
                Some(authenticated) => authenticated,
                None => return,
            },
        };
        Counters::one(&self.counters.open);
        let end = connection::serve(peer, &self, &observer, stop).await;
        self.counters.open.fetch_sub(1, Ordering::Relaxed);
        end.report(self.name, connection, &self.counters);
    }

    /// A place in the handshake: at once, or after waiting for at most one deadline.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.pending).try_acquire_owned() {
            return Some(place);
        }
        let _turn = Turn::take(&self.waiting, self.limits.waiting)?;
        let deadline = Instant::now() + self.limits.handshake;
        timeout_at(deadline, Arc::clone(&self.pending).acquire_owned()).await.ok()?.ok()
    }

    async fn authenticate(
        &self,
        stream: TcpStream,
        observer: &Observer,
        place: OwnedSemaphorePermit,
    ) -> Option<(handshake::Authenticated, OwnedSemaphorePermit)> {
        let (endpoint, connection) = (self.name, observer.connection());
        let deadline = Instant::now() + self.limits.handshake;
        if let Err(fault) = tune(&stream, self.limits.tuning) {
            debug!(endpoint, connection, %fault, "the peer was gone before its socket was set");
            return None;
        }
        let peer = match handshake::accept(stream, &self.identity, deadline, observer).await {
            Ok(peer) => peer,
            Err(fault) => {
                Counters::one(&self.counters.unauthenticated);
                info!(endpoint, connection, reason = fault.name(), %fault, "peer not authenticated");
                return None;
            }
        };
        drop(place);
        Counters::one(&self.counters.authenticated);
        let Ok(seat) = Arc::clone(&self.peers).try_acquire_owned() else {
            Counters::one(&self.counters.turned_away);
            warn!(endpoint, connection, peers = self.limits.peers, "too many peers: connection closed");
            return None;
        };
        if self.shown.load(Ordering::Relaxed) {
            info!(endpoint, connection, claim = ?peer.claim, "peer authenticated");
        }
        Some((peer, seat))
    }

    fn observer(&self) -> Observer {
        if !self.shown.load(Ordering::Relaxed) {
            return Observer::none();
        }
        let connection = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        Observer::new(self.tap.clone(), connection, self.name)
    }
}

const BACKOFF_MIN: Duration = Duration::from_millis(5);
const BACKOFF_MAX: Duration = Duration::from_secs(1);

/// One of a bounded number of turns to wait.
struct Turn<'a>(&'a AtomicUsize);

impl<'a> Turn<'a> {
    fn take(waiting: &'a AtomicUsize, limit: usize) -> Option<Self> {
        let more = |count| (count < limit).then_some(count + 1);
        waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Self(waiting))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

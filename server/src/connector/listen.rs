//! The connector's sockets: one request, one reply, one connection.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::{debug, warn};
use twolane_core::limits::CONNECTOR_PREFIX_LEN;

use super::backend::ProviderBackend;
use super::service::{Answer, Service};
use crate::inspect::Tap;
use crate::inspect::tap::{Direction, Kind};
use crate::net::observe::Observer;
use crate::stop::Stop;
use crate::stop_points::{self, Point};
use crate::store::Engine;

/// What connections may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at once; more are closed.
    pub connections: usize,
    /// How long a request may take to arrive.
    pub read_time: Duration,
    /// How long a reply may take to be taken.
    pub write_time: Duration,
    /// How long runs have to end when the server stops.
    pub drain: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 1024,
            read_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            drain: Duration::from_secs(10),
        }
    }
}

const BACKOFF_MIN: Duration = Duration::from_millis(5);
const BACKOFF_MAX: Duration = Duration::from_secs(1);

/// Bytes that are read and dropped behind a reply, so that it is not lost to a reset.
const REST_BYTES_MAX: u64 = 64 * 1024;

/// Bytes that a read asks for at first: an announced length costs nothing before its bytes are there.
const READ_BYTES: usize = 16 * 1024;

/// What shows the connections on the tap of their server.
#[derive(Clone, Debug)]
pub struct Watch {
    tap: Tap,
    connections: Arc<AtomicU64>,
}

impl Watch {
    /// On `tap`; `connections` numbers the connections of all endpoints of a server.
    pub fn new(tap: Tap, connections: Arc<AtomicU64>) -> Self {
        Self { tap, connections }
    }

    /// For a connector that nobody watches.
    pub fn none() -> Self {
        Self::new(Tap::off(), Arc::default())
    }

    fn observer(&self) -> Observer {
        let connection = self.connections.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        Observer::new(self.tap.clone(), connection, ENDPOINT)
    }
}

/// The endpoint's name on the tap.
const ENDPOINT: &str = "connector";

/// Why a connection was closed without a reply.
#[derive(Debug, thiserror::Error)]
enum Closed {
    #[error("the peer sent nothing")]
    Nothing,
    #[error("the request was not whole in time")]
    Slow,
    #[error("the request ended early")]
    Short,
    #[error("a frame of {len} bytes, {max} are taken")]
    Length { len: u32, max: u64 },
    #[error("no answer: {0}")]
    Silent(&'static str),
    #[error("the reply was not taken in time")]
    Stuck,
    #[error(transparent)]
    Socket(#[from] io::Error),
}

/// Accepts until it is told to stop, then lets the runs end. An error of accepting is waited out.
pub async fn serve<B: ProviderBackend, E: Engine>(
    service: Arc<Service<B, E>>,
    listener: TcpListener,
    bounds: Bounds,
    watch: Watch,
    mut stop: Stop,
) {
    let places = Arc::new(Semaphore::new(bounds.connections));
    let mut connections = JoinSet::new();
    let mut backoff = BACKOFF_MIN;
    loop {
        tokio::select! {
            () = stop.requested() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => match (accepted, Arc::clone(&places).try_acquire_owned()) {
                (Ok((stream, peer)), Ok(place)) => {
                    backoff = BACKOFF_MIN;
                    stop_points::pass(Point::Accepted);
                    let (service, observer) = (Arc::clone(&service), watch.observer());
                    connections.spawn(async move {
                        if let Err(reason) = one(&service, stream, bounds, &observer).await {
                            debug!(%peer, %reason, "connector: closed without a reply");
                        }
                        drop(place);
                    });
                }
                (Ok((_, peer)), Err(_)) => warn!(%peer, most = bounds.connections, "connector: no place, closed"),
                (Err(fault), _) => {
                    warn!(%fault, "connector: accepting failed; trying again in {backoff:?}");
                    sleep(backoff).await;
                    backoff = (backoff * 2).min(BACKOFF_MAX);
                }
            },
        }
    }
    drop(listener);
    stop_points::pass(Point::Stopping);
    service.stop(bounds.drain).await;
    stop_points::pass(Point::RunsEnded);
    let deadline = Instant::now() + bounds.write_time.min(bounds.drain);
    while let Ok(Some(_)) = timeout_at(deadline, connections.join_next()).await {}
    connections.shutdown().await;
}

/// Listens on a loopback address.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    if !address.ip().is_loopback() {
        let words = format!("{address} is no loopback address");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    }
    TcpListener::bind(address).await
}

async fn one<B: ProviderBackend, E: Engine>(
    service: &Arc<Service<B, E>>,
    mut stream: TcpStream,
    bounds: Bounds,
    observer: &Observer,
) -> Result<(), Closed> {
    stream.set_nodelay(true)?;
    let request = read(&mut stream, service.frame_max());
    let request = timeout(bounds.read_time, request).await.map_err(|_| Closed::Slow)??;
    stop_points::pass(Point::RequestRead);
    observer.offer(Direction::AToB, Kind::Connector, &request);
    let body = request.get(CONNECTOR_PREFIX_LEN..).unwrap_or_default();
    let frame = match timeout(service.answer_time(), service.answer(body)).await {
        Ok(Answer::Frame(frame)) => frame,
        Ok(Answer::Silent(reason)) => return Err(Closed::Silent(reason)),
        Err(_) => return Err(Closed::Silent("it took longer than a run may")),
    };
    observer.offer(Direction::BToA, Kind::Connector, &frame);
    timeout(bounds.write_time, write(stream, &frame)).await.map_err(|_| Closed::Stuck)??;
    Ok(())
}

/// A whole frame, its length prefix first.
async fn read(stream: &mut TcpStream, frame_max: u64) -> Result<BytesMut, Closed> {
    let mut prefix = [0; CONNECTOR_PREFIX_LEN];
    if stream.read(&mut prefix[..1]).await? == 0 {
        return Err(Closed::Nothing);
    }
    stream.read_exact(&mut prefix[1..]).await.map_err(short)?;
    stop_points::pass(Point::PrefixRead);
    let len = u32::from_be_bytes(prefix);
    if len == 0 || u64::from(len) > frame_max {
        return Err(Closed::Length { len, max: frame_max });
    }
    let mut frame = BytesMut::from(&prefix[..]);
    let mut rest = stream.take(u64::from(len));
    while rest.limit() > 0 {
        frame.reserve(READ_BYTES.max(frame.len()).min(usize::try_from(rest.limit()).unwrap_or(usize::MAX)));
        if rest.read_buf(&mut frame).await? == 0 {
            return Err(Closed::Short);
        }
    }
    Ok(frame)
}

fn short(fault: io::Error) -> Closed {
    match fault.kind() {
        io::ErrorKind::UnexpectedEof => Closed::Short,
        _ => Closed::Socket(fault),
    }
}

async fn write(mut stream: TcpStream, frame: &[u8]) -> io::Result<()> {
    let (first, rest) = stop_points::halves(frame);
    stream.write_all(first).await?;
    stop_points::pass(Point::AnswerHalfWritten);
    stream.write_all(rest).await?;
    stop_points::pass(Point::AnswerWritten);
    stream.shutdown().await?;
    let mut rest = [0; 4096];
    let mut more = stream.take(REST_BYTES_MAX);
    while more.read(&mut rest).await? > 0 {}
    Ok(())
}

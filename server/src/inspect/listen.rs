//! Accepts the page server's connections, bounded in number and time, until told to stop.

use std::io;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::limits::{
    ACCEPT_PAUSE, PAGE_CONNECTIONS_MAX, PAGE_HEAD_BYTES_MAX, PAGE_HEAD_LINES_MAX, PAGE_HEAD_TIMEOUT,
    PAGE_STOP_TIMEOUT,
};
use crate::stop::Stop;

/// Serves `router` until `stopping`, then lets answers under way end for [`PAGE_STOP_TIMEOUT`].
pub(crate) async fn listen(listener: TcpListener, router: Router, mut stopping: Stop) {
    let places = Arc::new(Semaphore::new(PAGE_CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            () = stopping.requested() => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, place)) => {
                connections.spawn(serve(stream, router.clone(), stopping.clone(), place));
            }
            Err(fault) => {
                tracing::warn!(%fault, "a page's connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(PAGE_STOP_TIMEOUT, ended).await;
    connections.shutdown().await;
}

/// A place first, then a connection for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}

async fn serve(stream: TcpStream, router: Router, mut stopping: Stop, _place: OwnedSemaphorePermit) {
    // Small answers; without this they would wait for the peer's acknowledgement.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PAGE_HEAD_TIMEOUT)
        .max_headers(PAGE_HEAD_LINES_MAX)
        .max_buf_size(PAGE_HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    let mut connection = pin!(connection);
    // A peer that breaks HTTP is told by its answer; there is nobody else to tell.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stopping.requested() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Whether only this machine can reach the listener.
pub(crate) fn check_loopback(listener: &TcpListener) -> io::Result<()> {
    let address = listener.local_addr()?;
    if address.ip().is_loopback() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("the page is served on loopback addresses only, not on {address}"),
    ))
}

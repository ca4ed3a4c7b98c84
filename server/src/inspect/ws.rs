//! One page's tap: a WebSocket whose binary messages, put together, are one pcapng file.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};

use super::stream::Pcapng;
use crate::limits::{WS_CLOSE_TIMEOUT, WS_PING_EVERY, WS_SEND_TIMEOUT};
use crate::stop::Stop;

/// Counts an open WebSocket for as long as it lives.
#[derive(Debug)]
pub(crate) struct Open(watch::Sender<usize>);

impl Open {
    pub(crate) fn new(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|open| *open += 1);
        Self(count.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open = open.saturating_sub(1));
    }
}

/// Why a tap ended, in the page's words.
enum End {
    /// The page closed it, vanished, or broke the WebSocket: nobody is left to be told.
    Gone,
    Told(u16, &'static str),
}

/// Sends the tap until the page leaves, its session ends or the server stops.
pub(crate) async fn serve(
    mut socket: WebSocket,
    mut stream: Pcapng,
    session_left: Duration,
    mut stopping: Stop,
    _open: Open,
) {
    let end = tokio::select! {
        end = send_tap(&mut socket, &mut stream, session_left) => end,
        () = stopping.requested() => End::Told(close_code::AWAY, "the server stops"),
    };
    drop(stream);
    if let End::Told(code, reason) = end {
        let close = Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) }));
        // A page that does not take even this is gone.
        let _ = timeout(WS_CLOSE_TIMEOUT, socket.send(close)).await;
    }
}

async fn send_tap(socket: &mut WebSocket, stream: &mut Pcapng, session_left: Duration) -> End {
    let session_ends = Instant::now() + session_left;
    let mut ping = interval_at(Instant::now() + WS_PING_EVERY, WS_PING_EVERY);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut answered = true;
    loop {
        let message = tokio::select! {
            bytes = stream.next() => Message::Binary(bytes),
            _ = ping.tick() => {
                if !answered {
                    return End::Gone;
                }
                answered = false;
                Message::Ping(axum::body::Bytes::new())
            }
            heard = socket.recv() => match heard {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                    answered = true;
                    continue;
                }
                Some(Ok(Message::Text(_) | Message::Binary(_))) => {
                    return End::Told(close_code::POLICY, "a page has nothing to say here");
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return End::Gone,
            },
            () = sleep_until(session_ends) => {
                return End::Told(close_code::POLICY, "the session ended");
            }
        };
        match timeout(WS_SEND_TIMEOUT, socket.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return End::Gone,
        }
    }
}

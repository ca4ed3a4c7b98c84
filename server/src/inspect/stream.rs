//! The tap as a growing pcapng file, cut into the chunks in which it is sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use tokio::sync::mpsc;
use tokio::time::Instant;
use twolane_capture::tap::section;

use super::pcapng;
use super::tap::{Entry, Listener};
use crate::limits::TAP_FLUSH_EVERY;
use crate::stop::Stop;

/// The chunks for one listener.
#[derive(Debug)]
pub(crate) struct Pcapng {
    listener: Listener,
    entries: Vec<Entry>,
    not_before: Option<Instant>,
}

impl Pcapng {
    pub(crate) fn new(listener: Listener) -> Self {
        Self { listener, entries: Vec::new(), not_before: None }
    }

    /// The next chunk: whole blocks, beginning with the section header. Dropping the future loses
    /// nothing.
    pub(crate) async fn next(&mut self) -> Bytes {
        let mut out = Vec::new();
        match self.not_before {
            None => section(&mut out),
            Some(not_before) => self.listener.batch(not_before, &mut self.entries).await,
        }
        for entry in self.entries.drain(..) {
            pcapng::write(&entry, &mut out);
        }
        self.not_before = Some(Instant::now() + TAP_FLUSH_EVERY);
        out.into()
    }
}

/// The chunks as the body of an answer, for the command line.
pub(crate) struct PcapngBody(mpsc::Receiver<Bytes>);

impl PcapngBody {
    /// Ends when the server stops, or when nobody reads it any more.
    pub(crate) fn start(mut stream: Pcapng, mut stopping: Stop) -> Body {
        // One chunk ahead: what a slow reader leaves waits, and is lost, in the tap's own queue.
        let (chunks, body) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let chunk = tokio::select! {
                    chunk = stream.next() => chunk,
                    () = chunks.closed() => return,
                    () = stopping.requested() => return,
                };
                tokio::select! {
                    sent = chunks.send(chunk) => if sent.is_err() { return },
                    () = stopping.requested() => return,
                }
            }
        });
        Body::new(Self(body))
    }
}

impl HttpBody for PcapngBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

//! The writing half of a connection: one task, many frames a write, control re-decided between them.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncWrite as _, AsyncWriteExt as _, Interest};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::task::{unconstrained, yield_now};
use tokio::time::{Instant, sleep_until};

use super::lanes::{Batch, Lanes, Share};

/// How a connection writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Bytes of frames in one write while the socket keeps up; one frame at least.
    pub batch_bytes: usize,
    /// Bytes of a write up to which display goes into it while the socket does not keep up: what a control frame may
    /// have to wait for beside the kernel's own bytes.
    pub contended_bytes: usize,
    /// How long the peer may read nothing while control waits.
    pub stall: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { batch_bytes: 256 * 1024, contended_bytes: 16 * 1024, stall: Duration::from_secs(30) }
    }
}

/// Batches in a row that a socket has to take at once to count as keeping up again. More than the kernel's buffers
/// hold: room in them alone says nothing about the peer.
const CALM_BATCHES: u32 = 64;

/// Room that is kept for a batch, in batches: a frame beyond the limit, and what a vector takes ahead.
const KEPT_BATCHES: usize = 4;

/// Why writing ended.
#[derive(Debug, thiserror::Error)]
pub enum WriteEnd {
    /// All was written that was to be written.
    #[error("all written")]
    Done,
    /// The peer read nothing for the stated time while control waited.
    #[error("the peer read nothing for {}s while control waited", limit.as_secs_f32())]
    Stalled {
        /// The time.
        limit: Duration,
    },
    /// The socket failed.
    #[error("writing failed: {0}")]
    Socket(#[from] io::Error),
}

/// Writes what the lanes hold until they end, showing each frame to `each`. Shuts the direction down behind the
/// last byte.
///
/// What was taken from the lanes cannot be overtaken or shed any more, so while the peer does not keep up, display is
/// taken only when the socket has room for it, and little at a time.
pub async fn write(
    lanes: &Lanes,
    socket: &mut OwnedWriteHalf,
    pace: Pace,
    mut each: impl FnMut(&[u8]),
) -> WriteEnd {
    let mut batch = Vec::new();
    // Batches that are still to be taken at once before the socket counts as keeping up.
    let mut wary = 0;
    loop {
        batch.clear();
        // One long control frame must not be paid for as long as the connection lives.
        batch.shrink_to(KEPT_BATCHES * pace.batch_bytes);
        let share = match turn(lanes, socket, wary > 0, pace).await {
            Ok(share) => share,
            Err(end) => return end,
        };
        match lanes.take_batch(&mut batch, pace.batch_bytes, share, &mut each) {
            Batch::Empty if share == Share::Urgent => {}
            Batch::Empty => {
                wary = 0;
                lanes.filled().await;
                // Who woke us may have more to say: one call of the socket then takes all of it.
                yield_now().await;
            }
            Batch::Frames { control } => match send(lanes, socket, &batch, control, pace.stall).await {
                Ok(true) => wary = CALM_BATCHES,
                Ok(false) => wary = wary.saturating_sub(1),
                Err(end) => return end,
            },
            Batch::End => {
                return match socket.shutdown().await {
                    Ok(()) => WriteEnd::Done,
                    Err(fault) => WriteEnd::Socket(fault),
                };
            }
        }
    }
}

/// What may be taken now: control at any time, display where the socket has room or keeps up. Waits until there is
/// either; a LAST becomes urgent by the passing of time.
async fn turn(
    lanes: &Lanes,
    socket: &OwnedWriteHalf,
    contended: bool,
    pace: Pace,
) -> Result<Share, WriteEnd> {
    if !contended {
        return Ok(Share::Both { display_bytes: pace.batch_bytes });
    }
    let mut stalled_at = None;
    loop {
        let waiting = lanes.waiting();
        if waiting.urgent {
            return Ok(Share::Urgent);
        }
        if has_room(socket)? {
            return Ok(Share::Both { display_bytes: pace.contended_bytes });
        }
        if waiting.control && stalled_at.is_none() {
            stalled_at = Some(Instant::now() + pace.stall);
        }
        let deadline = waiting.deadline.map(Instant::from_std);
        let wake_at = deadline.into_iter().chain(stalled_at).min();
        tokio::select! {
            ready = socket.writable() => ready?,
            () = lanes.filled() => {}
            () = sleep_until(wake_at.unwrap_or_else(Instant::now)), if wake_at.is_some() => {
                if stalled_at.is_some_and(|at| at <= Instant::now()) {
                    return Err(WriteEnd::Stalled { limit: pace.stall });
                }
            }
        }
    }
}

/// Whether the kernel would take bytes now. The runtime only remembers that it would once, until a write fails.
fn has_room(socket: &OwnedWriteHalf) -> io::Result<bool> {
    let stream = socket.as_ref();
    let asked = stream.try_io(Interest::WRITABLE, || {
        let mut polled = [PollFd::new(stream, PollFlags::OUT)];
        match poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(true),
        }
    });
    match asked {
        Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => Ok(false),
        asked => asked,
    }
}

/// Writes a whole batch and says whether the socket made it wait. Frames are never abandoned half-way while the
/// connection lives.
async fn send(
    lanes: &Lanes,
    socket: &mut OwnedWriteHalf,
    mut batch: &[u8],
    control: bool,
    stall: Duration,
) -> Result<bool, WriteEnd> {
    let mut blocked = false;
    while !batch.is_empty() {
        // Unlike `try_write` it remembers a write in part, and asks the kernel no second time that is in vain.
        let write = poll_fn(|context| Poll::Ready(Pin::new(&mut *socket).poll_write(context, batch)));
        match unconstrained(write).await {
            Poll::Ready(Ok(0)) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
            Poll::Ready(Ok(count)) => {
                batch = batch.get(count..).unwrap_or_default();
                blocked |= !batch.is_empty();
            }
            Poll::Ready(Err(fault)) => return Err(fault.into()),
            Poll::Pending => {
                blocked = true;
                wait_writable(lanes, socket, control, stall).await?;
            }
        }
    }
    Ok(blocked)
}

/// Waits for room in the socket: as long as it takes while only display waits, `stall` from the moment that control
/// does.
async fn wait_writable(
    lanes: &Lanes,
    socket: &OwnedWriteHalf,
    control: bool,
    stall: Duration,
) -> Result<(), WriteEnd> {
    let mut stalled_at = None;
    loop {
        if stalled_at.is_none() && (control || lanes.waiting().control) {
            stalled_at = Some(Instant::now() + stall);
        }
        tokio::select! {
            ready = socket.writable() => return Ok(ready?),
            () = lanes.filled(), if stalled_at.is_none() => {}
            () = sleep_until(stalled_at.unwrap_or_else(Instant::now)), if stalled_at.is_some() => {
                return Err(WriteEnd::Stalled { limit: stall });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use tokio::net::TcpStream;
    use twolane_core::envelope::{Generation, Version};
    use twolane_core::lanes::outbox::{Budget, Place};
    use twolane_core::limits::DISPLAY_QUEUE_BYTES;

    use super::super::inbox::{Found, Inbox};
    use super::super::socket::{Tuning, connect, listen, tune};
    use super::*;

    const BOUND: Duration = Duration::from_secs(60);

    fn place() -> Place<'static> {
        Place { generation: Generation { epoch: 0, channel: 1 }, corr: 1, run_id: "run", step_id: 1 }
    }

    async fn pair() -> (TcpStream, TcpStream) {
        let tuning = Tuning::default();
        let listener = listen("127.0.0.1:0".parse().unwrap(), tuning).unwrap();
        let client = connect(listener.local_addr().unwrap(), tuning, BOUND).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        tune(&server, tuning).unwrap();
        (client, server)
    }

    /// Pushes display until the writer is stuck behind a peer that reads nothing and the queue overflows.
    async fn flood(lanes: &Lanes) {
        let text = "d".repeat(1000);
        for at in 0.. {
            if lanes.shed_total() > 500 {
                return;
            }
            let id = at % 2;
            let delta = format!("{{\"type\":\"text_delta\",\"message_id\":\"m{id}\",\"delta\":\"{text}\"}}");
            lanes.display(place(), delta.as_bytes()).unwrap();
            tokio::task::yield_now().await;
        }
    }

    fn start(lanes: &Lanes, server: TcpStream, pace: Pace) -> tokio::task::JoinHandle<WriteEnd> {
        let lanes = lanes.clone();
        let (_read, mut write_half) = server.into_split();
        tokio::spawn(async move { write(&lanes, &mut write_half, pace, |_| {}).await })
    }

    #[tokio::test]
    async fn control_waits_for_what_kernel_and_batch_hold_and_not_for_the_queue() {
        let (mut client, server) = pair().await;
        let lanes = Lanes::new(Version::V1, Budget::default());
        let writer = start(&lanes, server, Pace { stall: BOUND, ..Pace::default() });
        flood(&lanes).await;
        lanes.control(place(), b"{\"type\":\"step_started\"}", false).await.unwrap();
        let mut inbox = Inbox::new(BytesMut::new(), u32::MAX);
        let ahead_bytes = loop {
            let offset = inbox.offset();
            match inbox.take().unwrap() {
                Some(Found::Frame(frame)) if frame.header.flags().bits() == 2 => break offset,
                Some(_) => {}
                None => assert_ne!(inbox.read(&mut client).await.unwrap(), 0),
            }
        };
        // Behind the whole queue it would be at least the queue's budget further back.
        assert!(ahead_bytes < DISPLAY_QUEUE_BYTES as u64, "{ahead_bytes} bytes went first");
        writer.abort();
    }

    #[tokio::test]
    async fn a_peer_may_stop_reading_while_only_display_waits() {
        let (_client, server) = pair().await;
        let lanes = Lanes::new(Version::V1, Budget::default());
        let limit = Duration::from_millis(50);
        let mut writer = start(&lanes, server, Pace { stall: limit, ..Pace::default() });
        flood(&lanes).await;
        assert!(tokio::time::timeout(4 * limit, &mut writer).await.is_err());
        lanes.control(place(), b"{\"type\":\"step_started\"}", false).await.unwrap();
        let end = tokio::time::timeout(BOUND, writer).await.unwrap().unwrap();
        assert!(matches!(end, WriteEnd::Stalled { .. }));
    }
}

//! The writing half of a connection: one task, many frames a write, control re-decided between them.

use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::{Instant, sleep_until};

use super::lanes::{Batch, Lanes};

/// Bytes of a batch while the socket keeps up.
const BATCH_MAX: usize = 64 * 1024;

/// Bytes of a batch while it does not: what a control frame may have to wait for beside the kernel's own bytes.
const BATCH_CONTENDED: usize = 16 * 1024;

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
pub(super) async fn write(
    lanes: &Lanes,
    socket: &mut OwnedWriteHalf,
    stall_limit: Duration,
    mut each: impl FnMut(&[u8]),
) -> WriteEnd {
    let mut batch = Vec::new();
    let mut contended = false;
    loop {
        batch.clear();
        // What is taken before the socket has room cannot be overtaken any more.
        if contended && let Err(end) = wait_writable(lanes, socket, false, stall_limit).await {
            return end;
        }
        let limit = if contended { BATCH_CONTENDED } else { BATCH_MAX };
        match lanes.take_batch(&mut batch, limit, &mut each) {
            Batch::Empty => {
                contended = false;
                lanes.filled().await;
            }
            Batch::Frames { control } => match send(lanes, socket, &batch, control, stall_limit).await {
                Ok(blocked) => contended = blocked,
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

/// Writes a whole batch and says whether the socket made it wait. Frames are never abandoned half-way while the
/// connection lives.
async fn send(
    lanes: &Lanes,
    socket: &OwnedWriteHalf,
    mut batch: &[u8],
    control: bool,
    stall_limit: Duration,
) -> Result<bool, WriteEnd> {
    let mut blocked = false;
    while !batch.is_empty() {
        match socket.try_write(batch) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
            Ok(count) => batch = batch.get(count..).unwrap_or_default(),
            Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => {
                blocked = true;
                wait_writable(lanes, socket, control, stall_limit).await?;
            }
            Err(fault) => return Err(fault.into()),
        }
    }
    Ok(blocked)
}

/// Waits for room in the socket: as long as it takes while only display waits, `stall_limit` from the moment that
/// control does.
async fn wait_writable(
    lanes: &Lanes,
    socket: &OwnedWriteHalf,
    control: bool,
    stall_limit: Duration,
) -> Result<(), WriteEnd> {
    let mut stalled_at = None;
    loop {
        if stalled_at.is_none() && (control || lanes.control_waits()) {
            stalled_at = Some(Instant::now() + stall_limit);
        }
        tokio::select! {
            ready = socket.writable() => return Ok(ready?),
            () = lanes.filled(), if stalled_at.is_none() => {}
            () = sleep_until(stalled_at.unwrap_or_else(Instant::now)), if stalled_at.is_some() => {
                return Err(WriteEnd::Stalled { limit: stall_limit });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use tokio::net::TcpStream;
    use twolane_core::envelope::{Generation, Version};
    use twolane_core::lanes::outbox::Place;
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

    fn start(lanes: &Lanes, server: TcpStream, stall: Duration) -> tokio::task::JoinHandle<WriteEnd> {
        let lanes = lanes.clone();
        let (_read, mut write_half) = server.into_split();
        tokio::spawn(async move { write(&lanes, &mut write_half, stall, |_| {}).await })
    }

    #[tokio::test]
    async fn control_waits_for_what_kernel_and_batch_hold_and_not_for_the_queue() {
        let (mut client, server) = pair().await;
        let lanes = Lanes::new(Version::V1);
        let writer = start(&lanes, server, BOUND);
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
        let lanes = Lanes::new(Version::V1);
        let limit = Duration::from_millis(50);
        let mut writer = start(&lanes, server, limit);
        flood(&lanes).await;
        assert!(tokio::time::timeout(4 * limit, &mut writer).await.is_err());
        lanes.control(place(), b"{\"type\":\"step_started\"}", false).await.unwrap();
        let end = tokio::time::timeout(BOUND, writer).await.unwrap().unwrap();
        assert!(matches!(end, WriteEnd::Stalled { .. }));
    }
}

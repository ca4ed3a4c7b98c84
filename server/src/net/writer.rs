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

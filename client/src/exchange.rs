//! One connection: a frame out, a frame in, within bounds of bytes and time.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use twolane_core::limits::CONNECTOR_PREFIX_LEN;

/// Bytes that a read asks for at first: an announced length costs nothing before its bytes are there.
const READ_BYTES: usize = 16 * 1024;

/// What one connection may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of a frame either way, without its length prefix.
    pub frame_max: u64,
    /// How long connecting may take.
    pub connect_time: Duration,
    /// How long the request may take to be taken.
    pub write_time: Duration,
    /// How long the reply may take to begin: as long as a turn may run.
    pub wait_time: Duration,
    /// How long a reply may take once it began.
    pub read_time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            frame_max: 16 * 1024 * 1024,
            connect_time: Duration::from_secs(5),
            write_time: Duration::from_secs(30),
            wait_time: Duration::from_secs(30 * 60),
            read_time: Duration::from_secs(30),
        }
    }
}

/// Why a connection brought no reply. Whether the request arrived is not known, so that only the same bytes may be
/// sent again.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// Nobody is there.
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(io::Error),
    /// The server closed without a word: it stopped, is full, or takes no such frame.
    #[error("the server closed without a reply")]
    Closed,
    /// The server closed in the middle of its reply.
    #[error("the reply ended after {read} bytes")]
    Short {
        /// Bytes that came.
        read: usize,
    },
    /// A step took longer than it may.
    #[error("{0}: not done in time")]
    Slow(&'static str),
}

/// Why what came is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExchangeFault {
    #[error(transparent)]
    Lost(Lost),
    #[error("a reply of {announced} bytes")]
    TooLong { announced: u32 },
}

/// Sends a frame with its prefix and reads the body of the one that comes back. Nothing is closed before.
pub(crate) async fn exchange(
    address: SocketAddr,
    frame: &[u8],
    bounds: &Bounds,
) -> Result<Vec<u8>, ExchangeFault> {
    let lost = ExchangeFault::Lost;
    let connected =
        within(bounds.connect_time, "connecting", TcpStream::connect(address)).await.map_err(lost)?;
    let mut stream = connected.map_err(|fault| lost(Lost::Connect(fault)))?;
    let broken = |fault| lost(Lost::Broken(fault));
    stream.set_nodelay(true).map_err(broken)?;
    within(bounds.write_time, "sending", stream.write_all(frame)).await.map_err(lost)?.map_err(broken)?;
    let mut prefix = [0; CONNECTOR_PREFIX_LEN];
    let waited =
        within(bounds.wait_time, "waiting for the reply", stream.read(&mut prefix)).await.map_err(lost)?;
    let begun = match waited.map_err(broken)? {
        0 => return Err(lost(Lost::Closed)),
        begun => begun,
    };
    within(bounds.read_time, "reading the reply", read(&mut stream, prefix, begun, bounds.frame_max))
        .await
        .map_err(lost)?
}

/// Reads the rest of a frame of whose prefix `begun` bytes are there.
async fn read(
    stream: &mut TcpStream,
    mut prefix: [u8; CONNECTOR_PREFIX_LEN],
    mut begun: usize,
    frame_max: u64,
) -> Result<Vec<u8>, ExchangeFault> {
    let short = |read| ExchangeFault::Lost(Lost::Short { read });
    let broken = |fault| ExchangeFault::Lost(Lost::Broken(fault));
    while let Some(rest) = prefix.get_mut(begun..).filter(|rest| !rest.is_empty()) {
        match stream.read(rest).await.map_err(broken)? {
            0 => return Err(short(begun)),
            read => begun += read,
        }
    }
    let announced = u32::from_be_bytes(prefix);
    if u64::from(announced) > frame_max {
        return Err(ExchangeFault::TooLong { announced });
    }
    let mut body = Vec::new();
    let mut rest = stream.take(u64::from(announced));
    while rest.limit() > 0 {
        let left = usize::try_from(rest.limit()).unwrap_or(usize::MAX);
        body.reserve(READ_BYTES.max(body.len()).min(left));
        if rest.read_buf(&mut body).await.map_err(broken)? == 0 {
            return Err(short(CONNECTOR_PREFIX_LEN + body.len()));
        }
    }
    Ok(body)
}

async fn within<T>(time: Duration, step: &'static str, work: impl Future<Output = T>) -> Result<T, Lost> {
    timeout(time, work).await.map_err(|_| Lost::Slow(step))
}

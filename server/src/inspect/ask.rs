//! The command line's side of the door: what it asks a running server for.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use bytes::{Buf as _, BytesMut};
use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use zeroize::Zeroizing;

use crate::limits::{ANSWER_BYTES_MAX, ANSWER_HEAD_BYTES_MAX, ASK_TIMEOUT};

/// A fresh one-use code.
#[derive(Deserialize)]
pub struct FreshCode {
    code: String,
    /// How long it opens the door, in seconds.
    pub expires_in_s: u64,
}

impl FreshCode {
    /// The address for a person.
    #[must_use]
    pub fn page_url(&self, address: SocketAddr) -> String {
        super::page_address(address, &self.code)
    }
}

/// Why there is no code.
#[derive(Debug, thiserror::Error)]
pub enum AskFault {
    /// Nobody answers there: the server is gone, or its run directory is another one.
    #[error("no server answers at {address}: {source}")]
    Unreachable {
        /// Where it was asked.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// What answers is no server of ours.
    #[error("what answers at {address} is no twolane server")]
    NotOurs {
        /// Where it was asked.
        address: SocketAddr,
    },
    /// The server refused.
    #[error("the server at {address} refused with status {status}, expected 200{}", hint(*.status))]
    Refused {
        /// Where it was asked.
        address: SocketAddr,
        /// The status of its answer.
        status: u16,
    },
    /// Not a loopback address: the token does not leave this machine.
    #[error("{address} is no loopback address; the token is not sent to it")]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
}

fn hint(status: u16) -> &'static str {
    match status {
        401 => "; tap-token in its run directory is another server's",
        429 => "; wait a minute and try again",
        _ => "",
    }
}

/// Asks the server at `address` for a code.
///
/// # Errors
///
/// Nobody answers, or not as a server of ours would, or it refuses the token.
pub fn fresh_code(address: SocketAddr, token: &str) -> Result<FreshCode, AskFault> {
    if !address.ip().is_loopback() {
        return Err(AskFault::NotLoopback { address });
    }
    let answer = exchange(address, token).map_err(|source| AskFault::Unreachable { address, source })?;
    let not_ours = || AskFault::NotOurs { address };
    let Head { code: status, head_len } = head(&answer).ok_or_else(not_ours)?;
    if status != 200 {
        return Err(AskFault::Refused { address, status });
    }
    serde_json::from_slice(answer.get(head_len..).unwrap_or_default()).map_err(|_| not_ours())
}

/// Begins to read the live traffic of the server at `address`: the stream, and what was read of the pcapng file
/// already. The file ends with the stream.
///
/// # Errors
///
/// Nobody answers, or not as a server of ours would, or it refuses the token or one more reader.
pub async fn tap(address: SocketAddr, token: &str) -> Result<(tokio::net::TcpStream, BytesMut), AskFault> {
    if !address.ip().is_loopback() {
        return Err(AskFault::NotLoopback { address });
    }
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    let asked = tokio::time::timeout(ASK_TIMEOUT, ask_tap(address, token)).await.map_err(late);
    let (stream, mut answer) =
        asked.and_then(|asked| asked).map_err(|source| AskFault::Unreachable { address, source })?;
    let status = head(&answer).ok_or(AskFault::NotOurs { address })?;
    if status.code != 200 {
        return Err(AskFault::Refused { address, status: status.code });
    }
    answer.advance(status.head_len);
    Ok((stream, answer))
}

/// Asks and reads as far as the end of the answer's head. HTTP/1.0 has no chunks: the body is the file as it is.
async fn ask_tap(address: SocketAddr, token: &str) -> io::Result<(tokio::net::TcpStream, BytesMut)> {
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    let request = Zeroizing::new(format!(
        "GET /api/tap.pcapng HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    ));
    stream.write_all(request.as_bytes()).await?;
    let mut answer = BytesMut::new();
    while head(&answer).is_none() && answer.len() < ANSWER_HEAD_BYTES_MAX {
        if stream.read_buf(&mut answer).await? == 0 {
            break;
        }
    }
    Ok((stream, answer))
}

/// The status line of an answer whose head is there.
struct Head {
    code: u16,
    /// Bytes before the body.
    head_len: usize,
}

fn head(answer: &[u8]) -> Option<Head> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let text = std::str::from_utf8(answer.get(..end)?).ok()?;
    let rest = text.strip_prefix("HTTP/1.1 ").or_else(|| text.strip_prefix("HTTP/1.0 "))?;
    Some(Head { code: rest.get(..3)?.parse().ok()?, head_len: end + 4 })
}

fn exchange(address: SocketAddr, token: &str) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut stream = TcpStream::connect_timeout(&address, ASK_TIMEOUT)?;
    stream.set_read_timeout(Some(ASK_TIMEOUT))?;
    stream.set_write_timeout(Some(ASK_TIMEOUT))?;
    let request = Zeroizing::new(format!(
        "POST /api/code HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    ));
    stream.write_all(request.as_bytes())?;
    let mut answer = Zeroizing::new(Vec::new());
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    Ok(answer)
}

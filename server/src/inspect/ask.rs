//! The command line's side of the door: one question to a running server.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde::Deserialize;
use zeroize::Zeroizing;

/// How long the server may take over each step of its answer.
pub const ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 16 * 1024;

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
    let head_len = answer.windows(4).position(|window| window == b"\r\n\r\n").ok_or_else(not_ours)?;
    let (head, body) = answer.split_at(head_len);
    let status = std::str::from_utf8(head)
        .ok()
        .and_then(|head| head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok())
        .ok_or_else(not_ours)?;
    if status != 200 {
        return Err(AskFault::Refused { address, status });
    }
    serde_json::from_slice(body).map_err(|_| not_ours())
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

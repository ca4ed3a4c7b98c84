//! Asking the server that runs.

use std::path::Path;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use twolane_core::envelope::{FrameType, Version};

use super::desk::{Ask, Said};
use super::endpoint::{Endpoint, Reason, frame};
use crate::limits::{ADMIN_HANDSHAKE_TIMEOUT, ADMIN_SAID_BYTES_MAX};
use crate::net::client::{self, ConnectFault};
use crate::net::connection_file;
use crate::net::inbox::{Found, Inbox};
use crate::net::socket::Tuning;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskFault {
    /// The file is there, and nobody who knows its key.
    #[error("{0}")]
    Connect(#[from] ConnectFault),
    /// The connection, or what came over it.
    #[error("the server's admin endpoint: {0}")]
    Broken(Reason),
}

/// A connection to a server's admin endpoint.
#[derive(Debug)]
pub struct Asking {
    stream: TcpStream,
    inbox: Inbox,
    asked: u64,
}

impl Asking {
    /// Connects to the server that runs with this directory; `None` where none says that it does.
    pub async fn connect(run_dir: &Path) -> Result<Option<Self>, AskFault> {
        let Ok(known) = connection_file::read(&Endpoint::file(run_dir)) else { return Ok(None) };
        let peer = client::connect(&known, Tuning::default(), ADMIN_HANDSHAKE_TIMEOUT).await?;
        let inbox = Inbox::new(peer.unread, ADMIN_SAID_BYTES_MAX).with_version(Version::V1);
        Ok(Some(Self { stream: peer.stream, inbox, asked: 0 }))
    }

    /// Asks, and waits for as long as the answer takes.
    pub async fn ask(&mut self, ask: &Ask) -> Result<Said, AskFault> {
        self.exchange(ask).await.map_err(AskFault::Broken)
    }

    async fn exchange(&mut self, ask: &Ask) -> Result<Said, Reason> {
        self.asked += 1;
        let request = frame(FrameType::Request, self.asked, &serde_json::to_vec(ask)?)?;
        self.stream.write_all(&request).await?;
        loop {
            match self.inbox.take()? {
                Some(Found::Frame(frame))
                    if (frame.header.frame_type(), frame.header.corr())
                        == (FrameType::Response, self.asked) =>
                {
                    return Ok(serde_json::from_slice(frame.body())?);
                }
                Some(_) => return Err("an answer to no question".into()),
                None => {}
            }
            if self.inbox.read(&mut self.stream).await? == 0 {
                return Err("it closed without an answer".into());
            }
        }
    }
}

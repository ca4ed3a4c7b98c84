//! Redis as Debian packages it, its log synchronized before each answer.

use std::path::Path;
use std::process::Command;

use redis::aio::MultiplexedConnection;
use redis::{Client, cmd};
use tempfile::TempDir;

use super::{Keeper, Process, RECORD_BYTES, patiently};

const INSTALL: &str = "sudo apt-get install redis-server";

pub(crate) struct Redis {
    /// Before the folders that it writes to.
    _server: Process,
    client: Client,
    _sockets: TempDir,
    reply: Vec<u8>,
}

impl Redis {
    /// An empty one in `folder`, with answers of so many bytes.
    pub(crate) async fn start(folder: &Path, reply_bytes: usize) -> Result<Self, String> {
        let sockets = tempfile::tempdir().map_err(|fault| fault.to_string())?;
        let socket = sockets.path().join("redis.sock");
        let mut server = Command::new("redis-server");
        server.args(["--port", "0", "--appendonly", "yes", "--appendfsync", "always", "--save", ""]);
        server.arg("--dir").arg(folder).arg("--unixsocket").arg(&socket);
        let server = Process::start(&mut server, INSTALL)?;
        let client =
            Client::open(format!("redis+unix://{}", socket.display())).map_err(|fault| fault.to_string())?;
        patiently("Redis", async || client.get_multiplexed_async_connection().await).await?;
        Ok(Self { _server: server, client, _sockets: sockets, reply: vec![0x42; reply_bytes] })
    }
}

impl Keeper for Redis {
    type Caller = MultiplexedConnection;

    async fn caller(&self) -> MultiplexedConnection {
        self.client.get_multiplexed_async_connection().await.expect("a connection")
    }

    async fn turn(&self, caller: &mut MultiplexedConnection, key: String) {
        let mut claim = cmd("SET");
        claim.arg(&key).arg([0_u8; RECORD_BYTES].as_slice()).arg("NX");
        let claimed: Option<String> = claim.query_async(caller).await.expect("a claim");
        assert!(claimed.is_some(), "a new key");
        let mut finish = cmd("SET");
        finish.arg(&key).arg(&self.reply);
        let () = finish.query_async(caller).await.expect("an answer");
    }
}

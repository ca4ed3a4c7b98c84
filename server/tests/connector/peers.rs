//! What a client may find at an address: a proxy that cuts connections, and servers of any behaviour.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// After how many bytes of the request or of the reply a connection is cut; never where `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cut {
    pub(crate) request: Option<usize>,
    pub(crate) reply: Option<usize>,
}

/// A proxy and what went through it to the server, a list a connection.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// A proxy in front of `server` that cuts its first connections so, and then none.
pub(crate) async fn proxy(server: SocketAddr, cuts: impl IntoIterator<Item = Cut>) -> Proxy {
    let mut cuts: VecDeque<Cut> = cuts.into_iter().collect();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, requests) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let recorded = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let cut = cuts.pop_front().unwrap_or_default();
            let place = {
                let mut recorded = recorded.lock().unwrap();
                recorded.push(Vec::new());
                recorded.len() - 1
            };
            let recorded = Arc::clone(&recorded);
            tokio::spawn(async move {
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = TcpStream::connect(server).await.unwrap().into_split();
                let record = move |bytes: &[u8]| recorded.lock().unwrap()[place].extend_from_slice(bytes);
                // The first cut drops both sides.
                let _ = tokio::try_join!(
                    pump(from_client, to_server, cut.request, record),
                    pump(from_server, to_client, cut.reply, |_| {}),
                );
            });
        }
    });
    Proxy { address, requests }
}

/// Passes bytes on to their end, or fails once `limit` of them passed.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    limit: Option<usize>,
    record: impl Fn(&[u8]),
) -> Result<(), ()> {
    let mut left = limit.unwrap_or(usize::MAX);
    let mut bytes = [0; 4096];
    while left > 0 {
        let room = left.min(bytes.len());
        let read = from.read(&mut bytes[..room]).await.map_err(|_| ())?;
        if read == 0 {
            return to.shutdown().await.map_err(|_| ());
        }
        record(&bytes[..read]);
        to.write_all(&bytes[..read]).await.map_err(|_| ())?;
        left -= read;
    }
    Err(())
}

/// What a server does with a request.
pub(crate) enum Does {
    /// Answers with these bytes and closes.
    Closes(Vec<u8>),
    /// Answers with these bytes and says nothing more, until the client leaves.
    Holds(Vec<u8>),
}

/// A server that reads a frame of each connection and does something with its body.
pub(crate) async fn server(mut does: impl FnMut(&[u8]) -> Does + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let len = stream.read_u32().await.unwrap();
            let mut body = vec![0; len as usize];
            stream.read_exact(&mut body).await.unwrap();
            match does(&body) {
                Does::Closes(bytes) => stream.write_all(&bytes).await.unwrap(),
                Does::Holds(bytes) => {
                    stream.write_all(&bytes).await.unwrap();
                    tokio::spawn(async move { stream.read(&mut [0]).await });
                }
            }
        }
    });
    address
}

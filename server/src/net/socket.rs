//! Sockets with short buffers: bytes that the kernel holds cannot be overtaken by a control frame.

use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// Connections that the kernel may hold before they are accepted.
const BACKLOG: i32 = 1024;

/// How the sockets of lane connections are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Receive buffer in bytes.
    pub receive_bytes: u32,
    /// Unsent bytes over which a socket does not count as writable; 0 leaves the platform's.
    pub unsent_bytes: u32,
    /// Bytes of one segment (TCP_MAXSEG); 0 leaves the platform's. Loopback's own are as long as a short receive
    /// buffer: the window then opens a whole segment at a time, and now and then only by a timer of 200 ms.
    pub segment_bytes: u32,
}

/// Segments that a receive buffer has to hold, so that the window never closes for want of room for one.
pub const SEGMENTS_MIN: u32 = 4;

/// What Linux takes as TCP_MAXSEG.
pub const SEGMENT_BYTES: RangeInclusive<u32> = 536..=32_767;

impl Default for Tuning {
    fn default() -> Self {
        Self { receive_bytes: 40 * 1024, unsent_bytes: 16 * 1024, segment_bytes: 8 * 1024 }
    }
}

/// A listener whose connections inherit the receive buffer and the segments, which have to be set before they exist.
pub fn listen(address: SocketAddr, tuning: Tuning) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_recv_buffer_size(tuning.receive_bytes as usize)?;
    limit_segments(&SockRef::from(&socket), tuning)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Connects with the receive buffer and the segments set, within `limit`.
pub async fn connect(address: SocketAddr, tuning: Tuning, limit: Duration) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_recv_buffer_size(tuning.receive_bytes)?;
    limit_segments(&SockRef::from(&socket), tuning)?;
    let stream = tokio::time::timeout(limit, socket.connect(address)).await.map_err(io::Error::from)??;
    tune(&stream, tuning)?;
    Ok(stream)
}

fn limit_segments(socket: &SockRef<'_>, tuning: Tuning) -> io::Result<()> {
    match tuning.segment_bytes {
        0 => Ok(()),
        bytes => socket.set_tcp_mss(bytes),
    }
}

/// What is set on every connection, accepted or opened.
pub fn tune(stream: &TcpStream, tuning: Tuning) -> io::Result<()> {
    stream.set_nodelay(true)?;
    if tuning.unsent_bytes > 0 {
        limit_unsent(stream, tuning.unsent_bytes)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn limit_unsent(stream: &TcpStream, bytes: u32) -> io::Result<()> {
    SockRef::from(stream).set_tcp_notsent_lowat(bytes)
}

/// The nearest thing elsewhere: fewer bytes in the kernel, sent or not.
#[cfg(not(target_os = "linux"))]
fn limit_unsent(stream: &TcpStream, bytes: u32) -> io::Result<()> {
    SockRef::from(stream).set_send_buffer_size(bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receive_buffer_holds_several_segments() {
        let tuning = Tuning::default();
        assert!(SEGMENT_BYTES.contains(&tuning.segment_bytes));
        assert!(tuning.receive_bytes >= SEGMENTS_MIN * tuning.segment_bytes);
    }

    #[tokio::test]
    async fn both_ends_get_short_buffers_short_segments_and_no_delay() {
        let tuning = Tuning::default();
        let listener = listen("127.0.0.1:0".parse().unwrap(), tuning).unwrap();
        let address = listener.local_addr().unwrap();
        let client = connect(address, tuning, Duration::from_secs(5)).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        tune(&server, tuning).unwrap();
        for stream in [&client, &server] {
            let socket = SockRef::from(stream);
            assert!(stream.nodelay().unwrap());
            // Linux books twice what is asked for.
            assert!(socket.recv_buffer_size().unwrap() <= 2 * tuning.receive_bytes as usize);
            // The header's options are taken from it.
            assert!(socket.tcp_mss().unwrap() <= tuning.segment_bytes);
            #[cfg(target_os = "linux")]
            assert_eq!(socket.tcp_notsent_lowat().unwrap(), 16 * 1024);
        }
    }
}

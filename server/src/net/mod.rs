//! Sockets: addresses, connection files, handshakes, and connections with two lanes.
//!
//! | file | what |
//! |---|---|
//! | `address` | literal loopback addresses |
//! | `socket` | listeners and sockets with short buffers |
//! | `secret_file`, `identity`, `connection_file` | keys on disk |
//! | `handshake` | the core's handshakes over a socket |
//! | `endpoint` | accepts, bounds and authenticates peers |
//! | `connection` | one authenticated peer: reader and writer |
//! | `inbox`, `lanes`, `writer` | unread bytes; what producers send; what the writer writes |
//! | `observe` | what all of it shows of itself |

pub mod address;
pub mod client;
pub mod connection;
pub mod connection_file;
pub mod endpoint;
pub mod handshake;
pub mod identity;
pub mod inbox;
pub mod lanes;
pub mod observe;
pub mod secret_file;
pub mod socket;
pub mod writer;

/// What we say we run. A claim; nothing depends on it.
pub const DAEMON_VER: &str = concat!("twolane-", env!("CARGO_PKG_VERSION"));

//! What an operator asks of a store of replies, whoever holds it: the server that runs, over an endpoint of its own, or
//! this process where none does.
//!
//! | file | what |
//! |---|---|
//! | `desk` | questions and answers, and what answers them |
//! | `endpoint` | the server's side: `admin.json`, the handshake of every endpoint, a Request frame and its Response |
//! | `client` | the other side |

pub mod client;
pub mod desk;
pub mod endpoint;

/// The endpoint's name in file names and logs.
pub const ADMIN: &str = "admin";

/// Bytes of a question: two ids and a path fit many times.
const ASK_BYTES_MAX: u32 = 64 * 1024;

/// Bytes of an answer: a page of requests with the longest ids, each byte of them escaped, fits.
const SAID_BYTES_MAX: u32 = 8 * 1024 * 1024;

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

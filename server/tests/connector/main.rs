//! Sealed turns over real sockets: replayed, refused, and run whatever the backend does.

mod admin;
mod ask;
mod call;
mod call_ends;
mod caller;
mod client;
mod configured;
mod crash;
mod history;
mod hostile_servers;
mod open;
mod peers;
mod place;
mod program;
mod refusing;
mod replay;
mod replay_command;
mod running;
#[cfg(feature = "stop-points")]
mod stopped;
mod world;

//! The handshake: another implementation's transcript, order of the checks, and what hostile bytes can do.

mod hostile;
mod messages;
mod order;
mod secrets;
mod transcript;
mod vector;

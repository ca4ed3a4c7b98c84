//! The server and `attach` over real sockets, against themselves and against peers of other hands.

mod attach;
mod bench;
mod hostile;
mod hostile_bodies;
mod hostile_garbage;
mod hostile_idle;
mod hostile_readers;
mod peers;
mod peers_v2;
mod process;
mod stderr;
mod stopped_reader;

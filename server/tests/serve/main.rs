//! The server and `attach` over real sockets, against themselves and against peers of other hands.

mod attach;
mod bench;
mod hostile;
mod peers;
mod peers_v2;
mod process;
mod stopped_reader;

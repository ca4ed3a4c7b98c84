//! The page's server over real sockets: who is let in, what every answer carries, what a listener
//! of the tap is told.

mod client;
mod door;
mod open_page;
mod page;
mod tap;

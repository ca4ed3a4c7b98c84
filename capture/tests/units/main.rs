//! Ordered pieces to units.

mod chunks;
mod damage;
mod filter;
mod handshakes;
mod index;
mod law;
mod peer;
mod stream;
mod summary;
mod wire;

//! Ordered pieces to units.

mod chunks;
mod connector;
mod damage;
mod filter;
mod handshakes;
mod index;
mod law;
mod peer;
mod stream;
mod summary;
mod wire;

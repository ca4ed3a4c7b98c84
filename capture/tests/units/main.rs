//! Ordered pieces to units.

mod damage;
mod filter;
mod handshakes;
mod index;
mod law;
mod stream;
mod wire;

#![no_std]
// A length or number that changes on its way is a fault of its own kind: refused, not warned of.
#![deny(
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]
#![doc = include_str!("../README.md")]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod body;
pub mod buffer;
pub mod connection_file;
pub mod connector;
pub mod dissect;
pub mod envelope;
pub mod frame;
pub mod handshake;
pub mod lanes;
pub mod limits;
pub mod scan;
pub mod session;
#[cfg(feature = "embedded-io-07")]
pub mod stream;

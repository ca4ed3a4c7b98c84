#![no_std]
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
#[cfg(feature = "embedded-io-07")]
pub mod stream;

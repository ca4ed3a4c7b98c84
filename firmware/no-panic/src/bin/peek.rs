//! Header peek and encode.
#![no_std]
#![no_main]

use no_panic::{output, program};
use twolane_core::envelope::{Peeked, peek};

program!(|bytes| {
    if let Ok(Peeked::Header(header)) = peek(bytes) {
        output(header.encode());
        output(header.lane());
        output(header.generation());
    }
});

//! Header peek and encode.
#![no_std]
#![no_main]

use no_panic::{halt, input, output};
use twolane_core::envelope::{Peeked, peek};

#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    let mut storage = [0; 512];
    let bytes = input(&mut storage);
    if let Ok(Peeked::Header(header)) = peek(bytes) {
        output(header.encode());
        output(header.lane());
        output(header.generation());
    }
    halt()
}

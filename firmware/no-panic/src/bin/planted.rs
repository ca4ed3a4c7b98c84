//! Keeps a panic, so that a check which cannot fail is noticed: it must not link.
#![no_std]
#![no_main]

use no_panic::{halt, input, output};


#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    let mut storage = [0; 512];
    let bytes = input(&mut storage);
    output(bytes[core::hint::black_box(7)]);
    halt()
}

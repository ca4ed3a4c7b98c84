//! Keeps a panic, so that a check which cannot fail is noticed: it must not link.
#![no_std]
#![no_main]

use no_panic::{output, program};

program!(|bytes| {
    output(bytes[core::hint::black_box(7)]);
});

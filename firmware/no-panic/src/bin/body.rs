//! The readers of bodies, and the law.
#![no_std]
#![no_main]

use no_panic::{halt, input, output};
use twolane_core::body::{Body, DisplayEvent, ProviderControl, peek};
use twolane_core::envelope::Lane;
use twolane_core::lanes::law::Law;

#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    let mut storage = [0; 512];
    let bytes = input(&mut storage);
    if let Some(peeked) = peek(bytes) {
        let mut law = Law::from_start(Lane::Display);
        output(law.check(peeked.seq, peeked.dropped));
    }
    if let Ok(body) = Body::parse(bytes) {
        output(DisplayEvent::read(&body.payload).is_ok());
        output(ProviderControl::from_provider(&body.payload).is_ok());
    }
    halt()
}

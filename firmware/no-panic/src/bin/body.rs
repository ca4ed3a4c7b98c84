//! The readers of bodies, and the law.
#![no_std]
#![no_main]

use no_panic::{output, program};
use twolane_core::body::{Approval, Body, DisplayEvent, ProviderControl, peek};
use twolane_core::envelope::Lane;
use twolane_core::lanes::law::Law;

program!(|bytes| {
    if let Some(peeked) = peek(bytes) {
        let mut law = Law::from_start(Lane::Display);
        output(law.check(peeked.seq, peeked.dropped));
    }
    if let Ok(body) = Body::parse(bytes) {
        output(DisplayEvent::read(&body.payload).is_ok());
        output(Approval::read(&body.payload).is_ok());
        output(ProviderControl::from_provider(&body.payload).is_ok());
    }
});

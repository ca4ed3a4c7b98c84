//! Dissection into a sink.
#![no_std]
#![no_main]

use no_panic::{output, program};
use twolane_core::dissect::{Fault, Field, Sink, Stage, body, frame, handshake};

struct Counter(usize);

impl Sink for Counter {
    fn open(&mut self, field: Field<'_>) {
        self.0 = self.0.wrapping_add(field.start);
    }
    fn close(&mut self, end: usize) {
        self.0 = self.0.wrapping_add(end);
    }
    fn leaf(&mut self, field: Field<'_>, end: usize) {
        self.0 = self.0.wrapping_add(field.value_start ^ end);
    }
    fn fault(&mut self, fault: Fault) {
        self.0 = self.0.wrapping_add(fault.offset);
    }
}

program!(|bytes| {
    let mut counter = Counter(0);
    frame(bytes, &mut counter);
    body(bytes, 0, &mut counter);
    for stage in [Stage::ClientHello, Stage::ServerProof, Stage::ClientAuth] {
        handshake(bytes, stage, &mut counter);
    }
    output(counter.0);
});

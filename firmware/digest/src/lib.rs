//! What the core tells of some bytes, as one number, so that two machines can compare all of it in a line.
#![no_std]
#![forbid(unsafe_code)]

use core::fmt::{self, Write as _};

use twolane_core::dissect::{self, Fault, Field, Sink, Stage};

/// What bytes are said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A frame, header first.
    Frame,
    /// A handshake message, length first.
    Handshake(Stage),
}

/// A digest of everything that the dissection of `bytes` tells, in its order.
pub fn digest(kind: Kind, bytes: &[u8]) -> u64 {
    let mut told = Told(FNV_OFFSET);
    match kind {
        Kind::Frame => dissect::frame(bytes, &mut told),
        Kind::Handshake(stage) => dissect::handshake(bytes, stage, &mut told),
    }
    told.0
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a over the fields as text: nobody forges a golden, so a plain hash is enough.
struct Told(u64);

impl Told {
    fn line(&mut self, what: &str, field: &Field<'_>) {
        let Field { start, value_start, kind, mask, name, value, meaning } = field;
        let kind = kind.name();
        // A `Told` takes whatever is written.
        let _ = writeln!(self, "{what} {start} {value_start} {mask} {kind} {name}\0{value}\0{meaning}");
    }
}

impl fmt::Write for Told {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
        Ok(())
    }
}

impl Sink for Told {
    fn open(&mut self, field: Field<'_>) {
        self.line("open", &field);
    }

    fn close(&mut self, end: usize) {
        let _ = writeln!(self, "close {end}");
    }

    fn leaf(&mut self, field: Field<'_>, end: usize) {
        self.line("leaf", &field);
        let _ = writeln!(self, "{end}");
    }

    fn fault(&mut self, fault: Fault) {
        let _ = writeln!(self, "{fault}");
    }
}

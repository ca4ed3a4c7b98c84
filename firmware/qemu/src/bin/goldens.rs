//! Dissects every golden on the machine: a line each with its digest, then the deepest stack.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use digest_of_dissection::{Kind, digest};
use qemu::{done, used_by};
use twolane_core::dissect::Stage;

mod table {
    include!(concat!(env!("OUT_DIR"), "/goldens.rs"));
}

/// The digest last computed, handed back from under the paint.
struct Work<'a> {
    kind: Kind,
    bytes: &'a [u8],
    digest: &'a mut u64,
}

fn work(work: Work<'_>) {
    *work.digest = digest(work.kind, work.bytes);
}

#[entry]
fn main() -> ! {
    let mut deepest = 0;
    for (name, kind, bytes) in table::GOLDENS {
        let kind = match *kind {
            "ClientHello" => Kind::Handshake(Stage::ClientHello),
            "ServerProof" => Kind::Handshake(Stage::ServerProof),
            "ClientAuth" => Kind::Handshake(Stage::ClientAuth),
            _ => Kind::Frame,
        };
        let mut digest = 0;
        deepest = deepest.max(used_by(work, Work { kind, bytes, digest: &mut digest }));
        hprintln!("{} {:016x}", name, digest);
    }
    hprintln!("stack {}", deepest);
    done()
}

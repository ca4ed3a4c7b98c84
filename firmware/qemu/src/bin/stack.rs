//! The stack that each part takes, a line each: over the goldens, or over what a server of the lanes says.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use parts::lanes::Client;
use parts::{decode, lanes, peek, sealed};
use qemu::{done, used_by};
use twolane_core::handshake::{DaemonId, Key, ServerHandshake, ServerStep};

mod table {
    include!(concat!(env!("OUT_DIR"), "/goldens.rs"));
}

/// What a program hands to a part.
struct Work<'a> {
    input: &'a [u8],
    storage: &'a mut [u8],
    out: &'a mut [u8],
    result: &'a mut u32,
}

/// A part that holds a whole session.
type Session = fn(&[u8], &mut [u8], &mut [u8]) -> u32;

fn session_of(part: Session, work: Work<'_>) {
    *work.result = part(work.input, work.storage, work.out);
}

#[entry]
fn main() -> ! {
    let (mut input, mut storage, mut out) = ([0; 8192], [0; 1024], [0; 1024]);
    let (mut peeked, mut decoded) = (0, 0);
    for (_, _, bytes) in table::GOLDENS {
        let mut work = |part: fn(Work<'_>)| {
            let work = Work { input: bytes, storage: &mut storage, out: &mut out, result: &mut 0 };
            used_by(part, work)
        };
        peeked = work(|work| *work.result = peek::run(work.input)).max(peeked);
        decoded = work(|work| *work.result = decode::run(work.input, work.storage)).max(decoded);
    }
    hprintln!("peek {}", peeked);
    hprintln!("decode {}", decoded);
    let len = session(&mut input);
    for (name, part) in [("lanes", lanes::run as Session), ("sealed", sealed::run)] {
        let mut result = 0;
        let work = Work { input: &input[..len], storage: &mut storage, out: &mut out, result: &mut result };
        hprintln!("{} {}", name, used_by(|(part, work)| session_of(part, work), (part, work)));
        assert!(result > lanes::FAILED, "the client gave up: {result}");
    }
    done()
}

/// What a server says to [`lanes::run`]: its proof, every golden of the lanes that it may send, goodbye.
fn session(out: &mut [u8]) -> usize {
    let key = Key::new(&lanes::KEY).unwrap();
    let mut storage = [0; 64];
    let mut hello = [0; 256];
    let client = Client::new(&key, DaemonId(lanes::DAEMON), lanes::NONCE, &mut storage).unwrap();
    let hello_len = client.hello(&mut hello).unwrap();
    let mut server = ServerHandshake::new(&key, DaemonId(lanes::DAEMON), [3; 32], "0.1.0").unwrap();
    let ServerStep::Prove(proof) = server.receive(&hello[..hello_len]).unwrap().step else {
        panic!("no proof")
    };
    let mut len = 0;
    let mut say = |bytes: &[u8]| {
        out[len..len + bytes.len()].copy_from_slice(bytes);
        len += bytes.len();
        len
    };
    say(&proof);
    let from_provider = |name: &&(&str, &str, &[u8])| {
        let name = name.0;
        let from_runner = ["body-step-request", "body-cancel"].contains(&name);
        (name.starts_with("body-") && !from_runner) || name == "v1-Ping"
    };
    for (_, _, bytes) in table::GOLDENS.iter().filter(from_provider) {
        say(bytes);
    }
    let goodbye = table::GOLDENS.iter().find(|golden| golden.0 == "v1-Goodbye").unwrap();
    say(goodbye.2)
}

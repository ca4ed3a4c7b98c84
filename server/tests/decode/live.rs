//! Pipes: input that grows, readers that leave.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::process::{capture, command, delta};

#[test]
fn each_frame_is_printed_as_it_completes() {
    let mut child = command(&["-", "--json", "--input", "raw"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for seq in 0..5 {
        let bytes = delta(seq);
        let (front, back) = bytes.split_at(20);
        stdin.write_all(front).unwrap();
        stdin.flush().unwrap();
        stdin.write_all(back).unwrap();
        stdin.flush().unwrap();
        // The pipe stays open: without the frame's own flush this would wait for ever.
        let object: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(object["body"]["seq"], seq);
    }
    drop(stdin);
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_capture_that_grows_is_printed_packet_by_packet() {
    let bytes = std::fs::read(capture()).unwrap();
    let mut child = command(&["-", "--json", "--filter", "tag=ClientHello"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Up to the end of the packet with the hello, as tcpdump -U would have written by then.
    stdin.write_all(&bytes[..0x2b1]).unwrap();
    stdin.flush().unwrap();
    let object: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(object["stage"], "ClientHello");
    stdin.write_all(&bytes[0x2b1..]).unwrap();
    drop(stdin);
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let mut child = command(&["-", "--json", "--input", "raw"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take().unwrap());
    let frames: Vec<u8> = (0..2000).flat_map(delta).collect();
    // The process may be gone before all is written.
    let _ = stdin.write_all(&frames);
    drop(stdin);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(said, "");
}

#[test]
fn a_signal_ends_reading_and_what_was_read_is_printed_and_judged() {
    let cut = [delta(0), delta(1)[..20].to_vec()].concat();
    for (signal, input, code) in [
        (Signal::INT, delta(0), 0),
        (Signal::TERM, [delta(0), delta(2)].concat(), 1),
        // A unit that the signal cuts off is not damaged for that.
        (Signal::TERM, cut, 0),
    ] {
        let mut child = command(&["-", "--json", "--input", "raw"]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        stdin.write_all(&input).unwrap();
        stdin.flush().unwrap();
        lines.next().unwrap().unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{said}");
        assert!(said.contains("1 connection") && said.contains("what followed was not read"), "{said}");
        // The pipe was open all the time.
        drop(stdin);
    }
}

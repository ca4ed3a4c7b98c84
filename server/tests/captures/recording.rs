//! One run, captured by tcpdump from its first packet to its last; and the recordings that fixtures keep.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use twolane_capture::{CloseReason, Direction, Piece, SegmentSink, Source};
use twolane_core::envelope::Version;

use crate::pcap::File;
use crate::peer::{self, BOUND, Seen, Server};

/// What tcpdump is asked for: the interface, its kind of link, the bytes kept of each packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) interface: &'static str,
    pub(crate) link: &'static str,
    pub(crate) snaplen: &'static str,
}

pub(crate) const ETHERNET: How = How { interface: "lo", link: "EN10MB", snaplen: "262144" };
pub(crate) const COOKED_V2: How = How { interface: "any", link: "LINUX_SLL2", ..ETHERNET };

/// The recordings in fixtures: name, kind of link, address, version.
const KEPT: [(&str, How, &str, Version); 2] = [
    ("run-v1-ethernet", ETHERNET, "127.0.0.1", Version::V1),
    ("run-v2-cooked", COOKED_V2, "[::1]", Version::V2),
];

/// Runs in which TCP sent nothing twice are far more than one in so many.
const TRIES: usize = 20;

/// A capture file, and what the peer says of the same run.
pub(crate) struct Recording {
    pub(crate) file: Vec<u8>,
    pub(crate) seen: Seen,
    pub(crate) server: Server,
}

impl Recording {
    pub(crate) fn of(how: How, ip: &str, version: Version) -> Self {
        let server = Server::start(ip, version);
        let tcpdump = Tcpdump::start(how, server.address.port());
        let seen = peer::ask(&server);
        Self { file: tcpdump.file(), seen, server }
    }

    /// One in which no byte was sent twice, as TCP does when the machine is busy: of such a byte the first packet
    /// counts, so that what a cut takes from it is missing although a later one has it.
    pub(crate) fn without_repeats(how: How, ip: &str, version: Version) -> Self {
        let mut tries = (0..TRIES).map(|_| Self::of(how, ip, version));
        tries.find(|recording| !File::parse(&recording.file).has_repeats()).expect("a run without repeats")
    }
}

/// The recordings that fixtures keep, with their files.
pub(crate) fn recorded() -> [(PathBuf, Vec<u8>); KEPT.len()] {
    KEPT.map(|(name, ..)| {
        let path = path(name);
        let file = fs::read(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        (path, file)
    })
}

/// The same, recorded now.
pub(crate) fn new_ones() -> [(PathBuf, Vec<u8>); KEPT.len()] {
    KEPT.map(|(name, how, ip, version)| (path(name), Recording::without_repeats(how, ip, version).file))
}

fn path(name: &str) -> PathBuf {
    let captures = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/captures");
    PathBuf::from(captures).join(format!("{name}.pcap"))
}

#[test]
#[ignore = "writes fixtures: cargo test -p twolane --test captures -- --ignored fixtures_written"]
fn fixtures_written() {
    for (path, file) in new_ones() {
        fs::write(path, file).unwrap();
    }
}

pub(crate) struct Tcpdump {
    child: Child,
    chunks: Receiver<Vec<u8>>,
}

impl Tcpdump {
    /// Returns once it sees every packet that is sent from then on.
    pub(crate) fn start(how: How, port: u16) -> Self {
        let mut command = Command::new("tcpdump");
        command.args([
            "-i",
            how.interface,
            "-y",
            how.link,
            "-s",
            how.snaplen,
            "-n",
            "--immediate-mode",
            "-U",
        ]);
        command.args(["-B", "16384", "-w", "-", &format!("tcp port {port}")]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("`cargo xtask setup` installs tcpdump");
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("listening on") {
            assert_ne!(
                stderr.read_line(&mut said).unwrap(),
                0,
                "tcpdump cannot capture: {said}\n  try: sudo setcap cap_net_raw,cap_net_admin=eip \"$(command -v tcpdump)\""
            );
        }
        let (tell, chunks) = channel();
        let stdout = child.stdout.take().unwrap();
        thread::spawn(move || {
            let mut stdout: ChildStdout = stdout;
            loop {
                let mut chunk = vec![0; 64 * 1024];
                match stdout.read(&mut chunk) {
                    Ok(len @ 1..) => chunk.truncate(len),
                    _ => return,
                }
                if tell.send(chunk).is_err() {
                    return;
                }
            }
        });
        Self { child, chunks }
    }

    /// Waits for the end of the connection in both directions, and ends tcpdump; the whole file.
    pub(crate) fn file(self) -> Vec<u8> {
        let (mut file, mut source, mut ends) = (Vec::new(), Source::new(), Ends(0));
        while ends.0 < 2 {
            let chunk = self.chunks.recv_timeout(BOUND).expect("tcpdump saw the end of the connection");
            source.push(&chunk, &mut ends).unwrap();
            file.extend_from_slice(&chunk);
        }
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        file.extend(self.chunks.iter().flatten());
        file
    }
}

impl Drop for Tcpdump {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Directions that came to their end.
struct Ends(u32);

impl SegmentSink for Ends {
    fn piece(&mut self, _: Option<u64>, _: u32, _: Direction, piece: Piece<'_>) {
        if let Piece::Closed { reason: CloseReason::Fin | CloseReason::Reset } = piece {
            self.0 += 1;
        }
    }
}

//! Packets, files and a sink that remembers.

use etherparse::PacketBuilder;
use twolane_capture::{CloseReason, Direction, Loss, Opening, Piece, SegmentSink, Source, SourceFault};

pub(crate) const A: [u8; 4] = [10, 0, 0, 1];
pub(crate) const B: [u8; 4] = [10, 0, 0, 2];
pub(crate) const A_PORT: u16 = 40_000;
pub(crate) const B_PORT: u16 = 7_311;

/// A piece, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Opened(Opening),
    Bytes(Vec<u8>),
    Missing(u64),
    Closed(CloseReason),
    Packet(Vec<u8>, Option<String>),
    Lost(u64, u64, Loss),
}

pub(crate) fn bytes(text: &str) -> Event {
    Event::Bytes(text.as_bytes().to_vec())
}

/// Every piece in order, and when.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) pieces: Vec<(Option<u64>, u32, Direction, Event)>,
    pub(crate) guessed: Vec<bool>,
}

impl SegmentSink for Heard {
    fn piece(&mut self, time_ns: Option<u64>, connection: u32, direction: Direction, piece: Piece<'_>) {
        let event = match piece {
            Piece::Opened { how, ends } => {
                self.guessed.extend(ends.map(|ends| ends.guessed));
                Event::Opened(how)
            }
            Piece::Bytes(bytes) => Event::Bytes(bytes.to_vec()),
            Piece::Missing { bytes } => Event::Missing(bytes),
            Piece::Closed { reason } => Event::Closed(reason),
            Piece::Packet { bytes, comment } => Event::Packet(bytes.to_vec(), comment.map(Into::into)),
            Piece::Lost { units, bytes, how, .. } => Event::Lost(units, bytes, how),
        };
        self.pieces.push((time_ns, connection, direction, event));
    }
}

impl Heard {
    /// One direction's pieces, with the bytes between two others joined.
    pub(crate) fn direction(&self, connection: u32, direction: Direction) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        for (_, number, way, event) in &self.pieces {
            if (*number, *way) != (connection, direction) {
                continue;
            }
            if let (Some(Event::Bytes(before)), Event::Bytes(more)) = (events.last_mut(), event) {
                before.extend_from_slice(more);
            } else {
                events.push(event.clone());
            }
        }
        events
    }

    pub(crate) fn a_to_b(&self) -> Vec<Event> {
        self.direction(1, Direction::AToB)
    }

    pub(crate) fn b_to_a(&self) -> Vec<Event> {
        self.direction(1, Direction::BToA)
    }
}

/// Reads a whole file in chunks of `chunk` bytes.
pub(crate) fn read_in(file: &[u8], chunk: usize) -> (Heard, Result<(), SourceFault>, Source) {
    let mut heard = Heard::default();
    let mut source = Source::new();
    let pushed = file.chunks(chunk).try_for_each(|chunk| source.push(chunk, &mut heard));
    let finished = source.finish(&mut heard);
    if pushed.is_err() {
        assert_eq!(pushed, finished, "a failed source stays failed");
    }
    (heard, finished, source)
}

pub(crate) fn read(file: &[u8]) -> Heard {
    let (heard, result, _) = read_in(file, file.len().max(1));
    assert_eq!(result, Ok(()));
    heard
}

/// A TCP segment to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seg {
    pub(crate) from_a: bool,
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    /// Any of `S`, `F`, `R`.
    pub(crate) flags: &'static str,
    pub(crate) data: &'static str,
}

pub(crate) fn a(seq: u32, data: &'static str) -> Seg {
    Seg { from_a: true, seq, ack: Some(5_001), flags: "", data }
}

pub(crate) fn b(seq: u32, data: &'static str) -> Seg {
    Seg { from_a: false, ack: Some(1_001), ..a(seq, data) }
}

impl Seg {
    pub(crate) fn ack(self, ack: u32) -> Self {
        let ack = Some(ack);
        Self { ack, ..self }
    }

    pub(crate) fn flags(self, flags: &'static str) -> Self {
        Self { flags, ..self }
    }

    /// The IPv4 packet of it.
    pub(crate) fn ip(&self) -> Vec<u8> {
        let (from, to, ports) = if self.from_a { (A, B, (A_PORT, B_PORT)) } else { (B, A, (B_PORT, A_PORT)) };
        let mut tcp = PacketBuilder::ipv4(from, to, 64).tcp(ports.0, ports.1, self.seq, 64_000);
        if let Some(ack) = self.ack {
            tcp = tcp.ack(ack);
        }
        for flag in self.flags.chars() {
            tcp = match flag {
                'S' => tcp.syn(),
                'F' => tcp.fin(),
                'R' => tcp.rst(),
                other => panic!("no flag {other}"),
            };
        }
        let mut packet = Vec::new();
        tcp.write(&mut packet, self.data.as_bytes()).expect("a packet in memory");
        packet
    }
}

/// SYN from `a` with 1000, SYN and ACK from `b` with 5000.
pub(crate) fn opening() -> Vec<Seg> {
    let syn = Seg { ack: None, ..a(1_000, "").flags("S") };
    vec![syn, b(5_000, "").flags("S"), a(1_001, "")]
}

/// A microsecond pcap file; packet `n` is captured `n` seconds after 1970.
pub(crate) fn pcap(link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for field in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, link] {
        file.extend_from_slice(&field.to_le_bytes());
    }
    for (second, packet) in (0u32..).zip(packets) {
        let len = u32::try_from(packet.len()).expect("a short packet");
        for field in [second, 0, len, len] {
            file.extend_from_slice(&field.to_le_bytes());
        }
        file.extend_from_slice(packet);
    }
    file
}

/// The segments as raw IP in a pcap file.
pub(crate) fn capture(segments: &[Seg]) -> Vec<u8> {
    let packets: Vec<_> = segments.iter().map(Seg::ip).collect();
    pcap(101, &packets)
}

/// A connection opened by a handshake, then these segments.
pub(crate) fn after_opening(segments: &[Seg]) -> Heard {
    let mut all = opening();
    all.extend_from_slice(segments);
    read(&capture(&all))
}

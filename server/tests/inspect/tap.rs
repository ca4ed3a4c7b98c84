//! What listeners of the tap are told: all of it, in order, or how much of it they lost.

use std::collections::BTreeMap;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use twolane::inspect::tap::{Bounds, Direction, Kind};
use twolane::inspect::{Config, Tap};
use twolane::limits::TAP_LISTENERS;
use twolane_capture::{Format, Piece, SegmentSink, Source};

use super::client::{Ask, Running};

type Socket = WebSocketStream<TcpStream>;

async fn listen(running: &Running) -> Socket {
    let cookie = running.cookie().await;
    let mut request = format!("ws://{}/api/tap", running.address).into_client_request().unwrap();
    let headers = request.headers_mut();
    headers.insert("Origin", HeaderValue::try_from(format!("http://{}", running.address)).unwrap());
    headers.insert("Cookie", HeaderValue::try_from(cookie).unwrap());
    let stream = TcpStream::connect(running.address).await.unwrap();
    tokio_tungstenite::client_async(request, stream).await.unwrap().0
}

/// A packet of a pcapng file: comment, bytes, original length.
struct Packet {
    label: String,
    bytes: Vec<u8>,
    original_len: u32,
}

impl Packet {
    /// The number after that word of the label.
    fn number(&self, word: &str) -> Option<u64> {
        self.label.split(' ').find_map(|have| have.strip_prefix(word)?.parse().ok())
    }
}

/// The packets of a file that is written as ours are; a cut block at its end is left.
fn packets(mut file: &[u8]) -> Vec<Packet> {
    let number = |at: &[u8]| u32::from_le_bytes(at[..4].try_into().unwrap());
    let mut found = Vec::new();
    while file.len() >= 12 {
        let len = usize::try_from(number(&file[4..])).unwrap();
        if file.len() < len {
            break;
        }
        let (block, rest) = file.split_at(len);
        file = rest;
        if number(block) != 6 {
            continue;
        }
        let captured = usize::try_from(number(&block[20..])).unwrap();
        let bytes = block[28..28 + captured].to_vec();
        let mut options = &block[28 + captured.next_multiple_of(4)..];
        while options[..2] != [1, 0] {
            let len = usize::from(u16::from_le_bytes(options[2..4].try_into().unwrap()));
            options = &options[4 + len.next_multiple_of(4)..];
        }
        let len = usize::from(u16::from_le_bytes(options[2..4].try_into().unwrap()));
        let label = String::from_utf8(options[4..4 + len].to_vec()).unwrap();
        found.push(Packet { label, bytes, original_len: number(&block[24..]) });
    }
    found
}

/// Reads until the file holds what is asked for.
async fn read_until(socket: &mut Socket, file: &mut Vec<u8>, mut enough: impl FnMut(&[Packet]) -> bool) {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Binary(bytes) => file.extend_from_slice(&bytes),
            Message::Ping(_) => continue,
            other => panic!("{other:?}"),
        }
        if enough(&packets(file)) {
            return;
        }
    }
}

fn offer(tap: &Tap, conn: u64, bytes: &[u8]) {
    tap.offer(conn, "providers", Direction::AToB, Kind::Frame, bytes);
}

#[derive(Default)]
struct Pieces(Vec<String>);

impl SegmentSink for Pieces {
    fn piece(&mut self, time_ns: Option<u64>, connection: u32, direction: Direction, piece: Piece<'_>) {
        let text = match piece {
            Piece::Packet { bytes, comment } => format!("{bytes:?} {}", comment.unwrap_or("-")),
            other => format!("{other:?}"),
        };
        assert!(time_ns > Some(1_500_000_000_000_000_000));
        self.0.push(format!("{connection} {direction:?} {text}"));
    }
}

fn pieces(file: &[u8]) -> Vec<String> {
    let (mut source, mut pieces) = (Source::new(), Pieces::default());
    source.push(file, &mut pieces).unwrap();
    source.finish(&mut pieces).unwrap();
    assert_eq!(source.format(), Some(Format::PcapNg));
    pieces.0
}

#[tokio::test]
async fn a_page_reads_the_recent_past_and_then_what_follows() {
    let running = Running::start().await;
    let tap = running.inspect.tap();
    tap.offer(1, "providers", Direction::AToB, Kind::Handshake, b"hello");
    tap.offer(1, "providers", Direction::BToA, Kind::Handshake, b"proof");
    let mut socket = listen(&running).await;
    let mut file = Vec::new();
    read_until(&mut socket, &mut file, |packets| packets.len() == 2).await;
    tap.offer(2, "sessions", Direction::BToA, Kind::Frame, b"frame");
    read_until(&mut socket, &mut file, |packets| packets.len() == 3).await;
    assert_eq!(
        pieces(&file),
        [
            format!("1 AToB {:?} twolane conn=1 endpoint=providers kind=handshake", b"hello"),
            format!("1 BToA {:?} twolane conn=1 endpoint=providers kind=handshake", b"proof"),
            format!("2 BToA {:?} twolane conn=2 endpoint=sessions kind=frame", b"frame"),
        ]
    );
    running.stop().await;
}

#[tokio::test]
async fn a_page_that_joins_late_is_told_how_much_passed() {
    let config = Config { tap: Bounds { recent_bytes: 1000, ..Bounds::default() }, ..Config::default() };
    let running = Running::start_at("127.0.0.1:0", config).await;
    let tap = running.inspect.tap();
    for nth in 0..10_u8 {
        offer(&tap, 1, &[nth; 170]);
    }
    let mut socket = listen(&running).await;
    let mut file = Vec::new();
    read_until(&mut socket, &mut file, |packets| packets.len() == 5).await;
    let packets = packets(&file);
    assert_eq!(packets[0].label, "twolane conn=0 endpoint=- kind=frame joined=6");
    assert_eq!((packets[0].bytes.len(), packets[0].original_len), (0, 6 * 170));
    let firsts: Vec<u8> = packets[1..].iter().map(|packet| packet.bytes[0]).collect();
    assert_eq!(firsts, [6, 7, 8, 9]);
    let first = &pieces(&file)[0];
    assert!(first.starts_with("0 AToB Lost {"), "{first}");
    assert!(first.ends_with("units: 6, bytes: 1020, how: Earlier }"), "{first}");
    running.stop().await;
}

/// The page reads nothing while 40 MB pass: offering does not wait for it, and afterwards what it
/// read and what it is told to have lost are exactly what was offered, direction by direction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_page_is_told_exactly_what_it_lost() {
    const UNITS: u64 = 4000;
    const UNIT_BYTES: usize = 10_000;
    let config = Config { tap: Bounds { queue_bytes: 256 * 1024, ..Bounds::default() }, ..Config::default() };
    let running = Running::start_at("127.0.0.1:0", config).await;
    let mut socket = listen(&running).await;
    let tap = running.inspect.tap();
    let mut bytes = vec![0; UNIT_BYTES];
    for nth in 0..UNITS {
        bytes[..8].copy_from_slice(&nth.to_le_bytes());
        offer(&tap, 1 + nth % 3, &bytes);
    }
    let mut offered = BTreeMap::new();
    for nth in 0..UNITS {
        *offered.entry(1 + nth % 3).or_insert(0) += 1;
    }

    let mut file = Vec::new();
    let account = |packets: &[Packet]| {
        let mut told = BTreeMap::new();
        for packet in packets {
            *told.entry(packet.number("conn=").unwrap()).or_insert(0) += packet.number("lost=").unwrap_or(1);
        }
        told
    };
    let mut sum = 0;
    let mut seen = 0;
    while sum < UNITS {
        let from = file.len();
        read_until(&mut socket, &mut file, |_| true).await;
        let new = packets(&file[from..]);
        seen += new.iter().filter(|packet| packet.number("lost=").is_none()).count();
        sum += account(&new).values().sum::<u64>();
    }
    let all = packets(&file);
    assert_eq!(account(&all), offered);
    assert!(seen > 0 && all.len() > seen, "{seen} of {UNITS} seen");
    let mut next = [0; 3];
    for packet in &all {
        let lane = usize::try_from(packet.number("conn=").unwrap() - 1).unwrap();
        match packet.number("lost=") {
            Some(units) => {
                assert_eq!(u64::from(packet.original_len), units * UNIT_BYTES as u64);
                next[lane] += units;
            }
            None => {
                let nth = u64::from_le_bytes(packet.bytes[..8].try_into().unwrap());
                assert_eq!(nth / 3, next[lane], "the gap stands where the units were");
                next[lane] += 1;
            }
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn the_token_reads_the_same_file_over_plain_http() {
    let running = Running::start().await;
    offer(&running.inspect.tap(), 1, b"frame");
    let ask = Ask::new("GET", "/api/tap.pcapng");
    assert_eq!(ask.send(&running).await.status, 401);
    assert_eq!(ask.clone().bearer(&running.token()).origin(&running).send(&running).await.status, 403);
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let request = ask.bearer(&running.token()).text(running.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.windows(21).any(|window| window == b"endpoint=providers ki") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0);
    }
    assert!(answer.starts_with(b"HTTP/1.1 200 OK"));
    running.stop().await;
    // The stop ends the file; the rest of it is the last chunk.
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.ends_with(b"0\r\n\r\n"));
}

#[tokio::test]
async fn a_stop_tells_every_page() {
    let running = Running::start().await;
    let mut socket = listen(&running).await;
    running.stop().await;
    loop {
        match socket.next().await {
            Some(Ok(Message::Close(Some(close)))) => {
                assert_eq!((u16::from(close.code), close.reason.as_str()), (1001, "the server stops"));
                return;
            }
            Some(Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_page_that_talks_is_let_go_and_its_place_is_free() {
    let running = Running::start().await;
    let mut socket = listen(&running).await;
    assert_eq!(running.inspect.tap().listeners(), 1);
    socket.send(Message::text("hello")).await.unwrap();
    let mut policy = None;
    while let Some(Ok(message)) = socket.next().await {
        if let Message::Close(Some(close)) = message {
            policy = Some(u16::from(close.code));
        }
    }
    assert_eq!(policy, Some(1008));
    assert_eq!(running.inspect.tap().listeners(), 0);
    running.stop().await;
}

#[tokio::test]
async fn only_so_many_listen_at_once() {
    let running = Running::start().await;
    let cookie = running.cookie().await;
    let tap = running.inspect.tap();
    let listeners: Vec<_> = (0..TAP_LISTENERS).map(|_| tap.listen().unwrap()).collect();
    let ask = Ask::new("GET", "/api/tap").origin(&running).header("Cookie", &cookie).upgrade();
    let answer = ask.send(&running).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "taps"));
    assert_eq!(tap.listeners(), TAP_LISTENERS);
    drop(listeners);
    assert_eq!(ask.send(&running).await.status, 101);
    running.stop().await;
}

#[tokio::test]
async fn the_tap_is_a_websocket_and_nothing_else() {
    let running = Running::start().await;
    let cookie = running.cookie().await;
    let ask = Ask::new("GET", "/api/tap").origin(&running).header("Cookie", &cookie);
    let answer = ask.send(&running).await;
    assert_eq!((answer.status, answer.reason().as_str()), (400, "websocket"));
    assert_eq!(running.inspect.tap().listeners(), 0);
    running.stop().await;
}

#[tokio::test]
async fn a_tap_that_is_off_keeps_nothing() {
    let tap = Tap::off();
    offer(&tap, 1, b"unheard");
    let mut listener = tap.listen().unwrap();
    offer(&tap, 1, b"heard");
    let mut entries = Vec::new();
    listener.batch(tokio::time::Instant::now(), &mut entries).await;
    assert_eq!(entries.len(), 2);
    drop(listener);
    offer(&tap, 1, b"unheard");
    assert_eq!(tap.listeners(), 0);
}

//! A capture of two real peers.

use twolane_capture::{CloseReason, Direction, Opening};

use crate::scene::{Event, Heard, read, read_in};

const PEERS: &[u8] = include_bytes!("../../../fixtures/captures/peer-v1-loopback.pcap");

/// Both directions as they are in the file, put together by hand: the data of each packet with
/// any, in file order, for on loopback nothing was out of order.
fn by_hand() -> [Vec<u8>; 2] {
    let mut streams = [Vec::new(), Vec::new()];
    let mut at = 24;
    while at < PEERS.len() {
        let len = u32::from_le_bytes(PEERS[at + 8..at + 12].try_into().expect("4 bytes"));
        let packet = &PEERS[at + 16..at + 16 + usize::try_from(len).expect("small")];
        let tcp = &packet[14 + 20..];
        let data = &tcp[usize::from(tcp[12] >> 4) * 4..];
        let from_server = tcp[..2] == 7311u16.to_be_bytes();
        streams[usize::from(from_server)].extend_from_slice(data);
        at += 16 + packet.len();
    }
    streams
}

fn stream(heard: &Heard, direction: Direction) -> Vec<u8> {
    let events = heard.direction(1, direction);
    let [Event::Opened(Opening::Syn), Event::Bytes(bytes), Event::Closed(CloseReason::Fin)] = &events[..]
    else {
        panic!("not whole: {events:?}");
    };
    bytes.clone()
}

#[test]
fn both_directions_are_whole() {
    let heard = read(PEERS);
    let [client, server] = by_hand();
    assert_eq!(stream(&heard, Direction::AToB), client);
    assert_eq!(stream(&heard, Direction::BToA), server);
    assert!(client.len() > 300 && server.len() > 4_500);
    // A length, then the hello.
    assert_eq!(client[4..20], *b"{\"client_nonce\":");
    assert_eq!(heard.guessed, [false, false]);
}

#[test]
fn byte_by_byte_is_the_same() {
    let (heard, result, source) = read_in(PEERS, 1);
    assert_eq!(result, Ok(()));
    assert_eq!(heard, read(PEERS));
    assert_eq!(source.ignored_packets().total(), 0);
}

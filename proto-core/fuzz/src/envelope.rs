//! A header that is read is one that is written, and one that is refused cannot be built.

use twolane_core::envelope::{Flags, FrameType, Header, Parts, Peeked, Version, peek};
use twolane_core::frame::{FrameDecoder, Item};

/// The bytes are the front of a stream.
pub fn run(bytes: &[u8]) {
    let peeked = peek(bytes);
    for len in 0..bytes.len().min(22) {
        match peek(&bytes[..len]) {
            Ok(Peeked::Need(need)) => assert!(need > len, "{need} bytes are no more than {len}"),
            // A prefix never says more than the whole, and what it says stays true.
            other => assert_eq!(other, peeked, "{len} bytes"),
        }
    }
    if let Some(parts) = parts(bytes) {
        let built = Header::new(parts);
        match peeked {
            Ok(Peeked::Header(header)) => assert_eq!(built, Ok(header)),
            Ok(Peeked::Need(_)) => unreachable!("a whole header was there"),
            Err(_) => assert!(built.is_err(), "what a reader refuses was built"),
        }
    }
    if let Ok(Peeked::Header(header)) = peeked {
        let encoded = header.encode();
        assert_eq!(encoded[..], bytes[..encoded.len()]);
        let mut decoder = FrameDecoder::new(u32::MAX);
        match decoder.decode(bytes).map(|decoded| decoded.item) {
            Ok(Item::Frame(frame)) => assert_eq!(frame.header, header),
            Ok(Item::Need(need)) => assert!(need > bytes.len()),
            Ok(Item::Oversize(_)) => unreachable!("a decoder without a limit"),
            Err(_) => assert!(header.body_len() > twolane_core::limits::BODY_LEN_MAX),
        }
    }
}

/// The fields of a whole header, whatever they say; read here by the byte, so that two readings meet.
fn parts(bytes: &[u8]) -> Option<Parts> {
    let version = Version::from_number(*bytes.get(4)?)?;
    let frame_type = FrameType::from_code(*bytes.get(5)?)?;
    let epoch = match version {
        Version::V1 => 0,
        Version::V2 => u32::from_le_bytes(bytes.get(9..13)?.try_into().ok()?),
    };
    let corr = bytes.get(version.header_len() - 8..version.header_len())?;
    Some(Parts {
        version,
        frame_type,
        flags: Flags::from_bits(*bytes.get(6)?),
        channel: u16::from_le_bytes(bytes.get(7..9)?.try_into().ok()?),
        epoch,
        corr: u64::from_le_bytes(corr.try_into().ok()?),
        len: u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?),
    })
}

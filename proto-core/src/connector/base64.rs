//! Base64 of the standard alphabet, padded and canonical, in place and without a reachable panic.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What stands in the table for a byte of no meaning; no value of 6 bits has these bits.
const NONE: u8 = 0xff;

/// The value of each character.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut value = 0_u8;
    while value < 64 {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Text that is no canonical base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no canonical base64")]
pub struct Base64Fault;

/// Characters for `len` bytes; `None` where no `usize` holds it.
///
/// ```
/// use twolane_core::connector::base64::encoded_len;
///
/// assert_eq!([0, 1, 3, 4].map(encoded_len), [Some(0), Some(4), Some(4), Some(8)]);
/// assert_eq!(encoded_len(usize::MAX), None);
/// ```
pub const fn encoded_len(len: usize) -> Option<usize> {
    len.div_ceil(3).checked_mul(4)
}

/// The most bytes that `len` characters stand for.
///
/// ```
/// use twolane_core::connector::base64::{decode_into, decoded_len_max};
///
/// let mut buffer = [0; decoded_len_max("bGFtcA==".len())];
/// assert_eq!((buffer.len(), decode_into("bGFtcA==", &mut buffer).unwrap().len()), (6, 4));
/// ```
pub const fn decoded_len_max(len: usize) -> usize {
    (len / 4).saturating_mul(3)
}

/// Encodes the last `len` bytes of `buffer` to all of `buffer`, which has [`encoded_len`] of them; `false` where it
/// has not, and nothing is changed.
///
/// ```
/// use twolane_core::connector::base64::{encode_in_place, encoded_len};
///
/// // The bytes stand at the end of the place that their text needs.
/// let mut place = *b"????lamp";
/// assert_eq!(encoded_len(4), Some(place.len()));
/// assert!(encode_in_place(&mut place, 4));
/// assert_eq!(&place, b"bGFtcA==");
/// assert!(!encode_in_place(&mut place, 7), "8 characters are not the text of 7 bytes");
/// ```
#[must_use]
pub fn encode_in_place(buffer: &mut [u8], len: usize) -> bool {
    if encoded_len(len) != Some(buffer.len()) {
        return false;
    }
    // Reading stays ahead of writing: of g groups, after k of them at least g - k bytes lie between.
    let mut from = buffer.len() - len;
    let mut to = 0;
    while let Some(block) = buffer.get(from..).and_then(<[u8]>::first_chunk) {
        let text = encode_block(*block);
        if let Some(place) = buffer.get_mut(to..).and_then(<[u8]>::first_chunk_mut) {
            *place = text;
        }
        from = from.saturating_add(6);
        to = to.saturating_add(8);
    }
    while let Some(group) = buffer.get(from..).filter(|rest| !rest.is_empty()) {
        let text = match *group {
            [a, b, c, ..] => encode_group([a, b, c]),
            [a, b] => {
                let [a, b, c, _] = encode_group([a, b, 0]);
                [a, b, c, b'=']
            }
            [a] => {
                let [a, b, ..] = encode_group([a, 0, 0]);
                [a, b, b'=', b'=']
            }
            [] => break,
        };
        if let Some(place) = buffer.get_mut(to..).and_then(<[u8]>::first_chunk_mut) {
            *place = text;
        }
        from = from.saturating_add(3);
        to = to.saturating_add(4);
    }
    true
}

/// Decodes all of `text` to its own front and gives the number of bytes. After a fault its content means nothing.
///
/// ```
/// use twolane_core::connector::base64::{Base64Fault, decode_in_place};
///
/// let mut text = *b"bGFtcA==";
/// let len = decode_in_place(&mut text)?;
/// assert_eq!(&text[..len], b"lamp");
/// // Bits that stand for nothing have to be 0: one text for each content.
/// assert_eq!(decode_in_place(&mut b"bGFtcB==".to_owned()), Err(Base64Fault));
/// # Ok::<(), Base64Fault>(())
/// ```
pub fn decode_in_place(text: &mut [u8]) -> Result<usize, Base64Fault> {
    let groups = text.len() / 4;
    if !text.len().is_multiple_of(4) || groups == 0 {
        return if text.is_empty() { Ok(0) } else { Err(Base64Fault) };
    }
    let mut wrong = 0;
    // All but the last group, two at a time.
    let blocks = (groups - 1) / 2;
    for block in 0..blocks {
        let Some(characters) = text.get(block * 8..).and_then(<[u8]>::first_chunk) else { break };
        let (bytes, marks) = decode_block(*characters);
        wrong |= marks;
        if let Some(place) = text.get_mut(block * 6..).and_then(<[u8]>::first_chunk_mut) {
            *place = bytes;
        }
    }
    for group in blocks * 2..groups - 1 {
        let Some(characters) = text.get(group * 4..).and_then(<[u8]>::first_chunk) else { break };
        let (bytes, marks) = decode_group(*characters);
        wrong |= marks;
        if let Some(place) = text.get_mut(group * 3..).and_then(<[u8]>::first_chunk_mut) {
            *place = bytes;
        }
    }
    let Some((last, count)) = text.last_chunk().and_then(|last| decode_last(*last)) else {
        return Err(Base64Fault);
    };
    let start = (groups - 1) * 3;
    if let Some(place) = text.get_mut(start..).and_then(<[u8]>::first_chunk_mut) {
        *place = last;
    }
    if wrong > 63 { Err(Base64Fault) } else { Ok(start + count) }
}

/// Decodes `text` to the front of `out` and gives what it stands for.
///
/// ```
/// use twolane_core::connector::base64::{Base64Fault, decode_into};
///
/// assert_eq!(decode_into("bGFtcA==", &mut [0; 4])?, b"lamp");
/// assert!(decode_into("bGFtcA", &mut [0; 4]).is_err(), "without its padding");
/// assert!(decode_into("bGFtcA==", &mut [0; 3]).is_err(), "no room");
/// # Ok::<(), Base64Fault>(())
/// ```
pub fn decode_into<'o>(text: &str, out: &'o mut [u8]) -> Result<&'o mut [u8], Base64Fault> {
    let (groups, []) = text.as_bytes().as_chunks::<4>() else { return Err(Base64Fault) };
    let Some((last, groups)) = groups.split_last() else { return Ok(&mut []) };
    let (last, count) = decode_last(*last).ok_or(Base64Fault)?;
    let start = groups.len().saturating_mul(3);
    let out = out.get_mut(..start.saturating_add(count)).ok_or(Base64Fault)?;
    let (front, rest) = out.split_at_mut_checked(start).ok_or(Base64Fault)?;
    let (blocks, group) = groups.as_flattened().as_chunks::<8>();
    let (places, place) = front.as_chunks_mut::<6>();
    let mut wrong = 0;
    for (place, block) in places.iter_mut().zip(blocks) {
        let (bytes, marks) = decode_block(*block);
        *place = bytes;
        wrong |= marks;
    }
    if let Some(group) = group.first_chunk() {
        let (bytes, marks) = decode_group(*group);
        place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        wrong |= marks;
    }
    rest.iter_mut().zip(last).for_each(|(place, byte)| *place = byte);
    if wrong > 63 { Err(Base64Fault) } else { Ok(out) }
}

/// Two groups at once, which is half of the loads and stores.
fn encode_block([a, b, c, d, e, f]: [u8; 6]) -> [u8; 8] {
    let [front, back] = [encode_group([a, b, c]), encode_group([d, e, f])];
    let [[a, b, c, d], [e, f, g, h]] = [front, back];
    [a, b, c, d, e, f, g, h]
}

/// The bytes of eight characters, and what is over 63 where one of them means nothing.
fn decode_block(characters: [u8; 8]) -> ([u8; 6], u8) {
    let value = |character| u64::from(VALUES[usize::from(character)]);
    let [a, b, c, d, e, f, g, h] = characters;
    let [a, b, c, d] = [value(a), value(b), value(c), value(d)];
    let [e, f, g, h] = [value(e), value(f), value(g), value(h)];
    let marks = a | b | c | d | e | f | g | h;
    let bits = a << 42 | b << 36 | c << 30 | d << 24 | e << 18 | f << 12 | g << 6 | h;
    let [_, _, a, b, c, d, e, f] = bits.to_be_bytes();
    // A value has 6 bits, what means nothing 8.
    ([a, b, c, d, e, f], if marks > 63 { NONE } else { 0 })
}

const fn encode_group([a, b, c]: [u8; 3]) -> [u8; 4] {
    [
        ALPHABET[(a >> 2) as usize],
        ALPHABET[((a << 4 | b >> 4) & 63) as usize],
        ALPHABET[((b << 2 | c >> 6) & 63) as usize],
        ALPHABET[(c & 63) as usize],
    ]
}

/// The bytes of four characters, and what is over 63 where one of them means nothing.
const fn decode_group([a, b, c, d]: [u8; 4]) -> ([u8; 3], u8) {
    let [a, b, c, d] = [VALUES[a as usize], VALUES[b as usize], VALUES[c as usize], VALUES[d as usize]];
    ([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d], a | b | c | d)
}

/// The bytes of the last four characters and how many of them count; bits that stand for nothing have to be 0.
const fn decode_last(group: [u8; 4]) -> Option<([u8; 3], usize)> {
    let (group, count) = match group {
        [a, b, b'=', b'='] => ([a, b, b'A', b'A'], 1),
        [a, b, c, b'='] => ([a, b, c, b'A'], 2),
        whole => (whole, 3),
    };
    let (bytes, marks) = decode_group(group);
    let canonical = matches!((count, bytes), (1, [_, 0, 0]) | (2, [_, _, 0]) | (3, _));
    if marks <= 63 && canonical { Some((bytes, count)) } else { None }
}

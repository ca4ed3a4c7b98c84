//! Our base64 against the alphabet's best-known implementation: the same texts, the same refusals.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use twolane_core::connector::base64::{
    Base64Fault, decode_in_place, decode_into, decoded_len_max, encode_in_place, encoded_len,
};

fn encode(bytes: &[u8]) -> String {
    let mut buffer = vec![0; encoded_len(bytes.len()).unwrap()];
    let start = buffer.len() - bytes.len();
    buffer[start..].copy_from_slice(bytes);
    assert!(encode_in_place(&mut buffer, bytes.len()));
    String::from_utf8(buffer).unwrap()
}

/// By both ways, which have to agree.
fn decode(text: &str) -> Result<Vec<u8>, Base64Fault> {
    let mut scratch = vec![0; decoded_len_max(text.len())];
    let copied = decode_into(text, &mut scratch).map(|bytes| bytes.to_vec());
    let mut bytes = text.as_bytes().to_vec();
    let in_place = decode_in_place(&mut bytes).map(|len| bytes[..len].to_vec());
    assert_eq!(copied, in_place, "{text:?}");
    in_place
}

#[test]
fn every_length_and_every_byte_goes_there_and_back() {
    let bytes: Vec<u8> = (0..=255).cycle().step_by(7).take(700).collect();
    for len in 0..bytes.len() {
        let text = encode(&bytes[..len]);
        assert_eq!(text, STANDARD.encode(&bytes[..len]), "{len} bytes");
        assert_eq!(decode(&text).as_deref(), Ok(&bytes[..len]), "{len} bytes");
    }
}

#[test]
fn every_last_group_of_two_letters_and_marks_is_judged_as_there() {
    let letters = "AQgw/B=-_ \n";
    for a in letters.chars() {
        for b in letters.chars() {
            for c in letters.chars() {
                for d in letters.chars() {
                    for front in ["", "AAAA", "AA=="] {
                        let text: String = front.chars().chain([a, b, c, d]).collect();
                        assert_eq!(decode(&text).ok(), STANDARD.decode(&text).ok(), "{text:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_buffer_of_another_length_is_refused_and_left_alone() {
    let mut buffer = [1, 2, 3, 4, 5];
    assert!(!encode_in_place(&mut buffer, 3));
    assert_eq!(buffer, [1, 2, 3, 4, 5]);
    assert_eq!(decode_into("AAAAAAAA", &mut [0; 5]), Err(Base64Fault));
}

proptest! {
    #[test]
    fn any_text_is_judged_as_there(text in "[A-Za-z0-9+/=\\-_ é]{0,40}") {
        prop_assert_eq!(decode(&text).ok(), STANDARD.decode(&text).ok());
    }

    #[test]
    fn any_bytes_are_written_as_there(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert_eq!(encode(&bytes), STANDARD.encode(&bytes));
    }
}

//! The functions as C calls them: null, short and reused places; under Miri too.

use core::mem::MaybeUninit;
use core::ptr::{null, null_mut};

use twolane_c::TwolaneStatus;
use twolane_c::frame::{TwolaneItem, twolane_decode, twolane_decoder_init, twolane_peek};
use twolane_c::handshake::{
    twolane_client_end, twolane_client_hello, twolane_client_init, twolane_client_receive,
};

/// Ping on channel 0, corr 5, version 1.
const PING: [u8; 17] = [0, 0, 0, 0, 1, 7, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn null_is_refused_wherever_it_must_not_be() {
    let mut need = 0;
    let mut header = Default::default();
    // Safety: null is what is tried; the rest is alive.
    unsafe {
        assert_eq!(twolane_peek(null(), 1, &mut header, &mut need), TwolaneStatus::Usage);
        assert_eq!(twolane_peek(PING.as_ptr(), PING.len(), null_mut(), &mut need), TwolaneStatus::Usage);
        assert_eq!(twolane_peek(PING.as_ptr(), usize::MAX, &mut header, &mut need), TwolaneStatus::Usage);
        assert_eq!(twolane_peek(null(), 0, &mut header, &mut need), TwolaneStatus::Need);
        assert_eq!(need, 5);
        assert_eq!(twolane_decoder_init(null_mut(), 9), TwolaneStatus::Usage);
        assert_eq!(twolane_decode(null_mut(), null(), 0, null_mut()), TwolaneStatus::Usage);
        let key = [1; 32];
        let init = twolane_client_init(null_mut(), key.as_ptr(), 32, key.as_ptr(), key.as_ptr());
        assert_eq!(init, TwolaneStatus::Usage);
        twolane_client_end(null_mut());
    }
}

#[test]
fn a_decoder_hands_out_bodies_inside_the_bytes_it_was_given() {
    let wire = [&[2, 0, 0, 0, 1, 3, 2, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0][..], b"{}", &PING].concat();
    let mut decoder = MaybeUninit::uninit();
    let mut decoded = MaybeUninit::uninit();
    // Safety: all places are alive, and read only where they were written.
    unsafe {
        assert_eq!(twolane_decoder_init(decoder.as_mut_ptr(), 64), TwolaneStatus::Ok);
        let mut unread = &wire[..];
        let status = twolane_decode(decoder.as_mut_ptr(), unread.as_ptr(), 18, decoded.as_mut_ptr());
        assert_eq!((status, decoded.assume_init_ref().need), (TwolaneStatus::Need, 19));
        let status =
            twolane_decode(decoder.as_mut_ptr(), unread.as_ptr(), unread.len(), decoded.as_mut_ptr());
        let frame = *decoded.as_ptr();
        assert_eq!((status, frame.item, frame.header.lane), (TwolaneStatus::Ok, TwolaneItem::Frame, 1));
        assert_eq!(core::slice::from_raw_parts(frame.body, frame.body_len), b"{}");
        unread = &unread[frame.consumed..];
        let status =
            twolane_decode(decoder.as_mut_ptr(), unread.as_ptr(), unread.len(), decoded.as_mut_ptr());
        assert_eq!((status, decoded.assume_init_ref().header.frame_type), (TwolaneStatus::Ok, 7));
    }
}

#[test]
fn a_client_writes_nothing_into_a_place_too_small_and_can_be_asked_again() {
    let (key, nonce) = ([1; 32], [2; 32]);
    let mut client = MaybeUninit::uninit();
    let (mut written, mut consumed, mut need) = (0, 0, 0);
    let mut out = [0; 176];
    // Safety: all places are alive, and the client is begun before it is used and not used after its end.
    unsafe {
        let client = client.as_mut_ptr();
        let short = twolane_client_init(client, key.as_ptr(), 31, key.as_ptr(), nonce.as_ptr());
        assert_eq!(short, TwolaneStatus::Usage, "a key of 31 bytes");
        let init = twolane_client_init(client, key.as_ptr(), 32, key.as_ptr(), nonce.as_ptr());
        assert_eq!(init, TwolaneStatus::Ok);
        assert_eq!(twolane_client_hello(client, out.as_mut_ptr(), 20, &mut written), TwolaneStatus::Usage);
        assert_eq!((written, out[0]), (0, 0));
        let hello = twolane_client_hello(client, out.as_mut_ptr(), out.len(), &mut written);
        assert_eq!((hello, &out[4..20]), (TwolaneStatus::Ok, &b"{\"client_nonce\":"[..]));
        let mut receive = |bytes: &[u8], out_len| {
            let (consumed, need) = (&mut consumed, &mut need);
            let (start, len) = (bytes.as_ptr(), bytes.len());
            twolane_client_receive(
                client,
                start,
                len,
                consumed,
                need,
                out.as_mut_ptr(),
                out_len,
                &mut written,
            )
        };
        assert_eq!(receive(&[1, 0], 175), TwolaneStatus::Usage);
        assert_eq!(receive(&[1, 0], 176), TwolaneStatus::Need);
        assert_eq!(receive(&[2, 0, 0, 0, b'{', b'}'], 176), TwolaneStatus::Refused);
        assert_eq!(receive(&[1, 0], 176), TwolaneStatus::Refused, "a refusal stays");
        twolane_client_end(client);
    }
    assert_eq!(need, 0);
}

#[cfg(feature = "seal")]
#[test]
fn a_text_opens_only_under_its_tag_and_is_untouched_otherwise() {
    use twolane_c::seal::{twolane_open, twolane_seal, twolane_seal_key_end, twolane_seal_key_init};
    let (bytes, nonce, aad) = ([3; 32], [4; 12], b"ids");
    let mut text = *b"a turn";
    let mut tag = [0; 16];
    let mut key = MaybeUninit::uninit();
    // Safety: all places are alive, and the key is begun before it is used and not used after its end.
    unsafe {
        let key = key.as_mut_ptr();
        assert_eq!(twolane_seal_key_init(key, bytes.as_ptr()), TwolaneStatus::Ok);
        let mut seal = |tag: *mut u8| {
            twolane_seal(key, nonce.as_ptr(), aad.as_ptr(), 3, text.as_mut_ptr(), text.len(), tag)
        };
        assert_eq!(seal(null_mut()), TwolaneStatus::Usage);
        assert_eq!(seal(tag.as_mut_ptr()), TwolaneStatus::Ok);
        let sealed = text;
        assert_ne!(&sealed, b"a turn");
        tag[15] ^= 1;
        let mut open = |tag: &[u8; 16]| {
            twolane_open(key, nonce.as_ptr(), aad.as_ptr(), 3, text.as_mut_ptr(), text.len(), tag.as_ptr())
        };
        assert_eq!(open(&tag), TwolaneStatus::NotTrusted);
        tag[15] ^= 1;
        assert_eq!(open(&tag), TwolaneStatus::Ok);
        assert_eq!(&text, b"a turn");
        twolane_seal_key_end(key);
    }
}

//! Seal and open in place, the tag apart.

use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::seal::SealKey;
use twolane_core::limits::SEAL_TAG_LEN;

use crate::TwolaneStatus;
use crate::border::{Place, array, begin, bytes, bytes_mut, end, fits, put, state};

/// A key, ready to use, until it is ended.
#[repr(C, align(16))]
pub struct TwolaneSealKey {
    opaque: [u64; 144],
}

// Safety: asserted below.
unsafe impl Place for TwolaneSealKey {
    type State = SealKey;
}

const _: () = assert!(fits::<TwolaneSealKey>());

/// Begins a key of 32 bytes.
///
/// # Safety
/// `key` can be written; `bytes` has 32 readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_seal_key_init(key: *mut TwolaneSealKey, bytes: *const u8) -> TwolaneStatus {
    // Safety: the caller's promise.
    let Some(bytes) = (unsafe { array::<32>(bytes) }) else { return TwolaneStatus::Usage };
    // Safety: the caller's promise.
    if unsafe { begin(key, SealKey::from_bytes(bytes)) } { TwolaneStatus::Ok } else { TwolaneStatus::Usage }
}

/// Ends a key: it is overwritten.
///
/// # Safety
/// `key` is null, or was begun and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_seal_key_end(key: *mut TwolaneSealKey) {
    // Safety: the caller's promise.
    unsafe { end(key) };
}

/// Encrypts `text` in place and puts its tag of 16 bytes into `tag`. A nonce of 12 bytes is used once under a key.
///
/// # Safety
/// `key` was begun; `nonce` has 12 readable bytes, `aad` `aad_len`; `text` has `text_len` bytes and `tag` 16 that are
/// not null and can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_seal(
    key: *mut TwolaneSealKey,
    nonce: *const u8,
    aad: *const u8,
    aad_len: usize,
    text: *mut u8,
    text_len: usize,
    tag: *mut u8,
) -> TwolaneStatus {
    // Safety: the caller's promise.
    let (key, nonce, aad, text) =
        unsafe { (state(key), array(nonce), bytes(aad, aad_len), bytes_mut(text, text_len)) };
    let (Some(key), Some(nonce), Some(aad), Some(text)) = (key, nonce, aad, text) else {
        return TwolaneStatus::Usage;
    };
    if tag.is_null() {
        return TwolaneStatus::Usage;
    }
    let Ok(sealed) = key.seal_detached(&Nonce(*nonce), aad, text) else { return TwolaneStatus::Usage };
    // Safety: the caller's promise; an array of bytes may lie anywhere.
    unsafe { put(tag.cast::<[u8; SEAL_TAG_LEN]>(), sealed) };
    TwolaneStatus::Ok
}

/// Decrypts `text` in place where `tag` is right. `NotTrusted`: it is not, and the text is as it was.
///
/// # Safety
/// As [`twolane_seal`]; `tag` has 16 readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_open(
    key: *mut TwolaneSealKey,
    nonce: *const u8,
    aad: *const u8,
    aad_len: usize,
    text: *mut u8,
    text_len: usize,
    tag: *const u8,
) -> TwolaneStatus {
    // Safety: the caller's promise.
    let (key, nonce, aad, text, tag) = unsafe {
        (state(key), array(nonce), bytes(aad, aad_len), bytes_mut(text, text_len), array::<SEAL_TAG_LEN>(tag))
    };
    let (Some(key), Some(nonce), Some(aad), Some(text), Some(tag)) = (key, nonce, aad, text, tag) else {
        return TwolaneStatus::Usage;
    };
    match key.open_detached(&Nonce(*nonce), aad, text, tag) {
        Ok(()) => TwolaneStatus::Ok,
        Err(_) => TwolaneStatus::NotTrusted,
    }
}

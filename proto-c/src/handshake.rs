//! The client's side of the handshake.

use twolane_core::handshake::{ClientHandshake, ClientStep, DaemonId, HandshakeReason, Key};
use twolane_core::limits::{CLIENT_WRITTEN_MAX, DAEMON_ID_LEN, NONCE_LEN};

use crate::TwolaneStatus;
use crate::border::{Place, array, begin, bytes, bytes_mut, end, fits, put, state};

/// Bytes that hold any message that a client writes.
pub const TWOLANE_CLIENT_MESSAGE_MAX: usize = 176;

const _: () = assert!(TWOLANE_CLIENT_MESSAGE_MAX == CLIENT_WRITTEN_MAX);

/// The state of one handshake. It holds the key until it is ended.
#[repr(C)]
pub struct TwolaneClient {
    opaque: [u64; 48],
}

// Safety: asserted below.
unsafe impl Place for TwolaneClient {
    type State = ClientHandshake;
}

const _: () = assert!(fits::<TwolaneClient>());

/// Begins a handshake with the process `daemon_id` (16 bytes) under a key of 32 to 128 bytes. `nonce` has to be 32 fresh
/// random bytes.
///
/// # Safety
/// `client` can be written; `key` has `key_len` readable bytes, `daemon_id` 16, `nonce` 32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_client_init(
    client: *mut TwolaneClient,
    key: *const u8,
    key_len: usize,
    daemon_id: *const u8,
    nonce: *const u8,
) -> TwolaneStatus {
    // Safety: the caller's promise.
    let (key, daemon_id, nonce) =
        unsafe { (bytes(key, key_len), array::<DAEMON_ID_LEN>(daemon_id), array::<NONCE_LEN>(nonce)) };
    let (Some(Ok(key)), Some(daemon_id), Some(nonce)) = (key.map(Key::new), daemon_id, nonce) else {
        return TwolaneStatus::Usage;
    };
    let handshake = ClientHandshake::new(&key, DaemonId(*daemon_id), *nonce);
    // Safety: the caller's promise.
    if unsafe { begin(client, handshake) } { TwolaneStatus::Ok } else { TwolaneStatus::Usage }
}

/// Writes message 1, which is to be sent first, to `out` and its length to `written`.
///
/// # Safety
/// `client` was begun; `out` has `out_len` writable bytes; `written` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_client_hello(
    client: *mut TwolaneClient,
    out: *mut u8,
    out_len: usize,
    written: *mut usize,
) -> TwolaneStatus {
    // Safety: the caller's promise.
    let (Some(client), Some(out)) = (unsafe { state(client) }, unsafe { bytes_mut(out, out_len) }) else {
        return TwolaneStatus::Usage;
    };
    // Safety: the caller's promise.
    unsafe { message(&client.hello(), out, written) }
}

/// Looks at what was received. `Ok`: message 3 is in `out` and is to be sent, and what is unread behind `consumed` are
/// frames. `Need`: `need` bytes have to be there. `NotTrusted` and `Refused`: close without a word.
///
/// # Safety
/// `client` was begun; `unread` has `len` readable bytes, `out` `out_len` writable ones; the rest can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_client_receive(
    client: *mut TwolaneClient,
    unread: *const u8,
    len: usize,
    consumed: *mut usize,
    need: *mut usize,
    out: *mut u8,
    out_len: usize,
    written: *mut usize,
) -> TwolaneStatus {
    // Safety: the caller's promise.
    let (client, unread, out) = unsafe { (state(client), bytes(unread, len), bytes_mut(out, out_len)) };
    let (Some(client), Some(unread), Some(out)) = (client, unread, out) else {
        return TwolaneStatus::Usage;
    };
    // Checked before the handshake moves on, which it does once.
    if out.len() < TWOLANE_CLIENT_MESSAGE_MAX {
        return TwolaneStatus::Usage;
    }
    // Safety: the caller's promise.
    if !unsafe { put(consumed, 0) && put(need, 0) && put(written, 0) } {
        return TwolaneStatus::Usage;
    }
    let received = match client.receive(unread) {
        Ok(received) => received,
        Err(fault) => return refused(fault.reason),
    };
    // Safety: the caller's promise.
    unsafe { put(consumed, received.consumed) };
    match received.step {
        ClientStep::Need(total) => {
            // Safety: the caller's promise.
            unsafe { put(need, total) };
            TwolaneStatus::Need
        }
        // Safety: the caller's promise.
        ClientStep::Authenticated { auth } => unsafe { message(&auth, out, written) },
    }
}

const fn refused(reason: HandshakeReason) -> TwolaneStatus {
    match reason {
        HandshakeReason::ProofMismatch | HandshakeReason::WrongDaemon => TwolaneStatus::NotTrusted,
        _ => TwolaneStatus::Refused,
    }
}

/// Ends a handshake: the key is overwritten.
///
/// # Safety
/// `client` is null, or was begun and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_client_end(client: *mut TwolaneClient) {
    // Safety: the caller's promise.
    unsafe { end(client) };
}

/// Copies a message to the front of `out`.
///
/// # Safety
/// `written` is null or can be written.
unsafe fn message(message: &[u8], out: &mut [u8], written: *mut usize) -> TwolaneStatus {
    let Some(place) = out.get_mut(..message.len()) else { return TwolaneStatus::Usage };
    place.iter_mut().zip(message).for_each(|(to, from)| *to = *from);
    // Safety: the caller's promise.
    if unsafe { put(written, message.len()) } { TwolaneStatus::Ok } else { TwolaneStatus::Usage }
}

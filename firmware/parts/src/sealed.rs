//! The lanes client, and seal and open of a turn beside it.

use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::seal::SealKey;

use crate::lanes;

/// A client's session, then a text of `storage` sealed and opened again; 0 where that fails.
pub fn run(bytes: &[u8], storage: &mut [u8], out: &mut [u8]) -> u32 {
    let result = lanes::run(bytes, storage, out);
    if turn(storage) { result } else { 0 }
}

/// Apart from the session, so that their stacks do not add up.
#[inline(never)]
fn turn(text: &mut [u8]) -> bool {
    let key = SealKey::from_bytes(&lanes::KEY);
    let nonce = Nonce([9; 12]);
    let aad = b"caller-1 request-1";
    let Ok(tag) = key.seal_detached(&nonce, aad, text) else { return false };
    key.open_detached(&nonce, aad, text, &tag).is_ok()
}

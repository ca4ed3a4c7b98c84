//! Seal and open: the one entry whose ciphers keep panic sites of their own, which xtask lists.
#![no_std]
#![no_main]

use no_panic::{output, program};
use twolane_core::connector::envelope::{Nonce, ReadEnvelope};
use twolane_core::connector::seal::SealKey;

program!(|bytes| {
    let Some((key, text)) = bytes.split_first_chunk_mut::<32>() else { no_panic::halt() };
    let key = SealKey::from_bytes(key);
    let nonce = Nonce([1; 12]);
    if let Ok(tag) = key.seal_detached(&nonce, b"aad", text) {
        output(key.open_detached(&nonce, b"aad", text, &tag).is_ok());
    }
    let mut copy = [0; 512];
    copy.iter_mut().zip(&*text).for_each(|(to, from)| *to = *from);
    if let Ok(read) = ReadEnvelope::read(&copy) {
        output(key.open(&read.envelope, text).is_ok());
    }
    output(SealKey::from_file(&copy).is_ok());
});

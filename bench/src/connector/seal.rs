//! Sealing and opening, against the cipher crate alone and against two others.

use std::hint::black_box;

use aes_gcm::aead::{AeadInOut as _, KeyInit as _};
use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::seal::SealKey;

use crate::timing::{Thing, judge, medians};

/// Lengths of the text, in bytes.
const TEXTS: [usize; 3] = [1024, 16 * 1024, 256 * 1024];

/// Bytes sealed in one round.
const ROUND_BYTES: usize = 32 << 20;

/// What ours may take at most, as a share of the cipher crate's time.
const RATIO_MAX: f64 = 1.05;

const KEY: [u8; 32] = [7; 32];
const NONCE: [u8; 12] = [9; 12];

/// As long as that of an envelope with short ids.
const AAD: [u8; 80] = [3; 80];

/// False where a promise was not kept.
pub(crate) fn bench(rounds: u32) -> bool {
    println!("seal: AES-256-GCM in place, sealed and opened again; medians of {rounds} rounds");
    TEXTS.into_iter().fold(true, |kept, text| kept & size(text, rounds))
}

fn size(len: usize, rounds: u32) -> bool {
    let calls = u32::try_from(ROUND_BYTES / len).expect("a small number");
    let mut texts = [(); 4].map(|()| vec![0x42_u8; len]);
    let [ours, bare, of_ring, of_aws] = &mut texts;
    let key = SealKey::from_bytes(&KEY);
    let cipher = aes_gcm::Aes256Gcm::new(&KEY.into());
    let ring = ring::aead::UnboundKey::new(&ring::aead::AES_256_GCM, &KEY).expect("a key");
    let ring = ring::aead::LessSafeKey::new(ring);
    let aws = aws_lc_rs::aead::UnboundKey::new(&aws_lc_rs::aead::AES_256_GCM, &KEY).expect("a key");
    let aws = aws_lc_rs::aead::LessSafeKey::new(aws);
    let times = medians(
        rounds,
        calls,
        [
            Thing::new(1, &mut || {
                let nonce = Nonce(black_box(NONCE));
                let tag = key.seal_detached(&nonce, &AAD, ours).expect("a seal");
                key.open_detached(&nonce, &AAD, ours, &tag).expect("the same key");
            }),
            Thing::new(1, &mut || {
                let nonce = black_box(NONCE).into();
                let tag =
                    cipher.encrypt_inout_detached(&nonce, &AAD, bare.as_mut_slice().into()).expect("a seal");
                cipher
                    .decrypt_inout_detached(&nonce, &AAD, bare.as_mut_slice().into(), &tag)
                    .expect("the same key");
            }),
            Thing::new(1, &mut || {
                use ring::aead::{Aad, Nonce};
                let nonce = || Nonce::assume_unique_for_key(black_box(NONCE));
                let tag = ring.seal_in_place_separate_tag(nonce(), Aad::from(&AAD), of_ring).expect("a seal");
                of_ring.extend_from_slice(tag.as_ref());
                ring.open_in_place(nonce(), Aad::from(&AAD), of_ring).expect("the same key");
                of_ring.truncate(len);
            }),
            Thing::new(1, &mut || {
                use aws_lc_rs::aead::{Aad, Nonce};
                let nonce = || Nonce::assume_unique_for_key(black_box(NONCE));
                let tag = aws.seal_in_place_separate_tag(nonce(), Aad::from(&AAD), of_aws).expect("a seal");
                of_aws.extend_from_slice(tag.as_ref());
                aws.open_in_place(nonce(), Aad::from(&AAD), of_aws).expect("the same key");
                of_aws.truncate(len);
            }),
        ],
    );
    let [ours, bare, ..] = times;
    println!("  texts of {len} bytes");
    for (name, time) in ["twolane", "aes-gcm 0.11 alone", "ring 0.17", "aws-lc-rs 1"].into_iter().zip(times) {
        let mb_s = 2.0 * len as f64 / time * 1e3;
        println!("    {name:<20}{time:>10.0} ns{mb_s:>8.0} MB/s   {:.2}x of ours", time / ours);
    }
    judge(&format!("at most {RATIO_MAX}x of the bare cipher"), ours <= RATIO_MAX * bare)
}

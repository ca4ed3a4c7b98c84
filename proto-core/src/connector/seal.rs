//! Keys, and the seal itself: AES-256-GCM in place with a detached tag.

use core::fmt;

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{AeadInOut, KeyInit};
use sha2::{Digest as _, Sha256};
use zeroize::{Zeroize, Zeroizing};

use super::envelope::{AAD_LEN_MAX, Envelope, Nonce};
use crate::limits::{SEAL_TAG_LEN, SECRET_LEN_MIN};
use crate::scan::msgpack::Written;

/// What is hashed in front of a key to name it.
const KEY_ID_LABEL: &[u8] = b"twolane-connector-key-id-v1";

/// The key of one caller, ready to use. It is shown by nothing and overwritten when dropped.
///
/// ```
/// use twolane_core::connector::envelope::{Envelope, MessageKind, Nonce};
/// use twolane_core::connector::seal::{KeyId, OpenFault, SealKey, SecretFault};
///
/// let secret = "thirty-two random bytes, or more of them";
/// let key = SealKey::from_secret(secret)?;
/// // A key file may end with a line end. The id tells keys apart and does not tell them.
/// let from_file = SealKey::from_file(format!("{secret}\r\n").as_bytes())?;
/// let id: KeyId = key.id();
/// assert_eq!((from_file.id(), id.to_string().len()), (id, 32));
/// assert_ne!(SealKey::from_bytes(&[7; 32]).id(), id);
/// assert_eq!(SealKey::from_secret("short").unwrap_err(), SecretFault::TooShort { len: 5 });
///
/// // In place, with the tag apart.
/// let (nonce, mut text) = (Nonce([3; 12]), *b"which day is it?");
/// let tag = key.seal_detached(&nonce, b"to the server", &mut text).unwrap();
/// assert_eq!(key.open_detached(&nonce, b"to the caller", &mut text, &tag), Err(OpenFault));
/// key.open_detached(&nonce, b"to the server", &mut text, &tag).unwrap();
/// assert_eq!(&text, b"which day is it?");
///
/// // An envelope's ciphertext has its tag at the end; bytes that no one sealed stay as they are.
/// let envelope = Envelope { caller_runtime_id: "c", request_id: "r", message_kind: MessageKind::Result, nonce };
/// let mut made_up = [0xcc; 20];
/// assert!(key.open(&envelope, &mut made_up).is_err() && made_up == [0xcc; 20]);
/// # Ok::<(), SecretFault>(())
/// ```
pub struct SealKey {
    cipher: Aes256Gcm,
    id: KeyId,
}

/// Names a key without telling it: equal for equal keys. `Display` gives 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 16]);

/// Why a text is no secret. Whoever configured it is at fault; the text is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretFault {
    /// Too short.
    #[error("the secret has {len} bytes, at least 32 are needed")]
    TooShort {
        /// Its bytes.
        len: usize,
    },
    /// White space at its beginning or end.
    #[error("the secret begins or ends with white space")]
    BlankEnd,
    /// Not UTF-8.
    #[error("the secret is not UTF-8")]
    NotUtf8,
}

/// Why nothing was sealed.
///
/// ```
/// use twolane_core::connector::seal::SealFault;
/// use twolane_core::connector::sealed::SealedFault;
///
/// // What a sealed frame could not be made for.
/// let fault = SealedFault::Seal(SealFault::IdTooLong);
/// assert_eq!(fault.to_string(), "an id is too long");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealFault {
    /// Longer than the cipher takes under one nonce.
    #[error("the text is too long for one seal")]
    TooLong,
    /// An id that does not fit the buffer of what is authenticated; with a heap there is none.
    #[error("an id is too long")]
    IdTooLong,
}

/// The tag is not that of this key, these ids and this text. The text is as it was: nothing was decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the seal is not that of this key")]
pub struct OpenFault;

impl SealKey {
    /// The key of a secret.
    pub fn from_secret(secret: &str) -> Result<Self, SecretFault> {
        if secret.len() < SECRET_LEN_MIN {
            return Err(SecretFault::TooShort { len: secret.len() });
        }
        if secret.starts_with(char::is_whitespace) || secret.ends_with(char::is_whitespace) {
            return Err(SecretFault::BlankEnd);
        }
        let mut key = Zeroizing::new([0; 32]);
        let mut digest = Sha256::digest(secret.as_bytes());
        key.iter_mut().zip(&digest).for_each(|(place, byte)| *place = *byte);
        digest.as_mut_slice().zeroize();
        Ok(Self::from_bytes(&key))
    }

    /// The key of a key file: the secret, and at most one LF or CRLF behind it.
    pub fn from_file(text: &[u8]) -> Result<Self, SecretFault> {
        let text = text.strip_suffix(b"\n").map_or(text, |line| line.strip_suffix(b"\r").unwrap_or(line));
        Self::from_secret(core::str::from_utf8(text).map_err(|_| SecretFault::NotUtf8)?)
    }

    /// The key itself.
    pub fn from_bytes(key: &[u8; 32]) -> Self {
        let digest = Sha256::new().chain_update(KEY_ID_LABEL).chain_update(key).finalize();
        let mut id = KeyId([0; 16]);
        id.0.iter_mut().zip(digest).for_each(|(place, byte)| *place = byte);
        Self { cipher: Aes256Gcm::new(key.into()), id }
    }

    /// The key's name.
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// Encrypts `text` in place and gives its tag.
    pub fn seal_detached(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        text: &mut [u8],
    ) -> Result<[u8; SEAL_TAG_LEN], SealFault> {
        let tag = self.cipher.encrypt_inout_detached(&nonce.0.into(), aad, text.into());
        Ok(tag.map_err(|_| SealFault::TooLong)?.into())
    }

    /// Decrypts `text` in place, where the tag is right; else leaves it as it is.
    pub fn open_detached(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        text: &mut [u8],
        tag: &[u8; SEAL_TAG_LEN],
    ) -> Result<(), OpenFault> {
        let tag = (*tag).into();
        let opened = self.cipher.decrypt_inout_detached(&nonce.0.into(), aad, text.into(), &tag);
        opened.map_err(|_| OpenFault)
    }

    /// Encrypts all of `sealed` but the place of the tag at its end, and writes that.
    pub(super) fn seal(&self, envelope: &Envelope<'_>, sealed: &mut [u8]) -> Result<(), SealFault> {
        let (text, tag) = sealed.split_last_chunk_mut().ok_or(SealFault::TooLong)?;
        *tag = with_aad(envelope, |aad| self.seal_detached(&envelope.nonce, aad, text))
            .ok_or(SealFault::IdTooLong)??;
        Ok(())
    }

    /// Decrypts a ciphertext with its tag at the end and gives the text, which is all but the tag. After a fault all
    /// is as it was.
    pub fn open<'s>(&self, envelope: &Envelope<'_>, sealed: &'s mut [u8]) -> Result<&'s mut [u8], OpenFault> {
        let (text, tag) = sealed.split_last_chunk_mut().ok_or(OpenFault)?;
        with_aad(envelope, |aad| self.open_detached(&envelope.nonce, aad, text, tag)).ok_or(OpenFault)??;
        Ok(text)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(..)")
    }
}

/// Hands what `envelope` authenticates to `work`; `None` where an id is longer than an id and there is no heap.
fn with_aad<T>(envelope: &Envelope<'_>, work: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let mut buffer = [0; AAD_LEN_MAX];
    let mut written = Written::new(&mut buffer);
    if envelope.write_aad(&mut written).is_ok() {
        let len = written.len();
        return buffer.get(..len).map(work);
    }
    #[cfg(feature = "alloc")]
    {
        let mut aad = alloc::vec::Vec::new();
        envelope.write_aad(&mut aad).ok()?;
        Some(work(&aad))
    }
    #[cfg(not(feature = "alloc"))]
    None
}

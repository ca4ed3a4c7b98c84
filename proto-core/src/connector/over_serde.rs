//! The documents through serde, for hosts: rules are kept on the way in, the bytes are the same.
//!
//! `rmp-serde` alone takes more than the one canonical form, so that [`read`] refuses what it would not write again.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::digest::Digest;
use super::document::{Document, SchemaId, Schemas, Valid};
use super::envelope::{Ciphertext, Nonce};
use super::text::{Rule, Text};
use crate::limits::MSGPACK_DEPTH_MAX;

/// Why bytes are not the document, as serde says it. The words may hold what was read.
///
/// ```
/// use twolane_core::connector::document::OwnedResult;
/// use twolane_core::connector::over_serde::{SerdeFault, read};
///
/// assert!(matches!(read::<OwnedResult>(b"\x80"), Err(SerdeFault::Unreadable(_))));
/// // 5 in three bytes is a number, but not the one form of it.
/// assert!(matches!(read::<u32>(b"\xcd\x00\x05"), Err(SerdeFault::NotCanonical)));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum SerdeFault {
    /// rmp-serde does not read it.
    #[error(transparent)]
    Unreadable(rmp_serde::decode::Error),
    /// rmp-serde reads it, but it is not in canonical form.
    #[error("not in canonical form")]
    NotCanonical,
}

/// Reads a document that is all of `bytes`.
///
/// ```
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::{Disposition, OwnedResult, Refusal, Valid, write_malformed};
/// use twolane_core::connector::over_serde;
///
/// let mut bytes = Vec::new();
/// write_malformed(&mut bytes, "request-1", "caller-1", &Digest([9; 32])).unwrap();
/// // The rules are kept: what is read so is valid.
/// let result: Valid<OwnedResult> = over_serde::read(&bytes).unwrap();
/// assert_eq!(result.disposition, Disposition::Refused(Refusal::Malformed));
/// ```
pub fn read<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, SerdeFault> {
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
    // It counts the levels from 1 where we count from 0.
    deserializer.set_max_depth(usize::from(MSGPACK_DEPTH_MAX));
    let document = T::deserialize(&mut deserializer).map_err(SerdeFault::Unreadable)?;
    match write(&document) {
        Ok(again) if again == bytes => Ok(document),
        _ => Err(SerdeFault::NotCanonical),
    }
}

/// The canonical bytes of a document.
///
/// ```
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::over_serde;
///
/// // A byte string of MessagePack, as the core's own writer makes it.
/// let bytes = over_serde::write(&Digest([9; 32])).unwrap();
/// assert_eq!((&bytes[..2], bytes.len()), (&[0xc4, 32][..], 34));
/// ```
pub fn write<T: Serialize>(document: &T) -> Result<Vec<u8>, SerdeFault> {
    rmp_serde::to_vec_named(document).map_err(|_| SerdeFault::NotCanonical)
}

impl<R, S: Serialize> Serialize for Text<R, S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        self.storage().serialize(serializer)
    }
}

impl<'de, R: Rule, S: AsRef<str> + Deserialize<'de>> Deserialize<'de> for Text<R, S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(S::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<D: Schemas> Serialize for SchemaId<D> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        serializer.serialize_str(D::ID)
    }
}

impl<'de, D: Schemas> Deserialize<'de> for SchemaId<D> {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        struct Expected<D>(PhantomData<D>);

        impl<D: Schemas> Visitor<'_> for Expected<D> {
            type Value = SchemaId<D>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(D::ID)
            }

            fn visit_str<E: Error>(self, found: &str) -> Result<SchemaId<D>, E> {
                if found == D::ID { Ok(SchemaId::NEW) } else { Err(E::custom("another schema")) }
            }
        }

        deserializer.deserialize_str(Expected(PhantomData))
    }
}

/// Bytes of a number that the field knows.
struct Fixed<const N: usize>;

impl<const N: usize> Visitor<'_> for Fixed<N> {
    type Value = [u8; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{N} bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<[u8; N], E> {
        bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &self))
    }
}

impl Serialize for Digest {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        deserializer.deserialize_bytes(Fixed).map(Self)
    }
}

impl Serialize for Nonce {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Nonce {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        deserializer.deserialize_bytes(Fixed).map(Self)
    }
}

impl Serialize for Ciphertext {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Ciphertext {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Ciphertext;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Ciphertext, E> {
                Ok(Ciphertext(bytes.to_vec()))
            }
        }

        deserializer.deserialize_bytes(Any)
    }
}

impl<T: Serialize> Serialize for Valid<T> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Document + Deserialize<'de>> Deserialize<'de> for Valid<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(T::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

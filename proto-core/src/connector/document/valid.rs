//! The only way to a document that is known to keep every rule.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use super::fault::DocumentFault;
use crate::connector::digest::Digest;
use crate::scan::msgpack::{Counted, Full, Output, Writer};

/// A document that keeps every rule. It can be looked at, not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Valid<T>(T);

impl<T> Valid<T> {
    /// What a strict reader has read.
    pub(super) const fn from_read(document: T) -> Self {
        Self(document)
    }

    /// The document, to change it.
    pub fn into_parts(self) -> T {
        self.0
    }
}

impl<T: Document> Valid<T> {
    /// `document`, where it keeps every rule.
    pub fn new(document: T) -> Result<Self, DocumentFault> {
        document.check()?;
        Ok(Self(document))
    }

    /// Writes the canonical bytes.
    pub fn write(&self, out: &mut impl Output) -> Result<(), Full> {
        self.0.write(&mut Writer(out))
    }

    /// The number of canonical bytes.
    pub fn canonical_len(&self) -> Result<u64, Full> {
        let mut counted = Counted(0);
        self.write(&mut counted)?;
        Ok(counted.0)
    }

    /// The digest of the canonical bytes.
    pub fn sha256(&self) -> Result<Digest, Full> {
        Digest::of_written(|out| self.write(out))
    }

    /// The canonical bytes.
    #[cfg(feature = "alloc")]
    pub fn to_vec(&self) -> Result<alloc::vec::Vec<u8>, Full> {
        let mut bytes = alloc::vec::Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }
}

impl<T> Deref for Valid<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A document that can be judged and written. Implemented by the documents alone.
pub trait Document: sealed::Sealed {
    /// The first rule broken that no field's type keeps by itself.
    fn check(&self) -> Result<(), DocumentFault>;

    /// Writes the canonical bytes of a document, whether or not it keeps the rules; see [`Valid::write`].
    #[doc(hidden)]
    fn write<O: Output>(&self, writer: &mut Writer<'_, O>) -> Result<(), Full>;
}

pub(super) mod sealed {
    /// Keeps [`super::Document`] to the documents.
    pub trait Sealed {}
}

/// Which document a [`SchemaId`] names.
pub trait Schemas: Copy {
    /// The id on the wire.
    const ID: &'static str;
}

/// The first field of each document; it has one value.
pub struct SchemaId<D>(PhantomData<D>);

impl<D> SchemaId<D> {
    /// The value.
    pub const NEW: Self = Self(PhantomData);
}

impl<D> Default for SchemaId<D> {
    fn default() -> Self {
        Self::NEW
    }
}

impl<D> Clone for SchemaId<D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D> Copy for SchemaId<D> {}

impl<D> PartialEq for SchemaId<D> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<D> Eq for SchemaId<D> {}

impl<D: Schemas> fmt::Debug for SchemaId<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(D::ID)
    }
}

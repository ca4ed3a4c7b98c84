//! The only way to a document that is known to keep every rule.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use super::fault::DocumentFault;
use crate::connector::digest::Digest;
use crate::scan::msgpack::{Counted, Full, Output, Writer};

/// A document that keeps every rule. It can be looked at, not changed.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::{Disposition, Refusal, ResultParts, SchemaId, Valid};
/// use twolane_core::connector::text::Text;
///
/// let result = Valid::new(ResultParts {
///     schema_id: SchemaId::NEW,
///     request_id: Text::new("request-1").unwrap(),
///     caller_runtime_id: Text::new("caller-1").unwrap(),
///     binding_sha256: Digest([9; 32]),
///     disposition: Disposition::Refused(Refusal::Capacity),
/// })
/// .unwrap();
/// // Fields are read as they are; to change one, take it apart and have it judged again.
/// assert_eq!(result.request_id.as_str(), "request-1");
/// let bytes = result.to_vec().unwrap();
/// assert_eq!((bytes.len() as u64, Digest::of(&bytes)), (result.canonical_len().unwrap(), result.sha256().unwrap()));
///
/// let later = ResultParts { disposition: Disposition::Refused(Refusal::Retired), ..result.into_parts() };
/// let mut changed = Vec::new();
/// Valid::new(later).unwrap().write(&mut changed).unwrap();
/// assert_ne!(changed, bytes);
/// # }
/// ```
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
///
/// ```
/// use twolane_core::connector::document::{Document, DocumentFault, Valid};
///
/// /// Judges a document that is put together in several places, before it is given away.
/// fn judged<T: Document>(document: T) -> Result<Valid<T>, DocumentFault> {
///     document.check()?;
///     Valid::new(document)
/// }
/// # use twolane_core::connector::digest::Digest;
/// # use twolane_core::connector::document::{Disposition, Refusal, ResultParts, SchemaId};
/// # use twolane_core::connector::text::Text;
/// # let parts = ResultParts {
/// #     schema_id: SchemaId::NEW,
/// #     request_id: Text::new("request-1").unwrap(),
/// #     caller_runtime_id: Text::new("caller-1").unwrap(),
/// #     binding_sha256: Digest([9; 32]),
/// #     disposition: Disposition::Refused(Refusal::Capacity),
/// # };
/// assert!(judged(parts).is_ok());
/// ```
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
///
/// ```
/// use twolane_core::connector::document::{InvocationSchema, ReceiptSchema, RequestSchema, ResultSchema, Schemas};
/// use twolane_core::connector::envelope::EnvelopeSchema;
///
/// let ids = [InvocationSchema::ID, ReceiptSchema::ID, RequestSchema::ID, ResultSchema::ID, EnvelopeSchema::ID];
/// assert!(ids.iter().all(|id| id.starts_with("gamecult.model.") && id.ends_with(".v3")));
/// ```
pub trait Schemas: Copy {
    /// The id on the wire.
    const ID: &'static str;
}

/// The first field of each document; it has one value.
///
/// ```
/// use twolane_core::connector::document::{RequestSchema, SchemaId};
///
/// // It has one value, which takes no room.
/// let id = SchemaId::<RequestSchema>::NEW;
/// assert_eq!(format!("{id:?}"), "gamecult.model.provider_request.v3");
/// assert_eq!(size_of_val(&id), 0);
/// ```
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

//! Digests: of a request, and of what binds a result to it.

use core::fmt;

use sha2::{Digest as _, Sha256};

use crate::scan::msgpack::{Full, Output, Writer};

/// A SHA-256 digest. `Display` gives 64 hexadecimal digits.
///
/// ```
/// use twolane_core::connector::digest::Digest;
///
/// let request = Digest::of(b"the canonical bytes of a request");
/// assert_eq!(request.to_string().len(), 64);
/// // A result of this request is no result of that of another caller.
/// let native = Digest([7; 32]);
/// let binding = Digest::binding("caller-1", "request-1", &native, &request);
/// assert_ne!(binding, Digest::binding("caller-2", "request-1", &native, &request));
/// assert_ne!(binding, Digest::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// What stands for "no digest"; never the digest of anything.
    pub const ZERO: Self = Self([0; 32]);

    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// What binds a result to its request: the digest of the canonical array of the ids of the envelope and the
    /// digests as the invocation claims them. Ids of any length are taken.
    pub fn binding(
        caller_runtime_id: &str,
        request_id: &str,
        native_request_sha256: &Self,
        provider_request_sha256: &Self,
    ) -> Self {
        let mut hashed = Hashed(Sha256::new());
        // A digest takes all bytes; only a text over 4 GiB has no header, and no frame holds one.
        let _ = write_binding(
            &mut hashed,
            [caller_runtime_id, request_id],
            [native_request_sha256, provider_request_sha256],
        );
        Self(hashed.0.finalize().into())
    }

    /// The digest of what `write` writes, without holding it.
    pub(crate) fn of_written(write: impl FnOnce(&mut Hashed) -> Result<(), Full>) -> Result<Self, Full> {
        let mut hashed = Hashed(Sha256::new());
        write(&mut hashed)?;
        Ok(Self(hashed.0.finalize().into()))
    }
}

fn write_binding(out: &mut Hashed, ids: [&str; 2], digests: [&Digest; 2]) -> Result<(), Full> {
    let mut writer = Writer(out);
    writer.array(4)?;
    ids.iter().try_for_each(|id| writer.str(id))?;
    digests.iter().try_for_each(|digest| writer.bin(&digest.0))
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// An output that keeps the digest of its bytes alone.
pub(crate) struct Hashed(Sha256);

impl Output for Hashed {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.0.update(bytes);
        Ok(())
    }
}

//! A request with what its caller claims about it: `gamecult.model.transport_invocation.v3`.

use super::fault::{DocumentFault, DocumentReason, Path};
use super::list::ReadList;
use super::read::Fields;
use super::request::{InputItem, ProviderRequest, Tool};
use super::valid::{Document, SchemaId, Schemas, Valid, sealed};
use super::write::{bytes, number, text};
use crate::connector::digest::Digest;
use crate::connector::text::Id;
use crate::scan::msgpack::{Full, Kind, Output, Reader, Scanner, Writer};

/// Names the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvocationSchema {}

impl Schemas for InvocationSchema {
    const ID: &'static str = "gamecult.model.transport_invocation.v3";
}

const DOCUMENT: &str = "transport_invocation";
const FIELDS: u32 = 6;
const NATIVE: &str = "native_request_sha256";
const PROVIDER: &str = "provider_request_sha256";

/// The plaintext of a sealed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(
    feature = "std",
    serde(bound(
        serialize = "S: serde::Serialize, Valid<ProviderRequest<S, I, T>>: serde::Serialize",
        deserialize = "S: AsRef<str> + serde::Deserialize<'de>, Valid<ProviderRequest<S, I, T>>: serde::Deserialize<'de>"
    ))
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "transport_invocation"))]
pub struct TransportInvocation<S, I, T> {
    /// The document's name.
    pub schema_id: SchemaId<InvocationSchema>,
    /// Who asks; the same as outside of the seal.
    pub caller_runtime_id: Id<S>,
    /// Until when a run may begin, in milliseconds of the Unix epoch.
    pub expires_at_unix_ms: u64,
    /// Digest of the request in the caller's own form; never zero.
    pub native_request_sha256: Digest,
    /// Digest of the canonical bytes of `request`, as the caller claims it.
    pub provider_request_sha256: Digest,
    /// What the provider is asked.
    pub request: Valid<ProviderRequest<S, I, T>>,
}

/// An invocation to write, borrowed from the caller.
pub type InvocationParts<'a> = TransportInvocation<&'a str, &'a [InputItem<&'a str>], &'a [Tool<&'a str>]>;

/// An invocation that holds its own.
#[cfg(feature = "alloc")]
pub type OwnedInvocation = TransportInvocation<
    alloc::boxed::Box<str>,
    alloc::vec::Vec<InputItem<alloc::boxed::Box<str>>>,
    alloc::vec::Vec<Tool<alloc::boxed::Box<str>>>,
>;

/// The fields of an invocation in canonical bytes.
pub type InvocationFields<'a> =
    TransportInvocation<&'a str, ReadList<'a, InputItem<&'a str>>, ReadList<'a, Tool<&'a str>>>;

/// An invocation in canonical bytes.
#[derive(Clone, Copy, Debug)]
pub struct ReadInvocation<'a> {
    fields: InvocationFields<'a>,
    request_bytes: &'a [u8],
}

impl<'a> ReadInvocation<'a> {
    /// Reads an invocation that is all of `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Self, DocumentFault> {
        let mut f = Fields::new(Reader::new(bytes), DOCUMENT);
        f.map(FIELDS)?;
        f.schema_id(InvocationSchema::ID)?;
        let caller_runtime_id = f.key("caller_runtime_id")?.text()?;
        let expires_at_unix_ms = f.key("expires_at_unix_ms")?.u64()?;
        f.key(NATIVE)?;
        let start = f.position();
        let native_request_sha256 = f.digest()?;
        if native_request_sha256 == Digest::ZERO {
            return Err(f.fault(start, DocumentReason::ZeroDigest));
        }
        let provider_request_sha256 = f.key(PROVIDER)?.digest()?;
        f.key("request")?;
        let start = f.position();
        let request = Valid::read_next(&mut f)?;
        let request_bytes = f.since(start);
        f.end()?;
        let fields = TransportInvocation {
            schema_id: SchemaId::NEW,
            caller_runtime_id,
            expires_at_unix_ms,
            native_request_sha256,
            provider_request_sha256,
            request,
        };
        Ok(Self { fields, request_bytes })
    }

    /// Its fields.
    pub const fn fields(&self) -> &InvocationFields<'a> {
        &self.fields
    }

    /// The digest that the request really has.
    pub fn request_sha256(&self) -> Digest {
        Digest::of(self.request_bytes)
    }

    /// The same with storage of its own.
    #[cfg(feature = "alloc")]
    pub fn to_owned(&self) -> Valid<OwnedInvocation> {
        let fields = &self.fields;
        Valid::from_read(TransportInvocation {
            schema_id: SchemaId::NEW,
            caller_runtime_id: fields.caller_runtime_id.to_owned(),
            expires_at_unix_ms: fields.expires_at_unix_ms,
            native_request_sha256: fields.native_request_sha256,
            provider_request_sha256: fields.provider_request_sha256,
            request: fields.request.to_owned(),
        })
    }
}

impl<S, I, T> sealed::Sealed for TransportInvocation<S, I, T> {}

impl<S, I, T> Document for TransportInvocation<S, I, T>
where
    S: AsRef<str>,
    ProviderRequest<S, I, T>: Document,
{
    fn check(&self) -> Result<(), DocumentFault> {
        if self.native_request_sha256 == Digest::ZERO {
            let path = Path { document: DOCUMENT, group: "", field: NATIVE };
            return Err(DocumentFault { offset: None, path, reason: DocumentReason::ZeroDigest });
        }
        Ok(())
    }

    fn write<O: Output>(&self, w: &mut Writer<'_, O>) -> Result<(), Full> {
        w.map(FIELDS)?;
        text(w, "schema_id", InvocationSchema::ID)?;
        text(w, "caller_runtime_id", self.caller_runtime_id.as_str())?;
        number(w, "expires_at_unix_ms", self.expires_at_unix_ms)?;
        bytes(w, NATIVE, &self.native_request_sha256.0)?;
        bytes(w, PROVIDER, &self.provider_request_sha256.0)?;
        w.str("request")?;
        Document::write(&*self.request, w)
    }
}

/// The digests that a plaintext claims, native first, even where it is no invocation: those of a map that has each
/// of the two fields once, with 32 bytes. What binds a refusal of a malformed request to it.
pub fn claimed_digests(plaintext: &[u8]) -> Option<(Digest, Digest)> {
    let mut scanner = Scanner::new(plaintext);
    let Kind::Map(pairs) = scanner.next_token().ok()??.kind else { return None };
    let (mut native, mut provider) = (None, None);
    for _ in 0..pairs {
        let (key, _) = scanner.skip_value().ok()??;
        let (value, _) = scanner.skip_value().ok()??;
        let place = match scanner.text(&key) {
            Some(NATIVE) => &mut native,
            Some(PROVIDER) => &mut provider,
            _ => continue,
        };
        let bytes = plaintext.get(value.content_span()).filter(|_| value.kind == Kind::Bin)?;
        let digest = Digest(bytes.try_into().ok()?);
        if place.replace(digest).is_some() {
            return None;
        }
    }
    scanner.next_token().ok()?.is_none().then_some((native?, provider?))
}

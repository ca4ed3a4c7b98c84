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
///
/// ```
/// use twolane_core::connector::document::{InvocationSchema, Schemas};
/// # use twolane_core::connector::digest::Digest;
/// # use twolane_core::connector::document::{
/// #     InvocationParts, ProviderRequest, RequestParts, SchemaId, ToolChoice, TransportInvocation, Valid,
/// # };
/// # use twolane_core::connector::text::{Rule, Text};
/// # fn t<R: Rule>(text: &str) -> Text<R, &str> {
/// #     Text::new(text).unwrap()
/// # }
/// # let request: Valid<RequestParts<'_>> = Valid::new(ProviderRequest {
/// #     schema_id: SchemaId::NEW,
/// #     request_id: t("request-1"),
/// #     conversation_id: t("talk-1"),
/// #     model: t("model-a"),
/// #     instructions: t("Be brief."),
/// #     input: &[][..],
/// #     reasoning_effort: None,
/// #     reasoning_summary: None,
/// #     service_tier: None,
/// #     output_format_name: None,
/// #     previous_response_id: None,
/// #     tools: &[][..],
/// #     tool_choice: ToolChoice::Auto,
/// #     parallel_tool_calls: false,
/// #     output_schema_json: None,
/// #     max_output_tokens: None,
/// #     prompt_cache_key: None,
/// # }).unwrap();
/// # let invocation: Valid<InvocationParts<'_>> = Valid::new(TransportInvocation {
/// #     schema_id: SchemaId::NEW,
/// #     caller_runtime_id: t("caller-1"),
/// #     expires_at_unix_ms: 1_800_000_000_000,
/// #     native_request_sha256: Digest([7; 32]),
/// #     provider_request_sha256: request.sha256().unwrap(),
/// #     request,
/// # }).unwrap();
///
/// // The same request again under another caller: an invocation is changed as parts, and judged anew.
/// let parts: InvocationParts<'_> = invocation.into_parts();
/// let other = TransportInvocation { caller_runtime_id: t("caller-2"), ..parts };
/// assert!(Valid::new(other).is_ok());
/// let unclaimed = TransportInvocation { native_request_sha256: Digest::ZERO, ..parts };
/// assert!(Valid::new(unclaimed).is_err());
/// assert_eq!(InvocationSchema::ID, "gamecult.model.transport_invocation.v3");
/// ```
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
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::document::{InvocationFields, OwnedInvocation, ReadInvocation};
/// # use twolane_core::connector::digest::Digest;
/// # use twolane_core::connector::document::{
/// #     InvocationParts, ProviderRequest, RequestParts, SchemaId, ToolChoice, TransportInvocation, Valid,
/// # };
/// # use twolane_core::connector::text::{Rule, Text};
/// # fn t<R: Rule>(text: &str) -> Text<R, &str> {
/// #     Text::new(text).unwrap()
/// # }
/// # let request: Valid<RequestParts<'_>> = Valid::new(ProviderRequest {
/// #     schema_id: SchemaId::NEW,
/// #     request_id: t("request-1"),
/// #     conversation_id: t("talk-1"),
/// #     model: t("model-a"),
/// #     instructions: t("Be brief."),
/// #     input: &[][..],
/// #     reasoning_effort: None,
/// #     reasoning_summary: None,
/// #     service_tier: None,
/// #     output_format_name: None,
/// #     previous_response_id: None,
/// #     tools: &[][..],
/// #     tool_choice: ToolChoice::Auto,
/// #     parallel_tool_calls: false,
/// #     output_schema_json: None,
/// #     max_output_tokens: None,
/// #     prompt_cache_key: None,
/// # }).unwrap();
/// # let invocation: Valid<InvocationParts<'_>> = Valid::new(TransportInvocation {
/// #     schema_id: SchemaId::NEW,
/// #     caller_runtime_id: t("caller-1"),
/// #     expires_at_unix_ms: 1_800_000_000_000,
/// #     native_request_sha256: Digest([7; 32]),
/// #     provider_request_sha256: request.sha256().unwrap(),
/// #     request,
/// # }).unwrap();
/// let bytes = invocation.to_vec().unwrap();
///
/// let read = ReadInvocation::read(&bytes).unwrap();
/// let fields: &InvocationFields<'_> = read.fields();
/// assert_eq!((fields.caller_runtime_id.as_str(), fields.request.model.as_str()), ("caller-1", "model-a"));
/// // What the caller claims is what the request has.
/// assert_eq!(fields.provider_request_sha256, read.request_sha256());
/// let owned: Valid<OwnedInvocation> = read.to_owned();
/// assert_eq!(owned.to_vec().unwrap(), bytes);
/// # }
/// ```
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
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::claimed_digests;
/// use twolane_core::scan::msgpack::Writer;
///
/// // Some later document that this version cannot read: a refusal of it can still be bound to it.
/// let mut plaintext = Vec::new();
/// let mut w = Writer(&mut plaintext);
/// w.map(3).unwrap();
/// for (name, byte) in [("native_request_sha256", 7), ("provider_request_sha256", 8)] {
///     w.str(name).unwrap();
///     w.bin(&[byte; 32]).unwrap();
/// }
/// w.str("later").unwrap();
/// w.bool(true).unwrap();
/// assert_eq!(claimed_digests(&plaintext), Some((Digest([7; 32]), Digest([8; 32]))));
/// assert_eq!(claimed_digests(b"\x80"), None);
/// # }
/// ```
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

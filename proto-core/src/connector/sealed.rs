//! Sealed frames: a document into one buffer of the caller, sealed where it stands.

use super::arithmetic::{base64_bytes, envelope_bytes, frame_bytes};
use super::base64::encode_in_place;
use super::carriage::write_front;
use super::digest::Digest;
use super::document::{Document, Schemas, TransportInvocation, TransportResult, Valid, write_malformed};
use super::envelope::{Envelope, EnvelopeSchema, MessageKind, Nonce};
use super::seal::{SealFault, SealKey};
use crate::limits::{CONNECTOR_PREFIX_LEN, SEAL_TAG_LEN};
use crate::scan::msgpack::{Counted, Full, Output, Written};

/// Why no frame was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealedFault {
    /// The buffer is shorter than the frame.
    #[error("the buffer has {found} bytes, {needed} are needed")]
    BufferTooShort {
        /// Bytes of the frame with its length prefix.
        needed: u64,
        /// Bytes of the buffer.
        found: usize,
    },
    /// No frame is long enough.
    #[error("longer than any frame")]
    TooLong,
    /// The seal was not made.
    #[error(transparent)]
    Seal(SealFault),
}

impl From<Full> for SealedFault {
    fn from(_: Full) -> Self {
        Self::TooLong
    }
}

/// Bytes of the frame, length prefix included, that seals a text of `plaintext` bytes for ids of so many bytes.
///
/// ```
/// use twolane_core::connector::envelope::MessageKind;
/// use twolane_core::connector::sealed::sealed_frame_len;
///
/// // How large a buffer has to be for 1,000 bytes of plaintext and any ids.
/// let needed = sealed_frame_len(MessageKind::Invocation, 256, 256, 1000).unwrap();
/// assert!((2000..3000).contains(&needed), "{needed}");
/// assert_eq!(sealed_frame_len(MessageKind::Invocation, 1, 1, u64::MAX), None);
/// ```
pub fn sealed_frame_len(
    kind: MessageKind,
    caller_id: usize,
    request_id: usize,
    plaintext: u64,
) -> Option<u64> {
    let ids = (u64::try_from(caller_id).ok()?, u64::try_from(request_id).ok()?);
    let payload = plaintext.checked_add(SEAL_TAG_LEN as u64)?;
    frame_bytes(kind, ids.0, ids.1, payload)?.checked_add(CONNECTOR_PREFIX_LEN as u64)
}

/// Seals an invocation at the front of `buffer` and gives the frame with its length prefix.
///
/// ```
/// use twolane_core::connector::envelope::{MessageKind, Nonce};
/// use twolane_core::connector::seal::SealKey;
/// use twolane_core::connector::sealed::{SealedFault, seal_invocation, sealed_frame_len};
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
/// let key = SealKey::from_bytes(&[1; 32]);
/// let plaintext = invocation.canonical_len().unwrap();
/// let needed = sealed_frame_len(MessageKind::Invocation, "caller-1".len(), "request-1".len(), plaintext).unwrap();
/// let mut buffer = vec![0; needed as usize];
/// let frame = seal_invocation(&mut buffer, &key, Nonce([3; 12]), &invocation).unwrap();
/// assert_eq!(frame[..4], (needed as u32 - 4).to_be_bytes());
/// // A byte less is refused, and nothing is sealed.
/// let found = buffer.len() - 1;
/// let fault = seal_invocation(&mut buffer[..found], &key, Nonce([3; 12]), &invocation).unwrap_err();
/// assert_eq!(fault, SealedFault::BufferTooShort { needed, found });
/// ```
pub fn seal_invocation<'b, S, I, T>(
    buffer: &'b mut [u8],
    key: &SealKey,
    nonce: Nonce,
    invocation: &Valid<TransportInvocation<S, I, T>>,
) -> Result<&'b mut [u8], SealedFault>
where
    S: AsRef<str>,
    TransportInvocation<S, I, T>: Document,
{
    let envelope = Envelope {
        caller_runtime_id: invocation.caller_runtime_id.as_str(),
        request_id: invocation.request.request_id.as_str(),
        message_kind: MessageKind::Invocation,
        nonce,
    };
    seal_written(buffer, key, &envelope, |out| invocation.write(out), |out| invocation.write(out))
}

/// Seals a result at the front of `buffer` and gives the frame with its length prefix.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::answer::{Reply, open_reply};
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::{Disposition, Refusal, ResultParts, SchemaId, Valid};
/// use twolane_core::connector::envelope::Nonce;
/// use twolane_core::connector::seal::SealKey;
/// use twolane_core::connector::sealed::seal_result;
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
/// let (key, mut buffer) = (SealKey::from_bytes(&[1; 32]), [0; 2048]);
/// let frame = seal_result(&mut buffer, &key, Nonce([4; 12]), &result).unwrap();
/// let Ok(Reply::Sealed(plaintext)) = open_reply(&mut frame[4..], &key, "caller-1", "request-1") else {
///     panic!("our own seal")
/// };
/// assert_eq!(plaintext, result.to_vec().unwrap());
/// # }
/// ```
pub fn seal_result<'b, S, E>(
    buffer: &'b mut [u8],
    key: &SealKey,
    nonce: Nonce,
    result: &Valid<TransportResult<S, E>>,
) -> Result<&'b mut [u8], SealedFault>
where
    S: AsRef<str>,
    TransportResult<S, E>: Document,
{
    let (caller, request) = (result.caller_runtime_id.as_str(), result.request_id.as_str());
    let envelope = reply(caller, request, nonce);
    seal_written(buffer, key, &envelope, |out| result.write(out), |out| result.write(out))
}

/// Seals the refusal of a malformed request, whose id may be none: see
/// [`write_malformed`].
///
/// ```
/// use twolane_core::connector::answer::{Reply, open_reply};
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::envelope::Nonce;
/// use twolane_core::connector::seal::SealKey;
/// use twolane_core::connector::sealed::seal_malformed;
///
/// // The request id was no id, and is answered as it came.
/// let (key, mut buffer) = (SealKey::from_bytes(&[1; 32]), [0; 2048]);
/// let ids = ["caller-1", " "];
/// let frame = seal_malformed(&mut buffer, &key, Nonce([4; 12]), ids, &Digest::ZERO).unwrap();
/// assert!(matches!(open_reply(&mut frame[4..], &key, "caller-1", " "), Ok(Reply::Sealed(_))));
/// ```
pub fn seal_malformed<'b>(
    buffer: &'b mut [u8],
    key: &SealKey,
    nonce: Nonce,
    [caller_runtime_id, request_id]: [&str; 2],
    binding: &Digest,
) -> Result<&'b mut [u8], SealedFault> {
    let envelope = reply(caller_runtime_id, request_id, nonce);
    let count = |out: &mut Counted| write_malformed(out, request_id, caller_runtime_id, binding);
    let write = |out: &mut Written<'_>| write_malformed(out, request_id, caller_runtime_id, binding);
    seal_written(buffer, key, &envelope, count, write)
}

/// Seals the canonical bytes of a result that was sealed before, under another key of the same caller.
///
/// ```
/// use twolane_core::connector::answer::{Reply, open_reply};
/// use twolane_core::connector::envelope::Nonce;
/// use twolane_core::connector::seal::SealKey;
/// use twolane_core::connector::sealed::seal_again;
///
/// // The caller's key was changed since the answer was stored: the same bytes, under the key that it asks with now.
/// let stored = b"the canonical bytes of a result";
/// let (new, mut buffer) = (SealKey::from_bytes(&[2; 32]), [0; 2048]);
/// let frame = seal_again(&mut buffer, &new, Nonce([5; 12]), ["caller-1", "request-1"], stored).unwrap();
/// let opened = open_reply(&mut frame[4..], &new, "caller-1", "request-1").unwrap();
/// assert_eq!(opened, Reply::Sealed(stored));
/// ```
pub fn seal_again<'b>(
    buffer: &'b mut [u8],
    key: &SealKey,
    nonce: Nonce,
    [caller_runtime_id, request_id]: [&str; 2],
    result: &[u8],
) -> Result<&'b mut [u8], SealedFault> {
    let envelope = reply(caller_runtime_id, request_id, nonce);
    seal_written(buffer, key, &envelope, |out| out.put(result), |out| out.put(result))
}

const fn reply<'a>(caller_runtime_id: &'a str, request_id: &'a str, nonce: Nonce) -> Envelope<'a> {
    Envelope { caller_runtime_id, request_id, message_kind: MessageKind::Result, nonce }
}

/// The envelope is put together at the end of the frame, so that its base64 can grow from the front over it.
fn seal_written<'b>(
    buffer: &'b mut [u8],
    key: &SealKey,
    envelope: &Envelope<'_>,
    count: impl FnOnce(&mut Counted) -> Result<(), Full>,
    write: impl FnOnce(&mut Written<'_>) -> Result<(), Full>,
) -> Result<&'b mut [u8], SealedFault> {
    let mut plaintext = Counted(0);
    count(&mut plaintext)?;
    let (caller, request) = (envelope.caller_runtime_id.len(), envelope.request_id.len());
    let needed = sealed_frame_len(envelope.message_kind, caller, request, plaintext.0).ok_or(Full)?;
    let found = buffer.len();
    let short = SealedFault::BufferTooShort { needed, found };
    let frame = usize::try_from(needed).ok().and_then(|len| buffer.get_mut(..len)).ok_or(short)?;
    let payload = plaintext.0.saturating_add(SEAL_TAG_LEN as u64);
    let around = envelope_bytes(envelope.message_kind, length(caller), length(request), payload);

    let mut written = Written::new(frame);
    let body = u32::try_from(needed.saturating_sub(CONNECTOR_PREFIX_LEN as u64)).map_err(|_| Full)?;
    written.put(&body.to_be_bytes())?;
    let text = u32::try_from(base64_bytes(around)).map_err(|_| Full)?;
    let response = envelope.message_kind == MessageKind::Result;
    write_front(&mut written, response, envelope.request_id, EnvelopeSchema::ID, text)?;
    let front = written.len();

    let text = frame.get_mut(front..).ok_or(Full)?;
    let around = usize::try_from(around).map_err(|_| Full)?;
    let start = text.len().checked_sub(around).ok_or(Full)?;
    let sealed = text.get_mut(start..).ok_or(Full)?;
    let mut written = Written::new(sealed);
    envelope.write_front(&mut written, u32::try_from(payload).map_err(|_| Full)?)?;
    let front = written.len();
    let sealed = sealed.get_mut(front..).ok_or(Full)?;
    write(&mut Written::new(sealed))?;
    key.seal(envelope, sealed).map_err(SealedFault::Seal)?;
    if encode_in_place(text, around) { Ok(frame) } else { Err(SealedFault::TooLong) }
}

/// A length in memory is at most 64 bits.
fn length(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

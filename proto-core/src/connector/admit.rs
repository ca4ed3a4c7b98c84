//! A server's checks from a frame to an invocation that may be judged, in the order of the wire.

use super::base64::{decode_into, decoded_len_max};
use super::carriage::{CarriageFault, OPERATION, OperationRequest, PAYLOAD_ENCODING, ReplyTo, SERVICE_ID};
use super::digest::Digest;
use super::document::{ReadInvocation, Refusal, Schemas, claimed_digests};
use super::envelope::{Envelope, EnvelopeSchema, MessageKind, ReadEnvelope};
use super::failure::Failure;
use super::text::Id;
use crate::scan::msgpack::{MsgpackFault, Reader};

/// Why a request is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped<'a> {
    /// No strict operation request: the connection is closed without an answer.
    Silent(CarriageFault),
    /// It is answered without a seal.
    Failed(ReplyTo<'a>, Failure),
}

/// A request that is addressed to us and holds an envelope. Nothing is authenticated yet.
///
/// ```
/// # #[cfg(all(feature = "alloc", feature = "seal"))] {
/// use twolane_core::connector::admit::{Arrived, Caller, Opened, arrive, judge, scratch_len};
/// use twolane_core::connector::envelope::Nonce;
/// use twolane_core::connector::failure::Failure;
/// use twolane_core::connector::seal::SealKey;
/// use twolane_core::connector::sealed::seal_invocation;
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
/// let (key, decoy, mut buffer) = (SealKey::from_bytes(&[1; 32]), SealKey::from_bytes(&[0xdd; 32]), [0; 4096]);
/// let frame = seal_invocation(&mut buffer, &key, Nonce([3; 12]), &invocation).unwrap();
///
/// // Who says that it asks is known before anything is opened, and is only a claim.
/// let mut scratch = vec![0; scratch_len(frame.len())];
/// let arrived: Arrived<'_, '_> = arrive(&frame[4..], &mut scratch).unwrap();
/// assert_eq!(arrived.envelope.caller_runtime_id, "caller-1");
/// let caller = Caller { keys: &[&key], payload_max: 4096 };
/// let Opened { plaintext, key: place } = arrived.open(caller, &decoy, 2).unwrap();
/// assert_eq!(place, 0);
/// assert!(judge(plaintext, "caller-1", "request-1").is_ok());
///
/// // A caller without the right key.
/// let stranger = Caller { keys: &[&decoy], payload_max: 4096 };
/// let mut scratch = vec![0; scratch_len(frame.len())];
/// let refused = arrive(&frame[4..], &mut scratch).unwrap().open(stranger, &decoy, 2);
/// assert_eq!(refused, Err(Failure::NotAdmitted));
/// # }
/// ```
#[derive(Debug)]
pub struct Arrived<'a, 's> {
    /// As it is carried.
    pub request: OperationRequest<'a>,
    /// As it says; its request id is the request's.
    pub envelope: Envelope<'s>,
    /// The ciphertext with its tag, of any length.
    pub sealed: &'s mut [u8],
}

/// Bytes that [`arrive`] needs besides a body of so many bytes.
///
/// ```
/// use twolane_core::connector::admit::scratch_len;
///
/// // Base64 shrinks: what a frame of 64 KiB is read into is no larger than it.
/// assert!(scratch_len(65_536) < 65_536);
/// ```
pub const fn scratch_len(body: usize) -> usize {
    decoded_len_max(body)
}

/// Reads the body of a frame: the map, its schema, where it goes, the payload's schema, encoding and text, the
/// envelope, its kind, its request id. `scratch` has [`scratch_len`] bytes or more.
///
/// ```
/// use twolane_core::connector::admit::{Stopped, arrive};
/// use twolane_core::connector::carriage::OperationRequest;
/// use twolane_core::connector::failure::Failure;
/// use twolane_core::scan::msgpack::Written;
///
/// // A request for some other service is answered; what is no request gets no answer.
/// let request = OperationRequest {
///     message_id: "request-1",
///     service_id: "weather",
///     operation: "invoke",
///     payload_schema: "weather.question",
///     payload_encoding: None,
///     payload: "",
///     source_runtime_id: None,
///     target_runtime_id: None,
/// };
/// let mut body = [0; 256];
/// let mut written = Written::new(&mut body);
/// request.write(&mut written).unwrap();
/// let len = written.len();
/// let Err(Stopped::Failed(reply_to, failure)) = arrive(&body[..len], &mut []) else { panic!("not for us") };
/// assert_eq!((reply_to.service_id, failure), ("weather", Failure::Service));
/// assert!(matches!(arrive(b"{}", &mut []), Err(Stopped::Silent(_))));
/// ```
pub fn arrive<'a, 's>(body: &'a [u8], scratch: &'s mut [u8]) -> Result<Arrived<'a, 's>, Stopped<'a>> {
    let request = OperationRequest::read(body).map_err(Stopped::Silent)?;
    let failed = |failure| Stopped::Failed(request.reply_to(), failure);
    route(&request).map_err(failed)?;
    let bytes = decode_into(request.payload, scratch).map_err(|_| failed(Failure::Base64))?;
    let read = ReadEnvelope::read(bytes).map_err(|_| failed(Failure::Envelope))?;
    if read.envelope.message_kind != MessageKind::Invocation {
        return Err(failed(Failure::Envelope));
    }
    if read.envelope.request_id != request.message_id {
        return Err(failed(Failure::MessageId));
    }
    let Envelope { message_kind, nonce, .. } = read.envelope;
    let start = read.ciphertext_span().start;
    let (front, sealed) = bytes.split_at_mut_checked(start).ok_or(failed(Failure::Envelope))?;
    let [caller_runtime_id, request_id] = ids_of(front).map_err(|_| failed(Failure::Envelope))?;
    let envelope = Envelope { caller_runtime_id, request_id, message_kind, nonce };
    Ok(Arrived { request, envelope, sealed })
}

/// Whether the request is for the connector, by the first field that says that it is not.
fn route(request: &OperationRequest<'_>) -> Result<(), Failure> {
    let encoding = request.payload_encoding.unwrap_or(PAYLOAD_ENCODING);
    for (found, expected, failure) in [
        (request.service_id, SERVICE_ID, Failure::Service),
        (request.operation, OPERATION, Failure::Operation),
        (request.payload_schema, EnvelopeSchema::ID, Failure::PayloadSchema),
        (encoding, PAYLOAD_ENCODING, Failure::PayloadEncoding),
    ] {
        if found != expected {
            return Err(failure);
        }
    }
    Ok(())
}

/// The ids of an envelope that was read, from the bytes before its ciphertext.
fn ids_of(front: &[u8]) -> Result<[&str; 2], MsgpackFault> {
    let mut reader = Reader::new(front);
    reader.map()?;
    for _ in 0..3 {
        reader.str()?;
    }
    let caller = reader.str()?;
    reader.str()?;
    Ok([caller, reader.str()?])
}

/// An invocation that is what its envelope and its digests say. Whether it may run is not judged yet.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'p> {
    /// The invocation.
    pub invocation: ReadInvocation<'p>,
    /// What binds each of its results to it.
    pub binding: Digest,
}

/// A request that was opened and is refused, with what binds the refusal to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub refusal: Refusal,
    /// What binds the refusal to the request; zero where no digest is readable.
    pub binding: Digest,
}

/// Judges the plaintext of a request whose envelope names it so: its schema and fields, its ids, its digest.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::admit::{Judged, Refused, judge};
/// use twolane_core::connector::document::Refusal;
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
/// let plaintext = invocation.to_vec().unwrap();
///
/// let Judged { invocation, binding } = judge(&plaintext, "caller-1", "request-1").unwrap();
/// let fields = invocation.fields();
/// assert_eq!(fields.request.model.as_str(), "model-a");
///
/// // The envelope says another caller than what was sealed: refused, and bound to what was asked.
/// let Refused { refusal, binding: other } = judge(&plaintext, "caller-2", "request-1").unwrap_err();
/// assert_eq!(refusal, Refusal::IdentitySubstitution);
/// assert_ne!(binding, other);
/// # }
/// ```
pub fn judge<'p>(
    plaintext: &'p [u8],
    caller_runtime_id: &str,
    request_id: &str,
) -> Result<Judged<'p>, Refused> {
    let bind = |native, provider| Digest::binding(caller_runtime_id, request_id, &native, &provider);
    let malformed = || {
        let binding =
            claimed_digests(plaintext).map_or(Digest::ZERO, |(native, provider)| bind(native, provider));
        Refused { refusal: Refusal::Malformed, binding }
    };
    if Id::new(request_id).is_err() {
        return Err(malformed());
    }
    let invocation = ReadInvocation::read(plaintext).map_err(|_| malformed())?;
    let fields = invocation.fields();
    let binding = bind(fields.native_request_sha256, fields.provider_request_sha256);
    let inner = [fields.caller_runtime_id.as_str(), fields.request.request_id.as_str()];
    if inner != [caller_runtime_id, request_id] {
        return Err(Refused { refusal: Refusal::IdentitySubstitution, binding });
    }
    if invocation.request_sha256() != fields.provider_request_sha256 {
        return Err(Refused { refusal: Refusal::ProviderDigestSubstitution, binding });
    }
    Ok(Judged { invocation, binding })
}

#[cfg(feature = "seal")]
mod open {
    use super::Arrived;
    use crate::connector::arithmetic::PAYLOAD_BYTES_MIN;
    use crate::connector::failure::Failure;
    use crate::connector::seal::SealKey;

    /// What admits a caller.
    #[derive(Clone, Copy, Debug)]
    pub struct Caller<'k> {
        /// The caller's keys; none of a caller that is not known.
        pub keys: &'k [&'k SealKey],
        /// The most bytes of ciphertext, tag included, that the caller may send.
        pub payload_max: u64,
    }

    /// The plaintext of a request, and the place of the key that opened it.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Opened<'s> {
        /// The plaintext.
        pub plaintext: &'s mut [u8],
        /// The place of the key among the caller's; the reply is sealed under the same.
        pub key: usize,
    }

    impl<'s> Arrived<'_, 's> {
        /// Opens the request with a key of its caller.
        ///
        /// A failure comes after `keys_max` tries, whatever failed: those that the caller's keys leave over are made
        /// with `decoy`, which is a key of nobody.
        pub fn open(
            self,
            caller: Caller<'_>,
            decoy: &SealKey,
            keys_max: usize,
        ) -> Result<Opened<'s>, Failure> {
            let Self { envelope, sealed, .. } = self;
            let len = u64::try_from(sealed.len()).unwrap_or(u64::MAX);
            let in_bounds = (PAYLOAD_BYTES_MIN..=caller.payload_max).contains(&len);
            let keys = if in_bounds { caller.keys } else { &[] };
            let mut opened = None;
            for (place, key) in keys.iter().enumerate() {
                if key.open(&envelope, sealed).is_ok() {
                    opened = Some(place);
                    break;
                }
            }
            let Some(key) = opened else {
                for _ in keys.len()..keys_max {
                    // The work is the point: its outcome is known.
                    let _ = core::hint::black_box(decoy.open(&envelope, core::hint::black_box(sealed)));
                }
                return Err(Failure::NotAdmitted);
            };
            let (plaintext, _) = sealed
                .split_last_chunk_mut::<{ crate::limits::SEAL_TAG_LEN }>()
                .ok_or(Failure::NotAdmitted)?;
            Ok(Opened { plaintext, key })
        }
    }
}

#[cfg(feature = "seal")]
pub use open::{Caller, Opened};

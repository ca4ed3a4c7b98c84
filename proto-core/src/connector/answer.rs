//! A client's checks from a response to a result that may be believed.

use super::carriage::{CarriageFault, OPERATION, OperationResponse, PAYLOAD_ENCODING, SERVICE_ID};
use super::digest::Digest;
use super::document::{Disposition, DocumentFault, ReadResult, Refusal, Valid};

/// What a client knows of the request that it sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// Who asks.
    pub caller_runtime_id: &'a str,
    /// The request.
    pub request_id: &'a str,
    /// The model asked.
    pub model: &'a str,
    /// As the invocation claimed it.
    pub native_request_sha256: Digest,
    /// As the invocation claimed it.
    pub provider_request_sha256: Digest,
}

/// Why an opened result is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResultFault {
    /// It is no result, or its events are out of order.
    #[error(transparent)]
    Document(DocumentFault),
    /// It is of another request or caller.
    #[error("{0}: not what was sent")]
    Other(&'static str),
}

/// Judges the plaintext of a reply: its schema and events, its ids, what binds it, its receipt's ids, model and
/// digests.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::answer::{ResultFault, Sent, believe};
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::{Disposition, Refusal, ResultParts, SchemaId, Valid};
/// use twolane_core::connector::text::Text;
///
/// let sent = Sent {
///     caller_runtime_id: "caller-1",
///     request_id: "request-1",
///     model: "model-a",
///     native_request_sha256: Digest([7; 32]),
///     provider_request_sha256: Digest([8; 32]),
/// };
/// // What a server seals for it.
/// let result = ResultParts {
///     schema_id: SchemaId::NEW,
///     request_id: Text::new("request-1").unwrap(),
///     caller_runtime_id: Text::new("caller-1").unwrap(),
///     binding_sha256: Digest::binding("caller-1", "request-1", &Digest([7; 32]), &Digest([8; 32])),
///     disposition: Disposition::Refused(Refusal::Capacity),
/// };
/// let plaintext = Valid::new(result).unwrap().to_vec().unwrap();
/// assert!(matches!(believe(&plaintext, &sent).unwrap().disposition, Disposition::Refused(Refusal::Capacity)));
///
/// // An answer to the same id with other content is not believed.
/// let other = Sent { provider_request_sha256: Digest([1; 32]), ..sent };
/// assert_eq!(believe(&plaintext, &other).unwrap_err(), ResultFault::Other("binding_sha256"));
/// # }
/// ```
pub fn believe<'p>(plaintext: &'p [u8], sent: &Sent<'_>) -> Result<Valid<ReadResult<'p>>, ResultFault> {
    let result = Valid::<ReadResult<'p>>::read(plaintext).map_err(ResultFault::Document)?;
    let malformed = matches!(result.disposition, Disposition::Refused(Refusal::Malformed));
    let binding = Digest::binding(
        sent.caller_runtime_id,
        sent.request_id,
        &sent.native_request_sha256,
        &sent.provider_request_sha256,
    );
    let bound = result.binding_sha256 == binding || (malformed && result.binding_sha256 == Digest::ZERO);
    let mut claims = [
        ("request_id", result.request_id.as_str() == sent.request_id),
        ("caller_runtime_id", result.caller_runtime_id.as_str() == sent.caller_runtime_id),
        ("binding_sha256", bound),
        ("receipt.request_id", true),
        ("receipt.caller_runtime_id", true),
        ("receipt.model", true),
        ("receipt.native_request_sha256", true),
        ("receipt.provider_request_sha256", true),
    ];
    if let Disposition::Transported(transported) = &result.disposition {
        let receipt = &transported.receipt;
        let kept = [
            receipt.request_id.as_str() == sent.request_id,
            receipt.caller_runtime_id.as_str() == sent.caller_runtime_id,
            receipt.model.as_str() == sent.model,
            receipt.native_request_sha256 == sent.native_request_sha256,
            receipt.provider_request_sha256 == sent.provider_request_sha256,
        ];
        claims.iter_mut().skip(3).zip(kept).for_each(|(claim, kept)| claim.1 = kept);
    }
    match claims.iter().find(|(_, kept)| !kept) {
        Some((field, _)) => Err(ResultFault::Other(field)),
        None => Ok(result),
    }
}

/// Why a response is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseFault {
    /// No operation response.
    #[error(transparent)]
    Carriage(CarriageFault),
    /// It answers something else.
    #[error("`{0}`: not what was sent")]
    Other(&'static str),
    /// A payload that is no canonical base64.
    #[error("`payload`: no canonical base64")]
    Base64,
    /// A payload that is no failure.
    #[error("`payload`: no failure")]
    Failure,
    /// A payload that is no envelope.
    #[error(transparent)]
    Envelope(DocumentFault),
    /// The seal is not that of the key, the ids and the text.
    #[error("the seal is not that of this key")]
    Seal,
}

impl OperationResponse<'_> {
    /// Whether the response says that it answers `request_id`.
    ///
    /// ```
    /// use twolane_core::connector::answer::ResponseFault;
    /// use twolane_core::connector::carriage::{ACCEPTED, OPERATION, OperationResponse, ReplyTo, SERVICE_ID};
    ///
    /// let request = ReplyTo { message_id: "request-1", service_id: SERVICE_ID, operation: OPERATION };
    /// let response = OperationResponse::of(request, ACCEPTED, "gamecult.model.transport_envelope.v3", "");
    /// assert_eq!(response.answers("request-1"), Ok(()));
    /// assert_eq!(response.answers("request-2"), Err(ResponseFault::Other("messageId")));
    /// ```
    pub fn answers(&self, request_id: &str) -> Result<(), ResponseFault> {
        for (field, found, expected) in [
            ("messageId", self.message_id, request_id),
            ("serviceId", self.service_id, SERVICE_ID),
            ("operation", self.operation, OPERATION),
            ("payloadEncoding", self.payload_encoding.unwrap_or(PAYLOAD_ENCODING), PAYLOAD_ENCODING),
        ] {
            if found != expected {
                return Err(ResponseFault::Other(field));
            }
        }
        Ok(())
    }
}

#[cfg(feature = "seal")]
mod open {
    use super::{OperationResponse, ResponseFault};
    use crate::connector::base64::decode_in_place;
    use crate::connector::document::Schemas;
    use crate::connector::envelope::{Envelope, EnvelopeSchema, MessageKind, ReadEnvelope};
    use crate::connector::failure::{FAILURE_SCHEMA, Hint};
    use crate::connector::seal::SealKey;

    /// What a response holds.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Reply<'b> {
        /// The plaintext of a sealed reply; [`believe`](super::believe) judges it.
        Sealed(&'b [u8]),
        /// What anyone may have said.
        Hint(Hint<'b>),
    }

    /// Opens the body of a response in place. After a fault its bytes mean nothing.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use twolane_core::connector::answer::{Reply, ResponseFault, open_reply};
    /// use twolane_core::connector::carriage::{OPERATION, ReplyTo, SERVICE_ID};
    /// use twolane_core::connector::digest::Digest;
    /// use twolane_core::connector::envelope::Nonce;
    /// use twolane_core::connector::failure::Failure;
    /// use twolane_core::connector::seal::SealKey;
    /// use twolane_core::connector::sealed::seal_malformed;
    ///
    /// let (key, mut buffer) = (SealKey::from_bytes(&[1; 32]), [0; 2048]);
    /// let ids = ["caller-1", "request-1"];
    /// let frame = seal_malformed(&mut buffer, &key, Nonce([4; 12]), ids, &Digest::ZERO).unwrap();
    /// let other = SealKey::from_bytes(&[2; 32]);
    /// assert_eq!(open_reply(&mut frame.to_vec()[4..], &other, ids[0], ids[1]), Err(ResponseFault::Seal));
    /// assert!(matches!(open_reply(&mut frame[4..], &key, ids[0], ids[1]), Ok(Reply::Sealed(_))));
    ///
    /// // What comes without a seal is a hint and no more.
    /// let request = ReplyTo { message_id: "request-1", service_id: SERVICE_ID, operation: OPERATION };
    /// let mut body = Vec::new();
    /// Failure::NotAdmitted.write(request, &mut body).unwrap();
    /// let Ok(Reply::Hint(hint)) = open_reply(&mut body, &key, ids[0], ids[1]) else { panic!("a failure") };
    /// assert_eq!(hint.code, "not-admitted");
    /// # }
    /// ```
    pub fn open_reply<'b>(
        body: &'b mut [u8],
        key: &SealKey,
        caller_runtime_id: &str,
        request_id: &str,
    ) -> Result<Reply<'b>, ResponseFault> {
        let response = OperationResponse::read(body).map_err(ResponseFault::Carriage)?;
        response.answers(request_id)?;
        let sealed = match response.payload_schema {
            EnvelopeSchema::ID => true,
            FAILURE_SCHEMA => false,
            _ => return Err(ResponseFault::Other("payloadSchema")),
        };
        let span = response.payload_span();
        let payload = body.get_mut(span).ok_or(ResponseFault::Base64)?;
        let len = decode_in_place(payload).map_err(|_| ResponseFault::Base64)?;
        let payload = payload.get_mut(..len).ok_or(ResponseFault::Base64)?;
        if !sealed {
            return Hint::parse(payload).map(Reply::Hint).ok_or(ResponseFault::Failure);
        }
        let read = ReadEnvelope::read(payload).map_err(ResponseFault::Envelope)?;
        for (field, kept) in [
            ("caller_runtime_id", read.envelope.caller_runtime_id == caller_runtime_id),
            ("request_id", read.envelope.request_id == request_id),
            ("message_kind", read.envelope.message_kind == MessageKind::Result),
        ] {
            if !kept {
                return Err(ResponseFault::Other(field));
            }
        }
        let span = read.ciphertext_span();
        let message_kind = MessageKind::Result;
        let envelope = Envelope { caller_runtime_id, request_id, message_kind, nonce: read.envelope.nonce };
        let sealed = payload.get_mut(span).ok_or(ResponseFault::Seal)?;
        let plaintext = key.open(&envelope, sealed).map_err(|_| ResponseFault::Seal)?;
        Ok(Reply::Sealed(plaintext))
    }
}

#[cfg(feature = "seal")]
pub use open::{Reply, open_reply};

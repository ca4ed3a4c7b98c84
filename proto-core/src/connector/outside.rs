//! What a message says to who has no key: its carriage, and the envelope in its base64.

use alloc::vec;
use alloc::vec::Vec;

use super::base64::{decode_into, decoded_len_max};
use super::carriage::{
    CarriageFault, OperationRequest, OperationResponse, PAYLOAD_ENCODING, REQUEST_SCHEMA, RESPONSE_SCHEMA,
};
use super::document::Schemas;
use super::envelope::{EnvelopeSchema, ReadEnvelope};
use super::failure::{FAILURE_SCHEMA, Hint};

/// What a message is by its carriage.
///
/// ```
/// use twolane_core::connector::outside::Sort;
///
/// assert_eq!(Sort::ALL.map(Sort::name), ["request", "reply", "failure"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// An operation request.
    Request,
    /// An operation response.
    Reply,
    /// An operation response whose payload is a failure: nothing in it is sealed.
    Failure,
}

impl Sort {
    /// Every sort.
    pub const ALL: [Self; 3] = [Self::Request, Self::Reply, Self::Failure];

    /// The word in tables, filters and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Reply => "reply",
            Self::Failure => "failure",
        }
    }
}

/// A message as anyone reads it. Nothing in it is authenticated.
///
/// ```
/// use twolane_core::connector::carriage::{OPERATION, OperationRequest, ReplyTo, SERVICE_ID};
/// use twolane_core::connector::failure::Failure;
/// use twolane_core::connector::outside::{Outside, Sort};
///
/// // A failure out of a capture.
/// let request = ReplyTo { message_id: "request-1", service_id: SERVICE_ID, operation: OPERATION };
/// let mut body = Vec::new();
/// Failure::NotAdmitted.write(request, &mut body).unwrap();
/// let outside = Outside::read(&body).unwrap();
/// assert_eq!((outside.sort, outside.sort.name(), outside.message_id), (Sort::Failure, "failure", "request-1"));
/// assert_eq!((outside.status, outside.schema_version()), (Some("denied"), "cultnet.operation_response.v0"));
/// assert_eq!(outside.hint().unwrap().code, "not-admitted");
/// assert!(outside.envelope().is_none(), "nothing in it is sealed");
/// ```
#[derive(Clone, Debug)]
pub struct Outside<'a> {
    /// What it is.
    pub sort: Sort,
    /// `messageId`
    pub message_id: &'a str,
    /// `serviceId`
    pub service_id: &'a str,
    /// `operation`
    pub operation: &'a str,
    /// `status` of a response.
    pub status: Option<&'a str>,
    /// `payloadSchema`
    pub payload_schema: &'a str,
    /// `payload` as it stands.
    pub payload: &'a str,
    /// The bytes of the payload; empty where it is no canonical base64 or is written in another way.
    pub(super) decoded: Vec<u8>,
}

impl<'a> Outside<'a> {
    /// Reads a message that is all of `body`, its length prefix left off.
    pub fn read(body: &'a [u8]) -> Result<Self, CarriageFault> {
        let (mut outside, encoding) = match (OperationRequest::read(body), OperationResponse::read(body)) {
            (Ok(request), _) => (Self::of_request(&request), request.payload_encoding),
            (_, Ok(response)) => (Self::of_response(&response), response.payload_encoding),
            // A response is what names itself so; anything else is judged as a request.
            (_, Err(fault)) if names_response(body) => return Err(fault),
            (Err(fault), _) => return Err(fault),
        };
        if encoding.is_none_or(|encoding| encoding == PAYLOAD_ENCODING) {
            outside.decode();
        }
        Ok(outside)
    }

    const fn of_request(request: &OperationRequest<'a>) -> Self {
        Self {
            sort: Sort::Request,
            message_id: request.message_id,
            service_id: request.service_id,
            operation: request.operation,
            status: None,
            payload_schema: request.payload_schema,
            payload: request.payload,
            decoded: Vec::new(),
        }
    }

    fn of_response(response: &OperationResponse<'a>) -> Self {
        let is_failure = response.payload_schema == FAILURE_SCHEMA;
        Self {
            sort: if is_failure { Sort::Failure } else { Sort::Reply },
            message_id: response.message_id,
            service_id: response.service_id,
            operation: response.operation,
            status: Some(response.status),
            payload_schema: response.payload_schema,
            payload: response.payload,
            decoded: Vec::new(),
        }
    }

    fn decode(&mut self) {
        let mut decoded = vec![0; decoded_len_max(self.payload.len())];
        let len = decode_into(self.payload, &mut decoded).map_or(0, |bytes| bytes.len());
        decoded.truncate(len);
        self.decoded = decoded;
    }

    /// `schemaVersion`
    pub const fn schema_version(&self) -> &'static str {
        match self.sort {
            Sort::Request => REQUEST_SCHEMA,
            Sort::Reply | Sort::Failure => RESPONSE_SCHEMA,
        }
    }

    /// The envelope, where the payload is one.
    pub fn envelope(&self) -> Option<ReadEnvelope<'_>> {
        (self.payload_schema == EnvelopeSchema::ID).then(|| ReadEnvelope::read(&self.decoded).ok())?
    }

    /// What a failure says.
    pub fn hint(&self) -> Option<Hint<'_>> {
        (self.sort == Sort::Failure).then(|| Hint::parse(&self.decoded))?
    }
}

/// Whether the bytes hold the schema of a response, wherever it stands.
pub(crate) fn names_response(body: &[u8]) -> bool {
    let schema = RESPONSE_SCHEMA.as_bytes();
    body.windows(schema.len()).any(|window| window == schema)
}

//! What came of a turn: `gamecult.model.transport_receipt.v3`.

use super::fault::{DocumentFault, DocumentReason};
use super::read::Fields;
use super::valid::{SchemaId, Schemas};
use super::variant::variants;
use super::write::{bytes, count, option, text};
use crate::connector::digest::Digest;
use crate::connector::text::{FailureMessage, Id, StopId};
use crate::scan::msgpack::{Full, Output, Writer};

/// Names the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptSchema {}

impl Schemas for ReceiptSchema {
    const ID: &'static str = "gamecult.model.transport_receipt.v3";
}

const DOCUMENT: &str = "transport_receipt";
const FIELDS: u32 = 8;

/// The receipt of a turn that ran.
///
/// ```
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::{
///     Completed, Failed, FailureKind, Outcome, ReceiptSchema, SchemaId, StopReason, TransportReceipt,
/// };
/// use twolane_core::connector::text::{FailureMessage, Rule, Text};
///
/// fn t<R: Rule>(text: &str) -> Text<R, &str> {
///     Text::new(text).unwrap()
/// }
///
/// let completed = TransportReceipt {
///     schema_id: SchemaId::<ReceiptSchema>::NEW,
///     request_id: t("request-1"),
///     caller_runtime_id: t("caller-1"),
///     native_request_sha256: Digest([7; 32]),
///     provider_request_sha256: Digest([8; 32]),
///     model: t("model-a"),
///     transport: t("script"),
///     outcome: Outcome::Completed(Completed {
///         stop_reason: StopReason::Other(t("paused")),
///         provider_response_id: Some(t("resp_1")),
///         input_tokens: Some(300),
///         output_tokens: Some(3),
///         reasoning_output_tokens: None,
///         cached_input_tokens: Some(0),
///     }),
/// };
/// let Outcome::Completed(Completed { stop_reason, .. }) = completed.outcome else { panic!("it ended") };
/// assert_eq!((stop_reason.name(), StopReason::<&str>::EndTurn.name()), ("Other", "EndTurn"));
///
/// // The same turn, failed, with storage of its own.
/// let failed = Failed {
///     failure_kind: FailureKind::RateLimited,
///     message: FailureMessage::cut("try later").unwrap(),
///     http_status: Some(429),
///     retry_after_ms: Some(1500),
/// };
/// let owned = TransportReceipt { outcome: Outcome::Failed(failed), ..completed }.to_owned();
/// assert!(matches!(owned.outcome, Outcome::Failed(Failed { http_status: Some(429), .. })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(feature = "std", serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "transport_receipt"))]
pub struct TransportReceipt<S> {
    /// The document's name.
    pub schema_id: SchemaId<ReceiptSchema>,
    /// The request.
    pub request_id: Id<S>,
    /// Who asked.
    pub caller_runtime_id: Id<S>,
    /// As the invocation claimed it.
    pub native_request_sha256: Digest,
    /// As the invocation claimed it.
    pub provider_request_sha256: Digest,
    /// The model that answered.
    pub model: Id<S>,
    /// How the provider was reached.
    pub transport: Id<S>,
    /// What came of it.
    pub outcome: Outcome<S>,
}

/// What came of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "outcome"))]
pub enum Outcome<S> {
    /// The model ended.
    Completed(Completed<S>),
    /// It did not.
    Failed(Failed<S>),
}

/// A turn that the model ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(feature = "std", serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "completed"))]
pub struct Completed<S> {
    /// Why it ended.
    pub stop_reason: StopReason<S>,
    /// The provider's id of the response.
    pub provider_response_id: Option<Id<S>>,
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Tokens of reasoning.
    pub reasoning_output_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cached_input_tokens: Option<u64>,
}

/// A turn that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(feature = "std", serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "failed"))]
pub struct Failed<S> {
    /// What kind of failure.
    pub failure_kind: FailureKind,
    /// For people.
    pub message: FailureMessage<S>,
    /// The provider's HTTP status.
    pub http_status: Option<u16>,
    /// Milliseconds that the provider asks to wait.
    pub retry_after_ms: Option<u64>,
}

/// Why a model ended.
///
/// ```
/// use twolane_core::connector::document::StopReason;
/// use twolane_core::connector::text::StopId;
///
/// assert_eq!(StopReason::<&str>::MaxOutputTokens.name(), "MaxOutputTokens");
/// let other = StopReason::Other(StopId::new("paused").unwrap());
/// assert_eq!(other.name(), "Other");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "stop_reason"))]
pub enum StopReason<S> {
    /// It was done.
    EndTurn,
    /// It called a tool.
    ToolUse,
    /// The limit of tokens.
    MaxOutputTokens,
    /// A sequence that ends the answer.
    StopSequence,
    /// The provider's filter.
    ContentFilter,
    /// Another one, in the provider's words.
    Other(StopId<S>),
}

variants! {
    /// What kind of failure a turn ended with.
    FailureKind {
        /// The provider answered with an HTTP status that says so.
        ProviderHttpStatus = "ProviderHttpStatus",
        /// The provider was not reached.
        ProviderTransport = "ProviderTransport",
        /// The provider's stream broke.
        ProviderStream = "ProviderStream",
        /// The provider refused the request.
        ProviderRejected = "ProviderRejected",
        /// The credential was refused.
        Credential = "Credential",
        /// Too many requests.
        RateLimited = "RateLimited",
        /// An account without means.
        Billing = "Billing",
        /// The conversation is too long for the model.
        ContextOverflow = "ContextOverflow",
        /// The result is too large for the caller's bound.
        ResultTooLarge = "ResultTooLarge",
        /// It took too long.
        Timeout = "Timeout",
        /// The connector itself.
        Internal = "Internal",
    }
}

impl<S: AsRef<str>> TransportReceipt<S> {
    pub(super) fn write<O: Output>(&self, w: &mut Writer<'_, O>) -> Result<(), Full> {
        w.map(FIELDS)?;
        text(w, "schema_id", ReceiptSchema::ID)?;
        text(w, "request_id", self.request_id.as_str())?;
        text(w, "caller_runtime_id", self.caller_runtime_id.as_str())?;
        bytes(w, "native_request_sha256", &self.native_request_sha256.0)?;
        bytes(w, "provider_request_sha256", &self.provider_request_sha256.0)?;
        text(w, "model", self.model.as_str())?;
        text(w, "transport", self.transport.as_str())?;
        w.str("outcome")?;
        w.map(1)?;
        match &self.outcome {
            Outcome::Completed(completed) => completed.write(w),
            Outcome::Failed(failed) => failed.write(w),
        }
    }
}

impl<S: AsRef<str>> Completed<S> {
    fn write<O: Output>(&self, w: &mut Writer<'_, O>) -> Result<(), Full> {
        w.str("Completed")?;
        w.map(6)?;
        w.str("stop_reason")?;
        match (&self.stop_reason, self.stop_reason.name()) {
            (StopReason::Other(id), name) => {
                w.map(1)?;
                text(w, name, id.as_str())?;
            }
            (_, name) => w.str(name)?,
        }
        option(w, "provider_response_id", self.provider_response_id.as_ref().map(Id::as_str))?;
        count(w, "input_tokens", self.input_tokens)?;
        count(w, "output_tokens", self.output_tokens)?;
        count(w, "reasoning_output_tokens", self.reasoning_output_tokens)?;
        count(w, "cached_input_tokens", self.cached_input_tokens)
    }
}

impl<S: AsRef<str>> Failed<S> {
    fn write<O: Output>(&self, w: &mut Writer<'_, O>) -> Result<(), Full> {
        w.str("Failed")?;
        w.map(4)?;
        text(w, "failure_kind", self.failure_kind.name())?;
        text(w, "message", self.message.as_str())?;
        count(w, "http_status", self.http_status.map(u64::from))?;
        count(w, "retry_after_ms", self.retry_after_ms)
    }
}

impl<S> StopReason<S> {
    /// The variant's name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::EndTurn => "EndTurn",
            Self::ToolUse => "ToolUse",
            Self::MaxOutputTokens => "MaxOutputTokens",
            Self::StopSequence => "StopSequence",
            Self::ContentFilter => "ContentFilter",
            Self::Other(_) => "Other",
        }
    }
}

impl<'a> TransportReceipt<&'a str> {
    /// Reads the receipt that is next.
    pub(super) fn read_next(f: &mut Fields<'a>) -> Result<Self, DocumentFault> {
        f.document(DOCUMENT);
        f.map(FIELDS)?;
        f.schema_id(ReceiptSchema::ID)?;
        Ok(Self {
            schema_id: SchemaId::NEW,
            request_id: f.key("request_id")?.text()?,
            caller_runtime_id: f.key("caller_runtime_id")?.text()?,
            native_request_sha256: f.key("native_request_sha256")?.digest()?,
            provider_request_sha256: f.key("provider_request_sha256")?.digest()?,
            model: f.key("model")?.text()?,
            transport: f.key("transport")?.text()?,
            outcome: read_outcome(f)?,
        })
    }
}

fn read_outcome<'a>(f: &mut Fields<'a>) -> Result<Outcome<&'a str>, DocumentFault> {
    f.key("outcome")?;
    f.group("outcome");
    let start = f.position();
    match f.variant()? {
        ("Completed", true) => {
            f.map(6)?;
            Ok(Outcome::Completed(Completed {
                stop_reason: read_stop_reason(f.key("stop_reason")?)?,
                provider_response_id: f.key("provider_response_id")?.option(Fields::text)?,
                input_tokens: f.key("input_tokens")?.option(Fields::u64)?,
                output_tokens: f.key("output_tokens")?.option(Fields::u64)?,
                reasoning_output_tokens: f.key("reasoning_output_tokens")?.option(Fields::u64)?,
                cached_input_tokens: f.key("cached_input_tokens")?.option(Fields::u64)?,
            }))
        }
        ("Failed", true) => {
            f.map(4)?;
            Ok(Outcome::Failed(Failed {
                failure_kind: f.key("failure_kind")?.named(FailureKind::from_name)?,
                message: f.key("message")?.text()?,
                http_status: f.key("http_status")?.option(Fields::u16)?,
                retry_after_ms: f.key("retry_after_ms")?.option(Fields::u64)?,
            }))
        }
        _ => Err(f.fault(start, DocumentReason::Variant)),
    }
}

fn read_stop_reason<'a>(f: &mut Fields<'a>) -> Result<StopReason<&'a str>, DocumentFault> {
    let start = f.position();
    match f.variant()? {
        ("EndTurn", false) => Ok(StopReason::EndTurn),
        ("ToolUse", false) => Ok(StopReason::ToolUse),
        ("MaxOutputTokens", false) => Ok(StopReason::MaxOutputTokens),
        ("StopSequence", false) => Ok(StopReason::StopSequence),
        ("ContentFilter", false) => Ok(StopReason::ContentFilter),
        ("Other", true) => Ok(StopReason::Other(f.text()?)),
        _ => Err(f.fault(start, DocumentReason::Variant)),
    }
}

#[cfg(feature = "alloc")]
impl TransportReceipt<&str> {
    /// The same with storage of its own.
    pub fn to_owned(&self) -> TransportReceipt<alloc::boxed::Box<str>> {
        let outcome = match &self.outcome {
            Outcome::Completed(completed) => Outcome::Completed(Completed {
                stop_reason: match completed.stop_reason {
                    StopReason::EndTurn => StopReason::EndTurn,
                    StopReason::ToolUse => StopReason::ToolUse,
                    StopReason::MaxOutputTokens => StopReason::MaxOutputTokens,
                    StopReason::StopSequence => StopReason::StopSequence,
                    StopReason::ContentFilter => StopReason::ContentFilter,
                    StopReason::Other(id) => StopReason::Other(id.to_owned()),
                },
                provider_response_id: completed.provider_response_id.map(|id| id.to_owned()),
                input_tokens: completed.input_tokens,
                output_tokens: completed.output_tokens,
                reasoning_output_tokens: completed.reasoning_output_tokens,
                cached_input_tokens: completed.cached_input_tokens,
            }),
            Outcome::Failed(failed) => Outcome::Failed(Failed {
                failure_kind: failed.failure_kind,
                message: failed.message.to_owned(),
                http_status: failed.http_status,
                retry_after_ms: failed.retry_after_ms,
            }),
        };
        TransportReceipt {
            schema_id: SchemaId::NEW,
            request_id: self.request_id.to_owned(),
            caller_runtime_id: self.caller_runtime_id.to_owned(),
            native_request_sha256: self.native_request_sha256,
            provider_request_sha256: self.provider_request_sha256,
            model: self.model.to_owned(),
            transport: self.transport.to_owned(),
            outcome,
        }
    }
}

//! What a caller gets: `gamecult.model.transport_result.v3`.

use super::fault::{DocumentFault, DocumentReason, Path};
use super::list::{Element, ReadList};
use super::read::Fields;
use super::receipt::TransportReceipt;
use super::valid::{Document, SchemaId, Schemas, Valid, sealed};
use super::variant::variants;
use super::write::{bytes, list, number, text};
use crate::connector::digest::Digest;
use crate::connector::text::{Content, Id};
use crate::limits::EVENTS_MAX;
use crate::scan::msgpack::{Full, Output, Reader, Writer};

/// Names the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultSchema {}

impl Schemas for ResultSchema {
    const ID: &'static str = "gamecult.model.transport_result.v3";
}

const DOCUMENT: &str = "transport_result";
const FIELDS: u32 = 5;

/// The plaintext of a sealed reply. `E` is a list of [`Event`].
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::{
///     Completed, Disposition, Event, EventPayload, Outcome, OwnedResult, ReadResult, Refusal, ResultParts, ResultSchema,
///     SchemaId, StopReason, TransportReceipt, TransportResult, Transported, Valid,
/// };
/// use twolane_core::connector::text::{Rule, Text};
///
/// fn t<R: Rule>(text: &str) -> Text<R, &str> {
///     Text::new(text).unwrap()
/// }
///
/// let events = [Event { sequence: 0, payload: EventPayload::TextDelta { text: t("Tuesday.") } }];
/// let receipt = TransportReceipt {
///     schema_id: SchemaId::NEW,
///     request_id: t("request-1"),
///     caller_runtime_id: t("caller-1"),
///     native_request_sha256: Digest([7; 32]),
///     provider_request_sha256: Digest([8; 32]),
///     model: t("model-a"),
///     transport: t("script"),
///     outcome: Outcome::Completed(Completed {
///         stop_reason: StopReason::EndTurn,
///         provider_response_id: None,
///         input_tokens: None,
///         output_tokens: Some(2),
///         reasoning_output_tokens: None,
///         cached_input_tokens: None,
///     }),
/// };
/// let parts: ResultParts<'_> = TransportResult {
///     schema_id: SchemaId::<ResultSchema>::NEW,
///     request_id: t("request-1"),
///     caller_runtime_id: t("caller-1"),
///     binding_sha256: Digest::binding("caller-1", "request-1", &Digest([7; 32]), &Digest([8; 32])),
///     disposition: Disposition::Transported(Transported { events: &events, receipt }),
/// };
///
/// // There and back: borrowed from the bytes, then with storage of its own.
/// let bytes = Valid::new(parts).unwrap().to_vec().unwrap();
/// let read = Valid::<ReadResult<'_>>::read(&bytes).unwrap();
/// let Disposition::Transported(transported) = &read.disposition else { panic!("a run") };
/// assert_eq!(transported.events.iter().next().unwrap().to_owned(), events[0].to_owned());
/// let owned: Valid<OwnedResult> = read.to_owned();
/// assert_eq!(owned.to_vec().unwrap(), bytes);
///
/// // A hole in the events is refused, and so a run may be none at all.
/// let late = [Event { sequence: 1, payload: EventPayload::TextDelta { text: t("Tuesday.") } }];
/// let torn = Disposition::Transported(Transported { events: &late[..], receipt });
/// assert!(Valid::new(ResultParts { disposition: torn, ..parts }).is_err());
/// assert!(Valid::new(ResultParts { disposition: Disposition::Refused(Refusal::Policy), ..parts }).is_ok());
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(
    feature = "std",
    serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>, E: serde::Deserialize<'de>"))
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "transport_result"))]
pub struct TransportResult<S, E> {
    /// The document's name.
    pub schema_id: SchemaId<ResultSchema>,
    /// The request.
    pub request_id: Id<S>,
    /// Who asked.
    pub caller_runtime_id: Id<S>,
    /// What binds this result to the request; see [`Digest::binding`].
    pub binding_sha256: Digest,
    /// What came of the request.
    pub disposition: Disposition<S, E>,
}

/// A result to write, borrowed from the caller.
pub type ResultParts<'a> = TransportResult<&'a str, &'a [Event<&'a str>]>;

/// A result in canonical bytes.
pub type ReadResult<'a> = TransportResult<&'a str, ReadList<'a, Event<&'a str>>>;

/// A result that holds its own.
#[cfg(feature = "alloc")]
pub type OwnedResult =
    TransportResult<alloc::boxed::Box<str>, alloc::vec::Vec<Event<alloc::boxed::Box<str>>>>;

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "std",
    serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>, E: serde::Deserialize<'de>"))
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "disposition"))]
pub enum Disposition<S, E> {
    /// No run was begun for it.
    Refused(Refusal),
    /// The provider was asked.
    Transported(Transported<S, E>),
}

/// What a run gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(
    feature = "std",
    serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>, E: serde::Deserialize<'de>"))
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "transported"))]
pub struct Transported<S, E> {
    /// What the model said, in order, at most 65,536 events.
    pub events: E,
    /// What came of it.
    pub receipt: TransportReceipt<S>,
}

/// One piece of what the model said.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::document::{Event, EventPayload};
/// use twolane_core::connector::text::Content;
///
/// let event = Event { sequence: 0, payload: EventPayload::TextDelta { text: Content::new("Tuesday.").unwrap() } };
/// let EventPayload::TextDelta { text } = event.to_owned().payload else { panic!("the same event") };
/// assert_eq!(text.as_str(), "Tuesday.");
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(feature = "std", serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "event"))]
pub struct Event<S> {
    /// Its place, from 0 without a hole.
    pub sequence: u64,
    /// What it is.
    pub payload: EventPayload<S>,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(feature = "std", serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "event_payload"))]
pub enum EventPayload<S> {
    /// Words.
    TextDelta {
        /// The words.
        text: Content<S>,
    },
    /// A tool that the model calls.
    ToolCall {
        /// The call, by the provider's id.
        call_id: Id<S>,
        /// The tool.
        name: Id<S>,
        /// What it is called with.
        arguments: Content<S>,
    },
}

variants! {
    /// Why no run was begun.
    Refusal {
        /// The time to begin it is over, or lies too far ahead.
        Expired = "Expired",
        /// The ids inside of the seal are not those outside.
        IdentitySubstitution = "IdentitySubstitution",
        /// The request has not the digest that is claimed.
        ProviderDigestSubstitution = "ProviderDigestSubstitution",
        /// The model or the number of tokens is not the caller's to ask for.
        Policy = "Policy",
        /// There is no room now.
        Capacity = "Capacity",
        /// It is running.
        InFlight = "InFlight",
        /// It was begun and its end is not known; it is never begun again.
        Indeterminate = "Indeterminate",
        /// The id was used for another request.
        ReplayConflict = "ReplayConflict",
        /// It was answered, and the answer is gone.
        Retired = "Retired",
        /// The plaintext is no invocation.
        Malformed = "Malformed",
    }
}

fn at(group: &'static str, field: &'static str, reason: DocumentReason) -> DocumentFault {
    DocumentFault { offset: None, path: Path { document: DOCUMENT, group, field }, reason }
}

impl<S, E> sealed::Sealed for TransportResult<S, E> {}

impl<S: AsRef<str>, E: AsRef<[Event<S>]>> Document for TransportResult<S, E> {
    fn check(&self) -> Result<(), DocumentFault> {
        let Disposition::Transported(transported) = &self.disposition else { return Ok(()) };
        let events = transported.events.as_ref();
        let found = u64::try_from(events.len()).unwrap_or(u64::MAX);
        if found > u64::from(EVENTS_MAX) {
            return Err(at("events", "", DocumentReason::TooMany { max: EVENTS_MAX, found }));
        }
        for (expected, event) in (0..).zip(events) {
            if event.sequence != expected {
                return Err(at("events", "sequence", DocumentReason::EventOrder { expected }));
            }
        }
        Ok(())
    }

    fn write<O: Output>(&self, w: &mut Writer<'_, O>) -> Result<(), Full> {
        write_front(w, self.request_id.as_str(), self.caller_runtime_id.as_str(), &self.binding_sha256)?;
        match &self.disposition {
            Disposition::Refused(refusal) => text(w, "Refused", refusal.name()),
            Disposition::Transported(transported) => {
                w.str("Transported")?;
                w.map(2)?;
                list(w, "events", transported.events.as_ref(), Event::write)?;
                w.str("receipt")?;
                transported.receipt.write(w)
            }
        }
    }
}

/// Writes all up to the variant of the disposition.
fn write_front<O: Output>(
    w: &mut Writer<'_, O>,
    request_id: &str,
    caller_runtime_id: &str,
    binding: &Digest,
) -> Result<(), Full> {
    w.map(FIELDS)?;
    text(w, "schema_id", ResultSchema::ID)?;
    text(w, "request_id", request_id)?;
    text(w, "caller_runtime_id", caller_runtime_id)?;
    bytes(w, "binding_sha256", &binding.0)?;
    w.str("disposition")?;
    w.map(1)
}

/// Writes the one result that may name a request by an id that is none: a refusal of a malformed request.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::{Disposition, ReadResult, Refusal, Valid, write_malformed};
///
/// let mut plaintext = Vec::new();
/// write_malformed(&mut plaintext, "request-1", "caller-1", &Digest::ZERO).unwrap();
/// let result = Valid::<ReadResult<'_>>::read(&plaintext).unwrap();
/// assert!(matches!(result.disposition, Disposition::Refused(Refusal::Malformed)));
///
/// // The id that was asked with may be none; no other result is written for it.
/// plaintext.clear();
/// write_malformed(&mut plaintext, " ", "caller-1", &Digest::ZERO).unwrap();
/// assert!(Valid::<ReadResult<'_>>::read(&plaintext).is_err());
/// # }
/// ```
pub fn write_malformed(
    out: &mut impl Output,
    request_id: &str,
    caller_runtime_id: &str,
    binding: &Digest,
) -> Result<(), Full> {
    let mut w = Writer(out);
    write_front(&mut w, request_id, caller_runtime_id, binding)?;
    text(&mut w, "Refused", Refusal::Malformed.name())
}

impl<S: AsRef<str>> Event<S> {
    fn write<O: Output>(&self, w: &mut Writer<'_, O>) -> Result<(), Full> {
        w.map(2)?;
        number(w, "sequence", self.sequence)?;
        w.str("payload")?;
        w.map(1)?;
        match &self.payload {
            EventPayload::TextDelta { text: words } => {
                w.str("TextDelta")?;
                w.map(1)?;
                text(w, "text", words.as_str())
            }
            EventPayload::ToolCall { call_id, name, arguments } => {
                w.str("ToolCall")?;
                w.map(3)?;
                text(w, "call_id", call_id.as_str())?;
                text(w, "name", name.as_str())?;
                text(w, "arguments", arguments.as_str())
            }
        }
    }
}

impl<'a> Valid<ReadResult<'a>> {
    /// Reads a result that is all of `bytes`.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use twolane_core::connector::digest::Digest;
    /// use twolane_core::connector::document::{Disposition, OwnedResult, ReadResult, Refusal, Valid, write_malformed};
    ///
    /// let mut bytes = Vec::new();
    /// write_malformed(&mut bytes, "request-1", "caller-1", &Digest([9; 32])).unwrap();
    /// let read = Valid::<ReadResult<'_>>::read(&bytes).unwrap();
    /// // To keep longer than the bytes.
    /// let owned: Valid<OwnedResult> = read.to_owned();
    /// drop(bytes);
    /// assert_eq!(owned.disposition, Disposition::Refused(Refusal::Malformed));
    /// # }
    /// ```
    pub fn read(bytes: &'a [u8]) -> Result<Self, DocumentFault> {
        let mut f = Fields::new(Reader::new(bytes), DOCUMENT);
        f.map(FIELDS)?;
        f.schema_id(ResultSchema::ID)?;
        let result = TransportResult {
            schema_id: SchemaId::NEW,
            request_id: f.key("request_id")?.text()?,
            caller_runtime_id: f.key("caller_runtime_id")?.text()?,
            binding_sha256: f.key("binding_sha256")?.digest()?,
            disposition: read_disposition(&mut f)?,
        };
        f.end()?;
        Ok(Self::from_read(result))
    }
}

type ReadDisposition<'a> = Disposition<&'a str, ReadList<'a, Event<&'a str>>>;

fn read_disposition<'a>(f: &mut Fields<'a>) -> Result<ReadDisposition<'a>, DocumentFault> {
    f.key("disposition")?;
    f.group("disposition");
    let start = f.position();
    match f.variant()? {
        ("Refused", true) => Ok(Disposition::Refused(f.named(Refusal::from_name)?)),
        ("Transported", true) => {
            f.map(2)?;
            f.key("events")?;
            f.group("events");
            let mut expected = 0;
            let events = ReadList::read(f, EVENTS_MAX, |start, f, event: &Event<&'a str>| {
                if event.sequence != expected {
                    return Err(f.fault(start, DocumentReason::EventOrder { expected }));
                }
                expected += 1;
                Ok(())
            })?;
            f.group("disposition");
            f.key("receipt")?;
            Ok(Disposition::Transported(Transported { events, receipt: TransportReceipt::read_next(f)? }))
        }
        _ => Err(f.fault(start, DocumentReason::Variant)),
    }
}

impl<'a> Element<'a> for Event<&'a str> {
    fn read(f: &mut Fields<'a>) -> Result<Self, DocumentFault> {
        f.map(2)?;
        let sequence = f.key("sequence")?.u64()?;
        f.key("payload")?;
        let start = f.position();
        let payload = match f.variant()? {
            ("TextDelta", true) => {
                f.map(1)?;
                EventPayload::TextDelta { text: f.key("text")?.text()? }
            }
            ("ToolCall", true) => {
                f.map(3)?;
                EventPayload::ToolCall {
                    call_id: f.key("call_id")?.text()?,
                    name: f.key("name")?.text()?,
                    arguments: f.key("arguments")?.text()?,
                }
            }
            _ => return Err(f.fault(start, DocumentReason::Variant)),
        };
        Ok(Self { sequence, payload })
    }
}

#[cfg(feature = "alloc")]
mod owned {
    use super::{
        Disposition, Event, EventPayload, OwnedResult, ReadResult, SchemaId, TransportResult, Transported,
        Valid,
    };
    use alloc::boxed::Box;

    impl Event<&str> {
        /// The same with storage of its own.
        pub fn to_owned(&self) -> Event<Box<str>> {
            let payload = match &self.payload {
                EventPayload::TextDelta { text } => EventPayload::TextDelta { text: text.to_owned() },
                EventPayload::ToolCall { call_id, name, arguments } => EventPayload::ToolCall {
                    call_id: call_id.to_owned(),
                    name: name.to_owned(),
                    arguments: arguments.to_owned(),
                },
            };
            Event { sequence: self.sequence, payload }
        }
    }

    impl Valid<ReadResult<'_>> {
        /// The same with storage of its own.
        pub fn to_owned(&self) -> Valid<OwnedResult> {
            let disposition = match &self.disposition {
                Disposition::Refused(refusal) => Disposition::Refused(*refusal),
                Disposition::Transported(transported) => Disposition::Transported(Transported {
                    events: transported.events.iter().map(|event| event.to_owned()).collect(),
                    receipt: transported.receipt.to_owned(),
                }),
            };
            Valid::from_read(TransportResult {
                schema_id: SchemaId::NEW,
                request_id: self.request_id.to_owned(),
                caller_runtime_id: self.caller_runtime_id.to_owned(),
                binding_sha256: self.binding_sha256,
                disposition,
            })
        }
    }
}

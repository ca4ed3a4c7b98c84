//! What several units share: why a step ended, the tokens it used, how a provider failed.

use super::fault::BodyFault;
use super::read::{Known, integer16, not_negative};
use super::rules::{ERROR, USAGE};
use crate::scan::string::JsonStr;
use crate::scan::value::Value;

/// Why a step ended.
///
/// ```
/// use twolane_core::body::FinishReason;
/// use twolane_core::scan::value::Value;
///
/// let name = |text| Value::parse(text).unwrap().as_str().unwrap();
/// assert_eq!(FinishReason::read(name(br#""tool_calls""#)), FinishReason::ToolCalls);
/// let FinishReason::Other { name } = FinishReason::read(name(br#""refusal""#)) else { panic!("a later reason") };
/// assert!(name == "refusal");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason<'a> {
    /// The model was done.
    Stop,
    /// The token limit.
    Length,
    /// The model waits for its tools.
    ToolCalls,
    /// The provider withheld the rest.
    ContentFilter,
    /// The provider failed.
    Error,
    /// `other`, or one that this schema does not know.
    Other {
        /// As spelled.
        name: JsonStr<'a>,
    },
}

impl<'a> FinishReason<'a> {
    /// The reason spelled like this.
    pub fn read(name: JsonStr<'a>) -> Self {
        let known = [
            ("stop", Self::Stop),
            ("length", Self::Length),
            ("tool_calls", Self::ToolCalls),
            ("content_filter", Self::ContentFilter),
            ("error", Self::Error),
        ];
        known
            .into_iter()
            .find(|(spelling, _)| name == *spelling)
            .map_or(Self::Other { name }, |(_, reason)| reason)
    }
}

/// Tokens of a step. What is absent is unknown, never 0.
///
/// ```
/// use twolane_core::body::Usage;
/// use twolane_core::scan::value::Value;
///
/// let object = Value::parse(br#"{"input_tokens":100,"cached_input_tokens":900,"output_tokens":20}"#).unwrap();
/// let usage = Usage::read(object).unwrap();
/// assert_eq!((usage.fill_tokens(), usage.output_tokens, usage.reasoning_tokens), (Some(1000), Some(20), None));
/// assert_eq!(Usage::default().fill_tokens(), None, "unknown is not 0");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read anew.
    pub input_tokens: Option<u64>,
    /// Read from the provider's cache.
    pub cached_input_tokens: Option<u64>,
    /// Written to the provider's cache.
    pub cache_write_tokens: Option<u64>,
    /// Written.
    pub output_tokens: Option<u64>,
    /// Of reasoning.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Reads an object.
    pub fn read(object: Value<'_>) -> Result<Self, BodyFault> {
        let mut known = Known::new(object, USAGE);
        known.read(Some("usage"))?;
        Ok(Self {
            input_tokens: known.integer(0),
            cached_input_tokens: known.integer(1),
            cache_write_tokens: known.integer(2),
            output_tokens: known.integer(3),
            reasoning_tokens: known.integer(4),
        })
    }

    /// Tokens that filled the model's context: input, cached and written to the cache; saturating, absent when all
    /// three are.
    pub fn fill_tokens(&self) -> Option<u64> {
        [self.input_tokens, self.cached_input_tokens, self.cache_write_tokens]
            .into_iter()
            .flatten()
            .reduce(u64::saturating_add)
    }
}

/// What a caller may do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Try again.
    Transient,
    /// Trying again will not help.
    Permanent,
    /// The credential was refused; `auth_required` is understood as this.
    Auth,
    /// The conversation is too long for the model.
    ContextOverflow,
    /// The provider cannot be reached.
    ProviderUnavailable,
    /// One that this schema does not know; the error keeps its spelling.
    Unfamiliar,
}

/// How a provider failed.
///
/// ```
/// use twolane_core::body::{ErrorClass, ProviderError};
/// use twolane_core::scan::value::Value;
///
/// let text = br#"{"class":"transient","message":"busy","status":503,"retry_after_secs":1.5}"#;
/// let error = ProviderError::read(Value::parse(text).unwrap()).unwrap();
/// assert_eq!((error.class(), error.status, error.retry_after_secs), (ErrorClass::Transient, Some(503), Some("1.5")));
///
/// // The spelling of a class that this schema does not know is kept, to be written back.
/// let text = br#"{"class":"on_strike","message":""}"#;
/// let error = ProviderError::read(Value::parse(text).unwrap()).unwrap();
/// assert_eq!(error.class(), ErrorClass::Unfamiliar);
/// assert!(error.class_name == "on_strike");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderError<'a> {
    /// The class as spelled, to be written back unchanged.
    pub class_name: JsonStr<'a>,
    /// For people.
    pub message: JsonStr<'a>,
    /// The provider's HTTP status.
    pub status: Option<u16>,
    /// Seconds to wait before another try: a JSON number as written, not negative.
    pub retry_after_secs: Option<&'a str>,
    /// The provider's own code.
    pub provider_code: Option<JsonStr<'a>>,
}

impl<'a> ProviderError<'a> {
    /// Reads an object.
    pub fn read(object: Value<'a>) -> Result<Self, BodyFault> {
        let mut known = Known::new(object, ERROR);
        known.read(Some("error"))?;
        known.whole(Self::from_known(&known))
    }

    fn from_known(known: &Known<'a>) -> Option<Self> {
        Some(Self {
            class_name: known.string(0)?,
            message: known.string(1)?,
            status: known.value(2).as_ref().and_then(integer16),
            retry_after_secs: known.value(3).as_ref().and_then(not_negative),
            provider_code: known.string(4),
        })
    }

    /// The class, where the schema knows it.
    pub fn class(&self) -> ErrorClass {
        let known = [
            ("transient", ErrorClass::Transient),
            ("permanent", ErrorClass::Permanent),
            ("auth", ErrorClass::Auth),
            ("auth_required", ErrorClass::Auth),
            ("context_overflow", ErrorClass::ContextOverflow),
            ("provider_unavailable", ErrorClass::ProviderUnavailable),
        ];
        known
            .into_iter()
            .find(|(spelling, _)| self.class_name == *spelling)
            .map_or(ErrorClass::Unfamiliar, |(_, class)| class)
    }
}

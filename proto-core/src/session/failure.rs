//! Why a step ended or failed, and what it used.

use alloc::string::String;

use super::mode::{OpenState, Spelled, words};
use super::scalar::Seconds;
use super::wire::{Wire, decoded, object, quoted, wrong};
use crate::body::{self, BodyFault, Expected};
use crate::scan::value::Value;

words! {
    /// Why a step ended. One that the schema does not know reads as [`Other`](Self::Other).
    ///
    /// ```
    /// use twolane_core::session::{FinishReason, Wire};
    ///
    /// assert_eq!(FinishReason::parse(br#""tool_calls""#), Ok(FinishReason::ToolCalls));
    /// assert_eq!(FinishReason::parse(br#""refusal""#), Ok(FinishReason::Other));
    /// ```
    pub FinishReason {
        /// The model was done.
        Stop = "stop",
        /// The token limit.
        Length = "length",
        /// The model waits for its tools.
        ToolCalls = "tool_calls",
        /// The provider withheld the rest.
        ContentFilter = "content_filter",
        /// The provider failed.
        Error = "error",
        /// Something else.
        Other = "other",
    }
}

impl Wire for FinishReason {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        let text = value.as_str().ok_or_else(|| wrong(value, Expected::String))?;
        Ok(Self::find(&decoded(text)).unwrap_or(Self::Other))
    }

    fn write(&self, out: &mut String) {
        quoted(out, self.name());
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
}

impl Spelled for ErrorClass {
    const ALL: &'static [Self] =
        &[Self::Transient, Self::Permanent, Self::Auth, Self::ContextOverflow, Self::ProviderUnavailable];

    fn name(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Permanent => "permanent",
            Self::Auth => "auth",
            Self::ContextOverflow => "context_overflow",
            Self::ProviderUnavailable => "provider_unavailable",
        }
    }

    fn find(spelling: &str) -> Option<Self> {
        let spelling = if spelling == "auth_required" { "auth" } else { spelling };
        Self::ALL.iter().copied().find(|class| class.name() == spelling)
    }
}

object! {
    /// How a provider failed.
    ///
    /// ```
    /// use twolane_core::session::{Closed, ErrorClass, Failure, Open, OpenState, Wire};
    ///
    /// let text = br#"{"class":"on_strike","message":"later","status":503,"retry_after_secs":1.5}"#;
    /// let failure = Failure::<Open>::parse(text).unwrap();
    /// assert_eq!(failure.class, OpenState::Unknown("on_strike".to_owned()));
    /// assert_eq!(failure.to_json().as_bytes(), text);
    /// assert!(Failure::<Closed>::parse(text).is_err());
    /// let failure = Failure::<Closed>::parse(br#"{"class":"auth_required","message":"key"}"#).unwrap();
    /// assert_eq!(failure.class, OpenState::Known(ErrorClass::Auth));
    /// ```
    pub Failure<M> {
        /// What may be done about it.
        need class: OpenState<ErrorClass, M>,
        /// For people.
        need message: String,
        /// The provider's HTTP status.
        may status: Option<u16>,
        /// Seconds to wait before another try.
        may retry_after_secs: Option<Seconds>,
        /// The provider's own code.
        may provider_code: Option<String>,
    }
}

object! {
    /// Tokens of a step or a run. What is absent is unknown, never 0.
    ///
    /// ```
    /// use twolane_core::session::{Usage, Wire};
    ///
    /// let step = Usage::parse(br#"{"input_tokens":100,"cached_input_tokens":900,"output_tokens":20}"#).unwrap();
    /// assert_eq!(step.fill_tokens(), Some(1000));
    /// assert_eq!(Usage::default().fill_tokens(), None, "unknown is not 0");
    /// // Of a run: what each step used, together.
    /// assert_eq!(step.plus(&Usage { output_tokens: Some(5), ..Usage::default() }).output_tokens, Some(25));
    /// ```
    #[derive(Copy, Default)]
    pub Usage {
        /// Read anew.
        may input_tokens: Option<u64>,
        /// Read from the provider's cache.
        may cached_input_tokens: Option<u64>,
        /// Written to the provider's cache.
        may cache_write_tokens: Option<u64>,
        /// Written.
        may output_tokens: Option<u64>,
        /// Of reasoning.
        may reasoning_tokens: Option<u64>,
    }
}

impl Usage {
    /// Tokens that filled the model's context: input, cached and written to the cache; saturating, absent when all
    /// three are.
    pub fn fill_tokens(&self) -> Option<u64> {
        let flat = body::Usage {
            input_tokens: self.input_tokens,
            cached_input_tokens: self.cached_input_tokens,
            cache_write_tokens: self.cache_write_tokens,
            ..body::Usage::default()
        };
        flat.fill_tokens()
    }

    /// What both used together, saturating; what neither knows stays unknown.
    pub fn plus(&self, more: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| [a, b].into_iter().flatten().reduce(u64::saturating_add);
        Self {
            input_tokens: sum(self.input_tokens, more.input_tokens),
            cached_input_tokens: sum(self.cached_input_tokens, more.cached_input_tokens),
            cache_write_tokens: sum(self.cache_write_tokens, more.cache_write_tokens),
            output_tokens: sum(self.output_tokens, more.output_tokens),
            reasoning_tokens: sum(self.reasoning_tokens, more.reasoning_tokens),
        }
    }
}

//! Closed for writers and stores, open for readers: the same schema, two modes of what it does not know.

use alloc::string::String;
use core::convert::Infallible;
use core::fmt::Debug;

use super::json::Json;
use super::wire::{Wire, decoded, quoted, wrong};
use crate::body::{BodyFault, BodyReason, Expected};
use crate::scan::value::Value;

/// What becomes of a tag or a word that the schema does not know.
///
/// ```
/// use twolane_core::session::{Closed, ControlUnit, Mode, Open, Wire};
///
/// // The same bytes, read by whoever must keep what comes, and by whoever stores it.
/// fn is_read<M: Mode>() -> bool {
///     ControlUnit::<M>::parse(br#"{"type":"hologram","depth":3}"#).is_ok()
/// }
/// assert!(is_read::<Open>() && !is_read::<Closed>());
/// ```
pub trait Mode: Clone + Debug + PartialEq + Eq {
    /// An object with an unfamiliar tag. No value of it exists where such objects are refused.
    type Other: Clone + Debug + PartialEq + Eq;
    /// An unfamiliar word. No value of it exists where such words are refused.
    type Spelling: Clone + Debug + PartialEq + Eq;

    /// Takes an object whose tag is unfamiliar, or refuses it.
    #[doc(hidden)]
    fn other(object: &Value<'_>, tag: &Value<'_>) -> Result<Self::Other, BodyFault>;

    #[doc(hidden)]
    fn write_other(other: &Self::Other, out: &mut String);

    /// Takes a word that is unfamiliar, or refuses it.
    #[doc(hidden)]
    fn spelling(word: &Value<'_>) -> Result<Self::Spelling, BodyFault>;

    #[doc(hidden)]
    fn write_spelling(spelling: &Self::Spelling, out: &mut String);
}

/// Only what the schema knows: for writers and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {}

/// Whatever comes: for readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {}

fn unfamiliar(value: &Value<'_>) -> BodyFault {
    BodyFault { offset: value.span().start, member: None, reason: BodyReason::Unfamiliar }
}

impl Mode for Closed {
    type Other = Infallible;
    type Spelling = Infallible;

    fn other(_: &Value<'_>, tag: &Value<'_>) -> Result<Infallible, BodyFault> {
        Err(unfamiliar(tag))
    }

    fn write_other(other: &Infallible, _: &mut String) {
        match *other {}
    }

    fn spelling(word: &Value<'_>) -> Result<Infallible, BodyFault> {
        Err(unfamiliar(word))
    }

    fn write_spelling(spelling: &Infallible, _: &mut String) {
        match *spelling {}
    }
}

impl Mode for Open {
    type Other = Json;
    type Spelling = String;

    fn other(object: &Value<'_>, _: &Value<'_>) -> Result<Json, BodyFault> {
        Json::read(object)
    }

    fn write_other(other: &Json, out: &mut String) {
        other.write(out);
    }

    fn spelling(word: &Value<'_>) -> Result<String, BodyFault> {
        String::read(word)
    }

    fn write_spelling(spelling: &String, out: &mut String) {
        quoted(out, spelling);
    }
}

/// A set of words of the schema.
///
/// ```
/// use twolane_core::session::{RunReason, Spelled};
///
/// assert_eq!(RunReason::find("max_steps"), Some(RunReason::MaxSteps));
/// assert!(RunReason::ALL.iter().all(|reason| RunReason::find(reason.name()) == Some(*reason)));
/// ```
pub trait Spelled: Copy + Debug + PartialEq + Eq + 'static {
    /// Every word.
    const ALL: &'static [Self];

    /// The spelling on the wire.
    fn name(self) -> &'static str;

    /// The word that a reader understands under this spelling.
    fn find(spelling: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.name() == spelling)
    }
}

/// A word of the schema, or in the open mode one that it does not know, which equals none that it does. Whoever reads
/// it has to say what an unknown one means.
///
/// ```
/// use twolane_core::session::{Closed, Open, OpenState, RunReason, Wire};
///
/// type Reason = OpenState<RunReason, Open>;
/// assert_eq!(Reason::parse(br#""completed""#), Ok(OpenState::Known(RunReason::Completed)));
/// let later = Reason::parse(br#""evicted""#).unwrap();
/// assert_eq!(later, OpenState::Unknown("evicted".to_owned()));
/// assert_eq!((later.spelling(), later.to_json().as_str()), ("evicted", "\"evicted\""));
/// // A store takes only what it knows.
/// assert!(OpenState::<RunReason, Closed>::parse(br#""evicted""#).is_err());
/// assert_eq!(OpenState::<RunReason, Closed>::Known(RunReason::Error).word(), RunReason::Error);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenState<K, M: Mode> {
    /// The schema's.
    Known(K),
    /// As spelled.
    Unknown(M::Spelling),
}

impl<K: Spelled> OpenState<K, Open> {
    /// The word as spelled, for people.
    pub fn spelling(&self) -> &str {
        match self {
            Self::Known(word) => word.name(),
            Self::Unknown(spelling) => spelling,
        }
    }
}

impl<K: Spelled> OpenState<K, Closed> {
    /// The word.
    pub const fn word(&self) -> K {
        match self {
            Self::Known(word) => *word,
            Self::Unknown(never) => match *never {},
        }
    }
}

impl<K: Spelled, M: Mode> Wire for OpenState<K, M> {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        let text = value.as_str().ok_or_else(|| wrong(value, Expected::String))?;
        match K::find(&decoded(text)) {
            Some(word) => Ok(Self::Known(word)),
            None => M::spelling(value).map(Self::Unknown),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Known(word) => quoted(out, word.name()),
            Self::Unknown(spelling) => M::write_spelling(spelling, out),
        }
    }
}

/// A set of words, each with its spelling.
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis $name:ident { $($(#[$doc:meta])* $word:ident = $spelling:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[$doc])* $word,)*
        }

        impl $crate::session::Spelled for $name {
            const ALL: &'static [Self] = &[$(Self::$word,)*];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$word => $spelling,)*
                }
            }
        }
    };
}

pub(super) use words;

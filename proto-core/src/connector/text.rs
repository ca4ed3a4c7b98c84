//! Texts that keep a rule: once made, they cannot be wrong.

use core::fmt::{self, Debug};
use core::marker::PhantomData;

use crate::limits::{CALL_ID_MAX, CONNECTOR_ID_MAX, CONNECTOR_NAME_MAX, FAILURE_MESSAGE_MAX, STOP_ID_MAX};
use crate::scan::json::Kind;
use crate::scan::skip::value_end;
use crate::scan::value::Value;

/// A text under the rule `R`, borrowed (`S` is `&str`) or owned (`S` is `Box<str>`).
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::text::{
///     CacheKey, CallId, Content, Id, JsonObject, Name, StopId, Text, TextFault, rule,
/// };
///
/// let id: Id<&str> = Text::new("request-1")?;
/// assert_eq!((id.as_str(), id.text()), ("request-1", "request-1"));
/// // With storage of its own, and borrowed from it again.
/// let owned: Id<Box<str>> = id.to_owned();
/// assert_eq!(owned.borrow(), id);
///
/// // What breaks the rule is never made; the fault names the rule, not the text.
/// let fault = TextFault { expected: "1 to 256 bytes without white space at either end", len: 4 };
/// assert_eq!(Text::<rule::Id, _>::new("end ").unwrap_err(), fault);
/// assert!(Name::new("no spaces").is_err() && CallId::new("né").is_err() && StopId::new(" ").is_err());
/// assert!(CacheKey::new(" \n").is_err() && Content::new("").is_err());
/// assert!(JsonObject::new(r#"{"type":"object"}"#).is_ok() && JsonObject::new("[]").is_err());
/// # }
/// # Ok::<(), twolane_core::connector::text::TextFault>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text<R, S> {
    text: S,
    rule: PhantomData<R>,
}

/// 1 to 256 bytes without white space (Unicode `White_Space`) at either end.
pub type Id<S> = Text<rule::Id, S>;
/// Any text but the empty one.
pub type Content<S> = Text<rule::Content, S>;
/// The text of a JSON object, strict as that of a body.
pub type JsonObject<S> = Text<rule::JsonObject, S>;
/// 1 to 64 characters of `[A-Za-z0-9_-]`.
pub type Name<S> = Text<rule::Name, S>;
/// 1 to 64 characters of ASCII.
pub type CallId<S> = Text<rule::CallId, S>;
/// A text that is more than white space.
pub type CacheKey<S> = Text<rule::CacheKey, S>;
/// 1 to 1,024 bytes.
pub type FailureMessage<S> = Text<rule::FailureMessage, S>;
/// 1 to 64 bytes without white space at either end.
pub type StopId<S> = Text<rule::StopId, S>;

#[cfg(feature = "std")]
impl<R, S> Text<R, S> {
    /// What the text is held in.
    pub(super) const fn storage(&self) -> &S {
        &self.text
    }
}

impl<R: Rule, S: AsRef<str>> Text<R, S> {
    /// `text`, where it keeps the rule.
    pub fn new(text: S) -> Result<Self, TextFault> {
        let found = text.as_ref();
        if !R::keeps(found) {
            return Err(TextFault { expected: R::EXPECTED, len: found.len() });
        }
        Ok(Self { text, rule: PhantomData })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.text.as_ref()
    }

    /// The same, borrowed.
    pub fn borrow(&self) -> Text<R, &str> {
        Text { text: self.text.as_ref(), rule: PhantomData }
    }
}

impl<'a, R> Text<R, &'a str> {
    /// The text, for as long as what it is borrowed from.
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// The same with storage of its own.
    #[cfg(feature = "alloc")]
    pub fn to_owned(&self) -> Text<R, alloc::boxed::Box<str>> {
        Text { text: self.text.into(), rule: PhantomData }
    }
}

impl<'a> FailureMessage<&'a str> {
    /// The front of `text` that is short enough, cut between two characters; `None` of an empty one.
    ///
    /// ```
    /// use twolane_core::connector::text::FailureMessage;
    ///
    /// // 1,024 bytes are allowed, and a character is never cut in two.
    /// let message = FailureMessage::cut(&"é".repeat(2000)).unwrap().as_str().len();
    /// assert_eq!(message, 1024);
    /// assert!(FailureMessage::cut("").is_none());
    /// ```
    pub fn cut(text: &'a str) -> Option<Self> {
        let end = text.floor_char_boundary(FAILURE_MESSAGE_MAX);
        Self::new(text.get(..end)?).ok()
    }
}

impl<R, S: Debug> Debug for Text<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

/// Why a text does not keep its rule. The text is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}; found {len} bytes")]
pub struct TextFault {
    /// The rule in a few words.
    pub expected: &'static str,
    /// Bytes of the text.
    pub len: usize,
}

/// What a text has to be. Implemented by the markers of [`rule`] alone.
///
/// ```
/// use twolane_core::connector::text::{Rule, Text, rule};
///
/// /// Some text of any rule, for a form that says what it wants.
/// fn ask<R: Rule>(answer: &str) -> Result<Text<R, &str>, String> {
///     if R::keeps(answer) {
///         return Ok(Text::new(answer).unwrap());
///     }
///     Err(format!("{}: {}", R::NAME, R::EXPECTED))
/// }
///
/// assert!(ask::<rule::Name>("today").is_ok());
/// assert_eq!(ask::<rule::Name>("").unwrap_err(), "Name: 1 to 64 characters of [A-Za-z0-9_-]");
/// ```
pub trait Rule: sealed::Sealed + Copy + Debug + Eq {
    /// The rule in a few words.
    const EXPECTED: &'static str;
    /// The rule's name in JSON Schemas.
    const NAME: &'static str;

    /// Whether `text` keeps it.
    fn keeps(text: &str) -> bool;
}

mod sealed {
    pub trait Sealed {}
}

/// The rules, as types that no value has.
pub mod rule {
    use super::{
        CALL_ID_MAX, CONNECTOR_ID_MAX, CONNECTOR_NAME_MAX, FAILURE_MESSAGE_MAX, Rule, STOP_ID_MAX,
        has_blank_end, is_json_object, sealed,
    };

    macro_rules! rules {
        ($($marker:ident, $expected:literal, |$text:ident| $keeps:expr;)*) => {$(
            #[doc = $expected]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub enum $marker {}

            impl sealed::Sealed for $marker {}

            impl Rule for $marker {
                const EXPECTED: &'static str = $expected;
                const NAME: &'static str = stringify!($marker);

                fn keeps($text: &str) -> bool {
                    $keeps
                }
            }
        )*};
    }

    rules! {
        Id, "1 to 256 bytes without white space at either end",
            |text| (1..=CONNECTOR_ID_MAX).contains(&text.len()) && !has_blank_end(text);
        Content, "a text that is not empty", |text| !text.is_empty();
        JsonObject, "the text of a JSON object", |text| is_json_object(text);
        Name, "1 to 64 characters of [A-Za-z0-9_-]",
            |text| (1..=CONNECTOR_NAME_MAX).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        CallId, "1 to 64 characters of ASCII",
            |text| (1..=CALL_ID_MAX).contains(&text.len()) && text.is_ascii();
        CacheKey, "a text that is more than white space", |text| !text.trim().is_empty();
        FailureMessage, "1 to 1024 bytes", |text| (1..=FAILURE_MESSAGE_MAX).contains(&text.len());
        StopId, "1 to 64 bytes without white space at either end",
            |text| (1..=STOP_ID_MAX).contains(&text.len()) && !has_blank_end(text);
    }
}

fn has_blank_end(text: &str) -> bool {
    match text.as_bytes() {
        // Most ends are ASCII and not blank.
        [b'!'..=b'~', .., b'!'..=b'~'] | [b'!'..=b'~'] => false,
        _ => text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace),
    }
}

fn is_json_object(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Without white space around it, one pass without tokens is enough; it gives up on anything unusual.
    let is_bare = bytes.first() == Some(&b'{') && value_end(bytes, 0, 0) == Some(bytes.len());
    is_bare || Value::parse(bytes).is_ok_and(|value| value.kind() == Kind::ObjectStart)
}

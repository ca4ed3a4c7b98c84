//! Owned types from checked JSON and back. Members are judged in the order of the text; the first fault is the fault.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::body::{BodyFault, BodyReason, Expected};
use crate::handshake::field::write_string;
use crate::limits::INTEGER_MAX;
use crate::scan::decimal::write_decimal;
use crate::scan::json::Kind;
use crate::scan::string::JsonStr;
use crate::scan::value::{Members, Value};

/// A type of the schema that is read from JSON and written in its one canonical spelling: members in the order of the
/// schema, no spaces, what is absent left out.
///
/// Readers pass over members that they do not know, except in the parameters of a request, where they are refused.
/// A duplicate name is refused in every object, inside of free JSON too.
///
/// ```
/// use twolane_core::scan::value::Value;
/// use twolane_core::session::{Model, Wire};
///
/// let model = Model::parse(br#" {"model":"small","provider":"acme","since":2026} "#).unwrap();
/// assert_eq!(model.to_json(), r#"{"provider":"acme","model":"small"}"#);
/// let (value, mut out) = (Value::parse(br#"["a"]"#).unwrap(), String::new());
/// Vec::<String>::read(&value).unwrap().write(&mut out);
/// assert_eq!(out, r#"["a"]"#);
/// let fault = Model::parse(br#"{"provider":"acme"}"#).unwrap_err();
/// assert_eq!(fault.to_string(), "byte 18: `model`: missing");
/// ```
pub trait Wire: Sized {
    /// Reads one value of a validated text.
    fn read(value: &Value<'_>) -> Result<Self, BodyFault>;

    /// Appends the canonical text.
    fn write(&self, out: &mut String);

    /// Reads a whole text.
    fn parse(text: &[u8]) -> Result<Self, BodyFault> {
        Self::read(&Value::parse(text)?)
    }

    /// The canonical text.
    fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// The fault of a value that is no `expected`.
pub(super) fn wrong(value: &Value<'_>, expected: Expected) -> BodyFault {
    BodyFault { offset: value.span().start, member: None, reason: BodyReason::WrongShape { expected } }
}

/// The members of a value that has to be an object.
pub(super) fn members<'a>(value: &Value<'a>) -> Result<Members<'a>, BodyFault> {
    value.members().ok_or_else(|| wrong(value, Expected::Object))
}

/// The string under `tag` of an object, with the place of its value.
pub(super) fn tag<'a>(value: &Value<'a>, tag: &'static str) -> Result<Value<'a>, BodyFault> {
    let mut members = members(value)?;
    while let Some(member) = members.next_member()? {
        if member.name == tag {
            return match member.value.as_str() {
                Some(_) => Ok(member.value),
                None => Err(named(tag, wrong(&member.value, Expected::String))),
            };
        }
    }
    Err(missing(value, tag))
}

/// Puts the member's name on a fault that has none yet.
pub(super) fn named(member: &'static str, fault: BodyFault) -> BodyFault {
    BodyFault { member: fault.member.or(Some(member)), ..fault }
}

/// The fault of an object without a member that it has to have.
pub(super) fn missing(object: &Value<'_>, member: &'static str) -> BodyFault {
    let offset = object.span().end.saturating_sub(1);
    BodyFault { offset, member: Some(member), reason: BodyReason::Missing }
}

/// A member that may be absent, or `null`, which is the same.
pub(super) fn optional<T: Wire>(value: &Value<'_>) -> Result<Option<T>, BodyFault> {
    if value.kind() == Kind::Null { Ok(None) } else { T::read(value).map(Some) }
}

/// Writes the members of one object.
pub(super) struct ObjectWriter<'a> {
    out: &'a mut String,
    separator: char,
}

impl<'a> ObjectWriter<'a> {
    pub(super) fn begin(out: &'a mut String) -> Self {
        Self { out, separator: '{' }
    }

    pub(super) fn member(&mut self, name: &str, value: &impl Wire) {
        self.name(name);
        value.write(self.out);
    }

    pub(super) fn tag(&mut self, name: &str, word: &str) {
        self.name(name);
        quoted(self.out, word);
    }

    fn name(&mut self, name: &str) {
        self.out.push(self.separator);
        self.separator = ',';
        quoted(self.out, name);
        self.out.push(':');
    }

    pub(super) fn end(self) {
        if self.separator == '{' {
            self.out.push('{');
        }
        self.out.push('}');
    }
}

/// Appends `text` as a JSON string.
pub(super) fn quoted(out: &mut String, text: &str) {
    // Text in memory takes all that is written.
    let _ = write_string(out, text);
}

/// The decoded text.
pub(super) fn decoded(text: JsonStr<'_>) -> String {
    match text.as_plain() {
        Some(plain) => String::from(plain),
        None => text.chars().collect(),
    }
}

impl Wire for String {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        value.as_str().map(decoded).ok_or_else(|| wrong(value, Expected::String))
    }

    fn write(&self, out: &mut String) {
        quoted(out, self);
    }
}

impl Wire for u64 {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        value.as_u64().ok_or_else(|| wrong(value, Expected::Integer))
    }

    /// What some reader would not keep exact is written as the greatest that all do.
    fn write(&self, out: &mut String) {
        let _ = write_decimal(out, (*self).min(INTEGER_MAX));
    }
}

impl Wire for u16 {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        let integer = value.as_u64().and_then(|integer| Self::try_from(integer).ok());
        integer.ok_or_else(|| wrong(value, Expected::Integer16))
    }

    fn write(&self, out: &mut String) {
        u64::from(*self).write(out);
    }
}

impl Wire for bool {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        match value.raw() {
            b"true" => Ok(true),
            b"false" => Ok(false),
            _ => Err(wrong(value, Expected::Boolean)),
        }
    }

    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl<T: Wire> Wire for Box<T> {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        T::read(value).map(Self::new)
    }

    fn write(&self, out: &mut String) {
        T::write(self, out);
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        let mut elements = value.elements().ok_or_else(|| wrong(value, Expected::Array))?;
        let mut read = Self::new();
        while let Some(element) = elements.next_element()? {
            read.push(T::read(&element)?);
        }
        Ok(read)
    }

    fn write(&self, out: &mut String) {
        let mut separator = '[';
        for element in self {
            out.push(separator);
            separator = ',';
            element.write(out);
        }
        if separator == '[' {
            out.push('[');
        }
        out.push(']');
    }
}

/// A struct that is an object on the wire. `need` members have to be there, `may` members are `Option`s. An object
/// that is `strict` refuses members that it does not know.
macro_rules! object {
    (
        $(#[$meta:meta])*
        $vis:vis $name:ident $(<$mode:ident>)? $(is $strict:ident)? {
            $($(#[$doc:meta])* $need:ident $field:ident : $type:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $vis struct $name $(<$mode: $crate::session::Mode>)? {
            $($(#[$doc])* $vis $field: $type,)*
        }

        impl $(<$mode: $crate::session::Mode>)? $crate::session::Wire for $name $(<$mode>)? {
            fn read(
                value: &$crate::scan::value::Value<'_>,
            ) -> ::core::result::Result<Self, $crate::body::BodyFault> {
                $(let mut $field = None;)*
                let mut members = $crate::session::wire::members(value)?;
                while let Some(member) = members.next_member()? {
                    $(if member.name == stringify!($field) {
                        $field = object!(@read $need $type, &member.value)
                            .map_err(|fault| $crate::session::wire::named(stringify!($field), fault))?;
                        continue;
                    })*
                    $(object!(@$strict member);)?
                }
                Ok(Self { $($field: object!(@take $need $field, value),)* })
            }

            fn write(&self, out: &mut ::alloc::string::String) {
                #[allow(unused_mut, reason = "an object without members")]
                let mut object = $crate::session::wire::ObjectWriter::begin(out);
                $(object!(@write $need object, stringify!($field), &self.$field);)*
                object.end();
            }
        }
    };
    (@read need $type:ty, $value:expr) => { <$type as $crate::session::Wire>::read($value).map(Some) };
    (@read may $type:ty, $value:expr) => { $crate::session::wire::optional($value) };
    (@take need $field:ident, $value:expr) => {
        $field.ok_or_else(|| $crate::session::wire::missing($value, stringify!($field)))?
    };
    (@take may $field:ident, $value:expr) => { $field };
    (@write need $object:ident, $name:expr, $value:expr) => { $object.member($name, $value) };
    (@write may $object:ident, $name:expr, $value:expr) => {
        if let Some(value) = $value {
            $object.member($name, value);
        }
    };
    (@strict $member:ident) => {
        return Err($crate::body::BodyFault {
            offset: $member.name_span.start,
            member: None,
            reason: $crate::body::BodyReason::UnknownMember,
        })
    };
}

/// An enum that is an object on the wire, told apart by one member. In the open mode what has another tag is kept as
/// it is; in the closed one it is refused.
macro_rules! union {
    (
        $(#[$meta:meta])*
        $vis:vis $name:ident by $tag:literal {
            $($(#[$kind_doc:meta])* $kind:ident = $spelling:literal {
                $($(#[$doc:meta])* $need:ident $field:ident : $type:ty),* $(,)?
            }),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $vis enum $name<M: $crate::session::Mode> {
            $($(#[$kind_doc])* $kind { $($(#[$doc])* $field: $type,)* },)*
            /// A tag that this schema does not know.
            Unfamiliar(M::Other),
        }

        impl<M: $crate::session::Mode> $crate::session::Wire for $name<M> {
            fn read(
                value: &$crate::scan::value::Value<'_>,
            ) -> ::core::result::Result<Self, $crate::body::BodyFault> {
                let tag = $crate::session::wire::tag(value, $tag)?;
                let Some(name) = tag.as_str() else {
                    return Err($crate::session::wire::missing(value, $tag));
                };
                $(if name == $spelling {
                    $(let mut $field = None;)*
                    let mut members = $crate::session::wire::members(value)?;
                    while let Some(_member) = members.next_member()? {
                        $(if _member.name == stringify!($field) {
                            $field = $crate::session::wire::object!(@read $need $type, &_member.value)
                                .map_err(|fault| $crate::session::wire::named(stringify!($field), fault))?;
                            continue;
                        })*
                    }
                    return Ok(Self::$kind { $($field: $crate::session::wire::object!(@take $need $field, value),)* });
                })*
                M::other(value, &tag).map(Self::Unfamiliar)
            }

            fn write(&self, out: &mut ::alloc::string::String) {
                match self {
                    $(Self::$kind { $($field,)* } => {
                        #[allow(unused_mut, reason = "a kind without members")]
                        let mut object = $crate::session::wire::ObjectWriter::begin(out);
                        object.tag($tag, $spelling);
                        $($crate::session::wire::object!(@write $need object, stringify!($field), $field);)*
                        object.end();
                    })*
                    Self::Unfamiliar(other) => M::write_other(other, out),
                }
            }
        }
    };
}

pub(super) use {object, union};

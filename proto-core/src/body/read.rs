//! Members of interpreted objects: present or not, of the right shape or refused by name.

use super::fault::{BodyFault, BodyReason, Expected};
use super::rules::{ERROR, RULES_MAX, Rules, Shape, USAGE};
use crate::limits::ID_LEN_MAX;
use crate::scan::json::Kind;
use crate::scan::string::JsonStr;
use crate::scan::value::{MemberReason, Value};

/// An object's members that the rules name, each at most once; others are passed over.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    object: Value<'a>,
    rules: Rules,
    values: [Option<Value<'a>>; RULES_MAX],
}

impl<'a> Known<'a> {
    /// The members of `object`, which is the member `of` of what was read before, judged by all rules.
    pub(super) fn read(object: Value<'a>, of: Option<&'static str>, rules: Rules) -> Result<Self, BodyFault> {
        let known = Self::gather(object, of, rules)?;
        known.check()?;
        Ok(known)
    }

    /// The members, their values not judged yet.
    pub(super) fn gather(
        object: Value<'a>,
        of: Option<&'static str>,
        rules: Rules,
    ) -> Result<Self, BodyFault> {
        let Some(mut members) = object.members() else {
            let reason = BodyReason::WrongShape { expected: Expected::Object };
            return Err(BodyFault { offset: object.span().start, member: of, reason });
        };
        let place = |name: JsonStr<'_>| rules.iter().position(|rule| name == rule.name);
        let mut values = [None; RULES_MAX];
        loop {
            let member = match members.next_member() {
                Ok(Some(member)) => member,
                Ok(None) => return Ok(Self { object, rules, values }),
                Err(fault) => {
                    let mut named = BodyFault::from(fault);
                    if fault.reason == MemberReason::DuplicateName {
                        let name = Value::at(object.text(), fault.offset).and_then(|name| name.as_str());
                        named.member =
                            name.and_then(place).and_then(|at| rules.get(at)).map(|rule| rule.name);
                    }
                    return Err(named);
                }
            };
            if let Some(slot) = place(member.name).and_then(|at| values.get_mut(at)) {
                *slot = Some(member.value);
            }
        }
    }

    /// Judges every member by its rule.
    pub(super) fn check(&self) -> Result<(), BodyFault> {
        for (index, rule) in self.rules.iter().enumerate() {
            if rule.required || self.has(index) {
                self.check_shape(index, rule.shape)?;
            }
        }
        Ok(())
    }

    fn check_shape(&self, index: usize, shape: Shape) -> Result<(), BodyFault> {
        let value = self.value(index).ok_or(self.missing(index))?;
        let (fits, expected) = match shape {
            Shape::Id | Shape::String => (value.as_str().is_some(), Expected::String),
            Shape::Integer => (value.as_u64().is_some(), Expected::Integer),
            Shape::Integer16 => (integer16(&value).is_some(), Expected::Integer16),
            Shape::NonNegative => (not_negative(&value).is_some(), Expected::NonNegative),
            Shape::Object | Shape::Usage | Shape::Error => {
                (value.kind() == Kind::ObjectStart, Expected::Object)
            }
        };
        if !fits {
            return Err(self.fault(index, BodyReason::WrongShape { expected }));
        }
        match shape {
            Shape::Id => match value.as_str().map_or(0, |id| id.decoded_len()) {
                0 => Err(self.fault(index, BodyReason::EmptyId)),
                len if len > ID_LEN_MAX => Err(self.fault(index, BodyReason::IdTooLong { len })),
                _ => Ok(()),
            },
            Shape::Usage => Known::read(value, self.name(index), USAGE).map(drop),
            Shape::Error => Known::read(value, self.name(index), ERROR).map(drop),
            _ => Ok(()),
        }
    }

    /// The member's value, where it is there.
    pub(super) fn value(&self, index: usize) -> Option<Value<'a>> {
        self.values.get(index).copied().flatten()
    }

    /// A string. After the check only an optional member can fail, where it is not there.
    pub(super) fn string(&self, index: usize) -> Result<JsonStr<'a>, BodyFault> {
        self.value(index).and_then(|value| value.as_str()).ok_or(self.missing(index))
    }

    /// An integer, in the same way.
    pub(super) fn integer(&self, index: usize) -> Result<u64, BodyFault> {
        self.value(index).and_then(|value| value.as_u64()).ok_or(self.missing(index))
    }

    /// An object, in the same way.
    pub(super) fn object(&self, index: usize) -> Result<Value<'a>, BodyFault> {
        let is_object = |value: &Value<'_>| value.kind() == Kind::ObjectStart;
        self.value(index).filter(is_object).ok_or(self.missing(index))
    }

    /// A fault of a member that is there.
    pub(super) fn fault(&self, index: usize, reason: BodyReason) -> BodyFault {
        let value = self.value(index).unwrap_or(self.object);
        BodyFault { offset: value.span().start, member: self.name(index), reason }
    }

    /// Whether the member is there with a value; `null` is as absent.
    fn has(&self, index: usize) -> bool {
        self.value(index).is_some_and(|value| value.kind() != Kind::Null)
    }

    fn missing(&self, index: usize) -> BodyFault {
        let offset = self.object.span().end.saturating_sub(1);
        BodyFault { offset, member: self.name(index), reason: BodyReason::Missing }
    }

    fn name(&self, index: usize) -> Option<&'static str> {
        self.rules.get(index).map(|rule| rule.name)
    }
}

/// An integer that fits 16 bits.
pub(super) fn integer16(value: &Value<'_>) -> Option<u16> {
    u16::try_from(value.as_u64()?).ok()
}

/// The text of a number that is at least 0; minus zero is.
pub(super) fn not_negative<'a>(value: &Value<'a>) -> Option<&'a str> {
    let Kind::Number { .. } = value.kind() else { return None };
    let text = core::str::from_utf8(value.raw()).ok()?;
    let mantissa = text.split(['e', 'E']).next()?;
    let positive = !text.starts_with('-') || mantissa.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    positive.then_some(text)
}

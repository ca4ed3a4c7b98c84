//! Members of interpreted objects: present or not, of the right shape or refused by name.

use super::fault::{BodyFault, BodyReason, Expected};
use super::rules::{ERROR, RULES_MAX, Rules, Shape, USAGE};
use crate::limits::ID_LEN_MAX;
use crate::scan::json::{Kind, Token};
use crate::scan::string::JsonStr;
use crate::scan::value::{MemberFault, MemberReason, Members, Value, string_at};

/// An object's members that the rules name, each at most once; others are passed over. Filled in place: a copy of it
/// on the way out of each reader is what a small stack has no room for.
pub(super) struct Known<'a> {
    object: Value<'a>,
    rules: Rules,
    /// Where each member's value stands in the text of the object.
    places: [Option<Place>; RULES_MAX],
}

#[derive(Clone, Copy)]
struct Place {
    first: Token,
    end: usize,
}

impl<'a> Known<'a> {
    /// No member is known yet.
    pub(super) const fn new(object: Value<'a>, rules: Rules) -> Self {
        Self { object, rules, places: [None; RULES_MAX] }
    }

    /// Finds the members and judges them by all rules. The object is the member `of` of what was read before.
    pub(super) fn read(&mut self, of: Option<&'static str>) -> Result<(), BodyFault> {
        self.gather(of)?;
        self.check()
    }

    /// Finds the members, their values not judged yet.
    #[inline(never)]
    pub(super) fn gather(&mut self, of: Option<&'static str>) -> Result<(), BodyFault> {
        if self.object.kind() != Kind::ObjectStart {
            let reason = BodyReason::WrongShape { expected: Expected::Object };
            return Err(BodyFault { offset: self.object.span().start, member: of, reason });
        }
        let mut members = Members::inside(self.object.text(), self.object.span().start);
        loop {
            let member = match members.next_member() {
                Ok(Some(member)) => member,
                Ok(None) => return Ok(()),
                Err(fault) => return Err(self.name_duplicate(fault)),
            };
            let index = self.index(member.name);
            if let Some(place) = index.and_then(|index| self.places.get_mut(index)) {
                let (first, end) = member.value.place();
                *place = Some(Place { first, end });
            }
        }
    }

    fn index(&self, name: JsonStr<'_>) -> Option<usize> {
        self.rules.iter().position(|rule| name == rule.name)
    }

    /// The fault of a member list, with the name that occurs twice where the rules have it.
    fn name_duplicate(&self, fault: MemberFault) -> BodyFault {
        let mut named = BodyFault::from(fault);
        if fault.reason == MemberReason::DuplicateName {
            let name = string_at(self.object.text(), fault.offset);
            named.member = name.and_then(|name| self.name(self.index(name)?));
        }
        named
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
        let value = self.value(index).ok_or_else(|| self.missing(index))?;
        match shape {
            Shape::Usage => Known::new(value, USAGE).read(self.name(index)),
            Shape::Error => Known::new(value, ERROR).read(self.name(index)),
            _ => shape.broken_by(&value).map_or(Ok(()), |reason| Err(self.fault(index, reason))),
        }
    }

    /// The member's value, where it is there.
    pub(super) fn value(&self, index: usize) -> Option<Value<'a>> {
        let Place { first, end } = self.places.get(index).copied().flatten()?;
        Some(Value::from_scanned(self.object.text(), first, end))
    }

    /// A string, where it is there and is one.
    pub(super) fn string(&self, index: usize) -> Option<JsonStr<'a>> {
        self.value(index)?.as_str()
    }

    /// An integer, in the same way.
    pub(super) fn integer(&self, index: usize) -> Option<u64> {
        self.value(index)?.as_u64()
    }

    /// An object, in the same way.
    pub(super) fn object(&self, index: usize) -> Option<Value<'a>> {
        self.value(index).filter(|value| value.kind() == Kind::ObjectStart)
    }

    /// What was made of the members. After the check nothing is absent that has to be there.
    pub(super) fn whole<T>(&self, made: Option<T>) -> Result<T, BodyFault> {
        made.ok_or_else(|| self.missing(0))
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

impl Shape {
    /// How a value by itself differs from the shape. What is inside an object is judged by that object's rules.
    fn broken_by(self, value: &Value<'_>) -> Option<BodyReason> {
        let (fits, expected) = match self {
            Self::Any => return None,
            Self::Id => match value.as_str().map(|id| id.decoded_len()) {
                Some(0) => return Some(BodyReason::EmptyId),
                Some(len) if len > ID_LEN_MAX => return Some(BodyReason::IdTooLong { len }),
                text => (text.is_some(), Expected::String),
            },
            Self::String => (value.as_str().is_some(), Expected::String),
            Self::Integer => (value.as_u64().is_some(), Expected::Integer),
            Self::Integer16 => (integer16(value).is_some(), Expected::Integer16),
            Self::NonNegative => (not_negative(value).is_some(), Expected::NonNegative),
            Self::Object | Self::Usage | Self::Error => (value.kind() == Kind::ObjectStart, Expected::Object),
        };
        (!fits).then_some(BodyReason::WrongShape { expected })
    }
}

/// An integer that fits 16 bits.
pub(super) fn integer16(value: &Value<'_>) -> Option<u16> {
    u16::try_from(value.as_u64()?).ok()
}

/// The text of a number that is at least 0; minus zero is.
pub(crate) fn not_negative<'a>(value: &Value<'a>) -> Option<&'a str> {
    let Kind::Number { .. } = value.kind() else { return None };
    let text = core::str::from_utf8(value.raw()).ok()?;
    let mantissa = text.split(['e', 'E']).next()?;
    let positive = !text.starts_with('-') || mantissa.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    positive.then_some(text)
}

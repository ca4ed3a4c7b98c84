//! Members of interpreted objects: present or not, of the right shape or refused by name.

use super::fault::{BodyFault, BodyReason, Expected};
use crate::limits::ID_LEN_MAX;
use crate::scan::json::Kind;
use crate::scan::string::JsonStr;
use crate::scan::value::{MemberReason, Value};

/// An object's members of the given names, each at most once; others are passed over.
#[derive(Clone, Copy)]
pub(super) struct Known<'a, const N: usize> {
    object: Value<'a>,
    names: [&'static str; N],
    values: [Option<Value<'a>>; N],
}

impl<'a, const N: usize> Known<'a, N> {
    /// The members of `object`, which is the member `of` of what was read before.
    pub(super) fn read(
        object: Value<'a>,
        of: Option<&'static str>,
        names: [&'static str; N],
    ) -> Result<Self, BodyFault> {
        let Some(mut members) = object.members() else {
            let reason = BodyReason::WrongShape { expected: Expected::Object };
            return Err(BodyFault { offset: object.span().start, member: of, reason });
        };
        let mut values = [None; N];
        loop {
            let member = match members.next_member() {
                Ok(Some(member)) => member,
                Ok(None) => return Ok(Self { object, names, values }),
                Err(fault) => {
                    let mut named = BodyFault::from(fault);
                    if fault.reason == MemberReason::DuplicateName {
                        let name = Value::at(object.text(), fault.offset).and_then(|name| name.as_str());
                        named.member =
                            names.into_iter().find(|known| name.is_some_and(|name| name == *known));
                    }
                    return Err(named);
                }
            };
            if let Some((_, slot)) = names.iter().zip(&mut values).find(|(name, _)| member.name == **name) {
                *slot = Some(member.value);
            }
        }
    }

    /// A member that has to be there.
    pub(super) fn value(&self, index: usize) -> Result<Value<'a>, BodyFault> {
        self.values.get(index).copied().flatten().ok_or(BodyFault {
            offset: self.object.span().end.saturating_sub(1),
            member: self.names.get(index).copied(),
            reason: BodyReason::Missing,
        })
    }

    /// Whether the member is there with a value; `null` is as absent.
    pub(super) fn has(&self, index: usize) -> bool {
        self.values.get(index).copied().flatten().is_some_and(|value| value.kind() != Kind::Null)
    }

    pub(super) fn string(&self, index: usize) -> Result<JsonStr<'a>, BodyFault> {
        let value = self.value(index)?;
        value.as_str().ok_or_else(|| self.wrong_shape(index, Expected::String))
    }

    pub(super) fn integer(&self, index: usize) -> Result<u64, BodyFault> {
        let value = self.value(index)?;
        value.as_u64().ok_or_else(|| self.wrong_shape(index, Expected::Integer))
    }

    pub(super) fn object(&self, index: usize) -> Result<Value<'a>, BodyFault> {
        let value = self.value(index)?;
        match value.kind() {
            Kind::ObjectStart => Ok(value),
            _ => Err(self.wrong_shape(index, Expected::Object)),
        }
    }

    /// A run, message or tool call id: a string of 1 to 256 bytes, escapes decoded.
    pub(super) fn id(&self, index: usize) -> Result<JsonStr<'a>, BodyFault> {
        let id = self.string(index)?;
        match id.decoded_len() {
            0 => Err(self.fault(index, BodyReason::EmptyId)),
            len if len > ID_LEN_MAX => Err(self.fault(index, BodyReason::IdTooLong { len })),
            _ => Ok(id),
        }
    }

    /// The member by `read`, `None` where it is not there.
    pub(super) fn optional<T>(
        &self,
        index: usize,
        read: impl FnOnce(&Self, usize) -> Result<T, BodyFault>,
    ) -> Result<Option<T>, BodyFault> {
        if self.has(index) { read(self, index).map(Some) } else { Ok(None) }
    }

    pub(super) fn wrong_shape(&self, index: usize, expected: Expected) -> BodyFault {
        self.fault(index, BodyReason::WrongShape { expected })
    }

    /// A fault of a member that is there.
    pub(super) fn fault(&self, index: usize, reason: BodyReason) -> BodyFault {
        let value = self.values.get(index).copied().flatten().unwrap_or(self.object);
        BodyFault { offset: value.span().start, member: self.names.get(index).copied(), reason }
    }
}

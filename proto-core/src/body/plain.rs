//! The spelling that writers use in practice, read in one pass: no escape in a member's name, few members.
//! Whatever is spelled otherwise, and whatever breaks a rule, is left to the general reader.

use super::envelope::{BODY_SCHEMA_VERSION, Body, Payload};
use super::rules::{Rules, Shape};
use crate::limits::ID_LEN_MAX;
use crate::scan::json::{Kind, Scanner, Token, string_end};
use crate::scan::skip::space_end;
use crate::scan::string::JsonStr;
use crate::scan::value::{Span, Value, unquoted};

/// Members of one object that are told apart here; one with more goes to the general reader.
const MEMBERS: usize = 8;

/// Containers around the payload's members: the payload and the envelope.
const PAYLOAD_DEPTH: u8 = 2;

/// The body, where `text` is in the plain spelling and breaks no rule of the envelope; its payload's members are put
/// into `members`.
#[inline(never)]
pub(super) fn read<'a>(text: &'a [u8], members: &mut Members<'a>) -> Option<Body<'a>> {
    let body = match in_order(text, members) {
        Some(body) => body,
        None => in_any_order(text, members)?,
    };
    let run_id = body.run_id;
    let fits = !run_id.is_escaped() && (1..=ID_LEN_MAX).contains(&run_id.raw().len());
    fits.then_some(body)
}

/// The payload that `text` is, where it is in the plain spelling and keeps its rules.
#[inline(never)]
pub(super) fn read_payload(text: &[u8]) -> Option<Payload<'_>> {
    let mut cursor = Cursor { text, at: 0 };
    let payload = cursor.payload(&mut Members::none(text))?;
    (cursor.at == text.len()).then_some(payload)
}

/// The members of one object, as they were passed over: their names and the first token of each value, up to its end.
pub(super) struct Members<'a> {
    text: &'a [u8],
    count: usize,
    names: [&'a [u8]; MEMBERS],
    values: [Token; MEMBERS],
}

impl<'a> Members<'a> {
    pub(super) const fn none(text: &'a [u8]) -> Self {
        let nothing = Token { kind: Kind::Null, start: 0, end: 0 };
        Self { text, count: 0, names: [b""; MEMBERS], values: [nothing; MEMBERS] }
    }

    /// Adds a name; `None` where it is there already, or one too many.
    #[inline]
    fn add(&mut self, name: &'a [u8]) -> Option<()> {
        let (earlier, rest) = self.names.split_at_mut_checked(self.count)?;
        if earlier.contains(&name) {
            return None;
        }
        *rest.first_mut()? = name;
        self.count += 1;
        Some(())
    }

    /// Gives the name that was added last its value.
    #[inline]
    fn set(&mut self, value: Token) {
        if let Some(slot) = self.values.get_mut(self.count.saturating_sub(1)) {
            *slot = value;
        }
    }

    #[inline]
    fn value(&self, name: &[u8]) -> Option<&Token> {
        let at = self.names.get(..self.count)?.iter().position(|known| *known == name)?;
        self.values.get(at)
    }

    /// The integer of this name; `None` also where its spelling is not plain.
    pub(super) fn integer(&self, name: &[u8]) -> Option<u64> {
        let value = self.value(name)?;
        let mut cursor = Cursor { text: self.text, at: value.start };
        cursor.integer().filter(|_| cursor.at == value.end)
    }

    /// Whether they keep `rules`, as far as that is seen at a glance; false also where it is not.
    #[inline]
    pub(super) fn keep(&self, rules: Rules) -> bool {
        rules.iter().all(|rule| match self.value(rule.name.as_bytes()) {
            None => !rule.required,
            Some(value) => fits(rule.shape, value),
        })
    }
}

#[inline]
fn fits(shape: Shape, value: &Token) -> bool {
    let len = value.end.saturating_sub(value.start);
    match (shape, value.kind) {
        (Shape::Id, Kind::String { escaped: false }) => (3..=ID_LEN_MAX + 2).contains(&len),
        (Shape::Any, _) | (Shape::String, Kind::String { .. }) | (Shape::Object, Kind::ObjectStart) => true,
        // One of so few digits fits 64 bits.
        (Shape::Integer, Kind::Number { digits: true }) => len < 20,
        _ => false,
    }
}

/// Members in their canonical order and no white space, as our own writers put them.
fn in_order<'a>(text: &'a [u8], members: &mut Members<'a>) -> Option<Body<'a>> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.literal(b"{\"version\":1,\"run_id\":")?;
    let run_id = cursor.string()?;
    cursor.literal(b",\"step_id\":")?;
    let step_id = cursor.integer()?;
    cursor.literal(b",\"seq\":")?;
    let seq = cursor.integer()?;
    cursor.literal(b",\"payload\":")?;
    let payload = cursor.payload(members)?;
    let whole = text.get(cursor.at..) == Some(b"}");
    whole.then_some(Body { run_id: unquoted_string(text, &run_id)?, step_id, seq, payload })
}

fn in_any_order<'a>(text: &'a [u8], members: &mut Members<'a>) -> Option<Body<'a>> {
    let mut cursor = Cursor { text, at: space_end(text, 0) };
    let [mut version, mut step_id, mut seq] = [None; 3];
    let (mut run_id, mut payload) = (None, None);
    let nothing = Token { kind: Kind::Null, start: 0, end: 0 };
    cursor.members(&mut Members::none(text), |cursor, name| {
        match name {
            b"version" => version = Some(cursor.integer()?),
            b"run_id" => run_id = Some(cursor.string()?),
            b"step_id" => step_id = Some(cursor.integer()?),
            b"seq" => seq = Some(cursor.integer()?),
            b"payload" => payload = Some(cursor.payload(members)?),
            _ => drop(cursor.value(PAYLOAD_DEPTH - 1)?),
        }
        Some(nothing)
    })?;
    let whole = space_end(text, cursor.at) == text.len() && version? == BODY_SCHEMA_VERSION;
    let run_id = unquoted_string(text, &run_id?)?;
    whole.then_some(Body { run_id, step_id: step_id?, seq: seq?, payload: payload? })
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.text.get(self.at..)?.starts_with(expected).then(|| self.at += expected.len())
    }

    #[inline(always)]
    fn byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn string(&mut self) -> Option<Token> {
        if self.byte()? != b'"' {
            return None;
        }
        let start = self.at;
        let (end, escaped) = string_end(self.text, start)?;
        self.at = end;
        Some(Token { kind: Kind::String { escaped }, start, end })
    }

    /// An integer of digits only that fits; one with a leading zero is no number. What follows is the caller's to check.
    #[inline(always)]
    fn integer(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.byte() {
            value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        let leading_zero = self.text.get(start) == Some(&b'0') && self.at > start + 1;
        (self.at > start && !leading_zero).then_some(value)
    }

    /// Passes over an object whose names are all different, which become `members`; `value` passes over each member's value.
    #[inline]
    fn members(
        &mut self,
        members: &mut Members<'a>,
        mut value: impl FnMut(&mut Self, &'a [u8]) -> Option<Token>,
    ) -> Option<()> {
        members.count = 0;
        self.literal(b"{")?;
        loop {
            self.at = space_end(self.text, self.at);
            let Token { kind: Kind::String { escaped: false }, start, end } = self.string()? else {
                return None;
            };
            let name = self.text.get(start + 1..end - 1)?;
            members.add(name)?;
            self.at = space_end(self.text, self.at);
            self.literal(b":")?;
            self.at = space_end(self.text, self.at);
            members.set(value(self, name)?);
            self.at = space_end(self.text, self.at);
            let next = self.byte()?;
            self.at += 1;
            match next {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    fn payload(&mut self, members: &mut Members<'a>) -> Option<Payload<'a>> {
        let start = self.at;
        self.members(members, |cursor, _| cursor.value(PAYLOAD_DEPTH))?;
        let name = members.value(b"type")?;
        let first = Token { kind: Kind::ObjectStart, start, end: start + 1 };
        Some(Payload::from_parts(
            unquoted_string(self.text, name)?,
            Span { start: name.start, end: name.end },
            Value::from_scanned(self.text, first, self.at),
        ))
    }

    /// Passes over any value inside `depth` containers and gives its first token.
    #[inline]
    fn value(&mut self, depth: u8) -> Option<Token> {
        if self.byte()? == b'"' {
            return self.string();
        }
        let (first, end) = Scanner::nested(self.text, self.at, depth).skip_value().ok()??;
        self.at = end;
        Some(first)
    }
}

#[inline]
fn unquoted_string<'a>(text: &'a [u8], token: &Token) -> Option<JsonStr<'a>> {
    match token.kind {
        Kind::String { escaped } => Some(unquoted(text, token, escaped)),
        _ => None,
    }
}

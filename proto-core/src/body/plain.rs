//! The spelling that writers use in practice, read in one pass: no escape in a member's name, few members.
//! Whatever is spelled otherwise, and whatever breaks a rule, is left to the general reader.

use super::envelope::{BODY_SCHEMA_VERSION, Body, Payload};
use crate::limits::ID_LEN_MAX;
use crate::scan::json::{Kind, Scanner, Token, string_end};
use crate::scan::skip::space_end;
use crate::scan::string::JsonStr;
use crate::scan::value::{Span, Value, unquoted};

/// Members of one object that are told apart here; one with more goes to the general reader.
const MEMBERS: usize = 8;

/// Containers around the payload's members: the payload and the envelope.
const PAYLOAD_DEPTH: u8 = 2;

/// The body, where `text` is in the plain spelling and breaks no rule.
pub(super) fn read(text: &[u8]) -> Option<Body<'_>> {
    let body = in_order(text).or_else(|| in_any_order(text))?;
    let run_id = body.run_id;
    let fits = !run_id.is_escaped() && (1..=ID_LEN_MAX).contains(&run_id.raw().len());
    fits.then_some(body)
}

/// Members in their canonical order and no white space, as our own writers put them.
fn in_order(text: &[u8]) -> Option<Body<'_>> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.literal(b"{\"version\":1,\"run_id\":")?;
    let run_id = cursor.string()?;
    cursor.literal(b",\"step_id\":")?;
    let step_id = cursor.integer()?;
    cursor.literal(b",\"seq\":")?;
    let seq = cursor.integer()?;
    cursor.literal(b",\"payload\":")?;
    let payload = cursor.payload()?;
    let whole = text.get(cursor.at..) == Some(b"}");
    whole.then_some(Body { run_id: unquoted_string(text, &run_id)?, step_id, seq, payload })
}

fn in_any_order(text: &[u8]) -> Option<Body<'_>> {
    let mut cursor = Cursor { text, at: space_end(text, 0) };
    let [mut version, mut step_id, mut seq] = [None; 3];
    let (mut run_id, mut payload) = (None, None);
    cursor.members(|cursor, name| {
        match name {
            b"version" => version = Some(cursor.integer()?),
            b"run_id" => run_id = Some(cursor.string()?),
            b"step_id" => step_id = Some(cursor.integer()?),
            b"seq" => seq = Some(cursor.integer()?),
            b"payload" => payload = Some(cursor.payload()?),
            _ => drop(cursor.value(PAYLOAD_DEPTH - 1)?),
        }
        Some(())
    })?;
    let whole = space_end(text, cursor.at) == text.len() && version? == BODY_SCHEMA_VERSION;
    let run_id = unquoted_string(text, &run_id?)?;
    whole.then_some(Body { run_id, step_id: step_id?, seq: seq?, payload: payload? })
}

/// The integer `member` of an object that is known to be strict; `None` also where the spelling is not plain.
pub(super) fn integer_member(object: &Value<'_>, member: &[u8]) -> Option<u64> {
    let mut cursor = Cursor { text: object.text(), at: object.span().start };
    let mut found = None;
    cursor.members(|cursor, name| {
        if name == member {
            found = Some(cursor.integer()?);
        } else {
            cursor.value(PAYLOAD_DEPTH)?;
        }
        Some(())
    })?;
    found
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.text.get(self.at..)?.starts_with(expected).then(|| self.at += expected.len())
    }

    #[inline]
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
    #[inline]
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

    /// Passes over an object whose names are all different; `value` passes over each member's value.
    #[inline]
    fn members(&mut self, mut value: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()> {
        let mut names: [&[u8]; MEMBERS] = [b""; MEMBERS];
        let mut count = 0;
        self.literal(b"{")?;
        loop {
            self.at = space_end(self.text, self.at);
            let Token { kind: Kind::String { escaped: false }, start, end } = self.string()? else {
                return None;
            };
            let name = self.text.get(start + 1..end - 1)?;
            let (earlier, rest) = names.split_at_mut_checked(count)?;
            if earlier.contains(&name) {
                return None;
            }
            *rest.first_mut()? = name;
            count += 1;
            self.at = space_end(self.text, self.at);
            self.literal(b":")?;
            self.at = space_end(self.text, self.at);
            value(self, name)?;
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

    fn payload(&mut self) -> Option<Payload<'a>> {
        let start = self.at;
        let mut name = None;
        self.members(|cursor, member| {
            let token = cursor.value(PAYLOAD_DEPTH)?;
            if member == b"type" {
                name = Some(token);
            }
            Some(())
        })?;
        let name = name?;
        let first = Token { kind: Kind::ObjectStart, start, end: start + 1 };
        Some(Payload::from_parts(
            unquoted_string(self.text, &name)?,
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

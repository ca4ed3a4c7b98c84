//! A document as JSON: its fields by their names, bytes in hexadecimal.

use std::fmt::Write as _;

use twolane_core::scan::msgpack::{Kind, MsgpackFault, Scanner, Token};

use super::super::decode::text::{Integer, push_hex, push_quoted};

/// One line, built member by member. Writing to a String cannot fail.
pub(super) struct Object<'o>(&'o mut String);

impl<'o> Object<'o> {
    pub(super) fn begin(index: u64, out: &'o mut String) -> Self {
        let _ = write!(out, "{{\"index\":{}", Integer(index));
        Self(out)
    }

    pub(super) fn text(&mut self, name: &str, text: &str) {
        let _ = write!(self.0, ",\"{name}\":");
        push_quoted(text, self.0);
    }

    /// Appends `"document"`; bytes that are no MessagePack are a text of hexadecimal digits.
    pub(super) fn document(&mut self, bytes: &[u8]) {
        self.0.push_str(",\"document\":");
        let start = self.0.len();
        let mut scanner = Scanner::new(bytes);
        if matches!(value(&mut scanner, bytes, self.0), Ok(Some(())))
            && matches!(scanner.next_token(), Ok(None))
        {
            return;
        }
        self.0.truncate(start);
        self.hex(bytes);
    }

    pub(super) fn end(self) {
        self.0.push_str("}\n");
    }

    fn hex(&mut self, bytes: &[u8]) {
        self.0.push('"');
        push_hex(bytes, self.0);
        self.0.push('"');
    }
}

/// Appends the next value; `None` where there is none. Nesting is bounded by the scanner.
fn value(scanner: &mut Scanner<'_>, bytes: &[u8], out: &mut String) -> Result<Option<()>, MsgpackFault> {
    let Some(token) = scanner.next_token()? else { return Ok(None) };
    match token.kind {
        Kind::Map(pairs) => {
            out.push('{');
            for number in 0..pairs {
                comma(number, out);
                let Some(key) = scanner.next_token()? else { return Ok(None) };
                let Some(name) = scanner.text(&key) else { return Ok(None) };
                push_quoted(name, out);
                out.push(':');
                if value(scanner, bytes, out)?.is_none() {
                    return Ok(None);
                }
            }
            out.push('}');
        }
        Kind::Array(elements) => {
            out.push('[');
            for number in 0..elements {
                comma(number, out);
                if value(scanner, bytes, out)?.is_none() {
                    return Ok(None);
                }
            }
            out.push(']');
        }
        _ => scalar(scanner, &token, bytes, out),
    }
    Ok(Some(()))
}

fn comma(number: u32, out: &mut String) {
    if number > 0 {
        out.push(',');
    }
}

fn scalar(scanner: &Scanner<'_>, token: &Token, bytes: &[u8], out: &mut String) {
    let _ = match token.kind {
        Kind::Nil => write!(out, "null"),
        Kind::Bool(value) => write!(out, "{value}"),
        Kind::Unsigned(number) => write!(out, "{}", Integer(number)),
        _ => {
            match scanner.text(token) {
                Some(text) => push_quoted(text, out),
                None => {
                    out.push('"');
                    push_hex(bytes.get(token.content_span()).unwrap_or_default(), out);
                    out.push('"');
                }
            }
            Ok(())
        }
    };
}

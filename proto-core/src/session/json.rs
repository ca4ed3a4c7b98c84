//! Free JSON: checked, and kept in its own text.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::wire::Wire;
use crate::body::{BodyFault, BodyReason};
use crate::scan::json::{Kind, Scanner, Token};
use crate::scan::value::{Value, string_at};

/// Any JSON value in the spelling it came in: strict, and without a duplicate name in any object, so that no two
/// readers see two meanings.
///
/// ```
/// use twolane_core::session::{Json, Wire};
///
/// let input = Json::parse(br#"{"path": "a", "tries": 1.50}"#).unwrap();
/// assert_eq!(input.as_str(), r#"{"path": "a", "tries": 1.50}"#);
/// // However deep, and however a name is escaped.
/// let fault = Json::parse(br#"[{"a":{"b":1,"\u0062":2}}]"#).unwrap_err();
/// assert_eq!(fault.to_string(), "byte 13: duplicate member name");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Wire for Json {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        refuse_duplicates(value)?;
        // The scanner checked that it is UTF-8.
        let text = core::str::from_utf8(value.raw()).unwrap_or_default();
        Ok(Self(String::from(text)))
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

fn refuse_duplicates(value: &Value<'_>) -> Result<(), BodyFault> {
    let text = value.text();
    let mut scanner = Scanner::at(text, value.span().start);
    let mut objects: Vec<BTreeSet<String>> = Vec::new();
    while let Some(Token { kind, start, end }) = scanner.next_token()? {
        match kind {
            Kind::ObjectStart => objects.push(BTreeSet::new()),
            Kind::ObjectEnd => drop(objects.pop()),
            Kind::Name { .. } => {
                let name = string_at(text, start).map(|name| name.chars().collect()).unwrap_or_default();
                if objects.last_mut().is_some_and(|names| !names.insert(name)) {
                    let reason = BodyReason::DuplicateName;
                    return Err(BodyFault { offset: start, member: None, reason });
                }
            }
            _ => {}
        }
        if end >= value.span().end {
            break;
        }
    }
    Ok(())
}

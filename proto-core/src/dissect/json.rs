//! JSON text to fields, token by token; the stack is a fixed array, whatever the nesting.

use core::ops::Range;

use super::field::{Field, FieldName, FieldValue, NodeKind, Sink};
use super::header::known;
use super::schema::Schema;
use crate::limits::JSON_DEPTH_MAX;
use crate::scan::json::{JsonFault, Kind, Scanner, Token};
use crate::scan::string::JsonStr;
use crate::scan::value::{Span, Value, unquoted};

/// The field that the whole text is.
#[derive(Clone, Copy)]
pub(super) struct Root<'a> {
    /// Its name.
    pub(super) name: &'static str,
    /// What its members mean.
    pub(super) schema: Schema,
    /// What it means itself.
    pub(super) meaning: &'static str,
    /// The value shown beside the payload.
    pub(super) payload_type: Option<JsonStr<'a>>,
}

/// Tells `text` as one field with its children; offsets are shifted by `base`. The field spans all of `text`.
///
/// Text that stops being strict JSON is told up to the last whole token, the rest as unread, and the fault is given.
pub(super) fn json_fields(
    text: &[u8],
    base: usize,
    root: Root<'_>,
    sink: &mut dyn Sink,
) -> Result<(), JsonFault> {
    let mut walk = Walk {
        scanner: Scanner::new(text),
        text,
        base,
        root,
        schemas: [Schema::Plain; LEVELS],
        elements: [0; LEVELS],
        depth: 0,
        told: 0,
        sink,
    };
    walk.run()
}

/// Tells bytes that the fault kept from being read; nothing where there are none.
pub(super) fn unread(span: Range<usize>, sink: &mut dyn Sink) {
    if span.start < span.end {
        let size = FieldValue::Size(span.len());
        sink.leaf(
            known("unread", NodeKind::Unread, span.start, size, "not read because of the fault"),
            span.end,
        );
    }
}

const LEVELS: usize = JSON_DEPTH_MAX as usize + 1;

struct Walk<'a, 's> {
    scanner: Scanner<'a>,
    text: &'a [u8],
    base: usize,
    root: Root<'a>,
    /// What the members of each open container mean.
    schemas: [Schema; LEVELS],
    /// Elements told so far of each open array.
    elements: [usize; LEVELS],
    depth: usize,
    /// Offset after the last token told.
    told: usize,
    sink: &'s mut dyn Sink,
}

impl<'a> Walk<'a, '_> {
    fn run(&mut self) -> Result<(), JsonFault> {
        let end = self.base + self.text.len();
        let first = match self.scanner.next_token() {
            Ok(Some(token)) => token,
            Ok(None) => return Ok(()),
            Err(fault) => {
                let size = FieldValue::Size(self.text.len());
                self.sink.leaf(known(self.root.name, NodeKind::Bytes, self.base, size, "not JSON"), end);
                return Err(fault);
            }
        };
        let field = Field { value_start: self.base + first.start, ..self.root_field(&first) };
        if !is_open(first.kind) {
            // A scalar is only known to be the whole text once nothing but white space follows.
            let outcome = self.scanner.next_token().map(drop);
            let field = match outcome {
                Ok(()) => field,
                Err(_) => known(
                    self.root.name,
                    NodeKind::Bytes,
                    self.base,
                    FieldValue::Size(self.text.len()),
                    "not JSON",
                ),
            };
            self.sink.leaf(field, end);
            return outcome;
        }
        self.open(field, self.root.schema);
        self.told = first.end;
        let outcome = self.children();
        while self.depth > 1 {
            self.close(self.told);
        }
        if outcome.is_err() {
            unread(self.base + self.told..end, self.sink);
        }
        self.close(self.text.len());
        outcome
    }

    /// Tells what is inside the root. The root stays open, so that what cannot be read lies inside it.
    fn children(&mut self) -> Result<(), JsonFault> {
        let mut name: Option<(JsonStr<'a>, Span)> = None;
        while let Some(token) = self.scanner.next_token()? {
            match token.kind {
                Kind::Name { escaped } => {
                    name = Some((
                        unquoted(self.text, &token, escaped),
                        Span { start: token.start, end: token.end },
                    ));
                    continue;
                }
                Kind::ObjectEnd | Kind::ArrayEnd => {
                    if self.depth > 1 {
                        self.close(token.end);
                    }
                    self.told = token.end;
                    continue;
                }
                _ => self.value(&token, name.take())?,
            }
        }
        Ok(())
    }

    fn value(&mut self, token: &Token, name: Option<(JsonStr<'a>, Span)>) -> Result<(), JsonFault> {
        let innermost = self.depth.saturating_sub(1);
        let (Some(schema), Some(index)) = (self.schemas.get(innermost), self.elements.get_mut(innermost))
        else {
            return Ok(());
        };
        let (meaning, start, name) = match name {
            Some((name, span)) => (schema.member(name), span.start, FieldName::Member(name)),
            None => {
                let name = FieldName::Index(*index);
                *index += 1;
                (schema.element(), token.start, name)
            }
        };
        let mut value = self.scalar(token);
        if let (Schema::Payload(_), Kind::ObjectStart, Some(tag)) =
            (meaning.schema, token.kind, self.root.payload_type)
        {
            value = FieldValue::Text(tag);
        }
        let mut kind = node_kind(token.kind);
        let mut end = token.end;
        if let (Schema::Bytes, Kind::ArrayStart, Some(array)) =
            (meaning.schema, token.kind, byte_array(self.text, token))
        {
            kind = NodeKind::Bytes;
            value = FieldValue::ByteArray(array);
            end = array.span().end;
            let around = self.scanner.depth().saturating_sub(1);
            while self.scanner.depth() > around && self.scanner.next_token()?.is_some() {}
        }
        let field = Field {
            start: self.base + start,
            value_start: self.base + token.start,
            kind,
            mask: 0,
            name,
            value,
            meaning: meaning.text,
        };
        if is_open(token.kind) && kind != NodeKind::Bytes {
            self.open(field, meaning.schema);
        } else {
            self.sink.leaf(field, self.base + end);
        }
        self.told = end;
        Ok(())
    }

    fn open(&mut self, field: Field<'a>, schema: Schema) {
        self.sink.open(field);
        if let (Some(place), Some(elements)) =
            (self.schemas.get_mut(self.depth), self.elements.get_mut(self.depth))
        {
            *place = schema;
            *elements = 0;
        }
        self.depth += 1;
    }

    fn close(&mut self, end: usize) {
        self.sink.close(self.base + end);
        self.depth = self.depth.saturating_sub(1);
    }

    fn root_field(&self, first: &Token) -> Field<'a> {
        known(self.root.name, node_kind(first.kind), self.base, self.scalar(first), self.root.meaning)
    }

    fn scalar(&self, token: &Token) -> FieldValue<'a> {
        match token.kind {
            Kind::String { escaped } => FieldValue::Text(unquoted(self.text, token, escaped)),
            Kind::Number { .. } => {
                let raw = self.text.get(token.span()).unwrap_or_default();
                FieldValue::Raw(core::str::from_utf8(raw).unwrap_or_default())
            }
            Kind::Bool(value) => FieldValue::Bool(value),
            Kind::Null => FieldValue::Word("null"),
            _ => FieldValue::None,
        }
    }
}

/// The array that `first` opens, where all its elements are byte values.
fn byte_array<'a>(text: &'a [u8], first: &Token) -> Option<Value<'a>> {
    let array = Value::at(text, first.start)?;
    let mut elements = array.elements()?;
    while let Some(element) = elements.next_element().ok()? {
        u8::try_from(element.as_u64()?).ok()?;
    }
    Some(array)
}

const fn is_open(kind: Kind) -> bool {
    matches!(kind, Kind::ObjectStart | Kind::ArrayStart)
}

const fn node_kind(kind: Kind) -> NodeKind {
    match kind {
        Kind::ObjectStart | Kind::ObjectEnd => NodeKind::Object,
        Kind::ArrayStart | Kind::ArrayEnd => NodeKind::Array,
        Kind::String { .. } | Kind::Name { .. } => NodeKind::String,
        Kind::Number { .. } => NodeKind::Number,
        Kind::Bool(_) => NodeKind::Bool,
        Kind::Null => NodeKind::Null,
    }
}

//! One named field and who receives them.

use core::fmt;

use super::fault::Fault;
use crate::scan::string::JsonStr;
use crate::scan::value::Value;

/// What a field is, for the way it is shown.
///
/// ```
/// use twolane_core::dissect::NodeKind;
///
/// assert_eq!([NodeKind::Flags, NodeKind::Unread].map(NodeKind::name), ["flags", "unread"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NodeKind {
    /// A part of the wire that holds fields: header, body, handshake message.
    Group = 0,
    /// A number in bytes, little-endian unless its meaning says otherwise.
    Integer = 1,
    /// A byte of flags; its children share the byte.
    Flags = 2,
    /// Some bits of a byte; the mask says which.
    Bits = 3,
    /// Follows from other fields, whose bytes it shares.
    Derived = 4,
    /// A JSON object; its children are its members.
    Object = 5,
    /// A JSON array; its children are its elements.
    Array = 6,
    /// A JSON string.
    String = 7,
    /// A JSON number.
    Number = 8,
    /// `true` or `false` in JSON.
    Bool = 9,
    /// `null` in JSON.
    Null = 10,
    /// Bytes that mean nothing by themselves, or a byte string.
    Bytes = 11,
    /// Bytes that could not be read because of the fault.
    Unread = 12,
    /// Bytes that are not shown field by field, to keep a tree bounded.
    Elided = 13,
}

impl NodeKind {
    /// The name used in documents and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Integer => "integer",
            Self::Flags => "flags",
            Self::Bits => "bits",
            Self::Derived => "derived",
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Number => "number",
            Self::Bool => "bool",
            Self::Null => "null",
            Self::Bytes => "bytes",
            Self::Unread => "unread",
            Self::Elided => "elided",
        }
    }
}

/// One field, before its end is known.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Offset of its first byte; of the name where the wire carries one.
    pub start: usize,
    /// Offset of the first byte of its value; `start` where the wire carries no name.
    pub value_start: usize,
    /// What it is.
    pub kind: NodeKind,
    /// Its bits in the one byte that it spans; 0 where it is whole bytes.
    pub mask: u8,
    /// Its name.
    pub name: FieldName<'a>,
    /// Its value.
    pub value: FieldValue<'a>,
    /// What it means by the rules of the wire, in a few words; empty where no rule gives it a meaning.
    pub meaning: &'static str,
}

/// The name of a field. `Display` gives its text.
#[derive(Clone, Copy, Debug)]
pub enum FieldName<'a> {
    /// Named by the wire's rules.
    Known(&'static str),
    /// A member's name in JSON.
    Member(JsonStr<'a>),
    /// The place of an element in its array.
    Index(usize),
}

impl fmt::Display for FieldName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name) => f.write_str(name),
            Self::Member(name) => name.fmt(f),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// The value of a field. `Display` gives its text, whole.
///
/// ```
/// use twolane_core::dissect::{FieldName, FieldValue};
///
/// assert_eq!(FieldValue::Named("StreamData", 3).to_string(), "StreamData (3)");
/// assert_eq!(FieldValue::Hex(10).to_string(), "0x0a");
/// assert_eq!(FieldName::Index(2).to_string(), "[2]");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum FieldValue<'a> {
    /// Its children are the value.
    None,
    /// A number.
    Number(u64),
    /// A byte, shown as `0x0a`.
    Hex(u8),
    /// A yes or no.
    Bool(bool),
    /// A word of the wire's own.
    Word(&'static str),
    /// A number with a name, shown as `StreamData (3)`.
    Named(&'static str, u64),
    /// A JSON string, shown decoded.
    Text(JsonStr<'a>),
    /// A JSON number as written.
    Raw(&'a str),
    /// A JSON array of byte values, shown as hex.
    ByteArray(Value<'a>),
    /// So many bytes.
    Size(usize),
}

impl fmt::Display for FieldValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Number(number) => write!(f, "{number}"),
            Self::Hex(byte) => write!(f, "0x{byte:02x}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Word(word) => f.write_str(word),
            Self::Named(name, number) => write!(f, "{name} ({number})"),
            Self::Text(text) => text.fmt(f),
            Self::Raw(text) => f.write_str(text),
            Self::ByteArray(value) => write_byte_array(value, f),
            Self::Size(1) => f.write_str("1 byte"),
            Self::Size(count) => write!(f, "{count} bytes"),
        }
    }
}

fn write_byte_array(value: &Value<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(mut elements) = value.elements() else { return Ok(()) };
    while let Ok(Some(element)) = elements.next_element() {
        match element.as_u64() {
            Some(byte) => write!(f, "{byte:02x}")?,
            None => return Ok(()),
        }
    }
    Ok(())
}

/// Receives the fields of a dissection in the order of a tree walk: a container, its children, its end.
///
/// Children lie inside their container. There is at most one fault, and it is the last thing told.
///
/// ```
/// use twolane_core::dissect::{Fault, FaultReason, Field, Sink, body};
///
/// /// Prints a tree as it is told, and holds nothing else.
/// #[derive(Default)]
/// struct Outline {
///     depth: usize,
///     text: String,
/// }
///
/// impl Sink for Outline {
///     fn open(&mut self, field: Field<'_>) {
///         self.leaf(field, field.start);
///         self.depth += 1;
///     }
///
///     fn close(&mut self, _: usize) {
///         self.depth -= 1;
///     }
///
///     fn leaf(&mut self, field: Field<'_>, _: usize) {
///         let line = format!("{}{} {}", "  ".repeat(self.depth), field.name, field.value);
///         self.text += &format!("{}\n", line.trim_end());
///     }
///
///     fn fault(&mut self, fault: Fault) {
///         self.text += &format!("! {fault}\n");
///     }
/// }
///
/// let mut outline = Outline::default();
/// body(br#"{"ids":[7,8}"#, 0, &mut outline);
/// assert_eq!(outline.depth, 0, "each container that opened was closed");
/// assert!(outline.text.contains("\n  ids\n    [0] 7\n    [1] 8\n"), "{}", outline.text);
/// assert!(outline.text.ends_with("! byte 11: expected a comma or the closing bracket\n"));
///
/// // At most one fault, and it is the last thing told.
/// outline.fault(Fault { offset: 3, reason: FaultReason::TrailingBytes { count: 9 } });
/// assert!(outline.text.ends_with("! byte 3: 9 bytes follow the end\n"));
/// ```
pub trait Sink {
    /// A container begins.
    fn open(&mut self, field: Field<'_>);
    /// The innermost open container ends before offset `end`.
    fn close(&mut self, end: usize);
    /// A field without children that ends before offset `end`.
    fn leaf(&mut self, field: Field<'_>, end: usize);
    /// The rule that the bytes break.
    fn fault(&mut self, fault: Fault);
}

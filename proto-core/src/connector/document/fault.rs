//! Where and why a document is refused.

use core::fmt;

use crate::connector::text::TextFault;
use crate::scan::msgpack::MsgpackReason;

/// The first rule that a document breaks. It names fields of ours and never holds what was read.
///
/// ```
/// use twolane_core::connector::document::{DocumentFault, DocumentReason, Path, ReadInvocation};
///
/// // A map of one pair.
/// let fault: DocumentFault = ReadInvocation::read(b"\x81\xa1a\x01").unwrap_err();
/// assert_eq!(fault.reason, DocumentReason::FieldCount { expected: 6, found: 1 });
/// assert_eq!((fault.offset, fault.path.document), (Some(0), "transport_invocation"));
///
/// let path = Path { document: "transport_result", group: "events", field: "sequence" };
/// assert_eq!(path.to_string(), "transport_result: events.sequence");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentFault {
    /// Offset in the bytes that were read; `None` of a document that is about to be written.
    pub offset: Option<usize>,
    /// The field.
    pub path: Path,
    /// The rule.
    pub reason: DocumentReason,
}

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl core::error::Error for DocumentFault {}

/// A field by its names. `Display` gives `document: group.field`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The innermost document, as `provider_request`.
    pub document: &'static str,
    /// The field that holds a list or an enum, as `input`; empty for a field of the document itself.
    pub group: &'static str,
    /// The field; empty where it is the whole document or group.
    pub field: &'static str,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.document)?;
        for (before, name) in
            [(": ", self.group), (if self.group.is_empty() { ": " } else { "." }, self.field)]
        {
            if !name.is_empty() {
                write!(f, "{before}{name}")?;
            }
        }
        Ok(())
    }
}

/// Why a document is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentReason {
    /// Not the canonical MessagePack of this field.
    #[error(transparent)]
    Msgpack(MsgpackReason),
    /// A map of another size.
    #[error("expected a map of {expected} fields, found {found}")]
    FieldCount {
        /// Fields of the document.
        expected: u32,
        /// Pairs of the map.
        found: u32,
    },
    /// Another key than that of the field whose turn it is.
    #[error("another key stands in its place")]
    Key,
    /// Another schema id.
    #[error("another schema")]
    Schema,
    /// No variant has this name, or the variant is written in another way.
    #[error("no variant of ours")]
    Variant,
    /// A text that breaks its rule.
    #[error(transparent)]
    Text(TextFault),
    /// A byte string of another length.
    #[error("expected {expected} bytes, found {found}")]
    BytesLength {
        /// Bytes of the field.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// A list that is too long.
    #[error("at most {max} elements, found {found}")]
    TooMany {
        /// The most that are allowed.
        max: u32,
        /// How many there are.
        found: u64,
    },
    /// A digest of zeros.
    #[error("a digest is never zero")]
    ZeroDigest,
    /// A limit of no token.
    #[error("a limit is never zero")]
    ZeroTokens,
    /// Two tools of one name.
    #[error("two tools have one name")]
    DuplicateTool,
    /// `required` without a tool.
    #[error("required needs a tool")]
    RequiredWithoutTool,
    /// A schema of the output without its name, or the name alone.
    #[error("output_schema_json and output_format_name come together")]
    OutputFormat,
    /// An event out of its place.
    #[error("sequence has to be {expected}")]
    EventOrder {
        /// The place of the event.
        expected: u64,
    },
}

//! Reading the fields of a document one after the other, each in its place.

use super::fault::{DocumentFault, DocumentReason, Path};
use crate::connector::digest::Digest;
use crate::connector::text::{Rule, Text, TextFault};
use crate::scan::msgpack::{MsgpackFault, Reader};

/// A cursor that knows the field it stands at, so that a fault can name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    reader: Reader<'a>,
    path: Path,
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(reader: Reader<'a>, document: &'static str) -> Self {
        Self { reader, path: Path { document, group: "", field: "" } }
    }

    pub(crate) const fn reader(&self) -> Reader<'a> {
        self.reader
    }

    pub(crate) const fn position(&self) -> usize {
        self.reader.position()
    }

    /// The bytes from `start` up to here.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.reader.bytes().get(start..self.position()).unwrap_or_default()
    }

    /// Fields that follow are those of the innermost document `document`.
    pub(crate) const fn document(&mut self, document: &'static str) {
        self.path = Path { document, group: "", field: "" };
    }

    /// Fields that follow are inside of `group`.
    pub(crate) const fn group(&mut self, group: &'static str) {
        self.path.group = group;
        self.path.field = "";
    }

    /// A fault at `offset`.
    pub(crate) const fn fault(&self, offset: usize, reason: DocumentReason) -> DocumentFault {
        DocumentFault { offset: Some(offset), path: self.path, reason }
    }

    #[inline]
    fn lift<T>(&self, read: Result<T, MsgpackFault>) -> Result<T, DocumentFault> {
        read.map_err(|fault| self.lifted(fault))
    }

    #[cold]
    const fn lifted(&self, fault: MsgpackFault) -> DocumentFault {
        self.fault(fault.offset, DocumentReason::Msgpack(fault.reason))
    }

    /// That the input ends here.
    pub(crate) fn end(&self) -> Result<(), DocumentFault> {
        self.lift(self.reader.end())
    }

    /// The header of a map of `expected` pairs.
    #[inline]
    pub(crate) fn map(&mut self, expected: u32) -> Result<(), DocumentFault> {
        let start = self.position();
        let read = self.reader.map();
        match self.lift(read)? {
            found if found == expected => Ok(()),
            found => Err(self.fault(start, DocumentReason::FieldCount { expected, found })),
        }
    }

    /// The key of the field `name`, which is next.
    #[inline]
    pub(crate) fn key(&mut self, name: &'static str) -> Result<&mut Self, DocumentFault> {
        self.path.field = name;
        if self.reader.short_str(name) { Ok(self) } else { Err(self.other_key()) }
    }

    #[cold]
    fn other_key(&mut self) -> DocumentFault {
        let start = self.position();
        let read = self.reader.str();
        self.lift(read).map_or_else(|fault| fault, |_| self.fault(start, DocumentReason::Key))
    }

    /// The first field of each document.
    pub(crate) fn schema_id(&mut self, expected: &str) -> Result<(), DocumentFault> {
        self.key("schema_id")?;
        let start = self.position();
        if self.str()? != expected {
            return Err(self.fault(start, DocumentReason::Schema));
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn str(&mut self) -> Result<&'a str, DocumentFault> {
        let read = self.reader.str();
        self.lift(read)
    }

    #[inline]
    pub(crate) fn text<R: Rule>(&mut self) -> Result<Text<R, &'a str>, DocumentFault> {
        let start = self.position();
        let text = self.str()?;
        Text::new(text).map_err(|fault| self.text_fault(start, fault))
    }

    #[cold]
    const fn text_fault(&self, start: usize, fault: TextFault) -> DocumentFault {
        self.fault(start, DocumentReason::Text(fault))
    }

    pub(crate) fn bin(&mut self) -> Result<&'a [u8], DocumentFault> {
        let read = self.reader.bin();
        self.lift(read)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DocumentFault> {
        let start = self.position();
        let bytes = self.bin()?;
        let reason = DocumentReason::BytesLength { expected: N, found: bytes.len() };
        <[u8; N]>::try_from(bytes).map_err(|_| self.fault(start, reason))
    }

    pub(crate) fn digest(&mut self) -> Result<Digest, DocumentFault> {
        Ok(Digest(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, DocumentFault> {
        let read = self.reader.unsigned(u64::MAX);
        self.lift(read)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, DocumentFault> {
        let read = self.reader.unsigned(u64::from(u32::MAX));
        Ok(u32::try_from(self.lift(read)?).unwrap_or(u32::MAX))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, DocumentFault> {
        let read = self.reader.unsigned(u64::from(u16::MAX));
        Ok(u16::try_from(self.lift(read)?).unwrap_or(u16::MAX))
    }

    pub(crate) fn bool(&mut self) -> Result<bool, DocumentFault> {
        let read = self.reader.bool();
        self.lift(read)
    }

    /// `nil`, or what `read` reads.
    #[inline]
    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, DocumentFault>,
    ) -> Result<Option<T>, DocumentFault> {
        if self.reader.nil() { Ok(None) } else { read(self).map(Some) }
    }

    /// The number of elements of a list.
    pub(crate) fn list(&mut self, max: u32) -> Result<u32, DocumentFault> {
        let start = self.position();
        let read = self.reader.array();
        match self.lift(read)? {
            count if count <= max => Ok(count),
            count => Err(self.fault(start, DocumentReason::TooMany { max, found: u64::from(count) })),
        }
    }

    /// The name of a variant and whether a value belongs to it, which is then next.
    #[inline]
    pub(crate) fn variant(&mut self) -> Result<(&'a str, bool), DocumentFault> {
        let holds_value = self.reader.is_map();
        if holds_value {
            self.map(1)?;
        }
        Ok((self.str()?, holds_value))
    }

    /// A unit variant, which is its name.
    pub(crate) fn named<T>(&mut self, from_name: impl Fn(&str) -> Option<T>) -> Result<T, DocumentFault> {
        let start = self.position();
        from_name(self.str()?).ok_or(self.fault(start, DocumentReason::Variant))
    }
}

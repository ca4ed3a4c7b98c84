//! Writing the fields of a document.

use crate::scan::msgpack::{Full, Output, Writer};

/// A field that is a text.
pub(super) fn text<O: Output>(w: &mut Writer<'_, O>, name: &str, text: &str) -> Result<(), Full> {
    w.str(name)?;
    w.str(text)
}

/// A field that is a text or not there.
pub(super) fn option<O: Output>(w: &mut Writer<'_, O>, name: &str, text: Option<&str>) -> Result<(), Full> {
    w.str(name)?;
    match text {
        Some(text) => w.str(text),
        None => w.nil(),
    }
}

/// A field that is a number.
pub(super) fn number<O: Output>(w: &mut Writer<'_, O>, name: &str, number: u64) -> Result<(), Full> {
    w.str(name)?;
    w.unsigned(number)
}

/// A field that is a number or not there.
pub(super) fn count<O: Output>(w: &mut Writer<'_, O>, name: &str, number: Option<u64>) -> Result<(), Full> {
    w.str(name)?;
    match number {
        Some(number) => w.unsigned(number),
        None => w.nil(),
    }
}

/// A field that is bytes.
pub(super) fn bytes<O: Output>(w: &mut Writer<'_, O>, name: &str, bytes: &[u8]) -> Result<(), Full> {
    w.str(name)?;
    w.bin(bytes)
}

/// A field that is a list.
pub(super) fn list<O: Output, T>(
    w: &mut Writer<'_, O>,
    name: &str,
    elements: &[T],
    write: impl Fn(&T, &mut Writer<'_, O>) -> Result<(), Full>,
) -> Result<(), Full> {
    w.str(name)?;
    w.array(u32::try_from(elements.len()).map_err(|_| Full)?)?;
    elements.iter().try_for_each(|element| write(element, w))
}

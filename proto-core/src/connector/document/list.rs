//! A list that is read element by element out of canonical bytes.

use core::fmt;
use core::marker::PhantomData;

use super::fault::DocumentFault;
use super::read::Fields;

/// What can be an element of a [`ReadList`].
pub(crate) trait Element<'a>: Sized {
    fn read(fields: &mut Fields<'a>) -> Result<Self, DocumentFault>;
}

/// A list in canonical bytes, all of whose elements were read once before it was made. Each iteration reads them
/// again; nothing is held.
#[derive(Clone, Copy)]
pub struct ReadList<'a, T> {
    first: Fields<'a>,
    count: u32,
    element: PhantomData<T>,
}

impl<'a, T> ReadList<'a, T> {
    /// How many elements there are.
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[expect(private_bounds, reason = "elements are those of the documents, and no one else's")]
impl<'a, T: Element<'a>> ReadList<'a, T> {
    /// The elements in order.
    pub fn iter(&self) -> ReadElements<'a, T> {
        ReadElements { fields: self.first, left: self.count, element: PhantomData }
    }

    /// Reads a list of at most `max` elements and hands each to `see`.
    pub(crate) fn read(
        fields: &mut Fields<'a>,
        max: u32,
        mut see: impl FnMut(usize, &Fields<'a>, &T) -> Result<(), DocumentFault>,
    ) -> Result<Self, DocumentFault> {
        let count = fields.list(max)?;
        let first = *fields;
        for _ in 0..count {
            let start = fields.position();
            let element = T::read(fields)?;
            see(start, fields, &element)?;
        }
        Ok(Self { first, count, element: PhantomData })
    }
}

/// It names the count alone: what is inside may be long and is not for logs.
impl<T> fmt::Debug for ReadList<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadList({})", self.count)
    }
}

/// The elements of a [`ReadList`].
#[derive(Clone, Copy, Debug)]
pub struct ReadElements<'a, T> {
    fields: Fields<'a>,
    left: u32,
    element: PhantomData<T>,
}

impl<'a, T: Element<'a>> Iterator for ReadElements<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // What was read once is read again without a fault.
        T::read(&mut self.fields).ok()
    }
}

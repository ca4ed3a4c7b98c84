//! Integers out of bytes that may end anywhere: every read is checked and says `None` at the end.

/// The byte order of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

/// Reads from the front of a slice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
    order: Order,
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(rest: &'a [u8], order: Order) -> Self {
        Self { rest, order }
    }

    /// Network byte order.
    pub(crate) fn network(rest: &'a [u8]) -> Self {
        Self::new(rest, Order::Big)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }

    /// The next `len` bytes as a reader of their own.
    pub(crate) fn sub(&mut self, len: usize) -> Option<Self> {
        let order = self.order;
        self.take(len).map(|head| Self::new(head, order))
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        let raw = self.array()?;
        Some(match self.order {
            Order::Little => u16::from_le_bytes(raw),
            Order::Big => u16::from_be_bytes(raw),
        })
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let raw = self.array()?;
        Some(match self.order {
            Order::Little => u32::from_le_bytes(raw),
            Order::Big => u32::from_be_bytes(raw),
        })
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        let raw = self.array()?;
        Some(match self.order {
            Order::Little => u64::from_le_bytes(raw),
            Order::Big => u64::from_be_bytes(raw),
        })
    }

    pub(crate) fn array4(&mut self) -> Option<[u8; 4]> {
        self.array()
    }

    pub(crate) fn array16(&mut self) -> Option<[u8; 16]> {
        self.array()
    }
}

/// A length as the file counts it. Only a target whose addresses are shorter than 32 bits could
/// lose anything, and there such a length is out of reach anyway.
pub(crate) fn size(len: u32) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// A length as a stream counts it.
pub(crate) fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

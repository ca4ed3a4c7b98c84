//! Writing the canonical form, into whatever takes bytes.

/// The output took no more. What it holds by now is to be thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the output is full")]
pub struct Full;

/// What takes bytes in order.
///
/// ```
/// use twolane_core::scan::msgpack::{Full, Output, Writer};
///
/// /// A sum instead of the bytes.
/// struct Sum(u32);
///
/// impl Output for Sum {
///     fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
///         bytes.iter().try_for_each(|byte| {
///             self.0 = self.0.checked_add(u32::from(*byte)).ok_or(Full)?;
///             Ok(())
///         })
///     }
/// }
///
/// let mut sum = Sum(0);
/// sum.put(&[1, 2])?;
/// Writer(&mut sum).unsigned(4)?;
/// assert_eq!(sum.0, 7);
/// # Ok::<(), Full>(())
/// ```
pub trait Output {
    /// Takes all of `bytes`.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full>;
}

/// The front of a caller's buffer.
///
/// ```
/// use twolane_core::scan::msgpack::{Full, Writer, Written};
///
/// let mut buffer = [0; 8];
/// let mut written = Written::new(&mut buffer);
/// assert!(written.is_empty());
/// Writer(&mut written).str("lamp")?;
/// assert_eq!(written.len(), 5);
/// assert_eq!(Writer(&mut written).str("lamp"), Err(Full));
/// assert_eq!(&buffer[..5], b"\xa4lamp");
/// # Ok::<(), Full>(())
/// ```
#[derive(Debug)]
pub struct Written<'a> {
    buffer: &'a mut [u8],
    len: usize,
}

impl<'a> Written<'a> {
    /// Nothing yet.
    pub const fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, len: 0 }
    }

    /// Bytes so far.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no byte so far.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Output for Written<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let end = self.len.checked_add(bytes.len()).ok_or(Full)?;
        let place = self.buffer.get_mut(self.len..end).ok_or(Full)?;
        // A copy whose lengths the compiler has to see agree keeps a panic where it is optimized for size.
        place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        self.len = end;
        Ok(())
    }
}

/// Counts the bytes and keeps none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted(pub u64);

impl Output for Counted {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.0 = u64::try_from(bytes.len()).ok().and_then(|len| self.0.checked_add(len)).ok_or(Full)?;
        Ok(())
    }
}

#[cfg(feature = "alloc")]
impl Output for alloc::vec::Vec<u8> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writes values in canonical form.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::scan::msgpack::{Counted, Full, Output, Writer, validate};
///
/// fn document(out: &mut impl Output) -> Result<(), Full> {
///     let mut w = Writer(out);
///     w.map(2)?;
///     w.str("list")?;
///     w.array(4)?;
///     w.unsigned(300)?;
///     w.bool(true)?;
///     w.nil()?;
///     w.bin(&[1, 2, 3])?;
///     // Headers alone, for content that comes from elsewhere.
///     w.str_header(2)?;
///     w.0.put(b"id")?;
///     w.bin_header(1)?;
///     w.0.put(&[7])
/// }
///
/// // Counted first, then written to exactly that much.
/// let mut counted = Counted(0);
/// document(&mut counted)?;
/// let mut bytes = Vec::new();
/// document(&mut bytes)?;
/// assert_eq!(bytes.len() as u64, counted.0);
/// assert_eq!(validate(&bytes), Ok(()));
/// # }
/// # Ok::<(), twolane_core::scan::msgpack::Full>(())
/// ```
#[derive(Debug)]
pub struct Writer<'o, O>(pub &'o mut O);

impl<O: Output> Writer<'_, O> {
    /// The header of a map; so many pairs have to follow.
    pub fn map(&mut self, pairs: u32) -> Result<(), Full> {
        self.container(pairs, 0x80, 0xde)
    }

    /// The header of an array; so many elements have to follow.
    pub fn array(&mut self, elements: u32) -> Result<(), Full> {
        self.container(elements, 0x90, 0xdc)
    }

    /// A text.
    pub fn str(&mut self, text: &str) -> Result<(), Full> {
        self.str_header(u32::try_from(text.len()).map_err(|_| Full)?)?;
        self.0.put(text.as_bytes())
    }

    /// The header of a text; so many bytes of UTF-8 have to follow.
    pub fn str_header(&mut self, len: u32) -> Result<(), Full> {
        match narrow(len) {
            Narrow::Byte(len @ 0..32) => self.0.put(&[0xa0 | len]),
            Narrow::Byte(len) => self.0.put(&[0xd9, len]),
            Narrow::Two([a, b]) => self.0.put(&[0xda, a, b]),
            Narrow::Four([a, b, c, d]) => self.0.put(&[0xdb, a, b, c, d]),
        }
    }

    /// Bytes.
    pub fn bin(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.bin_header(u32::try_from(bytes.len()).map_err(|_| Full)?)?;
        self.0.put(bytes)
    }

    /// The header of a byte string; so many bytes have to follow.
    pub fn bin_header(&mut self, len: u32) -> Result<(), Full> {
        match narrow(len) {
            Narrow::Byte(len) => self.0.put(&[0xc4, len]),
            Narrow::Two([a, b]) => self.0.put(&[0xc5, a, b]),
            Narrow::Four([a, b, c, d]) => self.0.put(&[0xc6, a, b, c, d]),
        }
    }

    /// An integer.
    pub fn unsigned(&mut self, number: u64) -> Result<(), Full> {
        let Ok(small) = u32::try_from(number) else {
            self.0.put(&[0xcf])?;
            return self.0.put(&number.to_be_bytes());
        };
        match narrow(small) {
            Narrow::Byte(number @ 0..0x80) => self.0.put(&[number]),
            Narrow::Byte(number) => self.0.put(&[0xcc, number]),
            Narrow::Two([a, b]) => self.0.put(&[0xcd, a, b]),
            Narrow::Four([a, b, c, d]) => self.0.put(&[0xce, a, b, c, d]),
        }
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> Result<(), Full> {
        self.0.put(&[0xc2 | u8::from(value)])
    }

    /// `nil`
    pub fn nil(&mut self) -> Result<(), Full> {
        self.0.put(&[0xc0])
    }

    fn container(&mut self, count: u32, short: u8, long: u8) -> Result<(), Full> {
        match narrow(count) {
            Narrow::Byte(count @ 0..16) => self.0.put(&[short | count]),
            Narrow::Byte(count) => self.0.put(&[long, 0, count]),
            Narrow::Two([a, b]) => self.0.put(&[long, a, b]),
            Narrow::Four([a, b, c, d]) => self.0.put(&[long | 1, a, b, c, d]),
        }
    }
}

/// A number in the fewest big-endian bytes that there is a format for.
enum Narrow {
    Byte(u8),
    Two([u8; 2]),
    Four([u8; 4]),
}

const fn narrow(number: u32) -> Narrow {
    match number.to_be_bytes() {
        [0, 0, 0, byte] => Narrow::Byte(byte),
        [0, 0, a, b] => Narrow::Two([a, b]),
        bytes => Narrow::Four(bytes),
    }
}

//! Bytes written as text: hexadecimal in the ways people paste it, and base64.
//!
//! # Hexadecimal
//!
//! The first line that is not blank decides for the whole text:
//!
//! - `00000000: 6b00 0000  k...`: an offset of four or more digits and a colon, as `xxd` writes.
//!   Groups of digits follow with one space between; two spaces begin the column of characters.
//! - `00000000  6b 00 00 00  |k...|`: an offset of eight digits, two spaces, and a bar further on,
//!   as `hexdump -C` writes. The bar begins the column of characters.
//! - Anything else is plain: pairs of digits, together or apart, with white space, commas, colons,
//!   `0x` and `\x` between them.
//!
//! The offsets of a dump must go on from one another; a line `*` repeats the line before it up to
//! the next offset.

use alloc::vec::Vec;

use crate::bytes::count;
use crate::limits::{MAX_DUMP_LINE_BYTES, MAX_DUMP_REPEAT_BYTES, TEXT_CHUNK_BYTES};
use crate::source::{Reason, SourceFault};

/// Takes decoded bytes.
pub(crate) type Emit<'e> = &'e mut dyn FnMut(&[u8]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// The first line is not complete.
    Unknown,
    Plain,
    /// As `xxd` writes.
    Colon,
    /// As `hexdump -C` writes.
    Bars,
}

/// Decodes hexadecimal text.
#[derive(Debug)]
pub(crate) struct Hex {
    style: Style,
    /// Characters of the text used up.
    at: u64,
    /// The line at hand, while its style is unknown or in a dump.
    line: Vec<u8>,
    /// The first digit of a pair.
    pending: Option<u8>,
    /// The digit before is a `0` that begins a word, or the character before is a backslash.
    prefix: bool,
    out: Vec<u8>,
    dump: Dump,
}

/// Where a dump is.
#[derive(Debug, Default)]
struct Dump {
    /// Offset of the first line.
    base: Option<u64>,
    /// Bytes since.
    len: u64,
    last_line: Vec<u8>,
    /// A `*` was read.
    repeat: bool,
}

impl Hex {
    pub(crate) fn new() -> Self {
        Self {
            style: Style::Unknown,
            at: 0,
            line: Vec::new(),
            pending: None,
            prefix: false,
            out: Vec::new(),
            dump: Dump::default(),
        }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.at
    }

    /// Decodes the next characters.
    pub(crate) fn push(&mut self, text: &[u8], emit: Emit<'_>) -> Result<(), SourceFault> {
        let result = text.iter().try_for_each(|&character| self.character(character, emit));
        flush(&mut self.out, emit);
        result
    }

    /// Reads the first line as if it ended here, if it has not.
    pub(crate) fn end_first_line(&mut self, emit: Emit<'_>) -> Result<(), SourceFault> {
        match self.style {
            Style::Unknown => self.end_line(emit),
            Style::Plain | Style::Colon | Style::Bars => Ok(()),
        }
    }

    /// The text ends here.
    pub(crate) fn finish(&mut self, emit: Emit<'_>) -> Result<(), SourceFault> {
        let mut result = self.end_line(emit);
        if result.is_ok() && self.pending.is_some() {
            result = Err(fault(self.at.saturating_sub(1), Reason::OddDigits));
        }
        if result.is_ok() && self.dump.repeat {
            result = Err(fault(self.at, Reason::DumpOffset));
        }
        flush(&mut self.out, emit);
        result
    }

    fn character(&mut self, character: u8, emit: Emit<'_>) -> Result<(), SourceFault> {
        if self.style == Style::Plain {
            self.plain(self.at, character, emit)?;
            self.at = self.at.saturating_add(1);
            return Ok(());
        }
        let is_text = matches!(character, b' '..=b'~' | b'\t' | b'\r' | b'\n');
        if !is_text {
            return Err(fault(self.at, Reason::NotHex));
        }
        if character == b'\n' {
            self.end_line(emit)?;
            self.at = self.at.saturating_add(1);
            return Ok(());
        }
        self.line.push(character);
        self.at = self.at.saturating_add(1);
        if self.line.len() < MAX_DUMP_LINE_BYTES {
            return Ok(());
        }
        if self.style == Style::Unknown {
            self.style = Style::Plain;
            return self.plain_line(emit);
        }
        Err(fault(self.line_start(), Reason::DumpLineTooLong))
    }

    fn line_start(&self) -> u64 {
        self.at.saturating_sub(count(self.line.len()))
    }

    fn end_line(&mut self, emit: Emit<'_>) -> Result<(), SourceFault> {
        if self.line.trim_ascii().is_empty() {
            self.line.clear();
            return Ok(());
        }
        if self.style == Style::Unknown {
            self.style = style(&self.line);
        }
        if self.style == Style::Plain {
            self.plain_line(emit)?;
            // The end of the line, which was not kept.
            return self.plain(self.at, b'\n', emit);
        }
        let start = self.line_start();
        let line = core::mem::take(&mut self.line);
        let result = self.dump_line(start, &line, emit);
        self.line = line;
        self.line.clear();
        result
    }

    /// Reads the characters that were kept until the style was known.
    fn plain_line(&mut self, emit: Emit<'_>) -> Result<(), SourceFault> {
        let line = core::mem::take(&mut self.line);
        let mut at = self.at.saturating_sub(count(line.len()));
        for character in line {
            self.plain(at, character, emit)?;
            at = at.saturating_add(1);
        }
        Ok(())
    }

    fn plain(&mut self, at: u64, character: u8, emit: Emit<'_>) -> Result<(), SourceFault> {
        if let Some(value) = digit(character) {
            match self.pending.take() {
                Some(first) => self.byte((first << 4) | value, emit),
                None => {
                    self.prefix = value == 0;
                    self.pending = Some(value);
                }
            }
            return Ok(());
        }
        let prefix = core::mem::take(&mut self.prefix);
        match (character, self.pending) {
            (b'x' | b'X', Some(0) | None) if prefix => {
                self.pending = None;
                Ok(())
            }
            (_, Some(_)) if is_separator(character) => Err(fault(at.saturating_sub(1), Reason::OddDigits)),
            (b'\\', None) => {
                self.prefix = true;
                Ok(())
            }
            (_, None) if is_separator(character) && !prefix => Ok(()),
            _ => Err(fault(at, Reason::NotHex)),
        }
    }

    fn byte(&mut self, byte: u8, emit: Emit<'_>) {
        self.prefix = false;
        self.out.push(byte);
        if self.out.len() >= TEXT_CHUNK_BYTES {
            flush(&mut self.out, emit);
        }
    }

    fn dump_line(&mut self, start: u64, line: &[u8], emit: Emit<'_>) -> Result<(), SourceFault> {
        let body = line.trim_ascii_start();
        let mut at = start.saturating_add(count(line.len().saturating_sub(body.len())));
        if body.trim_ascii_end() == b"*" {
            self.dump.repeat = true;
            return Ok(());
        }
        let (offset, used) = dump_offset(body).ok_or(fault(at, Reason::NotHex))?;
        let body = body.get(used..).unwrap_or_default();
        self.go_to(offset, at, emit)?;
        at = at.saturating_add(count(used));
        let body = match (self.style, body.split_first()) {
            (Style::Colon, Some((b':', rest))) => {
                at = at.saturating_add(1);
                rest
            }
            (Style::Colon, _) => return Err(fault(at, Reason::NotHex)),
            _ => body,
        };
        let groups = body.trim_ascii_start();
        at = at.saturating_add(count(body.len().saturating_sub(groups.len())));
        let digits = dump_digits(self.style, groups);
        let mut bytes = core::mem::take(&mut self.dump.last_line);
        bytes.clear();
        let result = decode_groups(digits, at, &mut bytes);
        for byte in &bytes {
            self.byte(*byte, emit);
        }
        self.dump.len = self.dump.len.saturating_add(count(bytes.len()));
        self.dump.last_line = bytes;
        result
    }

    /// The next line of the dump begins at `offset`, as its text at `at` says.
    fn go_to(&mut self, offset: u64, at: u64, emit: Emit<'_>) -> Result<(), SourceFault> {
        let base = *self.dump.base.get_or_insert(offset);
        let here = base.saturating_add(self.dump.len);
        let ahead = offset.checked_sub(here).ok_or(fault(at, Reason::DumpOffset))?;
        let repeat = core::mem::take(&mut self.dump.repeat);
        if ahead == 0 {
            return Ok(());
        }
        let line = core::mem::take(&mut self.dump.last_line);
        if !repeat || line.is_empty() || ahead > MAX_DUMP_REPEAT_BYTES {
            return Err(fault(at, Reason::DumpOffset));
        }
        let mut left = ahead;
        for byte in line.iter().cycle() {
            if left == 0 {
                break;
            }
            self.byte(*byte, emit);
            left = left.saturating_sub(1);
        }
        self.dump.len = self.dump.len.saturating_add(ahead);
        self.dump.last_line = line;
        Ok(())
    }
}

fn style(first_line: &[u8]) -> Style {
    let line = first_line.trim_ascii_start();
    let Some((_, used)) = dump_offset(line) else {
        return Style::Plain;
    };
    let rest = line.get(used..).unwrap_or_default();
    if used >= 4 && rest.first() == Some(&b':') {
        Style::Colon
    } else if used == 8 && rest.starts_with(b"  ") && rest.contains(&b'|') {
        Style::Bars
    } else {
        Style::Plain
    }
}

/// The offset that begins a line of a dump, and how many characters it takes.
fn dump_offset(line: &[u8]) -> Option<(u64, usize)> {
    let digits = line.strip_prefix(b"0x").unwrap_or(line);
    let mut value = 0u64;
    let mut len = 0usize;
    for character in digits {
        let Some(digit) = digit(*character) else {
            break;
        };
        value = value.checked_mul(16)?.checked_add(u64::from(digit))?;
        len = len.checked_add(1)?;
    }
    let prefix = line.len().checked_sub(digits.len())?;
    (len > 0).then_some((value, prefix.checked_add(len)?))
}

/// The part of a dump's line before its column of characters.
fn dump_digits(style: Style, groups: &[u8]) -> &[u8] {
    let end = if style == Style::Bars {
        groups.iter().position(|character| *character == b'|')
    } else {
        groups.windows(2).position(|pair| pair == b"  ")
    };
    groups.get(..end.unwrap_or(groups.len())).unwrap_or(groups)
}

fn decode_groups(groups: &[u8], start: u64, bytes: &mut Vec<u8>) -> Result<(), SourceFault> {
    let mut pending = None;
    let mut at = start;
    for character in groups {
        match (digit(*character), pending.take()) {
            (Some(second), Some(first)) => bytes.push((first << 4) | second),
            (Some(first), None) => pending = Some(first),
            (None, None) if character.is_ascii_whitespace() => {}
            (None, Some(_)) if character.is_ascii_whitespace() => {
                return Err(fault(at.saturating_sub(1), Reason::OddDigits));
            }
            (None, _) => return Err(fault(at, Reason::NotHex)),
        }
        at = at.saturating_add(1);
    }
    match pending {
        Some(_) => Err(fault(at.saturating_sub(1), Reason::OddDigits)),
        None => Ok(()),
    }
}

fn digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn is_separator(character: u8) -> bool {
    matches!(character, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':')
}

fn fault(offset: u64, reason: Reason) -> SourceFault {
    SourceFault { offset, reason }
}

fn flush(out: &mut Vec<u8>, emit: Emit<'_>) {
    if !out.is_empty() {
        emit(out);
        out.clear();
    }
}

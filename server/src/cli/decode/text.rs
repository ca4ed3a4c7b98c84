//! Text off the wire that is safe to print, and numbers that every reader keeps.

use std::fmt::{self, Display, Write};

use twolane_capture::summary::is_unsafe;
use twolane_core::limits::INTEGER_MAX;

/// An integer as JSON: one that not every reader keeps exact is a string.
pub(in crate::cli) struct Integer(pub(in crate::cli) u64);

impl Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > INTEGER_MAX { write!(f, "\"{}\"", self.0) } else { self.0.fmt(f) }
    }
}

/// Appends characters of the wire up to `room` columns, escapes for those that are not safe; what was cut off shows as
/// an ellipsis.
pub(in crate::cli) fn push_safe(characters: impl Iterator<Item = char>, room: usize, out: &mut String) {
    let (mut left, mut characters) = (room, characters.peekable());
    while let Some(character) = characters.next() {
        let start = out.len();
        if is_unsafe(character) {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
        let width = out.get(start..).map_or(1, |added| added.chars().count());
        if width > left || (width == left && characters.peek().is_some()) {
            out.truncate(start);
            out.push('…');
            return;
        }
        left -= width;
    }
}

/// Appends bytes in hexadecimal.
pub(in crate::cli) fn push_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
}

/// Appends a JSON string.
pub(in crate::cli) fn push_quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            c if is_unsafe(c) => push_escape(c, out),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a character as JSON's numeric escape. Every unsafe one is within 16 bits.
pub(in crate::cli) fn push_escape(character: char, out: &mut String) {
    let _ = write!(out, "\\u{:04x}", u32::from(character));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_fits_its_room_and_shows_that_it_was_cut() {
        for (text, shown) in [("abc", "abc"), ("abcd", "ab…"), ("", ""), ("ab\u{1b}", "ab…"), ("a\n", "a\\n")]
        {
            let mut out = String::new();
            push_safe(text.chars(), 3, &mut out);
            assert_eq!(out, shown);
        }
    }
}

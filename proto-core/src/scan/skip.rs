//! Passing over a whole value without telling its tokens: the same grammar as the scanner's, in one tight loop.
//!
//! It knows no faults: where it gives up, the scanner names the reason.

use super::json::{Scanner, string_end};
use crate::limits::JSON_DEPTH_MAX;

/// The offset after the value that starts at `start`, inside `outer` containers; `None` where it is not strict.
pub(crate) fn value_end(text: &[u8], start: usize, outer: u8) -> Option<usize> {
    let mut at = start;
    let mut depth = outer;
    // One bit a level, the innermost lowest: 1 for an object.
    let mut containers = 0_u64;
    loop {
        let byte = *text.get(at)?;
        let mut complete = true;
        at = match byte {
            b'"' => string_end(text, at)?.0,
            b'{' | b'[' => {
                if depth >= JSON_DEPTH_MAX {
                    return None;
                }
                depth += 1;
                let object = byte == b'{';
                containers = containers << 1 | u64::from(object);
                let inside = space_end(text, at + 1);
                // The closing bracket is left for the loop below.
                complete = matches!((object, text.get(inside)), (true, Some(b'}')) | (false, Some(b']')));
                if object && !complete { name_end(text, inside)? } else { inside }
            }
            _ => Scanner::at(text, at).scalar_end()?,
        };
        while complete {
            if depth == outer {
                return Some(at);
            }
            at = space_end(text, at);
            let object = containers & 1 == 1;
            match (*text.get(at)?, object) {
                (b'}', true) | (b']', false) => {
                    at += 1;
                    depth -= 1;
                    containers >>= 1;
                }
                (b',', true) => {
                    at = name_end(text, space_end(text, at + 1))?;
                    complete = false;
                }
                (b',', false) => {
                    at = space_end(text, at + 1);
                    complete = false;
                }
                _ => return None,
            }
        }
    }
}

/// The offset of the value after a member's name and colon.
#[inline]
fn name_end(text: &[u8], at: usize) -> Option<usize> {
    if *text.get(at)? != b'"' {
        return None;
    }
    let colon = space_end(text, string_end(text, at)?.0);
    (*text.get(colon)? == b':').then(|| space_end(text, colon + 1))
}

/// The offset of the first byte from `at` on that is not white space.
#[inline(always)]
pub(crate) fn space_end(text: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = text.get(at)
        && byte <= b' '
        && matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
    {
        at += 1;
    }
    at
}

//! Base64 text: the standard alphabet, padded, with line breaks and blanks anywhere.
//!
//! Written by hand: the registry's decoder (base64) takes whole texts without white space, names
//! offsets in those, and adds 5.6 KB of compressed WebAssembly.

use alloc::vec::Vec;

use crate::bytes::count;
use crate::limits::TEXT_CHUNK_BYTES;
use crate::source::{Reason, SourceFault};
use crate::text::Emit;

/// Decodes base64 text.
#[derive(Debug, Default)]
pub(crate) struct Base64 {
    /// Characters of the text used up.
    at: u64,
    /// The bits of a group of four characters that is not complete, and how many characters.
    bits: u32,
    characters: u8,
    padding: u8,
    ended: bool,
    out: Vec<u8>,
}

impl Base64 {
    pub(crate) fn offset(&self) -> u64 {
        self.at
    }

    /// Decodes the next characters.
    pub(crate) fn push(&mut self, text: &[u8], emit: Emit<'_>) -> Result<(), SourceFault> {
        let mut result = Ok(());
        for character in text {
            result = self.character(*character);
            if result.is_err() {
                break;
            }
            self.at = self.at.saturating_add(1);
            if self.out.len() >= TEXT_CHUNK_BYTES {
                emit(&self.out);
                self.out.clear();
            }
        }
        if !self.out.is_empty() {
            emit(&self.out);
            self.out.clear();
        }
        result
    }

    /// The text ends here.
    pub(crate) fn finish(&self) -> Result<(), SourceFault> {
        if self.characters == 0 {
            return Ok(());
        }
        let have = count(usize::from(self.characters));
        self.fault(Reason::Truncated { have, need: 4 })
    }

    fn character(&mut self, character: u8) -> Result<(), SourceFault> {
        if matches!(character, b' ' | b'\t' | b'\r' | b'\n') {
            return Ok(());
        }
        if self.ended {
            return self.fault(Reason::NotBase64);
        }
        if character == b'=' {
            if self.characters < 2 {
                return self.fault(Reason::NotBase64);
            }
            self.padding = self.padding.saturating_add(1);
        } else if self.padding > 0 {
            return self.fault(Reason::NotBase64);
        }
        let value = if character == b'=' {
            0
        } else {
            match value(character) {
                Some(value) => value,
                None => return self.fault(Reason::NotBase64),
            }
        };
        self.bits = (self.bits << 6) | u32::from(value);
        self.characters = self.characters.saturating_add(1);
        if self.characters == 4 { self.group() } else { Ok(()) }
    }

    fn group(&mut self) -> Result<(), SourceFault> {
        let [_, first, second, third] = self.bits.to_be_bytes();
        // Bits under the padding must be 0: every byte sequence has one text.
        match self.padding {
            0 => self.out.extend_from_slice(&[first, second, third]),
            1 if third == 0 => self.out.extend_from_slice(&[first, second]),
            2 if second == 0 && third == 0 => self.out.push(first),
            _ => return self.fault(Reason::NotBase64),
        }
        self.ended = self.padding > 0;
        self.bits = 0;
        self.characters = 0;
        Ok(())
    }

    fn fault(&self, reason: Reason) -> Result<(), SourceFault> {
        Err(SourceFault { offset: self.at, reason })
    }
}

fn value(character: u8) -> Option<u8> {
    Some(match character {
        b'A'..=b'Z' => character.wrapping_sub(b'A'),
        b'a'..=b'z' => character.wrapping_sub(b'a').wrapping_add(26),
        b'0'..=b'9' => character.wrapping_sub(b'0').wrapping_add(52),
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

//! Frames out of bytes cut anywhere, and the JSON in them: the decoder over a fixed buffer and the scanner.

use twolane_core::buffer::{Event, FrameBuffer};
use twolane_core::scan::json::Scanner;

/// Decodes what `bytes` hold within `storage` and counts tokens; 0 where a rule is broken.
pub fn run(mut bytes: &[u8], storage: &mut [u8]) -> u32 {
    let Ok(mut frames) = FrameBuffer::new(storage) else { return 0 };
    let mut tokens = 0;
    loop {
        let space = frames.space();
        let count = space.len().min(bytes.len());
        let (now, later) = bytes.split_at_checked(count).unwrap_or_default();
        space.iter_mut().zip(now).for_each(|(to, from)| *to = *from);
        frames.advance(count);
        bytes = later;
        loop {
            match frames.take() {
                Ok(Some(Event::Frame(frame))) => {
                    let mut scanner = Scanner::new(frame.body);
                    while let Ok(Some(_)) = scanner.next_token() {
                        tokens += 1;
                    }
                }
                Ok(Some(Event::Oversize(header))) => tokens ^= header.body_len(),
                Ok(None) => break,
                Err(_) => return 0,
            }
        }
        if count == 0 {
            return if frames.end().is_ok() { tokens } else { 0 };
        }
    }
}

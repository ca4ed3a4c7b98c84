//! The frame decoder, over unread bytes and over a fixed buffer, and the encoder.
#![no_std]
#![no_main]

use no_panic::{input, output, program};
use twolane_core::buffer::{Event, FrameBuffer};
use twolane_core::frame::{FrameDecoder, Item, encode_frame};

program!(|bytes| {
    let mut decoder = FrameDecoder::new(256);
    let mut unread = &*bytes;
    while let Ok(decoded) = decoder.decode(unread) {
        if let Item::Frame(frame) = decoded.item {
            let mut out = [0; 300];
            output(encode_frame(&frame.header, frame.body, &mut out));
            output(out);
        }
        if decoded.consumed == 0 {
            break;
        }
        unread = unread.get(decoded.consumed..).unwrap_or_default();
    }
    let mut whole = decoder.whole_frames(unread);
    while let Some(frame) = whole.next() {
        output(frame.body.len());
    }
    unread = whole.unread();
    output(decoder.end(unread));
    let mut second = [0; 512];
    if let Ok(mut frames) = FrameBuffer::new(input(&mut second)) {
        let space = frames.space();
        let count = space.len().min(bytes.len());
        space.iter_mut().zip(&*bytes).for_each(|(to, from)| *to = *from);
        frames.advance(count);
        while let Ok(Some(event)) = frames.take() {
            if let Event::Frame(frame) = event {
                output(frame.body.len());
            }
        }
        output(frames.end());
    }
});

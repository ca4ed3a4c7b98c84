//! The frame decoder and the JSON scanner.
#![no_std]
#![no_main]

parts::program!(twolane_core::buffer::FrameBuffer<'static>, |bytes| {
    let (input, storage) = bytes.split_at_mut_checked(512).unwrap_or_default();
    parts::decode::run(input, storage)
});

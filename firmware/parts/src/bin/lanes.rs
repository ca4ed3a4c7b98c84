//! A whole lanes client.
#![no_std]
#![no_main]

parts::program!(parts::lanes::Client<'static>, |bytes| {
    let (input, rest) = bytes.split_at_mut_checked(512).unwrap_or_default();
    let (storage, out) = rest.split_at_mut_checked(512).unwrap_or_default();
    parts::lanes::run(input, storage, out)
});

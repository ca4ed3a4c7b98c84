//! A whole lanes client with seal and open.
#![no_std]
#![no_main]

type State = (parts::lanes::Client<'static>, twolane_core::connector::seal::SealKey);

parts::program!(State, |bytes| {
    let (input, rest) = bytes.split_at_mut_checked(512).unwrap_or_default();
    let (storage, out) = rest.split_at_mut_checked(512).unwrap_or_default();
    parts::sealed::run(input, storage, out)
});

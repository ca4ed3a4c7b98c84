//! The `twolane` binary.
fn main() {}

//! The core from C: header, frames, the client's handshake, seal and open (docs/link-the-core.md).
//!
//! Every function checks its pointers for null and trusts their lengths. Nothing is kept of a pointer after a call,
//! nothing is allocated, and what is opaque lies in the caller's memory.
#![no_std]

#[cfg(not(target_os = "none"))]
extern crate std;

mod border;
pub mod frame;
pub mod handshake;
#[cfg(feature = "seal")]
pub mod seal;

/// How a call went. Everything but `Ok` and `Need` is final for the state that was called.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TwolaneStatus {
    /// Done.
    Ok = 0,
    /// More bytes are needed; nothing is wrong.
    Need = 1,
    /// A pointer that must not be null is, or a buffer is too small.
    Usage = 2,
    /// The peer broke a rule of the wire.
    Refused = 3,
    /// The peer does not hold the key, or is another process than the one expected.
    NotTrusted = 4,
}

/// A machine without a system has nobody to tell.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

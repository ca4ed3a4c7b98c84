#![cfg_attr(target_arch = "wasm32", no_std)]
//! Thin face of the core for the page: one [`Inspector`] holds one capture.
//!
//! The page reads the values of all units straight out of the module's memory, one typed array a
//! column ([`Inspector::column`]), and asks for the fields of a unit when it shows them
//! ([`Inspector::detail`]). What the connector sealed is opened by a [`Keyring`]. No object is made for a unit, and no rule about bytes stands here.

extern crate alloc;

mod column;
mod detail;
mod inspector;
mod keyring;

/// Half the code of the standard library's allocator; it never shrinks or moves what is in use.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// Ends the module: what the standard library would say of a panic is more code than all that can panic.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

use twolane_core::handshake::Stage;

pub use column::Column;
pub use detail::{Detail, dissect};
pub use inspector::{FilterFault, Inspector, names};
pub use keyring::{Keyring, Opened};

/// The messages of a handshake, in their order.
pub(crate) const STAGES: [Stage; 3] = [Stage::ClientHello, Stage::ServerProof, Stage::ClientAuth];

//! What the programs share: the stack's paint, and an end that the host sees.
//!
//! The unsafe blocks here touch only the unused part of this program's own stack.
#![no_std]

mod stack;

use core::panic::PanicInfo;

use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS};
use cortex_m_semihosting::hprintln;
pub use stack::used_by;

/// Ends the machine; the host sees success.
pub fn done() -> ! {
    debug::exit(EXIT_SUCCESS);
    halt()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    debug::exit(EXIT_FAILURE);
    halt()
}

fn halt() -> ! {
    loop {
        cortex_m::asm::nop();
    }
}

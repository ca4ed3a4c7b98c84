//! A panic handler that no linker can resolve, and inputs that no optimizer can know.
//!
//! The unsafe blocks here touch only this crate's own statics: the core stays free of unsafe code.
#![no_std]

use core::panic::PanicInfo;

#[cfg(not(feature = "listed"))]
unsafe extern "C" {
    /// Defined nowhere: an entry point that keeps a panic does not link.
    fn a_panic_is_reachable() -> !;
}

#[cfg(feature = "listed")]
#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn a_panic_is_reachable() -> ! {
    halt()
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // Safety: it never links, so it is never called; where it is listed, it is a function of our own.
    #[allow(unused_unsafe, reason = "only the one that never links is a foreign function")]
    unsafe {
        a_panic_is_reachable()
    }
}

/// Bytes whose content and number are unknown at compile time.
pub fn input(storage: &mut [u8; 512]) -> &mut [u8] {
    let storage = core::hint::black_box(storage);
    let len = core::hint::black_box(512_usize).min(512);
    storage.split_at_mut_checked(len).map_or(&mut [], |(front, _)| front)
}

/// Makes the program look at a result.
pub fn output<T>(result: T) {
    core::hint::black_box(result);
}

/// The end of a program on a machine without a system.
pub fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// A program that hands 512 unknown bytes to the entry points under test.
#[macro_export]
macro_rules! program {
    (|$bytes:ident| $work:block) => {
        #[unsafe(no_mangle)]
        extern "C" fn _start() -> ! {
            let mut storage = [0; 512];
            let $bytes = $crate::input(&mut storage);
            $work
            $crate::halt()
        }
    };
}

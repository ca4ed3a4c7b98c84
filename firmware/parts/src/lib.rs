//! What firmware links of the core, a part each: one source for its size (the programs here) and its stack
//! (firmware/qemu).
#![no_std]
#![forbid(unsafe_code)]

pub mod decode;
pub mod lanes;
pub mod peek;
pub mod sealed;

// Linked for its symbols; WebAssembly has instructions for them.
#[cfg(target_os = "none")]
use memory as _;

/// A program of one part, without a system or a runtime below.
#[macro_export]
macro_rules! program {
    ($state:ty, |$bytes:ident| $work:expr) => {
        /// The memory that the part's state takes, so that it shows in the program's RAM.
        #[used]
        static STATE: [core::sync::atomic::AtomicU8; size_of::<$state>()] =
            [const { core::sync::atomic::AtomicU8::new(0) }; size_of::<$state>()];

        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            loop {}
        }

        #[unsafe(no_mangle)]
        extern "C" fn _start($bytes: &'static mut &'static mut [u8]) -> u32 {
            $work
        }
    };
}

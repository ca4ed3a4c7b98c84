//! The memory functions that compiled code calls, small instead of fast. The compiler's own are weak symbols, so that
//! linking this crate replaces them; a C library's would do the same.
//!
//! Without builtins, or the compiler would see a memcpy in the loop of memcpy and call it.
#![no_std]
#![no_builtins]

/// Copies `len` bytes between places that do not overlap.
///
/// # Safety
/// Both places have `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
    for place in 0..len {
        // Safety: `place` is below `len`.
        unsafe { *to.add(place) = *from.add(place) };
    }
    to
}

/// Copies `len` bytes between places that may overlap.
///
/// # Safety
/// Both places have `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
    if to.addr() <= from.addr() {
        // Safety: forwards, no byte is overwritten before it was read.
        return unsafe { memcpy(to, from, len) };
    }
    for place in (0..len).rev() {
        // Safety: `place` is below `len`; backwards, no byte is overwritten before it was read.
        unsafe { *to.add(place) = *from.add(place) };
    }
    to
}

/// Fills `len` bytes with the low byte of `value`.
///
/// # Safety
/// The place has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memset(to: *mut u8, value: i32, len: usize) -> *mut u8 {
    for place in 0..len {
        // Safety: `place` is below `len`.
        unsafe { *to.add(place) = value.to_le_bytes()[0] };
    }
    to
}

/// Arm's names for the same: aligned or not is one, a fill has its last two arguments swapped, a clear has none.
#[cfg(target_arch = "arm")]
mod arm {
    use super::{memcpy, memmove, memset};

    macro_rules! same {
        ($($name:ident: $of:ident),*) => {$(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(to: *mut u8, from: *const u8, len: usize) {
                // Safety: the caller's, which is the same.
                unsafe { $of(to, from, len) };
            }
        )*};
    }
    same!(__aeabi_memcpy: memcpy, __aeabi_memcpy4: memcpy, __aeabi_memcpy8: memcpy);
    same!(__aeabi_memmove: memmove, __aeabi_memmove4: memmove, __aeabi_memmove8: memmove);

    macro_rules! clear {
        ($($name:ident),*) => {$(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(to: *mut u8, len: usize) {
                // Safety: the caller's, which is the same.
                unsafe { memset(to, 0, len) };
            }
        )*};
    }
    clear!(__aeabi_memclr, __aeabi_memclr4, __aeabi_memclr8);

    macro_rules! fill {
        ($($name:ident),*) => {$(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(to: *mut u8, len: usize, value: i32) {
                // Safety: the caller's, which is the same.
                unsafe { memset(to, value, len) };
            }
        )*};
    }
    fill!(__aeabi_memset, __aeabi_memset4, __aeabi_memset8);
}

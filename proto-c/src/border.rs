//! Pointers from C to slices and states: every use of `unsafe` that is not a signature.

use core::mem::{align_of, size_of};

/// The bytes at `start`; `None` for null. An empty slice may have any pointer.
///
/// # Safety
/// `start` is null, or `len` bytes may be read there for as long as the result is used.
pub(crate) unsafe fn bytes<'a>(start: *const u8, len: usize) -> Option<&'a [u8]> {
    if len == 0 {
        return Some(&[]);
    }
    if start.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // Safety: the caller's promise; null and impossible lengths are out.
    Some(unsafe { core::slice::from_raw_parts(start, len) })
}

/// The same to be written.
///
/// # Safety
/// `start` is null, or `len` bytes that hold something may be read and written there, by nobody else, for as long as
/// the result is used.
pub(crate) unsafe fn bytes_mut<'a>(start: *mut u8, len: usize) -> Option<&'a mut [u8]> {
    if len == 0 {
        return Some(&mut []);
    }
    if start.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // Safety: the caller's promise; null and impossible lengths are out.
    Some(unsafe { core::slice::from_raw_parts_mut(start, len) })
}

/// The array at `start`; `None` for null.
///
/// # Safety
/// As [`bytes`] with `N` bytes.
pub(crate) unsafe fn array<'a, const N: usize>(start: *const u8) -> Option<&'a [u8; N]> {
    // Safety: the caller's promise.
    unsafe { bytes(start, N) }?.first_chunk()
}

/// Puts a result where the caller wants it; false for null.
///
/// # Safety
/// `place` is null, or a `T` may be written there.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) -> bool {
    if place.is_null() {
        return false;
    }
    // Safety: the caller's promise.
    unsafe { place.write(value) };
    true
}

/// Memory of the caller's that a `State` lies in.
///
/// # Safety
/// A `State` fits: [`fits`] says so at compile time.
pub(crate) unsafe trait Place {
    type State;
}

/// Whether a `State` fits into a `Place`.
pub(crate) const fn fits<P: Place>() -> bool {
    size_of::<P::State>() <= size_of::<P>() && align_of::<P::State>() <= align_of::<P>()
}

/// Begins a state's life; false for null.
///
/// # Safety
/// `place` is null, or a `P` may be written there.
pub(crate) unsafe fn begin<P: Place>(place: *mut P, state: P::State) -> bool {
    // Safety: a `State` fits into a `P`, and the place is the caller's to give.
    unsafe { put(place.cast(), state) }
}

/// A state that was begun; `None` for null.
///
/// # Safety
/// `place` is null, or holds a state that was begun and not ended, which nobody else uses meanwhile.
pub(crate) unsafe fn state<'a, P: Place>(place: *mut P) -> Option<&'a mut P::State> {
    // Safety: the caller's promise.
    unsafe { place.cast::<P::State>().as_mut() }
}

/// Ends a state's life: what it holds is overwritten where it is a secret.
///
/// # Safety
/// As [`state`]; the state is not used again.
pub(crate) unsafe fn end<P: Place>(place: *mut P) {
    if !place.is_null() {
        // Safety: the caller's promise.
        unsafe { place.cast::<P::State>().drop_in_place() };
    }
}

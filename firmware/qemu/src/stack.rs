//! How much stack some work takes, by painting what is free and looking what was painted over.

use core::hint::black_box;

use cortex_m::register::msp;

const PAINT: u32 = 0xa5c3_96e1;

/// Bytes left alone just below the painter's own frame.
const MARGIN: usize = 64;

/// Bytes of stack that `work` uses below its caller's frame. Registers saved for interrupts are not in it: none is on.
#[inline(never)]
pub fn used_by<T>(work: fn(T), argument: T) -> usize {
    let top = msp::read() as usize;
    let bottom = cortex_m_rt::heap_start();
    let words = (top - MARGIN - bottom as usize) / size_of::<u32>();
    for place in 0..words {
        // Safety: between the end of all statics and below this function's frame nothing is in use.
        unsafe { bottom.add(place).write_volatile(PAINT) };
    }
    // Through a pointer that nothing is known of, so that the work is not made a part of this frame.
    black_box(work)(argument);
    // Safety: as above; the words were written by the loop.
    let untouched =
        (0..words).take_while(|&place| unsafe { bottom.add(place).read_volatile() } == PAINT).count();
    top - bottom as usize - untouched * size_of::<u32>()
}

//! Things compared take turns, so that a machine that slows down slows all of them; medians over the rounds count.

use std::time::Instant;

/// One thing to time: its work, and how many units of work one call does.
pub(crate) struct Thing<'a> {
    pub(crate) units: u64,
    pub(crate) work: &'a mut dyn FnMut(),
}

impl<'a> Thing<'a> {
    pub(crate) fn new(units: u64, work: &'a mut dyn FnMut()) -> Self {
        Self { units, work }
    }

    /// Nanoseconds a unit over `calls` calls.
    fn round(&mut self, calls: u32) -> f64 {
        let started = Instant::now();
        for _ in 0..calls {
            (self.work)();
        }
        started.elapsed().as_secs_f64() * 1e9 / (self.units * u64::from(calls)) as f64
    }
}

/// Nanoseconds a unit of each thing: the median of `rounds` rounds of `calls` calls, after a round that warms up.
pub(crate) fn medians<const N: usize>(rounds: u32, calls: u32, mut things: [Thing<'_>; N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    for round in 0..=rounds {
        for (thing, times) in things.iter_mut().zip(&mut times) {
            let time = thing.round(calls);
            if round > 0 {
                times.push(time);
            }
        }
    }
    times.map(median)
}

/// The middle one; the higher of two.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Says whether a promise was kept, and gives it back.
pub(crate) fn judge(promise: &str, kept: bool) -> bool {
    println!("  promised: {promise}: {}", if kept { "kept" } else { "NOT KEPT" });
    kept
}

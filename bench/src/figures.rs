//! Figures of one round, and medians of rounds.

use std::time::Duration;

/// What one round measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// Median of control, from before it is queued until it is decoded.
    pub(crate) p50: Duration,
    /// The same for 99 of 100 frames.
    pub(crate) p99: Duration,
    /// The slowest.
    pub(crate) max: Duration,
    /// Control frames measured.
    pub(crate) frames: usize,
    /// Display and gaps that the reader took, in MB/s.
    pub(crate) display_mb_s: f64,
}

impl Round {
    /// From the times of single frames and the bytes of display read in `took`.
    pub(crate) fn new(mut times: Vec<Duration>, display_bytes: u64, took: Duration) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            let place = (times.len() as f64 * share) as usize;
            times.get(place.min(times.len().saturating_sub(1))).copied().unwrap_or_default()
        };
        Self {
            p50: at(0.5),
            p99: at(0.99),
            max: at(1.0),
            frames: times.len(),
            display_mb_s: display_bytes as f64 / 1e6 / took.as_secs_f64(),
        }
    }

    /// The median of each figure over the rounds.
    pub(crate) fn median(rounds: &[Self]) -> Self {
        fn middle<T: Copy + PartialOrd>(rounds: &[Round], figure: impl Fn(&Round) -> T) -> T {
            let mut figures: Vec<T> = rounds.iter().map(figure).collect();
            figures.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
            figures[figures.len() / 2]
        }
        Self {
            p50: middle(rounds, |round| round.p50),
            p99: middle(rounds, |round| round.p99),
            max: middle(rounds, |round| round.max),
            frames: middle(rounds, |round| round.frames),
            display_mb_s: middle(rounds, |round| round.display_mb_s),
        }
    }
}

/// Milliseconds for a table.
pub(crate) fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

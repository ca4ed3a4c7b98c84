//! The law of sequence numbers, checked by every reader for each lane of each generation (docs/wire.md, "Lanes").

use crate::envelope::Lane;
use crate::limits::INTEGER_MAX;

/// Follows one lane of one generation on one connection and direction.
///
/// A breach is reported once and never repaired: checking goes on from the frame that broke the law.
///
/// ```
/// use twolane_core::envelope::Lane;
/// use twolane_core::lanes::law::{Breach, Law, Verdict};
///
/// let mut display = Law::from_start(Lane::Display);
/// assert_eq!(display.check(0, None), Verdict::Kept);
/// // Three frames were shed; the gap that stands for them has the seq of the last.
/// assert_eq!(display.check(3, Some(3)), Verdict::Kept);
/// // 4 never came, and nothing accounts for it.
/// assert_eq!(display.check(5, None), Verdict::Broken(Breach::Seq { expected: 4, found: 5 }));
/// assert_eq!(display.check(6, None), Verdict::Kept);
///
/// // A capture that begins in the middle.
/// assert_eq!(Law::joining(Lane::Control).check(17, None), Verdict::Joined);
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    lane: Lane,
    next: Next,
}

#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The reader joined in the middle: any first frame is taken as it is.
    Unknown,
    Seq(u64),
}

/// What one frame means for the law.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The frame follows the one before it, or is a gap that accounts for what is missing.
    Kept,
    /// The first frame seen by a reader that joined in the middle.
    Joined,
    /// The frame does not follow.
    Broken(Breach),
}

/// How a frame breaks the law.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// The seq is not the one that follows. For a gap, `expected` counts its `dropped`.
    #[error("seq is {found}, expected {expected}")]
    Seq {
        /// The seq that the law asks for.
        expected: u64,
        /// The frame's.
        found: u64,
    },
    /// A gap that accounts for nothing.
    #[error("gap with dropped 0 at seq {found}")]
    EmptyGap {
        /// The frame's seq.
        found: u64,
    },
    /// A sum over 2^53 - 1.
    #[error("seq {found} with dropped {dropped} is beyond 2^53-1")]
    TooLarge {
        /// The frame's seq.
        found: u64,
        /// Its `dropped`, 0 where it is no gap.
        dropped: u64,
    },
}

impl Law {
    /// For a reader that sees the generation from its first frame: seq starts at 0.
    pub const fn from_start(lane: Lane) -> Self {
        Self { lane, next: Next::Seq(0) }
    }

    /// For a reader that joins in the middle: the first frame is taken as it is.
    pub const fn joining(lane: Lane) -> Self {
        Self { lane, next: Next::Unknown }
    }

    /// Judges the next frame. `dropped` is that of a `display_gap`; on the control lane it is not looked at.
    pub fn check(&mut self, seq: u64, dropped: Option<u64>) -> Verdict {
        let dropped = if self.lane == Lane::Display { dropped } else { None };
        let verdict = self.judge(seq, dropped);
        // A seq beyond the bound has no successor, so that the next frame is judged broken too.
        self.next = Next::Seq(seq.saturating_add(1));
        verdict
    }

    fn judge(&self, seq: u64, dropped: Option<u64>) -> Verdict {
        if dropped == Some(0) {
            return Verdict::Broken(Breach::EmptyGap { found: seq });
        }
        let too_large = Breach::TooLarge { found: seq, dropped: dropped.unwrap_or(0) };
        if seq > INTEGER_MAX {
            return Verdict::Broken(too_large);
        }
        let Next::Seq(next) = self.next else { return Verdict::Joined };
        // p.seq + dropped is (next - 1) + dropped; dropped is 1 for a frame that is no gap.
        let expected = match next.checked_add(dropped.unwrap_or(1) - 1) {
            Some(expected) if expected <= INTEGER_MAX => expected,
            _ => return Verdict::Broken(too_large),
        };
        if seq == expected { Verdict::Kept } else { Verdict::Broken(Breach::Seq { expected, found: seq }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_follows_by_one_or_by_a_gap_that_accounts_for_the_rest() {
        let mut law = Law::from_start(Lane::Display);
        assert_eq!(law.check(0, None), Verdict::Kept);
        assert_eq!(law.check(1, None), Verdict::Kept);
        assert_eq!(law.check(4, Some(3)), Verdict::Kept);
        assert_eq!(law.check(5, Some(1)), Verdict::Kept);
        assert_eq!(law.check(6, None), Verdict::Kept);
    }

    #[test]
    fn a_stream_may_begin_with_a_gap() {
        assert_eq!(Law::from_start(Lane::Display).check(2, Some(3)), Verdict::Kept);
    }

    #[test]
    fn a_breach_is_reported_once_and_checking_goes_on_from_it() {
        let mut law = Law::from_start(Lane::Display);
        assert_eq!(law.check(2, None), Verdict::Broken(Breach::Seq { expected: 0, found: 2 }));
        assert_eq!(law.check(3, None), Verdict::Kept);
        assert_eq!(law.check(3, None), Verdict::Broken(Breach::Seq { expected: 4, found: 3 }));
    }

    #[test]
    fn a_gap_that_counts_wrong_breaks_the_law() {
        let mut law = Law::from_start(Lane::Display);
        assert_eq!(law.check(3, Some(3)), Verdict::Broken(Breach::Seq { expected: 2, found: 3 }));
        assert_eq!(law.check(3, Some(0)), Verdict::Broken(Breach::EmptyGap { found: 3 }));
    }

    #[test]
    fn control_knows_no_gaps() {
        let mut law = Law::from_start(Lane::Control);
        assert_eq!(law.check(0, None), Verdict::Kept);
        assert_eq!(law.check(3, Some(3)), Verdict::Broken(Breach::Seq { expected: 1, found: 3 }));
    }

    #[test]
    fn one_who_joins_takes_the_first_frame_as_it_is() {
        let mut law = Law::joining(Lane::Display);
        assert_eq!(law.check(70, None), Verdict::Joined);
        assert_eq!(law.check(71, None), Verdict::Kept);
    }

    #[test]
    fn sums_stay_within_the_exact_integers() {
        let mut law = Law::joining(Lane::Display);
        assert_eq!(law.check(INTEGER_MAX, None), Verdict::Joined);
        let beyond = Breach::TooLarge { found: INTEGER_MAX, dropped: u64::MAX };
        assert_eq!(law.check(INTEGER_MAX, Some(u64::MAX)), Verdict::Broken(beyond));
        let beyond = Breach::TooLarge { found: u64::MAX, dropped: 0 };
        assert_eq!(law.check(u64::MAX, None), Verdict::Broken(beyond));
        assert_eq!(law.check(u64::MAX, None), Verdict::Broken(beyond));
    }
}

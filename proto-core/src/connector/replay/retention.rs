//! How long answers are kept, and then the mere fact that there was one.

use super::clock::Now;
use crate::limits::{FINISHED_KEPT_MS, TOMBSTONE_KEPT_MS};

/// How long records are kept, in milliseconds.
///
/// ```
/// use twolane_core::connector::replay::{Due, Now, Retention};
///
/// let retention = Retention { finished_ms: 100, tombstone_ms: 1000 };
/// // A request that expired at 50 and whose answer was complete at 80.
/// let due = |ms| retention.due(50, 80, Now::Trusted { ms });
/// assert_eq!([due(180), due(181), due(1181)], [Due::Keep, Due::Bury, Due::Forget]);
/// assert_eq!(retention.due(50, 80, Now::Leapt { ahead_ms: 9_000_000 }), Due::Keep);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Of a finished answer.
    pub finished_ms: u64,
    /// Of its tombstone, after that.
    pub tombstone_ms: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { finished_ms: FINISHED_KEPT_MS, tombstone_ms: TOMBSTONE_KEPT_MS }
    }
}

/// What is due with a record of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing yet.
    Keep,
    /// The answer goes, the binding stays.
    Bury,
    /// All of it goes. The id may then be used for another request.
    Forget,
}

impl Retention {
    /// What is due with an answer of a request, by the later of its expiry and its completion. Under a clock that
    /// leapt nothing is. A request that is not finished has no completion and is kept.
    pub fn due(&self, expires_at_unix_ms: u64, completed_at_unix_ms: u64, now: Now) -> Due {
        let Now::Trusted { ms } = now else { return Due::Keep };
        let bury_at = expires_at_unix_ms.max(completed_at_unix_ms).saturating_add(self.finished_ms);
        let forget_at = bury_at.saturating_add(self.tombstone_ms);
        if ms <= bury_at {
            Due::Keep
        } else if ms <= forget_at {
            Due::Bury
        } else {
            Due::Forget
        }
    }
}

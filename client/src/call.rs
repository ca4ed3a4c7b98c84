//! The same invocation again and again, until there is an answer that another try cannot change.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use twolane_core::connector::document::Refusal;

use crate::client::{Client, Reply, SendFault};
use crate::exchange::Lost;
use crate::prepared::Prepared;

const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// What another try may change.
#[derive(Debug, thiserror::Error)]
pub enum Again {
    /// It is running; its answer will be there.
    #[error("it is still running")]
    InFlight,
    /// There is no room for it now.
    #[error("the server has no room for it now")]
    Capacity,
    /// The connection brought nothing.
    #[error(transparent)]
    Lost(Lost),
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallFault {
    /// Another try changes nothing.
    #[error(transparent)]
    Stopped(SendFault),
    /// The time is over. The request may run all the same; its answer can be asked for with the same invocation.
    #[error("no answer in time after {attempts} tries: {last}")]
    OutOfTime {
        /// How often it was sent, or tried to.
        attempts: u32,
        /// What the last try came to.
        last: Again,
    },
}

/// A pause between two tries.
#[derive(Debug)]
pub struct Waiting<'a> {
    /// Tries so far.
    pub attempts: u32,
    /// What the last one came to.
    pub reason: &'a Again,
    /// How long until the next.
    pub pause: Duration,
}

impl Client {
    /// Sends the same invocation until it is answered, at most for `time`. What is in flight, finds no room or loses
    /// its connection is sent again after a pause, which `waiting` is told of; all else is the end. Dropping the
    /// future loses nothing: the invocation is stored.
    pub async fn call(
        &self,
        prepared: &Prepared,
        time: Duration,
        mut waiting: impl FnMut(&Waiting<'_>),
    ) -> Result<Reply, CallFault> {
        let deadline = Instant::now() + time;
        let mut backoff = Backoff::default();
        let mut attempts = 0_u32;
        loop {
            attempts = attempts.saturating_add(1);
            let sent = timeout_at(deadline, self.send(prepared)).await;
            let reason = match sent.unwrap_or(Err(SendFault::Lost(Lost::Slow("the call")))) {
                Ok(Reply::Refused(Refusal::InFlight)) => Again::InFlight,
                Ok(Reply::Refused(Refusal::Capacity)) => Again::Capacity,
                Err(SendFault::Lost(lost)) => Again::Lost(lost),
                Ok(reply) => return Ok(reply),
                Err(fault) => return Err(CallFault::Stopped(fault)),
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left < PAUSE_MIN {
                return Err(CallFault::OutOfTime { attempts, last: reason });
            }
            // The last tries come closer together instead of none for a long time.
            let pause = backoff.pause(random()).min(left / 2);
            waiting(&Waiting { attempts, reason: &reason, pause });
            sleep(pause).await;
        }
    }
}

/// Where the system gives none, callers may come at one time; nothing worse.
fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}

/// Pauses that double up to a bound, each between its half and its whole, so that many callers spread out.
#[derive(Debug)]
struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(PAUSE_MIN)
    }
}

impl Backoff {
    fn pause(&mut self, random: u64) -> Duration {
        let half = self.0 / 2;
        let span_ms = u64::try_from(half.as_millis()).unwrap_or(u64::MAX);
        self.0 = (self.0 * 2).min(PAUSE_MAX);
        half + Duration::from_millis(random % span_ms.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_to_a_bound_and_spread_over_their_upper_half() {
        let (mut least, mut most) = (Backoff::default(), Backoff::default());
        let pauses: Vec<_> = (0..9)
            .map(|_| (least.pause(0).as_millis(), most.pause(25 * 50 * 100 * 2500 - 1).as_millis()))
            .collect();
        assert_eq!(pauses[..3].iter().map(|pause| pause.0).collect::<Vec<_>>(), [25, 50, 100]);
        assert_eq!(pauses[8].0, 2500);
        assert!(pauses.iter().all(|(least, most)| least <= most && *most <= 2 * least));
        let all: Vec<_> = (0..26).map(|random| Backoff::default().pause(random).as_millis()).collect();
        assert_eq!((all[0], all[25]), (25, 50));
    }
}

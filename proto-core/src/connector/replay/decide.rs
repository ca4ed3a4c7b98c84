//! Whether a request runs, is answered from the store, or is refused.

use core::num::NonZeroU32;

use super::clock::Now;
use crate::connector::digest::Digest;
use crate::connector::document::Refusal;

/// What the store holds of one caller's request id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The request it belongs to.
    pub binding: Digest,
    /// How far that came.
    pub state: State,
}

/// How far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A run of this process holds it.
    Running,
    /// A process claimed it and died; whether the provider ran is not known.
    Abandoned,
    /// The same, and a person decided that it failed.
    Resolved,
    /// Its answer is stored.
    Finished(Copies),
    /// Its answer was stored and is gone.
    Tombstone,
}

/// Under which keys a stored answer is sealed, as seen from the key that opened the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Under that key.
    ThisKey,
    /// Under another key that is still configured, not under that key.
    OtherKey,
    /// Only under keys that are not configured any more.
    NoKey,
}

/// What a request says that was opened and judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What binds its results to it.
    pub binding: Digest,
    /// Until when a run may begin.
    pub expires_at_unix_ms: u64,
    /// The most tokens to write, where it says so.
    pub max_output_tokens: Option<NonZeroU32>,
    /// Whether its model is the caller's to ask for.
    pub model_allowed: bool,
}

/// What a caller may do, and what there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The caller's bound of output tokens.
    pub output_tokens_max: NonZeroU32,
    /// How far ahead of now a request may expire, in milliseconds.
    pub skew_ms: u64,
    /// The caller's runs now.
    pub running: u32,
    /// The most runs that the caller may have at once.
    pub running_max: u32,
    /// Whether the store has room for a claim and its largest reply.
    pub has_room: bool,
}

/// What to do with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Claim it durably, then run it with this limit of output tokens.
    Run {
        /// The limit that the backend is given.
        output_tokens_max: NonZeroU32,
    },
    /// Send the stored bytes.
    Stored,
    /// Seal the stored answer under the key that opened the request, store that copy, and send it.
    SealAgain,
    /// Answer that it failed, of the kind Internal: seal that, store it, and send it.
    Fail,
    /// Refuse it.
    Refuse(Refusal),
}

/// Decides over a request: first by what the store holds, which no later change of time or policy can hide; then,
/// of a new one, by its expiry, the policy and the capacity. A clock that is not trusted begins nothing new.
///
/// It is called again with what is there by then where an insert finds that another one was faster.
///
/// ```
/// use std::num::NonZeroU32;
/// use twolane_core::connector::digest::Digest;
/// use twolane_core::connector::document::Refusal;
/// use twolane_core::connector::replay::{Asked, Copies, Decision, Now, Record, State, Terms, decide};
///
/// let asked = Asked {
///     binding: Digest([9; 32]),
///     expires_at_unix_ms: 60_000,
///     max_output_tokens: NonZeroU32::new(500),
///     model_allowed: true,
/// };
/// let output_tokens_max = NonZeroU32::new(1000).unwrap();
/// let terms = Terms { output_tokens_max, skew_ms: 300_000, running: 0, running_max: 1, has_room: true };
/// let now = Now::Trusted { ms: 10_000 };
///
/// // A new request runs; over the caller's limit it does not.
/// let run = Decision::Run { output_tokens_max: NonZeroU32::new(500).unwrap() };
/// assert_eq!(decide(None, &asked, &terms, now), run);
/// let greedy = Asked { max_output_tokens: NonZeroU32::new(1001), ..asked };
/// assert_eq!(decide(None, &greedy, &terms, now), Decision::Refuse(Refusal::Policy));
///
/// // A retry is answered from the store, however late it comes; an id that was another request's never is.
/// let late = Now::Trusted { ms: 90_000 };
/// let record = |state| Some(Record { binding: asked.binding, state });
/// assert_eq!(decide(record(State::Finished(Copies::ThisKey)), &asked, &terms, late), Decision::Stored);
/// assert_eq!(decide(record(State::Abandoned), &asked, &terms, late), Decision::Refuse(Refusal::Indeterminate));
/// assert_eq!(decide(record(State::Resolved), &asked, &terms, late), Decision::Fail);
/// let other = Some(Record { binding: Digest([1; 32]), state: State::Running });
/// assert_eq!(decide(other, &asked, &terms, now), Decision::Refuse(Refusal::ReplayConflict));
/// ```
#[must_use]
pub fn decide(record: Option<Record>, asked: &Asked, terms: &Terms, now: Now) -> Decision {
    let refusal = match record {
        Some(record) if record.binding != asked.binding => Refusal::ReplayConflict,
        Some(record) => match record.state {
            State::Finished(Copies::ThisKey) => return Decision::Stored,
            State::Finished(Copies::OtherKey) => return Decision::SealAgain,
            State::Finished(Copies::NoKey) | State::Tombstone => Refusal::Retired,
            State::Resolved => return Decision::Fail,
            State::Running => Refusal::InFlight,
            State::Abandoned => Refusal::Indeterminate,
        },
        None => match begin(asked, terms, now) {
            Ok(output_tokens_max) => return Decision::Run { output_tokens_max },
            Err(refusal) => refusal,
        },
    };
    Decision::Refuse(refusal)
}

/// The limit of output tokens that a new request runs with.
fn begin(asked: &Asked, terms: &Terms, now: Now) -> Result<NonZeroU32, Refusal> {
    let Now::Trusted { ms } = now else {
        // Whether it is expired cannot be told; the caller may ask again.
        return Err(Refusal::Capacity);
    };
    if !(ms..=ms.saturating_add(terms.skew_ms)).contains(&asked.expires_at_unix_ms) {
        return Err(Refusal::Expired);
    }
    let tokens = asked.max_output_tokens.unwrap_or(terms.output_tokens_max);
    if !asked.model_allowed || tokens > terms.output_tokens_max {
        return Err(Refusal::Policy);
    }
    if terms.running >= terms.running_max || !terms.has_room {
        return Err(Refusal::Capacity);
    }
    Ok(tokens)
}

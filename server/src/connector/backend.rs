//! The one trait that a connector for a provider implements.

use std::future::Future;
use std::num::NonZeroU32;

use tokio_util::sync::CancellationToken;
use twolane_core::connector::document::{self, Failed, FailureKind, OwnedInvocation, Valid};
use twolane_core::connector::text::{FailureMessage, Id};

use super::events::Events;

/// How a run ended.
pub type Outcome = document::Outcome<Box<str>>;

/// One turn to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// What was asked, and by whom.
    pub invocation: Valid<OwnedInvocation>,
    /// The most tokens to write: what the request says, or what its caller may at most.
    pub max_output_tokens: NonZeroU32,
}

/// Why no turn can be run now, in a few words for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotReady(pub String);

/// Runs turns with some provider. One value serves all callers.
pub trait ProviderBackend: Send + Sync + 'static {
    /// How the provider is reached, as receipts name it.
    fn transport(&self) -> Id<&str>;

    /// Whether turns can be run now. Asked before anything is claimed.
    fn readiness(&self) -> Result<(), NotReady>;

    /// Runs one turn: tells `events` what the provider says, and returns how it ended.
    ///
    /// It has to end soon after `cancel` is cancelled; what does not is dropped. A fault of `events` is a reason to
    /// end early: what comes after it is not kept.
    fn execute(
        &self,
        turn: &Turn,
        events: &Events,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Outcome> + Send;
}

/// A run that failed, said in `words`.
pub fn failed(failure_kind: FailureKind, words: &str) -> Outcome {
    let message = FailureMessage::cut(words).or_else(|| FailureMessage::cut(failure_kind.name()));
    match message {
        Some(message) => Outcome::Failed(Failed {
            failure_kind,
            message: message.to_owned(),
            http_status: None,
            retry_after_ms: None,
        }),
        None => unreachable!("the name of a kind of failure is not empty"),
    }
}

//! The backend that needs no provider: it says again what it was asked, the same each time.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use twolane_core::connector::document::{Completed, FailureKind, InputItem, StopReason};
use twolane_core::connector::text::Id;

use super::backend::{NotReady, Outcome, ProviderBackend, Turn, failed};
use super::events::Events;

/// Says the last words of the user again, a word at a time.
#[derive(Clone, Debug)]
pub struct Script {
    transport: Id<Box<str>>,
    /// Pause before each word.
    pub pause: Duration,
}

impl Script {
    /// One that waits for `pause` before each word.
    pub fn new(pause: Duration) -> Self {
        let transport = Id::new("script".into()).unwrap_or_else(|_| unreachable!("a word is an id"));
        Self { transport, pause }
    }
}

impl ProviderBackend for Script {
    fn transport(&self) -> Id<&str> {
        self.transport.borrow()
    }

    fn readiness(&self) -> Result<(), NotReady> {
        Ok(())
    }

    async fn execute(&self, turn: &Turn, events: &Events, cancel: &CancellationToken) -> Outcome {
        let input = &turn.invocation.request.input;
        let asked = input.iter().rev().find_map(|item| match item {
            InputItem::UserText { text } => Some(text.as_str()),
            _ => None,
        });
        let mut tokens = 0;
        let mut stop_reason = StopReason::EndTurn;
        // A word is a token here.
        for word in asked.unwrap_or("Nothing was asked.").split_inclusive(char::is_whitespace) {
            if tokens == u64::from(turn.max_output_tokens.get()) {
                stop_reason = StopReason::MaxOutputTokens;
                break;
            }
            if cancel.run_until_cancelled(pause(self.pause)).await.is_none() {
                return failed(FailureKind::Internal, "cancelled");
            }
            if let Err(fault) = events.text(word) {
                return failed(FailureKind::Internal, &fault.to_string());
            }
            tokens += 1;
        }
        Outcome::Completed(Completed {
            stop_reason,
            provider_response_id: None,
            input_tokens: None,
            output_tokens: Some(tokens),
            reasoning_output_tokens: None,
            cached_input_tokens: None,
        })
    }
}

/// A timer takes a millisecond even for nothing.
async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

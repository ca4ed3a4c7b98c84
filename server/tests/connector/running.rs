//! Backends that do what they should not, and the reply that there always is.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tokio_util::sync::CancellationToken;
use twolane::connector::script::Script;
use twolane::connector::{EventFault, Events, Limits, NotReady, Outcome, ProviderBackend, RunEnd, Turn, run};
use twolane_core::connector::document::{Completed, Failed, FailureKind, ReadResult, StopReason, Valid};
use twolane_core::connector::text::{FailureMessage, Id};

use crate::ask::{LIMITS, failure, id, replied, text, transported, turn};

/// A backend that does what a test wants.
struct Misbehaves<F>(F, Id<Box<str>>);

impl<F> Misbehaves<F> {
    fn new(does: F) -> Arc<Self> {
        Arc::new(Self(does, id("test")))
    }
}

impl<F, R> ProviderBackend for Misbehaves<F>
where
    F: Fn(Events, CancellationToken) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send,
{
    fn transport(&self) -> Id<&str> {
        self.1.borrow()
    }

    fn readiness(&self) -> Result<(), NotReady> {
        Ok(())
    }

    async fn execute(&self, _: &Turn, events: &Events, cancel: &CancellationToken) -> Outcome {
        (self.0)(events.clone(), cancel.clone()).await
    }
}

fn completed() -> Outcome {
    Outcome::Completed(Completed {
        stop_reason: StopReason::EndTurn,
        provider_response_id: None,
        input_tokens: None,
        output_tokens: None,
        reasoning_output_tokens: None,
        cached_input_tokens: None,
    })
}

#[tokio::test]
async fn the_script_says_what_it_was_asked_and_no_more_tokens_than_it_may() {
    let script = Arc::new(Script::new(Duration::ZERO));
    let (events, outcome) =
        transported(replied(run(&script, turn("one two three", 2), LIMITS, &CancellationToken::new()).await));
    assert_eq!(text(&events), "one two ");
    let Outcome::Completed(completed) = outcome else { panic!("{outcome:?}") };
    assert_eq!((completed.stop_reason, completed.output_tokens), (StopReason::MaxOutputTokens, Some(2)));
}

#[tokio::test]
async fn a_panic_ends_as_a_failure_that_keeps_what_was_said_and_hides_why() {
    let backend = Misbehaves::new(|events: Events, _| async move {
        events.text("so far").unwrap();
        panic!("the secret is 7");
    });
    let (events, outcome) =
        transported(replied(run(&backend, turn("x", 1), LIMITS, &CancellationToken::new()).await));
    assert_eq!(text(&events), "so far");
    let (kind, words) = failure(&outcome);
    assert_eq!(kind, FailureKind::Internal);
    assert!(!words.contains("secret"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_hang_ends_in_its_time_and_is_dropped_in_its_grace() {
    let dropped = CancellationToken::new();
    let guard = dropped.clone();
    let backend = Misbehaves::new(move |events: Events, _| {
        let guard = guard.clone().drop_guard();
        async move {
            let _guard = guard;
            events.text("half").unwrap();
            std::future::pending().await
        }
    });
    let started = tokio::time::Instant::now();
    let (events, outcome) =
        transported(replied(run(&backend, turn("x", 1), LIMITS, &CancellationToken::new()).await));
    assert_eq!(started.elapsed(), LIMITS.time + LIMITS.grace);
    assert_eq!((text(&events).as_str(), failure(&outcome).0), ("half", FailureKind::Timeout));
    dropped.cancelled().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_ready_just_at_its_time_keeps_its_reply_and_one_that_only_fails_then_took_too_long() {
    let ready = Misbehaves::new(|events: Events, cancel: CancellationToken| async move {
        cancel.cancelled().await;
        events.text("paid for").unwrap();
        completed()
    });
    let (events, outcome) =
        transported(replied(run(&ready, turn("x", 1), LIMITS, &CancellationToken::new()).await));
    assert_eq!((text(&events).as_str(), outcome), ("paid for", completed()));
    let fails = Misbehaves::new(|_, cancel: CancellationToken| async move {
        cancel.cancelled().await;
        twolane::connector::backend::failed(FailureKind::Internal, "cancelled")
    });
    let (_, outcome) =
        transported(replied(run(&fails, turn("x", 1), LIMITS, &CancellationToken::new()).await));
    assert_eq!(failure(&outcome).0, FailureKind::Timeout);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_that_ends_has_its_own_reply_and_one_that_does_not_has_none() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ends = Misbehaves::new(|_, cancel: CancellationToken| async move {
        cancel.cancelled().await;
        completed()
    });
    assert_eq!(transported(replied(run(&ends, turn("x", 1), LIMITS, &cancel).await)).1, completed());
    let hangs = Misbehaves::new(|_, _| std::future::pending());
    assert_eq!(run(&hangs, turn("x", 1), LIMITS, &cancel).await, RunEnd::Unknown);
}

#[tokio::test]
async fn a_result_over_its_bound_is_a_failure_without_events_and_the_backend_is_told() {
    let backend = Misbehaves::new(|events: Events, _| async move {
        while events.text(&"x".repeat(1000)).is_ok() {}
        assert_eq!(events.text("more"), Err(EventFault::TooLarge));
        completed()
    });
    let (events, outcome) =
        transported(replied(run(&backend, turn("x", 1), LIMITS, &CancellationToken::new()).await));
    assert_eq!((events.len(), failure(&outcome).0), (0, FailureKind::ResultTooLarge));
}

#[tokio::test]
async fn what_breaks_a_rule_is_not_kept_and_what_comes_after_the_end_neither() {
    let backend = Misbehaves::new(|events: Events, _| async move {
        let late = events.clone();
        assert!(matches!(events.tool_call(" c", "n", "{}"), Err(EventFault::Text { field: "call_id", .. })));
        assert!(matches!(events.tool_call("c", "n", ""), Err(EventFault::Text { field: "arguments", .. })));
        events.text("").unwrap();
        events.tool_call("c", "n", "{}").unwrap();
        std::mem::forget(tokio::spawn(async move {
            while late.text("late") != Err(EventFault::Closed) {
                tokio::task::yield_now().await;
            }
        }));
        completed()
    });
    let reply = replied(run(&backend, turn("x", 1), LIMITS, &CancellationToken::new()).await);
    let (events, _) = transported(reply);
    assert!(!events.is_empty());
}

proptest! {
    #[test]
    fn whatever_a_backend_says_its_caller_gets_a_valid_reply_within_the_bound(
        said in proptest::collection::vec((".{0,300}", "[a-z ]{0,300}", any::<bool>()), 0..40),
        words in ".{0,2000}",
        fails in any::<bool>(),
        result_bytes in 4080..20_000_usize,
    ) {
        let backend = Misbehaves::new(move |events: Events, _| {
            for (text, id, calls) in &said {
                let _ = if *calls { events.tool_call(id, id, text) } else { events.text(text) };
            }
            let message = FailureMessage::cut(&words).map(|words| words.to_owned());
            let outcome = match message.filter(|_| fails) {
                Some(message) => Outcome::Failed(Failed {
                    failure_kind: FailureKind::Billing,
                    message,
                    http_status: Some(402),
                    retry_after_ms: Some(u64::MAX),
                }),
                None => completed(),
            };
            async move { outcome }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let limits = Limits { result_bytes, ..LIMITS };
        let reply = replied(runtime.block_on(run(&backend, turn("x", 1), limits, &CancellationToken::new())));
        let bytes = reply.to_vec().unwrap();
        prop_assert!(bytes.len() <= result_bytes, "{} over {result_bytes}", bytes.len());
        prop_assert!(Valid::<ReadResult<'_>>::read(&bytes).is_ok());
    }
}

//! Plays a script into the lanes of a connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tracing::debug;
use twolane_core::envelope::Lane;
use twolane_core::lanes::outbox::Place;

use super::runs::{Cause, Step};
use super::script::{Event, Script};
use crate::net::lanes::{Lanes, SendFault};

/// How far playing may fall behind its times before it gives them up: a peer that stopped reading for a while gets
/// the rest at its usual pace and not in a burst.
const LATE_MAX: Duration = Duration::from_millis(250);

/// Plays all events, or ends early with a control frame that says so. The generation has ended when this returns,
/// unless the connection did; `ending` is set before LAST is queued.
pub(super) async fn play(
    script: &Script,
    step: &Step,
    delay: Duration,
    lanes: &Lanes,
    mut cause: watch::Receiver<Option<Cause>>,
    ending: &AtomicBool,
) {
    let interrupted = async { cause.wait_for(Option::is_some).await.ok().and_then(|cause| *cause) };
    let outcome = tokio::select! {
        biased;
        cause = interrupted => Outcome::Interrupted(cause),
        played = play_events(script, step, delay, lanes, ending) => Outcome::Played(played),
    };
    let played = match outcome {
        Outcome::Played(played) => played,
        Outcome::Interrupted(Some(cause)) => {
            ending.store(true, Ordering::Relaxed);
            send_end(step, lanes, &cause.payload()).await
        }
        Outcome::Interrupted(None) => return,
    };
    if let Err(fault) = played {
        debug!(channel = step.generation.channel, %fault, "run not played to its end");
    }
}

enum Outcome {
    Played(Result<(), SendFault>),
    /// `None` where the connection is gone.
    Interrupted(Option<Cause>),
}

/// Ends a generation with one control payload.
pub(super) async fn send_end(step: &Step, lanes: &Lanes, payload: &[u8]) -> Result<(), SendFault> {
    lanes.control(step.place(step.step_id), payload, true).await
}

async fn play_events(
    script: &Script,
    step: &Step,
    delay: Duration,
    lanes: &Lanes,
    ending: &AtomicBool,
) -> Result<(), SendFault> {
    let mut due = Instant::now() + delay;
    for event in &script.events {
        due += event.after;
        let now = Instant::now();
        if due > now {
            sleep_until(due).await;
        } else if now - due > LATE_MAX {
            due = now;
        }
        // A script without pauses must not keep others, its own cancel among them, from running.
        tokio::task::consume_budget().await;
        ending.store(event.last, Ordering::Relaxed);
        send(event, step, lanes).await?;
    }
    Ok(())
}

async fn send(event: &Event, step: &Step, lanes: &Lanes) -> Result<(), SendFault> {
    // The script counts its steps from 1; the first is the one that was asked for.
    let step_id = step.step_id.saturating_add(event.step.saturating_sub(1));
    let place: Place<'_> = step.place(step_id);
    match (event.lane, event.dropped) {
        (Lane::Control, _) => lanes.control(place, &event.payload, event.last).await,
        (Lane::Display, None) => lanes.display(place, &event.payload),
        (Lane::Display, Some(dropped)) => lanes.gap(place, dropped),
    }
}

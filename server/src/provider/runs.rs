//! The runs of one connection.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use twolane_core::envelope::{Generation, Lane};
use twolane_core::lanes::law::{Breach, Law, Verdict};
use twolane_core::lanes::outbox::Place;

use super::Provider;
use super::player;
use crate::limits::{REFUSALS_MAX, RUNS_MAX};
use crate::net::lanes::Lanes;

/// A step that is to be played: asked for by the peer, or chosen by us.
#[derive(Clone, Debug)]
pub struct Step {
    /// The stream it is answered on.
    pub generation: Generation,
    /// Its correlation; 0 for a run that nobody asked for, whose frames then carry the id of their step.
    pub corr: u64,
    /// The run.
    pub run_id: String,
    /// The id of its first step.
    pub step_id: u64,
}

impl Step {
    /// The place of a payload of the step with this id.
    pub(super) fn place(&self, step_id: u64) -> Place<'_> {
        let corr = if self.corr == 0 { step_id } else { self.corr };
        Place { generation: self.generation, corr, run_id: &self.run_id, step_id }
    }
}

/// Why a run ends before its script does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The peer asked for it.
    Cancelled,
    /// The server stops.
    Stopping,
}

impl Cause {
    /// The control payload that says so.
    pub(super) fn payload(self) -> Vec<u8> {
        let (class, message) = match self {
            Self::Cancelled => ("permanent", "the run was cancelled"),
            Self::Stopping => ("provider_unavailable", "the server is stopping"),
        };
        error(class, message)
    }
}

/// Starts, cancels and collects the runs of a connection; dropping it aborts them.
#[derive(Debug)]
pub struct Runs {
    lanes: Lanes,
    provider: Provider,
    tasks: JoinSet<Ended>,
    live: HashMap<Generation, Run>,
    unasked: u64,
}

/// A run that has not ended.
#[derive(Debug)]
struct Run {
    cause: watch::Sender<Option<Cause>>,
    /// Set before its LAST is queued: a peer that has read LAST may choose the generation again.
    ending: Arc<AtomicBool>,
    /// What the peer says on its generation.
    law: Law,
}

#[derive(Debug)]
struct Ended {
    generation: Generation,
    unasked: bool,
}

impl Runs {
    /// No runs yet.
    pub fn new(lanes: Lanes, provider: Provider) -> Self {
        Self { lanes, provider, tasks: JoinSet::new(), live: HashMap::new(), unasked: 0 }
    }

    /// Starts what the provider plays to a peer that asked for nothing, after `delay`.
    pub fn start_unasked(&mut self, delay: Duration) {
        if !self.provider.plays_unasked() {
            return;
        }
        let Some(generation) = self.lanes.claim_next() else { return };
        self.unasked += 1;
        let name = &self.provider.playable().run_id;
        let run_id = if self.unasked == 1 { name.clone() } else { format!("{name}_{}", self.unasked) };
        self.spawn(Step { generation, corr: 0, run_id, step_id: 1 }, delay);
    }

    /// Takes the generation of a step, as soon as it is free where its last run is ending. False if it is live.
    ///
    /// Gives back the generations of runs that have ended first, and waits while too many refusals do: a peer that
    /// asks on and on and reads nothing must not fill the memory.
    pub async fn claim(&mut self, generation: Generation) -> bool {
        while let Some(ended) = self.tasks.try_join_next() {
            self.collect(ended);
        }
        while self.refusals() >= REFUSALS_MAX || self.is_ending(generation) {
            let Some(ended) = self.tasks.join_next().await else { break };
            self.collect(ended);
        }
        self.lanes.claim(generation)
    }

    /// Plays a step whose generation was claimed, or says why not.
    pub fn start_step(&mut self, step: Step) {
        if !self.provider.answers_requests() {
            self.refuse_step(step, "this script answers no requests (start = \"connect\")".to_owned());
        } else if self.live.len() >= RUNS_MAX {
            self.refuse_step(step, format!("{RUNS_MAX} runs are live on this connection"));
        } else {
            self.spawn(step, Duration::ZERO);
        }
    }

    /// Judges the seq of a control frame of the peer on a generation on which a run is live.
    pub fn judge(&mut self, generation: Generation, seq: u64) -> Option<Breach> {
        match self.live.get_mut(&generation)?.law.check(seq, None) {
            Verdict::Broken(breach) => Some(breach),
            Verdict::Kept | Verdict::Joined => None,
        }
    }

    /// Answers a step whose generation was claimed with an error, which ends the generation.
    pub fn refuse_step(&mut self, step: Step, message: String) {
        let lanes = self.lanes.clone();
        self.tasks.spawn(async move {
            // Lanes that are closed have nobody left to tell.
            let _ = player::send_end(&step, &lanes, &error("permanent", &message)).await;
            Ended { generation: step.generation, unasked: false }
        });
    }

    /// Ends one run early. False if there is none on this generation.
    pub fn end(&self, generation: Generation, cause: Cause) -> bool {
        self.live.get(&generation).is_some_and(|run| run.cause.send(Some(cause)).is_ok())
    }

    /// Ends all runs and waits until each has said so.
    pub async fn end_all(&mut self, cause: Cause) {
        for run in self.live.values() {
            run.cause.send_replace(Some(cause));
        }
        while self.tasks.join_next().await.is_some() {}
    }

    /// Drops all runs where they are.
    pub fn abort(&mut self) {
        self.tasks.abort_all();
    }

    /// Waits until a run has ended, and gives its generation back; an unasked one may begin again.
    pub async fn next_ended(&mut self) {
        match self.tasks.join_next().await {
            None => pending().await,
            Some(ended) => self.collect(ended),
        }
    }

    fn collect(&mut self, ended: Result<Ended, JoinError>) {
        let Ok(ended) = ended else { return };
        let cancelled = self.live.remove(&ended.generation).is_some_and(|run| run.cause.borrow().is_some());
        self.lanes.release(ended.generation);
        if let (true, false, Some(pause)) = (ended.unasked, cancelled, self.provider.repeat_after()) {
            self.start_unasked(pause);
        }
    }

    /// Tasks that only say why a step is not played.
    fn refusals(&self) -> usize {
        self.tasks.len().saturating_sub(self.live.len())
    }

    fn is_ending(&self, generation: Generation) -> bool {
        self.live.get(&generation).is_some_and(|run| run.ending.load(Ordering::Relaxed))
    }

    fn spawn(&mut self, step: Step, delay: Duration) {
        let (sender, cause) = watch::channel(None);
        let ending = Arc::new(AtomicBool::new(false));
        let run = Run { cause: sender, ending: Arc::clone(&ending), law: Law::from_start(Lane::Control) };
        self.live.insert(step.generation, run);
        let (script, lanes) = (self.provider.playable(), self.lanes.clone());
        let unasked = step.corr == 0;
        self.tasks.spawn(async move {
            player::play(&script, &step, delay, &lanes, cause, &ending).await;
            Ended { generation: step.generation, unasked }
        });
    }
}

fn error(class: &str, message: &str) -> Vec<u8> {
    let message = serde_json::Value::from(message);
    format!("{{\"type\":\"error\",\"error\":{{\"class\":\"{class}\",\"message\":{message}}}}}").into_bytes()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::task::yield_now;
    use twolane_core::envelope::Version;
    use twolane_core::lanes::outbox::Budget;

    use super::super::Script;
    use super::*;

    fn runs(script: &str, control_bytes: usize) -> (Runs, Lanes) {
        let lanes = Lanes::new(Version::V1, Budget { control_bytes, ..Budget::default() });
        let provider = Provider::script(Script::parse("test", script).unwrap());
        (Runs::new(lanes.clone(), provider), lanes)
    }

    fn step(channel: u16) -> Step {
        Step { generation: Generation { epoch: 0, channel }, corr: 1, run_id: "run".to_owned(), step_id: 1 }
    }

    const FINISHED: &str = "[[event]]\nlane = \"control\"\npayload = { type = \"finished\" }\n";

    #[tokio::test]
    async fn refusals_that_find_no_room_are_bounded() {
        let (mut runs, lanes) = runs(&format!("start = \"connect\"\n{FINISHED}"), 1);
        // The first answer fills the lanes; the others wait.
        for channel in 0..=REFUSALS_MAX {
            let step = step(u16::try_from(channel).unwrap());
            assert!(runs.claim(step.generation).await);
            runs.start_step(step);
            yield_now().await;
        }
        let one_more = step(u16::MAX).generation;
        assert_eq!(runs.claim(one_more).now_or_never(), None);
        assert_eq!(runs.tasks.len(), REFUSALS_MAX);
        lanes.abandon();
        assert!(runs.claim(one_more).await);
    }

    #[tokio::test]
    async fn a_generation_is_free_from_its_last_on() {
        let (mut runs, lanes) = runs(&format!("start = \"request\"\n{FINISHED}"), 1 << 20);
        let step = step(7);
        assert!(runs.claim(step.generation).await);
        runs.start_step(step.clone());
        assert_eq!(runs.claim(step.generation).now_or_never(), Some(false));
        while !runs.is_ending(step.generation) {
            yield_now().await;
        }
        // A peer that has read LAST may ask again before anybody has looked at how the run ended.
        assert_eq!(lanes.live(), 1);
        assert!(runs.claim(step.generation).await);
    }

    #[tokio::test]
    async fn a_peers_control_is_judged_while_its_run_is_live() {
        let (mut runs, _lanes) = runs(&format!("start = \"request\"\n{FINISHED}"), 1 << 20);
        let step = step(7);
        assert!(runs.claim(step.generation).await);
        runs.start_step(step.clone());
        assert_eq!(runs.judge(step.generation, 0), None);
        assert_eq!(runs.judge(step.generation, 5), Some(Breach::Seq { expected: 1, found: 5 }));
        assert_eq!(runs.judge(step.generation, 6), None);
        assert_eq!(runs.judge(Generation { epoch: 0, channel: 8 }, 6), None);
    }
}

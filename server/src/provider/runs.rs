//! The runs of one connection.

use std::collections::HashMap;
use std::future::pending;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use twolane_core::envelope::Generation;
use twolane_core::lanes::outbox::Place;

use super::Provider;
use super::player;
use crate::net::lanes::Lanes;

/// Runs that one peer may have at once.
const RUNS_MAX: usize = 256;

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
    live: HashMap<Generation, watch::Sender<Option<Cause>>>,
    unasked: u64,
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

    /// Answers a step whose generation was claimed with an error, which ends the generation.
    pub fn refuse_step(&mut self, step: Step, message: String) {
        let lanes = self.lanes.clone();
        self.tasks.spawn(async move {
            // Lanes that are closed have nobody left to tell.
            let _ = player::send_end(&step, step.step_id, &lanes, &error("permanent", &message)).await;
            Ended { generation: step.generation, unasked: false }
        });
    }

    /// Ends one run early. False if there is none on this generation.
    pub fn end(&self, generation: Generation, cause: Cause) -> bool {
        self.live.get(&generation).is_some_and(|sender| sender.send(Some(cause)).is_ok())
    }

    /// Ends all runs and waits until each has said so.
    pub async fn end_all(&mut self, cause: Cause) {
        for sender in self.live.values() {
            sender.send_replace(Some(cause));
        }
        while self.tasks.join_next().await.is_some() {}
    }

    /// Drops all runs where they are.
    pub fn abort(&mut self) {
        self.tasks.abort_all();
    }

    /// Waits until a run has ended, and gives its generation back; an unasked one may begin again.
    pub async fn next_ended(&mut self) {
        let ended = match self.tasks.join_next().await {
            None => return pending().await,
            Some(Err(_)) => return,
            Some(Ok(ended)) => ended,
        };
        let cancelled = self.live.remove(&ended.generation).is_some_and(|sender| sender.borrow().is_some());
        self.lanes.release(ended.generation);
        if let (true, false, Some(pause)) = (ended.unasked, cancelled, self.provider.repeat_after()) {
            self.start_unasked(pause);
        }
    }

    fn spawn(&mut self, step: Step, delay: Duration) {
        let (sender, cause) = watch::channel(None);
        self.live.insert(step.generation, sender);
        let (script, lanes) = (self.provider.playable(), self.lanes.clone());
        let unasked = step.corr == 0;
        self.tasks.spawn(async move {
            player::play(&script, &step, delay, &lanes, cause).await;
            Ended { generation: step.generation, unasked }
        });
    }
}

fn error(class: &str, message: &str) -> Vec<u8> {
    let message = serde_json::Value::from(message);
    format!("{{\"type\":\"error\",\"error\":{{\"class\":\"{class}\",\"message\":{message}}}}}").into_bytes()
}

//! The real process, killed at random moments in the middle of its work.

use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use twolane_core::connector::document::Refusal;

use crate::ask::Ask;
use crate::history::History;
use crate::place::{Place, ask_within, exchange, ports};
use crate::world::{Told, sealed, secret, told};

/// Callers at work.
const CLIENTS: usize = 4;

/// How long a request may be started.
const LIFE: Duration = Duration::from_secs(240);

/// After this the rounds end, however few they were.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(600);

/// What `cargo xtask crash` asks for.
fn asked_for(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap())
}

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Asks the same request until it has an answer that will not change, or the server is gone for good.
async fn ask(run_dir: &std::path::Path, ask: &Ask, history: &Mutex<History>) -> Option<Told> {
    for _ in 0..6000 {
        let frame = sealed(&ask.invocation(), &secret(1));
        let reply = match ports(run_dir) {
            Some((address, _)) => {
                timeout(Duration::from_secs(20), exchange(&address, &frame)).await.ok().flatten()
            }
            None => None,
        };
        if let Some(bytes) = reply {
            let told = told(ask, 1, &bytes);
            history.lock().unwrap().add(ask.request_id, 1, told.clone(), bytes);
            match told {
                Told::Refused(Refusal::InFlight | Refusal::Capacity) => {}
                told => return Some(told),
            }
        }
        sleep(Duration::from_millis(10)).await;
    }
    None
}

/// Callers at work on a server that is killed.
struct Field {
    place: Place,
    history: Arc<Mutex<History>>,
    over: Arc<AtomicBool>,
    clients: Vec<JoinHandle<()>>,
    server: Child,
}

impl Field {
    fn new() -> Self {
        let place = Place::new(8);
        let (history, over) = (Arc::<Mutex<History>>::default(), Arc::<AtomicBool>::default());
        let next = Arc::<AtomicUsize>::default();
        let client = || {
            tokio::spawn(client(
                place.path("run"),
                Arc::clone(&history),
                Arc::clone(&next),
                Arc::clone(&over),
            ))
        };
        let clients = (0..CLIENTS).map(|_| client()).collect();
        let server = place.start();
        Self { place, history, over, clients, server }
    }

    /// Kills the server: once work was begun and a while passed, or, as often as the dice have it, while it starts.
    async fn kill(&mut self, dice: &mut Dice) {
        if dice.below(4) > 0 {
            let booked = self.place.book().lines().count();
            while self.place.book().lines().count() <= booked {
                sleep(Duration::from_millis(2)).await;
                assert!(!self.clients.iter().any(JoinHandle::is_finished), "a client failed");
            }
        }
        sleep(Duration::from_millis(dice.below(120))).await;
        self.place.kill(&mut self.server);
    }

    fn start(&mut self) {
        self.server = self.place.start();
    }

    /// Lets the callers end, and asks once more for each answer that was seen, in one more life.
    async fn end(mut self) -> (History, String) {
        self.over.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.await.unwrap();
        }
        self.place.kill(&mut self.server);
        self.server = self.place.start();
        let answered = self.history.lock().unwrap().answered();
        for name in answered {
            ask(&self.place.path("run"), &ask_within(&name, LIFE), &self.history).await.unwrap();
        }
        self.place.kill(&mut self.server);
        (std::mem::take(&mut *self.history.lock().unwrap()), self.place.book())
    }
}

async fn client(
    run_dir: PathBuf,
    history: Arc<Mutex<History>>,
    next: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
) {
    while !over.load(Ordering::Relaxed) {
        let name = format!("request-{}", next.fetch_add(1, Ordering::Relaxed));
        let request = ask_within(&name, LIFE);
        // And a retry, as of a caller that lost the answer.
        for _ in 0..2 {
            let told = ask(&run_dir, &request, &history).await.expect("a server that comes back");
            assert!(matches!(told, Told::Text(_) | Told::Refused(Refusal::Indeterminate)), "{told:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_no_turn_runs_twice_and_no_answer_changes_or_is_lost() {
    let rounds_min = asked_for("TWOLANE_CRASH_ROUNDS", 20);
    let time_min = Duration::from_secs(asked_for("TWOLANE_CRASH_SECONDS", 0));
    let seed = asked_for("TWOLANE_CRASH_SEED", 1).max(1);
    let mut dice = Dice(seed);
    let mut field = Field::new();
    let started = Instant::now();
    let mut rounds = 0;
    while (rounds < rounds_min || started.elapsed() < time_min)
        && started.elapsed() < GIVEN_UP_AFTER.max(time_min)
    {
        field.kill(&mut dice).await;
        field.start();
        rounds += 1;
        if rounds % 25 == 0 {
            let (texts, indeterminate) = field.history.lock().unwrap().counts();
            let s = started.elapsed().as_secs();
            println!("{rounds} kills in {s} s: {texts} answered, {indeterminate} Indeterminate");
        }
    }
    let (history, book) = field.end().await;
    let (texts, indeterminate) = history.counts();
    println!("{rounds} kills with seed {seed}: {texts} answered, {indeterminate} Indeterminate");
    history.check(&book).unwrap_or_else(|broken| panic!("with seed {seed}: {broken}"));
    assert!(rounds >= rounds_min, "{rounds} of {rounds_min} rounds in {GIVEN_UP_AFTER:?}");
    assert!(texts > 0 && (indeterminate > 0 || rounds < 20), "too tame");
}

/// The planted fault: a store that is put back to an earlier moment, as by a disk that lies about what it keeps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_forgets_is_found_out() {
    let mut dice = Dice(7);
    let mut field = Field::new();
    // Where a life left nothing that a later one forgets, one more is tried.
    for _ in 0..50 {
        field.kill(&mut dice).await;
        for file in ["data/replay.redb", "data/replay.journal"] {
            let _ = fs::remove_file(field.place.path(file));
        }
        field.start();
        let found = field.history.lock().unwrap().check(&field.place.book());
        if let Err(broken) = found {
            println!("found out: {broken}");
            return field.place.kill(&mut field.server);
        }
    }
    panic!("nobody noticed");
}

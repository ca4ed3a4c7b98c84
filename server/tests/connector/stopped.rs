//! The real process, killed at every place of a fixed scenario, once at its first and once at its second passing.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use twolane::stop_points::Point;
use twolane_core::connector::document::Refusal;

use crate::ask::Ask;
use crate::history::History;
use crate::place::{Place, ask_within, exchange, ports};
use crate::world::{Told, sealed, secret, told};

/// Runs that the caller may have at once.
const RUNNING: u32 = 2;

/// How long requests may be started; a scenario is over long before.
const LIFE: Duration = Duration::from_secs(240);

/// Until the test is given up: far more than a scenario takes.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(180);

/// A scenario under way: one server at a time, started again where it died.
struct Stage {
    place: Place,
    server: Option<Child>,
    deaths: Vec<ExitStatus>,
    history: History,
}

impl Stage {
    /// Dies at `armed`, if at all.
    fn new(armed: Option<(Point, u32)>) -> Self {
        let place = Place::new(RUNNING);
        fs::create_dir(place.path("stop-points")).unwrap();
        if let Some((point, pass)) = armed {
            fs::write(place.path("stop-points/armed"), format!("{point:?} {pass}")).unwrap();
        }
        Self { place, server: None, deaths: Vec::new(), history: History::default() }
    }

    /// How often each place was passed.
    fn passed(&self) -> HashMap<String, u32> {
        let mut passed = HashMap::new();
        for name in fs::read_to_string(self.place.path("stop-points/book")).unwrap().lines() {
            *passed.entry(name.to_owned()).or_default() += 1;
        }
        passed
    }

    /// Whether a server runs; one that does not is waited for.
    fn runs(&mut self) -> bool {
        let Some(server) = &mut self.server else { return false };
        let Some(status) = server.try_wait().unwrap() else { return true };
        self.deaths.push(status);
        self.server = None;
        assert!(self.deaths.len() < 2, "the server died again: {:?}", self.deaths);
        false
    }

    /// Where the server listens. One is started where none runs.
    async fn address(&mut self) -> String {
        loop {
            if !self.runs() {
                self.server = Some(self.place.start());
            }
            let pid = self.server.as_ref().map(Child::id);
            match ports(&self.place.path("run")) {
                Some((address, of)) if Some(of) == pid => return address,
                _ => sleep(Duration::from_millis(2)).await,
            }
        }
    }

    fn note(&mut self, ask: &Ask, number: u8, bytes: Vec<u8>) -> Told {
        let told = told(ask, number, &bytes);
        self.history.add(ask.request_id, number, told.clone(), bytes);
        told
    }

    /// Asks once; asks again only where nothing came back.
    async fn answer(&mut self, ask: &Ask, number: u8) -> Vec<u8> {
        loop {
            let address = self.address().await;
            if let Some(bytes) = exchange(&address, &sealed(&ask.invocation(), &secret(number))).await {
                return bytes;
            }
            sleep(Duration::from_millis(2)).await;
        }
    }

    async fn once(&mut self, ask: &Ask, number: u8) -> Told {
        let bytes = self.answer(ask, number).await;
        self.note(ask, number, bytes)
    }

    /// Asks until there is an answer that stays.
    async fn asked(&mut self, ask: &Ask, number: u8) -> Told {
        loop {
            match self.once(ask, number).await {
                Told::Refused(Refusal::InFlight | Refusal::Capacity) => sleep(Duration::from_millis(2)).await,
                told => return told,
            }
        }
    }

    /// Asks all at once, and returns when each is in the hands of the program, or one was answered before.
    async fn held(&mut self, asks: &[Ask]) -> Vec<JoinHandle<Option<Vec<u8>>>> {
        let _ = fs::remove_file(self.place.path("gate"));
        let address = self.address().await;
        let asking = asks.iter().map(|ask| {
            let (address, frame) = (address.clone(), sealed(&ask.invocation(), &secret(1)));
            tokio::spawn(async move { exchange(&address, &frame).await })
        });
        let asking: Vec<_> = asking.collect();
        let book = |stage: &Self| {
            let book = stage.place.book();
            asks.iter().all(|ask| book.lines().any(|line| line == ask.request_id))
        };
        while !book(self) && !asking.iter().any(JoinHandle::is_finished) {
            sleep(Duration::from_millis(2)).await;
        }
        asking
    }

    fn let_go(&self) {
        fs::write(self.place.path("gate"), "").unwrap();
    }

    /// Kills the server, wherever it is.
    async fn kill(&mut self) {
        self.address().await;
        if self.runs()
            && let Some(mut server) = self.server.take()
        {
            self.place.kill(&mut server);
        }
    }

    /// Stops the server as a person would.
    async fn stop(&mut self) {
        self.address().await;
        if let Some(pid) = self.server.as_ref().map(Pid::from_child) {
            // One that is dead by now was killed at its place.
            let _ = kill_process(pid, Signal::TERM);
        }
        while let Some(server) = &mut self.server {
            match server.try_wait().unwrap() {
                Some(status) if status.success() => self.server = None,
                Some(_) => drop(self.runs()),
                None => sleep(Duration::from_millis(2)).await,
            }
        }
    }
}

/// All that a caller does: new requests, retries, another key, refusals, claims that come too late, two at once, and a
/// retry while the first runs; over four lives of the server, two of which are killed.
async fn play(stage: &mut Stage) {
    let ask = |name: &str| ask_within(name, LIFE);
    let (first, second) = (ask("first"), ask("second"));
    for number in [1, 1, 2] {
        for ask in [&first, &second] {
            let told = stage.asked(ask, number).await;
            assert!(matches!(told, Told::Text(_) | Told::Refused(Refusal::Indeterminate)), "{told:?}");
        }
    }
    let other = Ask { text: "another".to_owned(), ..first.clone() };
    let conflict = stage.answer(&other, 1).await;
    assert_eq!(told(&other, 1, &conflict), Told::Refused(Refusal::ReplayConflict));
    let policy = Ask { model: "model-2", ..ask("policy") };
    assert_eq!(stage.asked(&policy, 1).await, Told::Refused(Refusal::Policy));
    // Each is claimed, and then the clock shows that it came too late.
    for (name, seconds) in [("late-1", 40), ("late-2", 90)] {
        fs::write(stage.place.path("stop-points/late"), "50000").unwrap();
        let late = ask_within(name, Duration::from_secs(seconds));
        stage.asked(&late, 1).await;
    }
    let held = [ask("held-1"), ask("held-2")];
    let asking = stage.held(&held).await;
    let retried = stage.once(&held[0], 1).await;
    stage.let_go();
    for (ask, asked) in held.iter().zip(asking) {
        if let Some(bytes) = asked.await.unwrap() {
            let told = stage.note(ask, 1, bytes);
            // A place that is lost leaves one of the two without.
            assert_eq!(told, Told::Text("done".to_owned()), "{}", ask.request_id);
        }
    }
    assert_eq!(retried, Told::Refused(Refusal::InFlight));
    stage.stop().await;
    let all = [first, second, held[0].clone(), held[1].clone()];
    for is_killed in [true, true, false] {
        for ask in &all {
            let told = stage.asked(ask, 1).await;
            assert!(matches!(told, Told::Text(_) | Told::Refused(Refusal::Indeterminate)), "{told:?}");
        }
        stage.asked(&all[0], 2).await;
        if is_killed {
            stage.kill().await;
        } else {
            stage.stop().await;
        }
    }
}

/// Whether a request may be left without an answer by a death at `point`: it was claimed, and its reply is not durable.
/// A purge goes on beside the first request.
fn may_lose(point: Point) -> bool {
    use Point::*;
    let between = [
        ClaimDurable,
        ClaimCommitted,
        ClockMarked,
        GiveBackAsked,
        GiveBackApplied,
        RunBegun,
        ProgramStarted,
        ProgramAsked,
        ProgramSaid,
        ProgramEnded,
        ReplySealed,
        FinishAsked,
        FinishApplied,
        // Of whatever commit it is.
        RecordWritten,
        CommitSeen,
        TablesAsked,
        TablesDurable,
    ];
    between.contains(&point) || [PurgeAsked, PurgeApplied, PurgeDurable, Purged].contains(&point)
}

/// A store is made once.
fn passings(point: Point) -> u32 {
    if matches!(point, Point::StoreMade | Point::StorePlaced) { 1 } else { 2 }
}

async fn dies_at(point: Point, pass: u32) {
    let mut stage = Stage::new(Some((point, pass)));
    let played = timeout(GIVEN_UP_AFTER, play(&mut stage)).await;
    let case = format!("{point:?}, passing {pass}");
    assert!(played.is_ok(), "{case}: never came to its end");
    let died = fs::read_to_string(stage.place.path("stop-points/died"));
    assert_eq!(died.unwrap_or_default(), format!("{point:?}"), "{case}");
    assert!(stage.deaths.iter().all(|status| status.signal() == Some(9)), "{case}: {:?}", stage.deaths);
    stage.history.check(&stage.place.book()).unwrap_or_else(|broken| panic!("{case}: {broken}"));
    let lost = stage.history.counts().1;
    assert!(lost == 0 || may_lose(point), "{case}: {lost} answers lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_place_is_passed_and_no_promise_is_broken_where_nobody_dies() {
    let mut stage = Stage::new(None);
    timeout(GIVEN_UP_AFTER, play(&mut stage)).await.unwrap();
    assert!(stage.deaths.is_empty(), "{:?}", stage.deaths);
    stage.history.check(&stage.place.book()).unwrap();
    let passed = stage.passed();
    for point in Point::ALL {
        let times = passed.get(&format!("{point:?}")).copied().unwrap_or(0);
        assert!(times >= passings(*point), "{point:?} was passed {times} times");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_dies_wherever_each_request_runs_once_and_each_answer_stays() {
    let cases = Point::ALL.iter().flat_map(|point| (1..=passings(*point)).map(|pass| (*point, pass)));
    for (point, pass) in cases {
        dies_at(point, pass).await;
        println!("{point:?}, passing {pass}: ok");
    }
}

//! A scenario, with the disk failing at each of its operations in turn.

use std::ops::Range;

use twolane::store::{Change, Engine, EngineFault, Record, RedbEngine};

use crate::disk::{Disk, Fault};
use crate::scenes::{claim, finish, key, purge, reply};

/// Room for a few commits of the scenario, so that it begins anew in the middle.
const JOURNAL_BYTES: usize = 4096;

/// The commits of the scenario.
fn commits() -> Vec<Vec<Change>> {
    vec![
        vec![claim(1, 1, 10)],
        vec![claim(2, 2, 11), claim(3, 3, 12)],
        vec![finish(1, 20)],
        vec![finish(2, 21), claim(4, 4, 22)],
        vec![Change::Reseal { key: key(1), reply: reply(1, 2) }],
        vec![purge(2000)],
        vec![finish(3, 2500), finish(4, 2600)],
    ]
}

/// What is there after each of the commits, the state before the first in front.
fn expected() -> Vec<Vec<Seen>> {
    let engine = open(&Disk::default()).unwrap();
    let mut states = vec![seen(&engine)];
    for commit in commits() {
        engine.commit(&commit).unwrap();
        states.push(seen(&engine));
    }
    states
}

/// A request's record, and its replies.
type Seen = Option<(Record, Vec<([u8; 16], Vec<u8>)>)>;

fn seen(engine: &RedbEngine) -> Vec<Seen> {
    (1..5)
        .map(|number| {
            let found = engine.find(&key(number), &[1; 16]).unwrap()?;
            Some((found.record, engine.replies(&key(number)).unwrap()))
        })
        .collect()
}

fn open(disk: &Disk) -> Result<RedbEngine, EngineFault> {
    let disk = disk.clone();
    RedbEngine::with_storage(move || disk.files(), JOURNAL_BYTES)
}

/// The operations of the scenario, and those of closing the store. Making it is not among them: that is done beside
/// its place and then renamed.
fn operations() -> [Range<u64>; 2] {
    let disk = Disk::default();
    let engine = open(&disk).unwrap();
    let opened = disk.operations();
    for commit in commits() {
        engine.commit(&commit).unwrap();
    }
    let closing = disk.operations();
    drop(engine);
    [opened..closing, closing..disk.operations()]
}

/// Commits until the first fault; how many went well.
fn run(engine: &RedbEngine) -> usize {
    commits().iter().take_while(|commit| engine.commit(commit).is_ok()).count()
}

#[test]
fn after_a_power_cut_at_any_operation_all_that_was_answered_is_there_and_nothing_is_half_done() {
    let states = expected();
    let mut unanswered_but_there = 0;
    for at in operations().into_iter().flatten() {
        for seed in 0..8 {
            let disk = Disk::default();
            disk.fail_at(at, Fault::Power);
            let answered = run(&open(&disk).unwrap());
            disk.restart(seed * 1000 + at);
            let after = seen(&open(&disk).unwrap());
            let next = states.get(answered + 1);
            assert!(after == states[answered] || Some(&after) == next, "operation {at}, seed {seed}");
            unanswered_but_there += usize::from(Some(&after) == next);
        }
    }
    // Otherwise the disk forgot nothing or everything, and the test shows little.
    assert!(unanswered_but_there > 0);
}

#[test]
fn after_a_failure_at_any_operation_the_engine_recovers_and_the_rest_can_be_committed() {
    let states = expected();
    for at in operations()[0].clone() {
        let disk = Disk::default();
        disk.fail_at(at, Fault::Once);
        let engine = open(&disk).unwrap();
        let answered = run(&engine);
        engine.recover().unwrap();
        let after = seen(&engine);
        assert!(after == states[answered] || Some(&after) == states.get(answered + 1), "operation {at}");
        for commit in commits().iter().skip(answered) {
            engine.commit(commit).unwrap();
        }
        assert_eq!(Some(&seen(&engine)), states.last(), "operation {at}");
    }
}

#[test]
fn on_a_full_disk_what_is_finished_is_served_and_with_room_again_all_goes_on() {
    let states = expected();
    let mut stopped = 0;
    for at in operations()[0].clone() {
        let disk = Disk::default();
        disk.fail_at(at, Fault::Full);
        let engine = open(&disk).unwrap();
        let answered = run(&engine);
        stopped += usize::from(answered < commits().len());
        engine.recover().unwrap();
        // Read while the disk is still full.
        let after = seen(&engine);
        assert!(after == states[answered] || Some(&after) == states.get(answered + 1), "operation {at}");
        disk.free();
        for commit in commits().iter().skip(answered) {
            engine.commit(commit).unwrap();
        }
        assert_eq!(Some(&seen(&engine)), states.last(), "operation {at}");
    }
    assert!(stopped > 0, "the scenario fits into what the disk had");
}

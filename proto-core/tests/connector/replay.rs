//! The replay decision, its whole table; the clock and retention.

use std::num::NonZeroU32;

use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::Refusal;
use twolane_core::connector::replay::{
    Asked, Clock, Copies, Decision, Due, Now, Record, Retention, State, Terms, decide,
};

const DAY_MS: u64 = 86_400_000;
const T: u64 = 1_800_000_000_000;
const OURS: Digest = Digest([1; 32]);
const OTHER: Digest = Digest([2; 32]);

fn tokens(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

fn good() -> (Asked, Terms) {
    let asked = Asked {
        binding: OURS,
        expires_at_unix_ms: T + 1000,
        max_output_tokens: Some(tokens(100)),
        model_allowed: true,
    };
    let terms = Terms {
        output_tokens_max: tokens(1000),
        skew_ms: 300_000,
        running: 0,
        running_max: 2,
        has_room: true,
    };
    (asked, terms)
}

const NOW: Now = Now::Trusted { ms: T };
const LEAPT: Now = Now::Leapt { ahead_ms: 301_000 };

/// Every request there can be, as far as the decision tells them apart: with its terms, its time, and what each of
/// the three judgements of a new one has to be.
fn requests() -> Vec<(Asked, Terms, Now, [bool; 3])> {
    let (asked, terms) = good();
    let mut all = Vec::new();
    let expiries = [
        (0, false),
        (T - 1, false),
        (T, true),
        (T + 1, true),
        (T + 300_000, true),
        (T + 300_001, false),
        (u64::MAX, false),
    ];
    let limits =
        [(None, true), (Some(1), true), (Some(1000), true), (Some(1001), false), (Some(u32::MAX), false)];
    for (expires_at_unix_ms, in_time) in expiries {
        for (limit, within) in limits {
            for model_allowed in [true, false] {
                for (running, has_room) in [(0, true), (1, true), (2, true), (3, true), (0, false)] {
                    let asked = Asked {
                        expires_at_unix_ms,
                        max_output_tokens: limit.map(tokens),
                        model_allowed,
                        ..asked
                    };
                    let terms = Terms { running, has_room, ..terms };
                    let judged = [in_time, within && model_allowed, running < 2 && has_room];
                    all.push((asked, terms, NOW, judged));
                    all.push((asked, terms, LEAPT, judged));
                }
            }
        }
    }
    assert_eq!(all.len(), 7 * 5 * 2 * 5 * 2);
    all
}

const STATES: [(State, Decision); 7] = [
    (State::Running, Decision::Refuse(Refusal::InFlight)),
    (State::Abandoned, Decision::Refuse(Refusal::Indeterminate)),
    (State::Resolved, Decision::Fail),
    (State::Finished(Copies::ThisKey), Decision::Stored),
    (State::Finished(Copies::OtherKey), Decision::SealAgain),
    (State::Finished(Copies::NoKey), Decision::Refuse(Refusal::Retired)),
    (State::Tombstone, Decision::Refuse(Refusal::Retired)),
];

/// Of a record of another request, whatever its state.
const CONFLICT: Decision = Decision::Refuse(Refusal::ReplayConflict);

#[test]
fn what_is_in_the_store_decides_alone_whatever_time_policy_and_capacity_say() {
    for (asked, terms, now, _) in requests() {
        for (state, decision) in &STATES {
            let record = Some(Record { binding: OURS, state: *state });
            assert_eq!(decide(record, &asked, &terms, now), *decision, "{asked:?} {terms:?} {now:?}");
            let record = Some(Record { binding: OTHER, state: *state });
            assert_eq!(decide(record, &asked, &terms, now), CONFLICT, "{state:?}");
        }
    }
}

#[test]
fn a_new_request_is_judged_by_time_then_policy_then_capacity() {
    let mut runs = 0;
    for (asked, terms, now, judged) in requests() {
        let expected = match (now, judged) {
            (Now::Leapt { .. }, _) => Decision::Refuse(Refusal::Capacity),
            (_, [false, _, _]) => Decision::Refuse(Refusal::Expired),
            (_, [true, false, _]) => Decision::Refuse(Refusal::Policy),
            (_, [true, true, false]) => Decision::Refuse(Refusal::Capacity),
            (_, [true, true, true]) => {
                runs += 1;
                // What is not asked for counts as the caller's bound.
                Decision::Run { output_tokens_max: asked.max_output_tokens.unwrap_or(tokens(1000)) }
            }
        };
        assert_eq!(decide(None, &asked, &terms, now), expected, "{asked:?} {terms:?} {now:?}");
    }
    assert_eq!(runs, 3 * 3 * 2);
}

#[test]
fn a_run_is_never_decided_where_there_is_a_record() {
    for (asked, terms, now, _) in requests() {
        for (state, _) in STATES {
            for binding in [OURS, OTHER] {
                let decision = decide(Some(Record { binding, state }), &asked, &terms, now);
                assert!(!matches!(decision, Decision::Run { .. }), "{state:?}");
            }
        }
    }
}

#[test]
fn time_does_not_go_back() {
    let mut clock = Clock::start(T, 50, T + 5000);
    assert_eq!(clock.now(T, 50), Now::Trusted { ms: T + 5000 });
    assert_eq!(clock.now(T - DAY_MS, 60), Now::Trusted { ms: T + 5000 });
    clock.marked(T + 9000);
    assert_eq!(clock.now(T + 7000, 7050), Now::Trusted { ms: T + 9000 });
    clock.marked(T);
    assert_eq!(clock.now(T + 9001, 9050), Now::Trusted { ms: T + 9001 });
}

#[test]
fn a_clock_that_leapt_while_the_process_was_away_is_not_believed() {
    let week = 7 * DAY_MS;
    assert_eq!(Clock::start(T + week, 0, T).now(T + week, 0), Now::Trusted { ms: T + week });
    let mut clock = Clock::start(T + week + 1, 0, T);
    assert_eq!(clock.now(T + week + 1, 0), Now::Leapt { ahead_ms: week + 1 });
    // Also when it comes back: what it said meanwhile is not known.
    assert_eq!(clock.now(T, 10), Now::Leapt { ahead_ms: week + 1 });
    clock.accept(T + week + 20, 20);
    assert_eq!(clock.now(T + week + 20, 20), Now::Trusted { ms: T + week + 20 });
    // A new store has no mark to compare with.
    assert_eq!(Clock::start(T, 0, 0).now(T, 0), Now::Trusted { ms: T });
}

#[test]
fn a_clock_that_leaps_ahead_of_monotonic_time_is_not_believed() {
    let mut clock = Clock::start(T, 1000, T);
    assert_eq!(clock.now(T + DAY_MS + 300_000, 1000 + DAY_MS), Now::Trusted { ms: T + DAY_MS + 300_000 });
    assert_eq!(clock.now(T + DAY_MS + 300_001, 1000 + DAY_MS), Now::Leapt { ahead_ms: 300_001 });
    clock.accept(T + 2 * DAY_MS, 1000 + DAY_MS);
    assert_eq!(clock.now(T + 2 * DAY_MS + 5, 1005 + DAY_MS), Now::Trusted { ms: T + 2 * DAY_MS + 5 });
}

#[test]
fn answers_are_kept_a_day_and_tombstones_thirty_more_from_the_later_of_expiry_and_completion() {
    let retention = Retention::default();
    let at = |ms| Now::Trusted { ms };
    for (expires, completed) in [(T, T - 5), (T - 5, T), (T, T)] {
        let due = |ms| retention.due(expires, completed, at(ms));
        assert_eq!(due(0), Due::Keep);
        assert_eq!(due(T + DAY_MS), Due::Keep);
        assert_eq!(due(T + DAY_MS + 1), Due::Bury);
        assert_eq!(due(T + 31 * DAY_MS), Due::Bury);
        assert_eq!(due(T + 31 * DAY_MS + 1), Due::Forget);
    }
    assert_eq!(retention.due(T, T, LEAPT), Due::Keep);
    assert_eq!(retention.due(u64::MAX, T, at(u64::MAX)), Due::Keep);
}

/// The same bytes are never run again: they expired before their record may go.
#[test]
fn a_request_whose_record_is_gone_is_expired() {
    let (asked, terms) = good();
    for completed in [T, T + 1000, T + DAY_MS] {
        for ms in [T, T + DAY_MS, T + 32 * DAY_MS, T + 40 * DAY_MS] {
            let now = Now::Trusted { ms };
            if Retention::default().due(asked.expires_at_unix_ms, completed, now) == Due::Forget {
                assert_eq!(decide(None, &asked, &terms, now), Decision::Refuse(Refusal::Expired));
            }
        }
    }
}

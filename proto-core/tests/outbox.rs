//! The outbox: control complete and in order, display merged and shed by the rules, every loss accounted for.
#![cfg(feature = "alloc")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;
use twolane_core::envelope::{Generation, Lane, Version};
use twolane_core::frame::{Decoded, FrameDecoder, Item};
use twolane_core::lanes::law::{Law, Verdict};
use twolane_core::lanes::outbox::{Budget, Outbox, Place, PushFault};
use twolane_core::limits::{CONTROL_BODY_MAX, DISPLAY_BODY_MAX, LAST_WAIT_MS};

const GENERATION: Generation = Generation { epoch: 0, channel: 3 };
const OTHER: Generation = Generation { epoch: 0, channel: 4 };

fn place(generation: Generation) -> Place<'static> {
    Place { generation, corr: 9, run_id: "run-7", step_id: 2 }
}

fn outbox() -> Outbox {
    Outbox::new(Version::V1, Budget::default())
}

fn small(display_entries: usize) -> Outbox {
    Outbox::new(Version::V1, Budget { display_entries, ..Budget::default() })
}

fn delta(message: &str, text: &str) -> Vec<u8> {
    format!("{{\"type\":\"text_delta\",\"message_id\":\"{message}\",\"delta\":\"{text}\"}}").into_bytes()
}

/// A display event that nothing joins.
fn event(n: usize) -> Vec<u8> {
    format!("{{\"type\":\"from_the_future\",\"n\":{n}}}").into_bytes()
}

#[derive(Clone, Debug)]
struct Seen {
    lane: Lane,
    generation: Generation,
    last: bool,
    body: Value,
}

impl Seen {
    fn seq(&self) -> u64 {
        self.body["seq"].as_u64().unwrap()
    }

    fn tag(&self) -> &str {
        self.body["payload"]["type"].as_str().unwrap()
    }

    fn dropped(&self) -> Option<u64> {
        (self.tag() == "display_gap").then(|| self.body["payload"]["dropped"].as_u64().unwrap())
    }

    /// `lane seq tag`, with what a gap covers.
    fn line(&self) -> String {
        let dropped = self.dropped().map(|dropped| format!("({dropped})")).unwrap_or_default();
        let last = if self.last { " LAST" } else { "" };
        format!("{} {} {}{dropped}{last}", self.lane.name(), self.seq(), self.tag())
    }
}

fn take(outbox: &mut Outbox, now_ms: u64) -> Option<Seen> {
    let mut wire = Vec::new();
    let lane = outbox.take_frame(now_ms, &mut wire)?;
    let Ok(Decoded { consumed, item: Item::Frame(frame) }) = FrameDecoder::new(u32::MAX).decode(&wire) else {
        panic!("one call gives one frame")
    };
    assert_eq!(consumed, wire.len());
    assert_eq!(frame.header.lane(), Ok(lane));
    let (generation, last) = (frame.header.generation(), frame.header.flags().is_last());
    Some(Seen { lane, generation, last, body: serde_json::from_slice(frame.body).unwrap() })
}

fn lines(outbox: &mut Outbox) -> Vec<String> {
    std::iter::from_fn(|| take(outbox, 0)).map(|seen| seen.line()).collect()
}

#[test]
fn control_goes_before_display_that_was_queued_earlier() {
    let mut outbox = outbox();
    outbox.push_display(place(GENERATION), &event(0)).unwrap();
    outbox.push_control(0, place(GENERATION), b"{\"type\":\"step_started\"}", false).unwrap();
    outbox.push_display(place(GENERATION), &event(1)).unwrap();
    assert_eq!(
        lines(&mut outbox),
        ["control 0 step_started", "display 0 from_the_future", "display 1 from_the_future"]
    );
    assert!(outbox.is_empty());
    assert_eq!(outbox.queued_bytes(), 0);
}

#[test]
fn the_body_is_canonical_and_the_payload_spliced() {
    let mut outbox = outbox();
    let payload = b"{ \"type\" : \"display_reset\",\"x\":1.50 }";
    outbox.push_display(Place { run_id: "r\"\n", ..place(GENERATION) }, payload).unwrap();
    let mut wire = Vec::new();
    outbox.take_frame(0, &mut wire).unwrap();
    let expected = br#"{"version":1,"run_id":"r\"\n","step_id":2,"seq":0,"payload":{ "type" : "display_reset","x":1.50 }}"#;
    assert_eq!(&wire[17..], expected);
}

#[test]
fn over_the_budget_the_oldest_go_and_one_gap_stands_for_them() {
    let mut outbox = small(3);
    let shed: Vec<u64> = (0..6).map(|n| outbox.push_display(place(GENERATION), &event(n)).unwrap()).collect();
    assert_eq!(shed, [0, 0, 0, 1, 1, 1]);
    assert_eq!(outbox.shed_total(), 3);
    assert_eq!(
        lines(&mut outbox),
        [
            "display 2 display_gap(3)",
            "display 3 from_the_future",
            "display 4 from_the_future",
            "display 5 from_the_future"
        ]
    );
}

#[test]
fn a_gap_has_run_step_and_corr_of_the_last_frame_it_covers() {
    let mut outbox = small(1);
    for (corr, step_id) in [(1, 10), (2, 20), (3, 30)] {
        outbox.push_display(Place { corr, step_id, ..place(GENERATION) }, &event(0)).unwrap();
    }
    let mut wire = Vec::new();
    outbox.take_frame(0, &mut wire).unwrap();
    let Ok(Decoded { item: Item::Frame(frame), .. }) = FrameDecoder::new(u32::MAX).decode(&wire) else {
        panic!()
    };
    assert_eq!(frame.header.corr(), 2);
    let body = br#"{"version":1,"run_id":"run-7","step_id":20,"seq":1,"payload":{"type":"display_gap","dropped":2}}"#;
    assert_eq!(frame.body, body);
}

#[test]
fn a_body_too_long_for_display_is_shed_on_entry_where_it_would_have_stood() {
    let mut outbox = outbox();
    let long = delta("m", &"x".repeat(DISPLAY_BODY_MAX as usize));
    outbox.push_display(place(GENERATION), &event(0)).unwrap();
    assert_eq!(outbox.push_display(place(GENERATION), &long), Ok(1));
    assert_eq!(outbox.push_display(place(GENERATION), &long), Ok(1));
    outbox.push_display(place(GENERATION), &event(3)).unwrap();
    assert_eq!(
        lines(&mut outbox),
        ["display 0 from_the_future", "display 2 display_gap(2)", "display 3 from_the_future"]
    );
}

#[test]
fn a_gap_is_sent_also_when_nothing_follows() {
    let mut outbox = outbox();
    let long = delta("m", &"x".repeat(DISPLAY_BODY_MAX as usize));
    outbox.push_display(place(GENERATION), &long).unwrap();
    assert!(!outbox.is_empty());
    assert_eq!(lines(&mut outbox), ["display 0 display_gap(1)"]);
}

#[test]
fn a_delta_joins_the_last_entry_where_only_its_text_differs() {
    let mut outbox = outbox();
    for text in ["Hi, ", "d\\u00e9p\\u00f4t ", "\u{1f50e}\\n"] {
        outbox.push_display(place(GENERATION), &delta("m", text)).unwrap();
    }
    outbox.push_display(place(GENERATION), &delta("other", "!")).unwrap();
    outbox.push_display(Place { step_id: 3, ..place(GENERATION) }, &delta("other", "?")).unwrap();
    outbox.push_display(Place { corr: 8, ..place(GENERATION) }, &delta("other", "?")).unwrap();
    outbox.push_display(Place { corr: 8, ..place(GENERATION) }, &event(0)).unwrap();
    outbox.push_display(Place { corr: 8, ..place(GENERATION) }, &delta("other", ".")).unwrap();
    let seen: Vec<Seen> = std::iter::from_fn(|| take(&mut outbox, 0)).collect();
    let texts: Vec<&str> = seen.iter().filter_map(|seen| seen.body["payload"]["delta"].as_str()).collect();
    assert_eq!(texts, ["Hi, dépôt 🔎\n", "!", "?", "?", "."]);
    assert_eq!(seen.iter().map(Seen::seq).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(outbox.queued_bytes(), 0);
}

#[test]
fn members_around_the_text_have_to_be_the_same_bytes() {
    let mut outbox = outbox();
    let payloads = [
        r#"{"type":"text_delta","message_id":"m","delta":"a"}"#,
        r#"{"type":"text_delta","message_id":"m","delta":"b","tool_call_id":"t"}"#,
        r#"{"type":"text_delta","message_id":"\u006d","delta":"c","tool_call_id":"t"}"#,
        r#"{"type":"reasoning_delta","message_id":"m","delta":"d"}"#,
    ];
    for payload in payloads {
        outbox.push_display(place(GENERATION), payload.as_bytes()).unwrap();
    }
    assert_eq!(lines(&mut outbox).len(), payloads.len());
}

#[test]
fn merged_text_ends_at_16_kib() {
    let mut outbox = outbox();
    for _ in 0..5 {
        outbox.push_display(place(GENERATION), &delta("m", &"x".repeat(4000))).unwrap();
    }
    let seen: Vec<Seen> = std::iter::from_fn(|| take(&mut outbox, 0)).collect();
    let lens: Vec<usize> =
        seen.iter().map(|seen| seen.body["payload"]["delta"].as_str().unwrap().len()).collect();
    assert_eq!(lens, [16_000, 4000]);
}

#[test]
fn a_reset_makes_earlier_display_of_its_generation_void_and_only_a_later_reset_makes_it_void() {
    let reset = b"{\"type\":\"display_reset\"}";
    let mut outbox = small(2);
    outbox.push_display(place(GENERATION), &event(0)).unwrap();
    outbox.push_display(place(OTHER), &event(0)).unwrap();
    outbox.push_display(place(GENERATION), reset).unwrap();
    for n in 2..6 {
        outbox.push_display(place(GENERATION), &event(n)).unwrap();
    }
    assert_eq!(
        lines(&mut outbox),
        [
            "display 0 display_gap(1)",
            "display 0 display_gap(1)",
            "display 1 display_reset",
            "display 4 display_gap(3)",
            "display 5 from_the_future"
        ]
    );
    outbox.push_display(place(GENERATION), reset).unwrap();
    outbox.push_display(place(GENERATION), reset).unwrap();
    assert_eq!(lines(&mut outbox), ["display 6 display_gap(1)", "display 7 display_reset"]);
    outbox.push_display(place(GENERATION), &event(8)).unwrap();
    outbox.push_control(0, place(GENERATION), reset, false).unwrap();
    assert_eq!(lines(&mut outbox), ["control 0 display_reset", "display 8 display_gap(1)"]);
}

#[test]
fn a_whole_message_makes_the_deltas_it_was_assembled_from_void() {
    let mut outbox = outbox();
    for payload in [
        r#"{"type":"text_delta","message_id":"m1","delta":"a"}"#,
        r#"{"type":"text_delta","message_id":"m2","delta":"b"}"#,
        r#"{"type":"tool_input_delta","tool_call_id":"c1","delta":"c"}"#,
        r#"{"type":"tool_input_delta","tool_call_id":"c2","delta":"d"}"#,
        r#"{"type":"reasoning_delta","message_id":"\u006d1","delta":"e"}"#,
    ] {
        outbox.push_display(place(GENERATION), payload.as_bytes()).unwrap();
    }
    let message = br#"{"type":"assistant_message","message":{"message_id":"m1","content":[{"type":"tool_call","tool_call_id":"c1","tool_name":"t","input":{}}]}}"#;
    outbox.push_control(0, place(GENERATION), message, false).unwrap();
    assert_eq!(
        lines(&mut outbox),
        [
            "control 0 assistant_message",
            "display 0 display_gap(1)",
            "display 1 text_delta",
            "display 2 display_gap(1)",
            "display 3 tool_input_delta",
            "display 4 display_gap(1)"
        ]
    );
}

#[test]
fn last_waits_for_its_display_and_for_no_other() {
    let mut outbox = outbox();
    outbox.push_display(place(OTHER), &event(0)).unwrap();
    outbox.push_display(place(GENERATION), &event(0)).unwrap();
    outbox.push_control(0, place(GENERATION), b"{\"type\":\"finished\"}", true).unwrap();
    outbox.push_control(0, place(OTHER), b"{\"type\":\"step_started\"}", false).unwrap();
    assert_eq!(
        lines(&mut outbox),
        [
            "control 0 step_started",
            "display 0 from_the_future",
            "control 0 finished LAST",
            "display 0 from_the_future"
        ]
    );
}

#[test]
fn last_waits_a_stated_time_then_its_display_is_shed_and_the_gap_goes_first() {
    let mut outbox = outbox();
    for n in 0..3 {
        outbox.push_display(place(GENERATION), &event(n)).unwrap();
    }
    outbox.push_display(place(GENERATION), b"{\"type\":\"display_reset\"}").unwrap();
    outbox.push_display(place(GENERATION), &event(4)).unwrap();
    outbox.push_control(50, place(GENERATION), b"{\"type\":\"finished\"}", true).unwrap();
    assert_eq!(outbox.next_deadline_ms(), Some(50 + LAST_WAIT_MS));
    let mut wire = Vec::new();
    assert_eq!(outbox.take_urgent(49 + LAST_WAIT_MS, &mut wire), None);
    let mut urgent = Vec::new();
    while outbox.take_urgent(50 + LAST_WAIT_MS, &mut wire).is_some() {
        let Ok(Decoded { item: Item::Frame(frame), .. }) = FrameDecoder::new(u32::MAX).decode(&wire) else {
            panic!()
        };
        let body: Value = serde_json::from_slice(frame.body).unwrap();
        urgent.push(format!("{} {}", body["seq"], body["payload"]["type"]));
        wire.clear();
    }
    assert_eq!(urgent, ["2 \"display_gap\"", "3 \"display_reset\"", "4 \"display_gap\"", "0 \"finished\""]);
    assert!(outbox.is_empty());
}

#[test]
fn nothing_follows_last_until_it_was_sent_and_then_numbers_begin_anew() {
    let mut outbox = outbox();
    outbox.push_control(0, place(GENERATION), b"{\"type\":\"finished\"}", true).unwrap();
    let late = outbox.push_control(0, place(GENERATION), b"{\"type\":\"error\"}", false);
    assert_eq!(late, Err(PushFault::Ended));
    assert_eq!(outbox.push_display(place(GENERATION), &event(0)), Err(PushFault::Ended));
    assert_eq!(lines(&mut outbox), ["control 0 finished LAST"]);
    outbox.push_control(0, place(GENERATION), b"{\"type\":\"stream_start\"}", false).unwrap();
    assert_eq!(lines(&mut outbox), ["control 0 stream_start"]);
}

#[test]
fn a_full_control_queue_refuses_and_uses_no_number() {
    let mut outbox = Outbox::new(Version::V1, Budget { control_bytes: 250, ..Budget::default() });
    let unit = b"{\"type\":\"step_started\"}";
    outbox.push_control(0, place(GENERATION), unit, false).unwrap();
    outbox.push_control(0, place(GENERATION), unit, false).unwrap();
    assert_eq!(outbox.push_control(0, place(GENERATION), unit, false), Err(PushFault::Full));
    take(&mut outbox, 0).unwrap();
    outbox.push_control(0, place(GENERATION), unit, false).unwrap();
    assert_eq!(lines(&mut outbox), ["control 1 step_started", "control 2 step_started"]);
}

#[test]
fn what_no_reader_would_take_is_refused_and_uses_no_number() {
    let mut outbox = outbox();
    let long = format!("{{\"type\":\"x\",\"y\":\"{}\"}}", "y".repeat(CONTROL_BODY_MAX as usize));
    let refused = outbox.push_control(0, place(GENERATION), long.as_bytes(), false);
    assert!(matches!(refused, Err(PushFault::ControlTooLong { .. })), "{refused:?}");
    for payload in ["", "{", "[]", "1", "{\"a\":1,\"a\":2}", "{}{}"] {
        let control = outbox.push_control(0, place(GENERATION), payload.as_bytes(), false);
        assert!(matches!(control, Err(PushFault::Payload(_))), "{payload}: {control:?}");
        let display = outbox.push_display(place(GENERATION), payload.as_bytes());
        assert!(matches!(display, Err(PushFault::Payload(_))), "{payload}: {display:?}");
    }
    assert_eq!(outbox.push_gap(place(GENERATION), 0), Err(PushFault::EmptyGap));
    assert_eq!(outbox.push_gap(place(GENERATION), u64::MAX), Err(PushFault::SeqExhausted));
    outbox.push_control(0, place(GENERATION), b"{\"type\":\"step_started\"}", false).unwrap();
    outbox.push_display(place(GENERATION), &event(0)).unwrap();
    assert_eq!(lines(&mut outbox), ["control 0 step_started", "display 0 from_the_future"]);
}

#[test]
fn a_gap_of_the_hop_before_is_accounted_for_with_our_own() {
    let mut outbox = small(1);
    outbox.push_display(place(GENERATION), &event(0)).unwrap();
    outbox.push_gap(place(GENERATION), 4).unwrap();
    outbox.push_display(place(GENERATION), &event(1)).unwrap();
    assert_eq!(outbox.shed_total(), 1, "only our own are counted as shed here");
    assert_eq!(lines(&mut outbox), ["display 4 display_gap(5)", "display 5 from_the_future"]);
}

/// What a test may do to an outbox.
#[derive(Clone, Debug)]
enum Step {
    Delta(u8, u8),
    Event(u8),
    Reset(u8),
    Long(u8),
    Gap(u8, u8),
    Control(u8),
    Message(u8, u8),
    Last(u8),
    Take(u8),
    Wait(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0u8..3, 0u8..3).prop_map(|(g, m)| Step::Delta(g, m)),
        4 => (0u8..3).prop_map(Step::Event),
        1 => (0u8..3).prop_map(Step::Reset),
        1 => (0u8..3).prop_map(Step::Long),
        1 => (0u8..3, 1u8..9).prop_map(|(g, n)| Step::Gap(g, n)),
        2 => (0u8..3).prop_map(Step::Control),
        1 => (0u8..3, 0u8..3).prop_map(|(g, m)| Step::Message(g, m)),
        1 => (0u8..3).prop_map(Step::Last),
        5 => (1u8..6).prop_map(Step::Take),
        1 => (1u8..200).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 0..120)
}

/// One reader of a hop: checks the law, counts what was delivered and what was accounted for as lost.
#[derive(Default)]
struct Reader {
    laws: BTreeMap<(Generation, bool), Law>,
    delivered: u64,
    dropped: u64,
    control: u64,
}

impl Reader {
    fn read(&mut self, seen: &Seen) {
        let key = (seen.generation, seen.lane == Lane::Display);
        let law = self.laws.entry(key).or_insert(Law::from_start(seen.lane));
        assert_eq!(law.check(seen.seq(), seen.dropped()), Verdict::Kept, "{seen:?}");
        match (seen.lane, seen.dropped()) {
            (Lane::Control, _) => self.control += 1,
            (Lane::Display, Some(dropped)) => self.dropped += dropped,
            (Lane::Display, None) => self.delivered += 1,
        }
        if seen.last {
            self.laws.retain(|(generation, _), _| *generation != seen.generation);
        }
    }
}

/// Passes one frame on, as the second hop does.
fn forward(seen: &Seen, now_ms: u64, next: &mut Outbox) {
    let run_id = seen.body["run_id"].as_str().unwrap();
    let place = Place { generation: seen.generation, corr: 9, run_id, step_id: 2 };
    let payload = seen.body["payload"].to_string();
    match (seen.lane, seen.dropped()) {
        (Lane::Control, _) => next.push_control(now_ms, place, payload.as_bytes(), seen.last).unwrap(),
        (Lane::Display, Some(dropped)) => next.push_gap(place, dropped).unwrap(),
        (Lane::Display, None) => drop(next.push_display(place, payload.as_bytes()).unwrap()),
    }
}

proptest! {
    #[test]
    fn the_law_and_the_totals_hold_on_both_hops(steps in steps()) {
        let (mut first, mut second) = (small(4), small(2));
        let (mut middle, mut end) = (Reader::default(), Reader::default());
        let (mut control, mut now_ms, mut upstream_gaps) = (0, 0, 0);
        let mut ended = [false; 3];
        for step in steps {
            let generation = |g: u8| Generation { epoch: 0, channel: u16::from(g) + 1 };
            let mut display = |g: u8, payload: &[u8], ended: &[bool; 3]| {
                let pushed = first.push_display(place(generation(g)), payload);
                assert_eq!(pushed.is_err(), ended[g as usize]);
            };
            match step {
                Step::Delta(g, m) => display(g, &delta(&format!("m{m}"), "text"), &ended),
                Step::Event(g) => display(g, &event(1), &ended),
                Step::Reset(g) => display(g, b"{\"type\":\"display_reset\"}", &ended),
                Step::Long(g) => display(g, &delta("m", &"x".repeat(70_000)), &ended),
                Step::Gap(g, n) => {
                    if first.push_gap(place(generation(g)), n.into()).is_ok() {
                        upstream_gaps += u64::from(n);
                    }
                }
                Step::Control(g) => {
                    let unit = b"{\"type\":\"step_started\"}";
                    control += u64::from(first.push_control(now_ms, place(generation(g)), unit, false).is_ok());
                }
                Step::Message(g, m) => {
                    let unit = format!(
                        "{{\"type\":\"assistant_message\",\"message\":{{\"message_id\":\"m{m}\",\"content\":[]}}}}"
                    );
                    let pushed = first.push_control(now_ms, place(generation(g)), unit.as_bytes(), false);
                    control += u64::from(pushed.is_ok());
                }
                Step::Last(g) => {
                    let unit = b"{\"type\":\"finished\"}";
                    if first.push_control(now_ms, place(generation(g)), unit, true).is_ok() {
                        (control, ended[g as usize]) = (control + 1, true);
                    }
                }
                Step::Take(count) => {
                    for _ in 0..count {
                        if let Some(seen) = take(&mut first, now_ms) {
                            if seen.last {
                                ended[seen.generation.channel as usize - 1] = false;
                            }
                            middle.read(&seen);
                            forward(&seen, now_ms, &mut second);
                            // A generation of the second hop is free again once its LAST went out there.
                            while seen.last && second.has_control() {
                                let last = take(&mut second, now_ms).unwrap();
                                end.read(&last);
                            }
                        }
                    }
                    if let Some(seen) = take(&mut second, now_ms) {
                        end.read(&seen);
                    }
                }
                Step::Wait(ms) => now_ms += u64::from(ms),
            }
        }
        while let Some(seen) = take(&mut first, now_ms) {
            middle.read(&seen);
            forward(&seen, now_ms, &mut second);
            while seen.last && second.has_control() {
                let last = take(&mut second, now_ms).unwrap();
                end.read(&last);
            }
        }
        while let Some(seen) = take(&mut second, now_ms) {
            end.read(&seen);
        }
        prop_assert_eq!((middle.control, end.control), (control, control));
        prop_assert_eq!(middle.dropped, first.shed_total() + upstream_gaps);
        prop_assert_eq!(end.dropped, middle.dropped + second.shed_total());
        prop_assert!(end.delivered <= middle.delivered);
        prop_assert_eq!(first.queued_bytes() + second.queued_bytes(), 0);
    }
}

//! Whatever is pushed and taken: the seq law holds on both hops and every loss is accounted for.

use std::collections::BTreeMap;

use serde_json::Value;
use twolane_core::envelope::{Generation, Lane, Version};
use twolane_core::frame::{FrameDecoder, Item};
use twolane_core::lanes::law::{Law, Verdict};
use twolane_core::lanes::outbox::{Budget, Outbox, Place};

/// Two bytes are one operation.
pub fn run(bytes: &[u8]) {
    let mut hops = Hops::new();
    for operation in bytes.chunks_exact(2).take(400) {
        hops.operate(operation[0], operation[1]);
    }
    hops.drain();
}

/// A sender, a hop that passes on, and what each reader saw.
struct Hops {
    first: Outbox,
    second: Outbox,
    middle: Reader,
    end: Reader,
    control: u64,
    upstream_gaps: u64,
    now_ms: u64,
}

#[derive(Default)]
struct Reader {
    laws: BTreeMap<(Generation, bool), Law>,
    delivered: u64,
    dropped: u64,
    control: u64,
}

struct Seen {
    lane: Lane,
    generation: Generation,
    last: bool,
    body: Value,
}

impl Seen {
    fn dropped(&self) -> Option<u64> {
        let payload = &self.body["payload"];
        (payload["type"] == "display_gap").then(|| payload["dropped"].as_u64().expect("a gap has a count"))
    }
}

fn place(generation: u8, step_id: u64) -> Place<'static> {
    let channel = u16::from(generation % 3) + 1;
    Place { generation: Generation { epoch: 0, channel }, corr: 9, run_id: "run-7", step_id }
}

fn outbox(display_entries: usize) -> Outbox {
    Outbox::new(Version::V2, Budget { display_entries, ..Budget::default() })
}

fn take(outbox: &mut Outbox, now_ms: u64) -> Option<Seen> {
    let mut wire = Vec::new();
    let lane = outbox.take_frame(now_ms, &mut wire)?;
    let decoded = FrameDecoder::new(u32::MAX).decode(&wire).expect("what was written is read");
    let Item::Frame(frame) = decoded.item else { panic!("one call gives one frame") };
    assert_eq!((decoded.consumed, frame.header.lane()), (wire.len(), Ok(lane)));
    let (generation, last) = (frame.header.generation(), frame.header.flags().is_last());
    Some(Seen { lane, generation, last, body: serde_json::from_slice(frame.body).expect("a body") })
}

impl Reader {
    fn read(&mut self, seen: &Seen) {
        let law = self
            .laws
            .entry((seen.generation, seen.lane == Lane::Display))
            .or_insert(Law::from_start(seen.lane));
        let seq = seen.body["seq"].as_u64().expect("a seq");
        assert_eq!(law.check(seq, seen.dropped()), Verdict::Kept, "{}", seen.body);
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

impl Hops {
    fn new() -> Self {
        Self {
            first: outbox(4),
            second: outbox(2),
            middle: Reader::default(),
            end: Reader::default(),
            control: 0,
            upstream_gaps: 0,
            now_ms: 0,
        }
    }

    fn operate(&mut self, operation: u8, detail: u8) {
        let (what, generation) = (operation % 16, operation / 16);
        let place = place(generation, u64::from(detail % 2));
        match what {
            0..=3 => {
                let text = "x".repeat(usize::from(detail));
                let delta =
                    format!(r#"{{"type":"text_delta","message_id":"m{}","delta":"{text}"}}"#, detail % 3);
                let _ = self.first.push_display(place, delta.as_bytes());
            }
            4 | 5 => {
                let _ = self.first.push_display(place, br#"{"type":"from_the_future"}"#);
            }
            6 => {
                let _ = self.first.push_display(place, br#"{"type":"display_reset"}"#);
            }
            // Rarely: it takes as long as a hundred others.
            7 if detail > 250 => {
                let long =
                    format!(r#"{{"type":"text_delta","message_id":"m","delta":"{}"}}"#, "x".repeat(70_000));
                let _ = self.first.push_display(place, long.as_bytes());
            }
            8 if self.first.push_gap(place, u64::from(detail)).is_ok() => {
                self.upstream_gaps += u64::from(detail)
            }
            9 => self.push_control(place, r#"{"type":"step_started"}"#, false),
            10 => {
                let message = format!(
                    r#"{{"type":"assistant_message","message":{{"message_id":"m{}","content":[]}}}}"#,
                    detail % 3
                );
                self.push_control(place, &message, false);
            }
            11 => self.push_control(place, r#"{"type":"finished"}"#, true),
            12 => self.now_ms += u64::from(detail),
            _ => {
                for _ in 0..detail % 8 {
                    self.pass_one_on();
                }
                if let Some(seen) = take(&mut self.second, self.now_ms) {
                    self.end.read(&seen);
                }
            }
        }
    }

    fn push_control(&mut self, place: Place<'_>, payload: &str, last: bool) {
        self.control +=
            u64::from(self.first.push_control(self.now_ms, place, payload.as_bytes(), last).is_ok());
    }

    fn pass_one_on(&mut self) -> bool {
        let Some(seen) = take(&mut self.first, self.now_ms) else { return false };
        self.middle.read(&seen);
        let place = Place {
            generation: seen.generation,
            corr: 9,
            run_id: "run-7",
            step_id: seen.body["step_id"].as_u64().expect("a step"),
        };
        let payload = seen.body["payload"].to_string();
        match (seen.lane, seen.dropped()) {
            (Lane::Control, _) => {
                let pushed = self.second.push_control(self.now_ms, place, payload.as_bytes(), seen.last);
                pushed.expect("room for control");
            }
            (Lane::Display, Some(dropped)) => self.second.push_gap(place, dropped).expect("a gap goes on"),
            (Lane::Display, None) => {
                let _ = self.second.push_display(place, payload.as_bytes()).expect("display");
            }
        }
        // A generation of the second hop is free again once its LAST went out there.
        while seen.last && self.second.has_control() {
            let last = take(&mut self.second, self.now_ms).expect("control");
            self.end.read(&last);
        }
        true
    }

    fn drain(mut self) {
        while self.pass_one_on() {}
        while let Some(seen) = take(&mut self.second, self.now_ms) {
            self.end.read(&seen);
        }
        assert_eq!((self.middle.control, self.end.control), (self.control, self.control));
        assert_eq!(self.middle.dropped, self.first.shed_total() + self.upstream_gaps);
        assert_eq!(self.end.dropped, self.middle.dropped + self.second.shed_total());
        assert!(self.end.delivered <= self.middle.delivered);
        assert_eq!(self.first.queued_bytes() + self.second.queued_bytes(), 0);
    }
}

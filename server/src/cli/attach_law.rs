//! The law of every lane and generation of a connection, checked from its first frame.

use std::collections::HashMap;

use twolane_core::body::{Body, DisplayEvent, Tag};
use twolane_core::envelope::{FrameType, Generation, Header, Lane};
use twolane_core::lanes::law::{Breach, Law, Verdict};

/// What was found out about one frame.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Its seq, where the body could be read.
    pub(super) seq: Option<u64>,
    /// The broken rule, and the offset in the body where it has one.
    pub(super) fault: Option<(Option<usize>, String)>,
}

/// The laws of one connection.
#[derive(Debug, Default)]
pub(super) struct Laws {
    live: HashMap<(Generation, Lane), Law>,
    /// Frames seen.
    pub(super) frames: u64,
    /// Generations that ended with LAST.
    pub(super) ended: u64,
    /// Display frames that gaps account for.
    pub(super) dropped: u64,
    /// Breaches of the law of seq.
    pub(super) breaches: u64,
    /// Frames that belong to no lane or have no readable body.
    pub(super) faults: u64,
}

impl Laws {
    /// Whether every frame kept every rule.
    pub(super) fn kept(&self) -> bool {
        self.breaches == 0 && self.faults == 0
    }

    /// Checks the next frame.
    pub(super) fn check(&mut self, header: &Header, body: &[u8]) -> Checked {
        self.frames += 1;
        if header.frame_type().is_pure_header() {
            return Checked::default();
        }
        let checked = self.check_lane(header, body);
        if header.flags().is_last() && header.lane() == Ok(Lane::Control) {
            self.ended += 1;
            for lane in [Lane::Control, Lane::Display] {
                self.live.remove(&(header.generation(), lane));
            }
        }
        checked
    }

    fn check_lane(&mut self, header: &Header, body: &[u8]) -> Checked {
        let lane = match header.lane() {
            Ok(lane) => lane,
            Err(fault) => return self.fault(None, None, fault.to_string()),
        };
        if header.frame_type() != FrameType::StreamData {
            return Checked::default();
        }
        let body = match Body::parse(body) {
            Ok(body) => body,
            Err(fault) => return self.fault(None, Some(fault.offset), fault.to_string()),
        };
        if let Some(Err(reason)) = body.payload.tag().map(|tag: Tag| tag.check_lane(lane)) {
            return self.fault(Some(body.seq), None, reason.to_string());
        }
        let dropped = match (lane, DisplayEvent::read(&body.payload)) {
            (Lane::Display, Ok(DisplayEvent::DisplayGap { dropped })) => Some(dropped),
            (Lane::Display, Err(fault)) => {
                return self.fault(Some(body.seq), Some(fault.offset), fault.to_string());
            }
            _ => None,
        };
        self.dropped = self.dropped.saturating_add(dropped.unwrap_or(0));
        let law = self.live.entry((header.generation(), lane)).or_insert_with(|| Law::from_start(lane));
        match law.check(body.seq, dropped) {
            Verdict::Broken(breach) => self.breach(body.seq, breach),
            Verdict::Kept | Verdict::Joined => Checked { seq: Some(body.seq), fault: None },
        }
    }

    fn breach(&mut self, seq: u64, breach: Breach) -> Checked {
        self.breaches += 1;
        Checked { seq: Some(seq), fault: Some((None, breach.to_string())) }
    }

    fn fault(&mut self, seq: Option<u64>, offset: Option<usize>, reason: String) -> Checked {
        self.faults += 1;
        Checked { seq, fault: Some((offset, reason)) }
    }
}

#[cfg(test)]
mod tests {
    use twolane_core::envelope::{Flags, Parts, Version};

    use super::*;

    fn check(laws: &mut Laws, flags: u8, seq: u64, payload: &str) -> Checked {
        let body =
            format!("{{\"version\":1,\"run_id\":\"r\",\"step_id\":1,\"seq\":{seq},\"payload\":{payload}}}");
        let header = Header::new(Parts {
            version: Version::V1,
            frame_type: FrameType::StreamData,
            flags: Flags::from_bits(flags),
            channel: 1,
            epoch: 0,
            corr: 1,
            len: u32::try_from(body.len()).unwrap(),
        });
        laws.check(&header.unwrap(), body.as_bytes())
    }

    const RESET: &str = "{\"type\":\"display_reset\"}";

    #[test]
    fn a_missing_display_frame_breaks_the_law_and_a_gap_keeps_it() {
        let mut laws = Laws::default();
        check(&mut laws, 4, 0, RESET);
        check(&mut laws, 4, 3, "{\"type\":\"display_gap\",\"dropped\":3}");
        assert!(laws.kept());
        let checked = check(&mut laws, 4, 5, RESET);
        assert!(checked.fault.is_some() && !laws.kept());
        assert_eq!((laws.breaches, laws.dropped), (1, 3));
    }

    #[test]
    fn a_generation_that_ended_begins_again_at_0() {
        let mut laws = Laws::default();
        for _ in 0..2 {
            check(&mut laws, 4, 0, RESET);
            check(&mut laws, 10, 0, "{\"type\":\"finished\"}");
        }
        assert!(laws.kept());
        assert_eq!(laws.ended, 2);
    }

    #[test]
    fn what_is_on_the_wrong_lane_or_unreadable_is_a_fault() {
        for (flags, payload) in [(2, RESET), (4, "{\"type\":\"finished\"}"), (4, "{}"), (0, RESET)] {
            let mut laws = Laws::default();
            let checked = check(&mut laws, flags, 0, payload);
            let expected_ok = flags == 2 && payload == RESET;
            assert_eq!(checked.fault.is_none(), expected_ok, "{flags} {payload}");
        }
    }
}

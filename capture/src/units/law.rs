//! The seq laws of one direction of one connection, one for each generation and lane.

use twolane_core::envelope::{Generation, Header, Lane};
use twolane_core::lanes::law::{Law, Verdict};

use crate::keyed::Keyed;
use crate::limits::MAX_LAWS;

#[derive(Debug, Clone, Copy)]
struct Entry {
    law: Law,
    /// A control frame with LAST went by: the number may be used anew, from 0.
    ended: bool,
}

/// The laws of one direction.
#[derive(Debug, Default)]
pub(super) struct Laws {
    /// By [`numbering`].
    entries: Keyed<Entry>,
    /// The direction is read from its first byte without loss, so that an unknown generation begins at 0.
    complete: bool,
}

impl Laws {
    /// Says that the direction is read from its beginning.
    pub(super) fn begin(&mut self) {
        self.complete = true;
    }

    /// Says that any number of frames may have been lost.
    pub(super) fn lose_all(&mut self) {
        self.entries.clear();
        self.complete = false;
    }

    /// Says that the frame with this header cannot be read: its seq is not known.
    pub(super) fn lose_one(&mut self, header: &Header) {
        let Ok(lane) = header.lane() else { return };
        let fresh = Entry { law: Law::joining(lane), ended: false };
        if let Some(entry) = self.entries.find_or(numbering(header.generation(), lane), fresh) {
            *entry = fresh;
        }
    }

    /// Says that the generation ended, in whichever direction that was said.
    pub(super) fn end(&mut self, generation: Generation) {
        for lane in [Lane::Control, Lane::Display] {
            if let Some(entry) = self.entries.find(numbering(generation, lane)) {
                entry.ended = true;
            }
        }
    }

    /// Judges a frame by its law.
    pub(super) fn check(&mut self, header: &Header, lane: Lane, seq: u64, dropped: Option<u64>) -> Verdict {
        let numbering = numbering(header.generation(), lane);
        let mut fresh = Law::from_start(lane);
        let begins = fresh.check(seq, dropped) == Verdict::Kept;
        if self.entries.len() >= MAX_LAWS && self.entries.find(numbering).is_none() {
            self.lose_all();
        }
        let law = if self.complete { Law::from_start(lane) } else { Law::joining(lane) };
        let mut unkept = Entry { law, ended: false };
        let entry = self.entries.find_or(numbering, unkept).unwrap_or(&mut unkept);
        let verdict = entry.law.check(seq, dropped);
        match verdict {
            Verdict::Kept => verdict,
            // A frame that begins a numbering follows an unknown or ended one as it should.
            _ if begins && (entry.ended || verdict == Verdict::Joined) => {
                *entry = Entry { law: fresh, ended: false };
                Verdict::Kept
            }
            _ => verdict,
        }
    }
}

/// Which numbering a frame belongs to: epoch, channel and lane in one number.
fn numbering(generation: Generation, lane: Lane) -> u64 {
    let Generation { epoch, channel } = generation;
    u64::from(epoch) << 17 | u64::from(channel) << 1 | u64::from(lane == Lane::Display)
}

//! The search for a boundary in a direction that is out of step: a guess, made on several proofs.

use alloc::vec::Vec;

use twolane_core::envelope::{FrameType, Header, Peeked, Version, peek};
use twolane_core::handshake::message::{Sighted, split};
use twolane_core::limits::{HEADER_LEN_MAX, PREFIX_LEN};

use super::transcript::{begins_connector, begins_message, recognise};
use crate::bytes::count;
use crate::limits::{EVIDENCE_LEN_MAX, MAX_UNDECIDED, PLAUSIBLE_BODY_MAX, PROOFS_AT_END, PROOFS_OF_BOUNDARY};

/// A search under way. Places are offsets into the unread bytes.
///
/// Each place is judged as if bytes came one at a time: with the fewest that may say more of it, and the places in the
/// order in which those are there. So the boundary that is found does not depend on how the bytes were cut.
#[derive(Debug, Default)]
pub(super) struct Search {
    scanned: usize,
    /// By `need`, then by place.
    undecided: Vec<Undecided>,
    /// Whether handshake messages may still come.
    pub(super) messages: bool,
    /// Bytes passed over so far, before the unread ones.
    passed: u64,
    evidence: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Undecided {
    place: usize,
    /// Unread bytes that must be there before it can be judged.
    need: usize,
}

/// What a search is done with.
#[derive(Debug)]
pub(super) enum Looked {
    /// So many unread bytes can be dropped, and more are needed.
    NotYet(usize),
    /// The boundary, so many unread bytes from the front.
    Found(usize),
}

enum Verdict {
    Proven,
    Refuted,
    Need(usize),
}

impl Search {
    /// A search that starts behind the first `skip` unread bytes.
    pub(super) fn behind(skip: usize, messages: bool) -> Self {
        Self { scanned: skip, messages, ..Self::default() }
    }

    /// Looks for a boundary in `unread`. `version` is the connection's, where known; `is_end` says that no byte
    /// follows.
    pub(super) fn look(&mut self, unread: &[u8], version: Option<Version>, is_end: bool) -> Looked {
        while let Some((place, need)) = self.next_judgement(unread) {
            let seen = unread.get(place..need).unwrap_or_default();
            match self.judge(seen, version, false) {
                Verdict::Proven => return self.found(unread, place),
                Verdict::Refuted => {}
                // More than was seen, so that a search always comes to its end.
                Verdict::Need(more) => self.wait(place, place.saturating_add(more.max(seen.len() + 1))),
            }
        }
        if !is_end {
            let first = self.undecided.iter().map(|waiting| waiting.place).min();
            return self.pass(unread, first.unwrap_or(self.scanned).min(unread.len()));
        }
        while let Some(place) = self.next_left(unread) {
            if let Verdict::Proven = self.judge(unread.get(place..).unwrap_or_default(), version, true) {
                return self.found(unread, place);
            }
        }
        self.pass(unread, unread.len())
    }

    /// Bytes passed over and a sample of them.
    pub(super) fn passed(&self) -> (u64, &[u8]) {
        (self.passed, &self.evidence)
    }

    /// The place to judge next and the unread bytes to judge it by, if they are there.
    fn next_judgement(&mut self, unread: &[u8]) -> Option<(usize, usize)> {
        let waiting = self.undecided.first().map_or(usize::MAX, |first| first.need);
        // A place that is looked at for the first time comes after those that need as many bytes.
        let fresh_end = unread.len().min(waiting.saturating_sub(1));
        if let Some(place) = self.next_fresh(unread, (fresh_end + 1).saturating_sub(HEADER_LEN_MAX)) {
            return Some((place, place + HEADER_LEN_MAX));
        }
        if waiting > unread.len() {
            return None;
        }
        let Undecided { place, need } = *self.undecided.first()?;
        self.undecided.remove(0);
        Some((place, need))
    }

    /// The first place before `end`, not looked at so far, whose byte 4 may be a version, the brace of a handshake
    /// message or the map of a connector's. Everything before it is looked at from then on.
    fn next_fresh(&mut self, unread: &[u8], end: usize) -> Option<usize> {
        let bytes = unread.get(self.scanned..end)?;
        let behind = unread.get(self.scanned + PREFIX_LEN - 1..)?;
        let found = behind.iter().zip(bytes).position(|(byte, _)| match byte {
            1 | 2 | b'{' => true,
            // The map of a message of the connector.
            0x81..=0x8f | 0xde | 0xdf => self.messages,
            _ => false,
        });
        let place = found.map(|step| self.scanned + step);
        self.scanned = place.map_or(end, |place| place + 1);
        place
    }

    /// The first place that nothing was decided about, where no byte follows.
    fn next_left(&mut self, unread: &[u8]) -> Option<usize> {
        let first = self.undecided.iter().enumerate().min_by_key(|(_, waiting)| waiting.place);
        if let Some((at, _)) = first {
            return Some(self.undecided.remove(at).place);
        }
        self.next_fresh(unread, (unread.len() + 1).saturating_sub(PREFIX_LEN))
    }

    fn wait(&mut self, place: usize, need: usize) {
        if self.undecided.len() >= MAX_UNDECIDED {
            let first = self.undecided.iter().enumerate().min_by_key(|(_, waiting)| waiting.place);
            if let Some((at, _)) = first {
                self.undecided.remove(at);
            }
        }
        let at = self.undecided.partition_point(|other| (other.need, other.place) < (need, place));
        self.undecided.insert(at, Undecided { place, need });
    }

    fn found(&mut self, unread: &[u8], place: usize) -> Looked {
        self.pass(unread, place);
        Looked::Found(place)
    }

    fn pass(&mut self, unread: &[u8], bytes: usize) -> Looked {
        let room = EVIDENCE_LEN_MAX.saturating_sub(self.evidence.len());
        let shown = unread.get(..bytes.min(room)).unwrap_or_default();
        self.evidence.extend_from_slice(shown);
        self.passed = self.passed.saturating_add(count(bytes));
        self.scanned = self.scanned.saturating_sub(bytes);
        for waiting in &mut self.undecided {
            waiting.place = waiting.place.saturating_sub(bytes);
            waiting.need = waiting.need.saturating_sub(bytes);
        }
        Looked::NotYet(bytes)
    }

    fn judge(&self, bytes: &[u8], version: Option<Version>, is_end: bool) -> Verdict {
        if self.messages && begins_message(bytes) {
            return judge_message(bytes, is_end);
        }
        if self.messages && version.is_none() {
            match begins_connector(bytes) {
                Some(true) => return Verdict::Proven,
                Some(false) => {}
                None if is_end => return Verdict::Refuted,
                None => return Verdict::Need(bytes.len() + 1),
            }
        }
        judge_chain(bytes, version, is_end)
    }
}

fn judge_message(bytes: &[u8], is_end: bool) -> Verdict {
    match split(bytes) {
        Ok(Sighted::Need(need)) if !is_end => Verdict::Need(need),
        Ok(Sighted::Message { json, .. }) => match recognise(bytes.get(json).unwrap_or_default()) {
            Ok(_) => Verdict::Proven,
            Err(_) => Verdict::Refuted,
        },
        _ => Verdict::Refuted,
    }
}

fn judge_chain(bytes: &[u8], mut version: Option<Version>, is_end: bool) -> Verdict {
    let (mut at, mut proofs) = (0_usize, 0);
    let ending = |proofs| if proofs >= PROOFS_AT_END { Verdict::Proven } else { Verdict::Refuted };
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let header = match peek(rest) {
            Ok(Peeked::Header(header)) => header,
            Ok(Peeked::Need(_)) if is_end => return ending(proofs),
            Ok(Peeked::Need(need)) => return Verdict::Need(at + need),
            Err(_) => return Verdict::Refuted,
        };
        if header.body_len() > PLAUSIBLE_BODY_MAX || version.is_some_and(|known| known != header.version()) {
            return Verdict::Refuted;
        }
        version = Some(header.version());
        let header_len = header.version().header_len();
        let total = header_len + header.body_len() as usize;
        match body_proof(&header, rest.get(header_len..).unwrap_or_default()) {
            BodyProof::Refuted => return Verdict::Refuted,
            // Judged without its first byte, a place would be proven that the next byte refutes.
            BodyProof::NotBegun if !is_end => return Verdict::Need(at + header_len + 1),
            BodyProof::NotBegun => proofs += 1,
            BodyProof::Proofs(more) => proofs += 1 + more,
        }
        if proofs >= PROOFS_OF_BOUNDARY {
            return Verdict::Proven;
        }
        at += total;
        if at > bytes.len() {
            return if is_end { ending(proofs) } else { Verdict::Need(at + PREFIX_LEN) };
        }
    }
}

/// What the body of a frame, as far as it is there, says of the place.
enum BodyProof {
    /// No boundary is here.
    Refuted,
    /// Not one byte of it is there.
    NotBegun,
    /// So many proofs beside the header's.
    Proofs(u32),
}

fn body_proof(header: &Header, available: &[u8]) -> BodyProof {
    let is_text = header.frame_type() == FrameType::StreamData && !header.flags().is_binary();
    if !is_text || header.body_len() == 0 {
        return BodyProof::Proofs(0);
    }
    match available.first() {
        None => return BodyProof::NotBegun,
        Some(b'{' | b' ' | b'\t' | b'\r' | b'\n') => {}
        Some(_) => return BodyProof::Refuted,
    }
    match available.get(..header.body_len() as usize) {
        None => BodyProof::Proofs(0),
        Some(body) => BodyProof::Proofs(u32::from(body.trim_ascii().ends_with(b"}"))),
    }
}

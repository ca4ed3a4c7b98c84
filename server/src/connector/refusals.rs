//! Sealed refusals: one that is repeated is the same bytes, and fresh ones are limited.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::Refusal;
use twolane_core::connector::seal::KeyId;

/// Refusals kept of one caller.
const KEPT_MAX: usize = 256;

/// Bytes of a refusal that is kept; only those of a request id that is none are longer.
const KEPT_BYTES_MAX: usize = 4096;

/// Fresh refusals of one caller in a second.
const FRESH_PER_S: u32 = 100;

/// Which refusal it is: of which request, of which kind, bound to what, under which key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name {
    pub(super) caller: String,
    pub(super) request_id: String,
    pub(super) refusal: Refusal,
    pub(super) binding: Digest,
    pub(super) key: KeyId,
}

/// What was refused lately.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<HashMap<String, OfCaller>>);

#[derive(Debug, Default)]
struct OfCaller {
    frames: HashMap<Name, Vec<u8>>,
    /// The oldest first.
    order: VecDeque<Name>,
    second: u64,
    fresh: u32,
}

/// What to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// What was sent before.
    Kept(Vec<u8>),
    /// A fresh one.
    Fresh,
    /// Nothing: too many were sealed in this second.
    TooMany,
}

impl Refusals {
    pub(super) fn look_up(&self, name: &Name, monotonic_ms: u64) -> Lookup {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_caller = callers.entry(name.caller.clone()).or_default();
        if let Some(frame) = of_caller.frames.get(name) {
            return Lookup::Kept(frame.clone());
        }
        let second = monotonic_ms / 1000;
        if of_caller.second != second {
            (of_caller.second, of_caller.fresh) = (second, 0);
        }
        if of_caller.fresh == FRESH_PER_S {
            return Lookup::TooMany;
        }
        of_caller.fresh += 1;
        Lookup::Fresh
    }

    /// Keeps a fresh one, and gives the one that is kept: where two were made at once, the first.
    pub(super) fn keep(&self, name: Name, frame: Vec<u8>) -> Vec<u8> {
        if frame.len() > KEPT_BYTES_MAX {
            return frame;
        }
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_caller = callers.entry(name.caller.clone()).or_default();
        if let Some(kept) = of_caller.frames.get(&name) {
            return kept.clone();
        }
        if of_caller.order.len() == KEPT_MAX
            && let Some(oldest) = of_caller.order.pop_front()
        {
            of_caller.frames.remove(&oldest);
        }
        of_caller.order.push_back(name.clone());
        of_caller.frames.insert(name, frame.clone());
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: usize, refusal: Refusal) -> Name {
        Name {
            caller: "caller".to_owned(),
            request_id: number.to_string(),
            refusal,
            binding: Digest::ZERO,
            key: KeyId([1; 16]),
        }
    }

    #[test]
    fn a_repeated_refusal_is_the_same_bytes_and_another_kind_is_another() {
        let refusals = Refusals::default();
        let policy = name(1, Refusal::Policy);
        assert_eq!(refusals.look_up(&policy, 0), Lookup::Fresh);
        assert_eq!(refusals.keep(policy.clone(), vec![1]), [1]);
        assert_eq!(refusals.keep(policy.clone(), vec![2]), [1]);
        assert_eq!(refusals.look_up(&policy, 0), Lookup::Kept(vec![1]));
        assert_eq!(refusals.look_up(&name(1, Refusal::Expired), 0), Lookup::Fresh);
    }

    #[test]
    fn a_hundred_fresh_ones_a_second_and_repeated_ones_beside_them() {
        let refusals = Refusals::default();
        for number in 0..100 {
            assert_eq!(refusals.look_up(&name(number, Refusal::Policy), 999), Lookup::Fresh);
            refusals.keep(name(number, Refusal::Policy), vec![0]);
        }
        assert_eq!(refusals.look_up(&name(100, Refusal::Policy), 999), Lookup::TooMany);
        assert_eq!(refusals.look_up(&name(7, Refusal::Policy), 999), Lookup::Kept(vec![0]));
        assert_eq!(refusals.look_up(&name(100, Refusal::Policy), 1000), Lookup::Fresh);
    }

    #[test]
    fn the_oldest_make_room() {
        let refusals = Refusals::default();
        for number in 0..=KEPT_MAX {
            refusals.keep(name(number, Refusal::Policy), vec![0]);
        }
        assert_eq!(refusals.look_up(&name(0, Refusal::Policy), 0), Lookup::Fresh);
        assert_eq!(refusals.look_up(&name(1, Refusal::Policy), 0), Lookup::Kept(vec![0]));
    }

    #[test]
    fn one_that_is_longer_than_a_refusal_of_an_id_is_not_kept() {
        let refusals = Refusals::default();
        let (long, kept) = (name(1, Refusal::Malformed), name(2, Refusal::Malformed));
        assert_eq!(refusals.keep(long.clone(), vec![1; KEPT_BYTES_MAX + 1]).len(), KEPT_BYTES_MAX + 1);
        refusals.keep(kept.clone(), vec![2; KEPT_BYTES_MAX]);
        assert_eq!(refusals.look_up(&long, 0), Lookup::Fresh);
        assert_eq!(refusals.look_up(&kept, 0), Lookup::Kept(vec![2; KEPT_BYTES_MAX]));
    }
}

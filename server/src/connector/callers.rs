//! Who may ask, under which keys, and for how much.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use tokio::sync::Semaphore;
use twolane_core::connector::arithmetic::frame_bytes_for_payload;
use twolane_core::connector::seal::{KeyId, SealKey};
use twolane_core::connector::text::Id;

/// The shortest bound of ciphertext that a caller may have, tag included: every refusal and failure fits.
pub const PAYLOAD_MIN: u64 = 4096;

/// One caller.
#[derive(Debug)]
pub struct Caller {
    /// Its runtime id.
    pub id: Id<Box<str>>,
    /// Its keys, the newest first. A reply is sealed under the one that opened the request.
    pub keys: Vec<SealKey>,
    /// What it may do.
    pub bounds: Bounds,
    /// A place for each run that it may have at once.
    pub(super) places: Arc<Semaphore>,
}

/// What a caller may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The models that it may ask; all of them where empty.
    pub models: Vec<String>,
    /// The most output tokens of a turn.
    pub output_tokens_max: NonZeroU32,
    /// The most runs at once.
    pub running_max: u32,
    /// The most bytes of ciphertext, tag included, either way.
    pub payload_max: u64,
}

impl Caller {
    /// A caller with its keys.
    pub fn new(id: Id<Box<str>>, keys: Vec<SealKey>, bounds: Bounds) -> Self {
        let places = Arc::new(Semaphore::new(bounds.running_max as usize));
        Self { id, keys, bounds, places }
    }

    /// Whether it may ask `model`.
    pub(super) fn may_ask(&self, model: &str) -> bool {
        self.bounds.models.is_empty() || self.bounds.models.iter().any(|allowed| allowed == model)
    }
}

/// All callers of a server.
#[derive(Debug)]
pub struct Callers {
    callers: HashMap<String, Arc<Caller>>,
    /// Keys that a request may be tried with, whoever its caller is: as many as the caller with most has.
    pub(super) keys_max: usize,
    /// A key of nobody, for the work that an unknown caller costs.
    pub(super) decoy: SealKey,
}

/// Why callers cannot be served together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallersFault {
    /// The same id twice.
    #[error("caller `{0}` is there twice")]
    Twice(String),
    /// No key.
    #[error("caller `{0}` has no key")]
    NoKey(String),
    /// A key that belongs to another caller too, or to the same twice.
    #[error("caller `{0}` has a key that is there already: each key has one caller")]
    SharedKey(String),
    /// A bound below what every refusal needs.
    #[error("caller `{caller}`: payload of {found} bytes, expected at least {PAYLOAD_MIN}")]
    Payload {
        /// Whose.
        caller: String,
        /// The bound.
        found: u64,
    },
    /// A payload that no frame of the bound carries.
    #[error(
        "caller `{caller}`: a payload of {payload} bytes needs frames of {needed} bytes, `connector_frame` is {frame}"
    )]
    Frame {
        /// Whose.
        caller: String,
        /// Its bound.
        payload: u64,
        /// The frame that carries it.
        needed: u64,
        /// The bound of frames.
        frame: u64,
    },
    /// No random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(getrandom::Error),
}

impl Callers {
    /// `callers` together, with frames of at most `frame_max` bytes.
    pub fn new(callers: Vec<Caller>, frame_max: u64) -> Result<Self, CallersFault> {
        let mut random = zeroize::Zeroizing::new([0; 32]);
        getrandom::fill(random.as_mut()).map_err(CallersFault::Random)?;
        let (mut known, mut keys) = (HashMap::new(), HashSet::<[u8; 16]>::new());
        for caller in callers {
            let id = caller.id.as_str().to_owned();
            if caller.keys.is_empty() {
                return Err(CallersFault::NoKey(id));
            }
            if !caller.keys.iter().all(|key| keys.insert(key.id().0)) {
                return Err(CallersFault::SharedKey(id));
            }
            check_payload(&id, caller.bounds.payload_max, frame_max)?;
            if known.insert(id.clone(), Arc::new(caller)).is_some() {
                return Err(CallersFault::Twice(id));
            }
        }
        let keys_max = known.values().map(|caller| caller.keys.len()).max().unwrap_or(1);
        Ok(Self { callers: known, keys_max, decoy: SealKey::from_bytes(&random) })
    }

    /// Takes over the places of those who were there before, so that their runs go on counting.
    pub(super) fn follow(&mut self, before: &Self) {
        for (id, caller) in &mut self.callers {
            let (Some(same), Some(caller)) = (before.callers.get(id), Arc::get_mut(caller)) else { continue };
            let (old, new) = (same.bounds.running_max, caller.bounds.running_max);
            caller.places = Arc::clone(&same.places);
            if new > old {
                caller.places.add_permits((new - old) as usize);
            } else if new < old {
                let places = Arc::clone(&caller.places);
                // Those that are taken go as their runs end.
                tokio::spawn(async move {
                    if let Ok(gone) = places.acquire_many_owned(old - new).await {
                        gone.forget();
                    }
                });
            }
        }
    }

    pub(super) fn find(&self, id: &str) -> Option<&Arc<Caller>> {
        self.callers.get(id)
    }

    /// Every key of every caller.
    pub fn key_ids(&self) -> impl Iterator<Item = KeyId> {
        self.callers.values().flat_map(|caller| caller.keys.iter().map(SealKey::id))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.callers.len()
    }
}

fn check_payload(caller: &str, payload: u64, frame: u64) -> Result<(), CallersFault> {
    let caller = || caller.to_owned();
    if payload < PAYLOAD_MIN {
        return Err(CallersFault::Payload { caller: caller(), found: payload });
    }
    let needed = frame_bytes_for_payload(payload).unwrap_or(u64::MAX);
    if needed > frame {
        return Err(CallersFault::Frame { caller: caller(), payload, needed, frame });
    }
    Ok(())
}

//! Nonces, and how many were used: a key seals a bounded number of times, counted durably ahead of use.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::Mutex;
use tracing::warn;
use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::seal::KeyId;
use twolane_core::limits::{SEALS_MAX, SEALS_RESERVED, SEALS_WARN};

use crate::stop_points::{self, Point};
use crate::store::{Change, Engine, Outcome, Store};

/// Why nothing may be sealed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SealsFault {
    /// The key was used as often as it may be.
    #[error("the key has sealed {SEALS_MAX} times: give its caller a new one")]
    Exhausted,
    /// No number could be reserved.
    #[error("no seal number could be reserved on disk")]
    Store,
    /// No random bytes.
    #[error("the system gives no random bytes")]
    Random,
}

/// The seals of every key.
#[derive(Debug)]
pub struct Seals<E: Engine> {
    store: Arc<Store<E>>,
    keys: Mutex<HashMap<KeyId, Reserved>>,
}

/// Numbers that are ours, and what was said of their key.
#[derive(Clone, Copy, Debug, Default)]
struct Reserved {
    left: u64,
    warned: bool,
    exhausted: bool,
}

impl<E: Engine> Seals<E> {
    /// None reserved yet.
    pub fn new(store: Arc<Store<E>>) -> Self {
        Self { store, keys: Mutex::new(HashMap::new()) }
    }

    /// A nonce to seal with once. A block of numbers is kept in hand, so that seals go on while the disk does not.
    pub async fn take(&self, key: KeyId) -> Result<Nonce, SealsFault> {
        let mut nonce = Nonce([0; 12]);
        getrandom::fill(&mut nonce.0).map_err(|_| SealsFault::Random)?;
        let mut keys = self.keys.lock().await;
        let reserved = keys.entry(key).or_default();
        if reserved.left <= SEALS_RESERVED && !(reserved.exhausted && reserved.left > 0) {
            let more = self.reserve(key, reserved).await;
            if reserved.left == 0 {
                more?;
            }
        }
        reserved.left -= 1;
        Ok(nonce)
    }

    /// Reserves ahead of the first use.
    pub async fn prepare(&self, key: KeyId) {
        let mut keys = self.keys.lock().await;
        let reserved = keys.entry(key).or_default();
        if reserved.left <= SEALS_RESERVED
            && let Err(fault) = self.reserve(key, reserved).await
        {
            warn!(%fault, "no seals are in hand for one of the keys");
        }
    }

    /// Brings what is in hand to two blocks: the one in use, and one.
    async fn reserve(&self, key: KeyId, reserved: &mut Reserved) -> Result<(), SealsFault> {
        let count = 2 * SEALS_RESERVED - reserved.left;
        let change = Change::ReserveSeals { key_id: key.0, count, max: SEALS_MAX };
        stop_points::pass(Point::SealsAsked);
        match self.store.change(change).await {
            Ok(Outcome::Reserved { first }) => {
                stop_points::pass(Point::SealsReserved);
                reserved.left += count;
                if first + count > SEALS_WARN && !reserved.warned {
                    reserved.warned = true;
                    warn!(
                        seals = first + count,
                        most = SEALS_MAX,
                        "a caller's key is used often: give it a new one"
                    );
                }
                Ok(())
            }
            Ok(_) => {
                reserved.exhausted = true;
                Err(SealsFault::Exhausted)
            }
            Err(_) => Err(SealsFault::Store),
        }
    }
}

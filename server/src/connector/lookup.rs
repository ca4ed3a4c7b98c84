//! What the store and the runs know of a request.

use twolane_core::connector::digest::Digest;
use twolane_core::connector::replay::{Copies, Now, Record, Retention, State};

use super::backend::ProviderBackend;
use super::service::{Opened, Service};
use crate::stop_points::{self, Point};
use crate::store::{self, Change, Engine, EngineFault, Found, Outcome, Purge};

/// Records that one commit of a purge changes.
const PURGE_RECORDS: usize = 1000;

/// A request as it is known, and its reply under the key that opened it.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) record: Option<Record>,
    pub(super) sealed: Option<Vec<u8>>,
}

impl<B: ProviderBackend, E: Engine> Service<B, E> {
    /// Looks `request` up. A claim of this process that does not run any more has just ended: it is looked up again,
    /// and where it still is only claimed, nobody knows what its provider did.
    pub(super) fn find(&self, request: &Opened, binding: Digest) -> Result<Known, EngineFault> {
        let known = self.find_once(request)?;
        let ended =
            known.record.is_some_and(|record| record.state == State::Abandoned && record.binding == binding);
        if ended { self.find_once(request) } else { Ok(known) }
    }

    fn find_once(&self, request: &Opened) -> Result<Known, EngineFault> {
        let key_id = request.seal_key().map(|key| key.id().0).unwrap_or_default();
        let found = self.store.engine().find(&request.key, &key_id)?;
        // The runs are asked after the store: one that ended in between has its reply there.
        let running = self.running.binding(&request.key);
        match (found, running) {
            (None, None) => Ok(Known { record: None, sealed: None }),
            (None, Some(binding)) => {
                Ok(Known { record: Some(Record { binding, state: State::Running }), sealed: None })
            }
            (Some(found), running) => self.known(request, found, running.is_some()),
        }
    }

    fn known(&self, request: &Opened, found: Found, running: bool) -> Result<Known, EngineFault> {
        let state = match found.record.state {
            store::State::Claimed { .. } if running => State::Running,
            store::State::Claimed { .. } => State::Abandoned,
            store::State::Resolved { .. } => State::Resolved,
            store::State::Retired { .. } => State::Tombstone,
            store::State::Finished { .. } if found.sealed.is_some() => State::Finished(Copies::ThisKey),
            store::State::Finished { .. } => {
                let replies = self.store.engine().replies(&request.key)?;
                let ours = |key: &[u8; 16]| request.caller.keys.iter().any(|known| known.id().0 == *key);
                let other = replies.iter().any(|(key, _)| ours(key));
                State::Finished(if other { Copies::OtherKey } else { Copies::NoKey })
            }
        };
        let record = Record { binding: Digest(found.record.binding), state };
        Ok(Known { record: Some(record), sealed: found.sealed })
    }
}

pub(super) async fn purge<B: ProviderBackend, E: Engine>(service: &Service<B, E>, retention: Retention) {
    while let Now::Trusted { ms: now_unix_ms } = service.clock.now() {
        let purge = Purge {
            now_unix_ms,
            finished_ms: retention.finished_ms,
            retired_ms: retention.tombstone_ms,
            records_max: PURGE_RECORDS,
        };
        stop_points::pass(Point::PurgeAsked);
        let purged = service.store.change(Change::Purge(purge)).await;
        stop_points::pass(Point::Purged);
        match purged {
            Ok(Outcome::Purged { retired, forgotten }) if retired + forgotten == PURGE_RECORDS => {}
            Ok(_) => return service.clock.marked(now_unix_ms),
            Err(fault) => return tracing::warn!(%fault, "old replies were not let go of; trying again later"),
        }
    }
}

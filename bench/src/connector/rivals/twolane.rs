//! Ours: a request sealed, sent over a connection of its own, run, stored, its reply opened and believed.

use std::path::Path;

use twolane::connector::Serving;
use twolane_core::connector::seal::SealKey;

use super::Keeper;
use crate::connector::{asked, serving};

pub(crate) struct Twolane {
    serving: Serving,
    key: SealKey,
}

impl Twolane {
    pub(crate) async fn start(folder: &Path) -> Self {
        Self { serving: serving::serve(folder).await, key: asked::key() }
    }

    /// Bytes of a reply.
    pub(crate) async fn reply_bytes(&self) -> usize {
        let invocation = asked::invocation("the-first");
        let frame = asked::sealed(&self.key, &invocation);
        serving::exchange(self.serving.address(), &frame).await.expect("a reply").len()
    }

    pub(crate) async fn stop(self) {
        self.serving.stop().await;
    }
}

impl Keeper for Twolane {
    type Caller = ();

    async fn caller(&self) {}

    async fn turn(&self, (): &mut (), key: String) {
        let invocation = asked::invocation(&key);
        let frame = asked::sealed(&self.key, &invocation);
        let mut reply = serving::exchange(self.serving.address(), &frame).await.expect("a reply");
        asked::opened(&self.key, &invocation, &mut reply);
    }
}

//! A bare log: what came is appended and synchronized, by one thread for all who wait. It cannot look anything up.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use super::bare::{Committer, Step};
use super::{Keeper, RECORD_BYTES};

pub(crate) struct Log(Committer);

impl Log {
    /// In a file of `folder`, with replies of so many bytes.
    pub(crate) fn start(folder: &Path, reply_bytes: usize) -> Self {
        let mut file = File::create_new(folder.join("log")).expect("a file");
        Self(Committer::start(move |steps| {
            let mut bytes = Vec::new();
            for step in steps {
                let (Step::Claim(key) | Step::Finish(key)) = step;
                bytes.extend_from_slice(key.as_bytes());
                let more = if matches!(step, Step::Finish(_)) { reply_bytes } else { 0 };
                bytes.resize(bytes.len() + RECORD_BYTES + more, 0x42);
            }
            file.write_all(&bytes).expect("room on the disk");
            file.sync_data().expect("a disk");
        }))
    }
}

impl Keeper for Log {
    type Caller = ();

    async fn caller(&self) {}

    async fn turn(&self, (): &mut (), key: String) {
        self.0.turn(key).await;
    }
}

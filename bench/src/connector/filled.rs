//! A store full of finished turns, and a process that serves one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use tokio::io::AsyncReadExt as _;
use twolane::connector::serve::STORE_FILE;
use twolane::store::{Change, Claim, Engine as _, Holder, RedbEngine, Reply, RequestKey};

use super::asked::{CALLER, binding, key, now_unix_ms};
use super::serving;

/// Bytes of each stored reply.
pub(super) const REPLY_BYTES: usize = 2048;

/// Turns of one commit.
const BATCH: u64 = 4096;

/// The id of a stored turn, in no order.
pub(super) fn request_id(number: u64) -> String {
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The reply of a stored turn; no two are alike.
pub(super) fn reply(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(REPLY_BYTES / 8)
}

/// Makes a store with so many finished turns.
pub(super) fn fill(folder: &Path, turns: u64) {
    std::fs::create_dir_all(folder).expect("a folder");
    let engine = RedbEngine::open(&folder.join(STORE_FILE)).expect("a store");
    let key_id = key().id().0;
    for first in (0..turns).step_by(usize::try_from(BATCH).expect("a small number")) {
        let changes: Vec<Change> =
            (first..turns.min(first + BATCH)).flat_map(|number| finished(number, key_id)).collect();
        engine.commit(&changes).expect("a commit");
        eprint!("\r  filling the store: {first} of {turns} turns");
    }
    eprintln!("\r  filling the store: {turns} of {turns} turns");
}

/// What claims a turn and ends it.
fn finished(number: u64, key_id: [u8; 16]) -> [Change; 2] {
    let request_id = request_id(number);
    let (binding, now_unix_ms) = (binding(&request_id).0, now_unix_ms());
    let key = RequestKey { caller: CALLER.to_owned(), request_id };
    let claim = Claim {
        key: key.clone(),
        binding,
        expires_at_unix_ms: now_unix_ms + 240_000,
        now_unix_ms,
        holder: Holder { process: [0; 16], serial: number },
    };
    let reply = Reply { key_id, sealed: reply(number) };
    [Change::Claim(claim), Change::Finish { key, reply, completed_at_unix_ms: now_unix_ms }]
}

/// Serves the store in `folder` until the input ends, and says where.
pub(crate) async fn serve(folder: &Path) {
    let serving = serving::serve(folder).await;
    println!("{}", serving.address());
    std::io::stdout().flush().expect("somebody reads");
    drop(tokio::io::stdin().read_to_end(&mut Vec::new()).await);
    serving.stop().await;
}

/// A process that serves the store in a folder. It is killed when dropped.
pub(super) struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it; it does not serve yet.
    pub(super) fn start(folder: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("a program"));
        command.arg("--serve-store").arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let stdout = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, stdout }
    }

    /// Waits until it serves.
    pub(super) fn address(&mut self) -> SocketAddr {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("its address");
        line.trim().parse().expect("an address")
    }
}

/// As `kill -9` does it.
impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

//! Requests and changes that the tests speak of.

use twolane::store::{Change, Claim, Holder, Purge, Reply, RequestKey};

pub(crate) const PROCESS: [u8; 16] = [0x11; 16];

pub(crate) fn key(number: u8) -> RequestKey {
    RequestKey { caller: format!("caller-{}", number % 2), request_id: format!("request-{number}") }
}

pub(crate) fn holder(serial: u64) -> Holder {
    Holder { process: PROCESS, serial }
}

pub(crate) fn claim(number: u8, serial: u64, now_unix_ms: u64) -> Change {
    Change::Claim(Claim {
        key: key(number),
        binding: [number; 32],
        expires_at_unix_ms: now_unix_ms + 300,
        now_unix_ms,
        holder: holder(serial),
    })
}

pub(crate) fn reply(number: u8, key_number: u8) -> Reply {
    // Some longer than a page.
    Reply { key_id: [key_number; 16], sealed: vec![number; 100 + 900 * usize::from(number)] }
}

pub(crate) fn finish(number: u8, completed_at_unix_ms: u64) -> Change {
    Change::Finish { key: key(number), reply: reply(number, 1), completed_at_unix_ms }
}

pub(crate) fn purge(now_unix_ms: u64) -> Change {
    Change::Purge(Purge { now_unix_ms, finished_ms: 1000, retired_ms: 5000, records_max: 3 })
}

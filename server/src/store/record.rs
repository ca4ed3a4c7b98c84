//! What is known of one request, and its bytes on disk.

use serde::{Deserialize, Serialize};

/// SHA-256 that ties a request's ids to its digests (spec 6).
pub type Binding = [u8; 32];

/// Names a caller's key without telling anything of it.
pub type KeyId = [u8; 16];

/// Names one life of a server: random at its start.
pub type ProcessId = [u8; 16];

/// Who executes a claimed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The life of the server that claimed it.
    pub process: ProcessId,
    /// Which of its claims; no other of this process has the number.
    pub serial: u64,
}

/// Who asks, and under what id: the key of everything that is kept of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RequestKey {
    /// The caller's runtime id.
    pub caller: String,
    /// The request's id, unique for its caller.
    pub request_id: String,
}

/// What is kept of a request beside its replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What the first request under this id was bound to.
    pub binding: Binding,
    /// Until when it might have been started.
    pub expires_at_unix_ms: u64,
    /// When it was.
    pub claimed_at_unix_ms: u64,
    /// How far it got.
    pub state: State,
}

/// How far a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// The provider may have run. Where the holder's process is dead nobody knows whether it did.
    Claimed {
        /// Who executes it.
        holder: Holder,
    },
    /// There is a reply, byte for byte.
    Finished {
        /// When it was stored.
        completed_at_unix_ms: u64,
    },
    /// There was one; only the binding is left.
    Retired {
        /// Since when.
        at_unix_ms: u64,
    },
    /// It was claimed, and a person decided that it failed. Its reply is made when it is asked for again.
    Resolved {
        /// When.
        at_unix_ms: u64,
    },
}

/// A record on disk: the variant's number is the version of what follows. One more is added for every change.
#[derive(Serialize, Deserialize)]
enum Stored {
    V1(RecordV1),
}

#[derive(Serialize, Deserialize)]
struct RecordV1 {
    binding: Binding,
    expires_at_unix_ms: u64,
    claimed_at_unix_ms: u64,
    state: State,
}

impl Record {
    /// From when retention counts once it is finished: the later of expiry and completion.
    pub fn retained_from_unix_ms(&self) -> Option<u64> {
        match self.state {
            State::Claimed { .. } | State::Resolved { .. } => None,
            State::Finished { completed_at_unix_ms } => {
                Some(completed_at_unix_ms.max(self.expires_at_unix_ms))
            }
            State::Retired { at_unix_ms } => Some(at_unix_ms),
        }
    }

    pub(super) fn to_bytes(self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&Stored::V1(RecordV1 {
            binding: self.binding,
            expires_at_unix_ms: self.expires_at_unix_ms,
            claimed_at_unix_ms: self.claimed_at_unix_ms,
            state: self.state,
        }))
    }

    /// `None` for bytes that no version of this program wrote.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (Stored::V1(record), rest) = postcard::take_from_bytes(bytes).ok()?;
        rest.is_empty().then_some(Self {
            binding: record.binding,
            expires_at_unix_ms: record.expires_at_unix_ms,
            claimed_at_unix_ms: record.claimed_at_unix_ms,
            state: record.state,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(state: State) -> Record {
        Record { binding: [0xb1; 32], expires_at_unix_ms: 300, claimed_at_unix_ms: 1, state }
    }

    #[test]
    fn the_bytes_on_disk_are_these() {
        let mut expected = vec![0];
        expected.extend([0xb1; 32]);
        // Postcard: integers in groups of seven bits, then the state's number and its fields.
        expected.extend([0xac, 0x02, 0x01, 0x01, 0x80, 0x08]);
        let finished = record(State::Finished { completed_at_unix_ms: 1024 });
        assert_eq!(finished.to_bytes().unwrap(), expected);
        assert_eq!(Record::from_bytes(&expected), Some(finished));
    }

    #[test]
    fn bytes_of_no_version_are_no_record() {
        let bytes =
            record(State::Claimed { holder: Holder { process: [7; 16], serial: 1 } }).to_bytes().unwrap();
        assert!(Record::from_bytes(&bytes[..bytes.len() - 1]).is_none());
        assert!(Record::from_bytes(&[&bytes[..], &[0]].concat()).is_none());
        assert!(Record::from_bytes(&[&[1], &bytes[1..]].concat()).is_none());
    }

    #[test]
    fn retention_counts_from_the_later_of_expiry_and_completion() {
        let from = |state| record(state).retained_from_unix_ms();
        assert_eq!(from(State::Finished { completed_at_unix_ms: 299 }), Some(300));
        assert_eq!(from(State::Finished { completed_at_unix_ms: 301 }), Some(301));
        assert_eq!(from(State::Claimed { holder: Holder { process: [0; 16], serial: 0 } }), None);
    }
}

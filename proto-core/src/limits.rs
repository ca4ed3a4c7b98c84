//! Every bound of the wire, in one place, with the relations between them checked at compile time.
//!
//! ```
//! use twolane_core::limits::*;
//!
//! // Envelope: a frozen prefix, a header by version, a body.
//! assert_eq!((PREFIX_LEN, HEADER_LEN_V1, HEADER_LEN_V2, HEADER_LEN_MAX), (5, 17, 21, 21));
//! assert!(DISPLAY_BODY_MAX < CONTROL_BODY_MAX && CONTROL_BODY_MAX < BODY_LEN_MAX);
//!
//! // Handshake: what we write fits everywhere that what we read does, with room for the first frames behind it.
//! assert_eq!((HANDSHAKE_PREFIX_LEN, NONCE_LEN, PROOF_LEN, DAEMON_ID_LEN), (4, 32, 32, 16));
//! let buffer = [0; HANDSHAKE_PREFIX_LEN + HANDSHAKE_MESSAGE_MAX];
//! assert!(CLIENT_WRITTEN_MAX < HANDSHAKE_WRITTEN_MAX && HANDSHAKE_WRITTEN_MAX < buffer.len());
//! assert!(DAEMON_VER_WRITTEN_MAX <= CLAIM_KEPT_MAX, "a reader keeps all of our version");
//! assert!(KEY_LEN_MIN < KEY_LEN_MAX && KEY_LEN_MAX < CONNECTION_FILE_MAX);
//! assert_eq!(CONNECTION_FILE_ENDPOINTS_MAX, 8);
//!
//! // Readers: each bounds what one text can cost.
//! assert_eq!((JSON_DEPTH_MAX, MSGPACK_DEPTH_MAX, OBJECT_MEMBERS_MAX), (64, 32, 64));
//! assert_eq!((TREE_NODES_MAX, ID_LEN_MAX), (100_000, 256));
//! assert_eq!(INTEGER_MAX as f64 as u64, INTEGER_MAX, "a reader that knows doubles alone keeps it");
//!
//! // Writers: one frame of a lane always fits the lane's queue.
//! assert!(CONTROL_QUEUE_BYTES > HEADER_LEN_MAX + CONTROL_BODY_MAX as usize);
//! assert!(DISPLAY_QUEUE_BYTES > HEADER_LEN_MAX + DISPLAY_BODY_MAX as usize);
//! assert!(COALESCED_TEXT_MAX < DISPLAY_BODY_MAX as usize);
//! assert_eq!((DISPLAY_QUEUE_ENTRIES, LAST_WAIT_MS), (1024, 100));
//!
//! // Connector: texts and lists of its documents.
//! assert!(CALL_ID_MAX <= CONNECTOR_ID_MAX && CONNECTOR_NAME_MAX <= CONNECTOR_ID_MAX);
//! assert!(STOP_ID_MAX < FAILURE_MESSAGE_MAX);
//! assert!(TOOLS_MAX < INPUT_ITEMS_MAX && INPUT_ITEMS_MAX < EVENTS_MAX);
//!
//! // Seal: what surrounds a text, and how long a key may be used.
//! assert_eq!((CONNECTOR_PREFIX_LEN, SEAL_NONCE_LEN, SEAL_TAG_LEN, SECRET_LEN_MIN), (4, 12, 16, 32));
//! assert!(SEALS_RESERVED < SEALS_WARN && SEALS_WARN < SEALS_MAX);
//! assert!(MIN_PAYLOAD_BYTES > SEAL_TAG_LEN as u64);
//!
//! // Replay: a tombstone outlives any clock that is still believed.
//! assert!(CLOCK_LEAP_RUNNING_MS < CLOCK_LEAP_START_MS && CLOCK_LEAP_START_MS < TOMBSTONE_KEPT_MS);
//! assert!(EXPIRY_SKEW_MS < FINISHED_KEPT_MS && FINISHED_KEPT_MS < TOMBSTONE_KEPT_MS);
//! ```

/// Bytes of the frozen prefix (`len`, `version`) that every version of the envelope starts with.
pub const PREFIX_LEN: usize = 5;

/// Bytes of a version 1 header.
pub const HEADER_LEN_V1: usize = 17;

/// Bytes of a version 2 header.
pub const HEADER_LEN_V2: usize = 21;

/// Bytes of the longest header of any version.
pub const HEADER_LEN_MAX: usize = HEADER_LEN_V2;

/// Largest body of a frame in bytes, 64 MiB; a header that announces more ends the stream.
pub const BODY_LEN_MAX: u32 = 64 * 1024 * 1024;

/// Largest handshake message in bytes, without its length prefix.
pub const HANDSHAKE_MESSAGE_MAX: usize = 4096;

/// Bytes of the length prefix of a handshake message.
pub const HANDSHAKE_PREFIX_LEN: usize = 4;

/// Largest handshake message that we write, prefix included; ours are far below what we read.
pub const HANDSHAKE_WRITTEN_MAX: usize = 776;

/// Largest handshake message that a client writes, prefix included.
pub const CLIENT_WRITTEN_MAX: usize = 176;

/// Longest `daemon_ver` that we write, in bytes; a longer one could not fit a written message.
pub const DAEMON_VER_WRITTEN_MAX: usize = 64;

/// Bytes of a peer's claim (`role`, `daemon_ver`) that a side of the handshake keeps; the rest is cut off.
pub const CLAIM_KEPT_MAX: usize = 64;

/// Bytes of a nonce of either side.
pub const NONCE_LEN: usize = 32;

/// Bytes of a daemon id.
pub const DAEMON_ID_LEN: usize = 16;

/// Bytes of an HMAC-SHA256 proof.
pub const PROOF_LEN: usize = 32;

/// Shortest connection key in bytes.
pub const KEY_LEN_MIN: usize = 32;

/// Longest connection key in bytes that we hold.
pub const KEY_LEN_MAX: usize = 128;

/// Largest connection file in bytes that a reader accepts.
pub const CONNECTION_FILE_MAX: usize = 64 * 1024;

/// Endpoints of a connection file that we keep; a file with more is refused.
pub const CONNECTION_FILE_ENDPOINTS_MAX: usize = 8;

/// Deepest nesting of arrays and objects in a body.
pub const JSON_DEPTH_MAX: u8 = 64;

/// Deepest nesting of arrays and maps in MessagePack.
pub const MSGPACK_DEPTH_MAX: u8 = 32;

/// Members of one object that we interpret (known and unknown names together).
/// Bounds the work and memory of finding duplicate names without a heap.
pub const OBJECT_MEMBERS_MAX: usize = 64;

/// Fields of one dissected tree; further ones become one field that says how many bytes are not shown.
pub const TREE_NODES_MAX: usize = 100_000;

/// Largest integer that we write or accept as a sum, 2^53 - 1: every JSON reader keeps it exact.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;

/// Longest run, message or tool call id in bytes.
pub const ID_LEN_MAX: usize = 256;

/// Largest body of a control unit on our endpoints in bytes, 4 MiB.
pub const CONTROL_BODY_MAX: u32 = 4 * 1024 * 1024;

/// Queued control bytes of one outbox before the producer waits.
pub const CONTROL_QUEUE_BYTES: usize = 8 * 1024 * 1024;

/// Largest display body that is queued in bytes; a larger one is shed on entry and counted.
pub const DISPLAY_BODY_MAX: u32 = 64 * 1024;

/// Longest raw text of a delta that others were merged into, in bytes.
pub const COALESCED_TEXT_MAX: usize = 16 * 1024;

/// Milliseconds that a control frame with LAST waits for the display of its generation before that is shed.
pub const LAST_WAIT_MS: u64 = 100;

/// Queued display bytes of one outbox before the oldest are shed.
pub const DISPLAY_QUEUE_BYTES: usize = 256 * 1024;

/// Longest id of the connector in bytes.
pub const CONNECTOR_ID_MAX: usize = 256;

/// Longest name of a tool or output format in bytes.
pub const CONNECTOR_NAME_MAX: usize = 64;

/// Longest id of a call in the input of a request, in bytes.
pub const CALL_ID_MAX: usize = 64;

/// Longest reason of a provider for ending a turn, in bytes.
pub const STOP_ID_MAX: usize = 64;

/// Longest message of a failed turn in bytes.
pub const FAILURE_MESSAGE_MAX: usize = 1024;

/// Items of the input of one request.
pub const INPUT_ITEMS_MAX: u32 = 4096;

/// Tools of one request.
pub const TOOLS_MAX: u32 = 256;

/// Events of one result.
pub const EVENTS_MAX: u32 = 65_536;

/// Bytes of the length prefix of a connector frame.
pub const CONNECTOR_PREFIX_LEN: usize = 4;

/// Bytes of a nonce of the connector's seal.
pub const SEAL_NONCE_LEN: usize = 12;

/// Bytes of the tag at the end of a sealed text.
pub const SEAL_TAG_LEN: usize = 16;

/// Shortest secret in bytes that a key is made of.
pub const SECRET_LEN_MIN: usize = 32;

/// Seals under one key after which no more are made, 2^31.
pub const SEALS_MAX: u64 = 1 << 31;

/// Seals under one key from which on a warning is due, 2^30.
pub const SEALS_WARN: u64 = 1 << 30;

/// Seals that are counted durably at once, ahead of their use.
pub const SEALS_RESERVED: u64 = 65_536;

/// The smallest bound of a caller's ciphertext that may be configured, in bytes.
pub const MIN_PAYLOAD_BYTES: u64 = 4096;

/// Milliseconds that an invocation may expire ahead of now, unless configured.
pub const EXPIRY_SKEW_MS: u64 = 300_000;

/// Milliseconds that the clock may be ahead of the store's mark when a process starts, 7 days.
pub const CLOCK_LEAP_START_MS: u64 = 7 * 24 * 3_600_000;

/// Milliseconds that the clock may be ahead of monotonic time while a process runs.
pub const CLOCK_LEAP_RUNNING_MS: u64 = 300_000;

/// Milliseconds that a finished answer is kept, unless configured: 24 hours.
pub const FINISHED_KEPT_MS: u64 = 24 * 3_600_000;

/// Milliseconds that a tombstone is kept after that, unless configured: 30 days.
pub const TOMBSTONE_KEPT_MS: u64 = 30 * 24 * 3_600_000;

/// Queued display entries of one outbox before the oldest are shed.
pub const DISPLAY_QUEUE_ENTRIES: usize = 1024;

const _: () = {
    assert!(PREFIX_LEN < HEADER_LEN_V1 && HEADER_LEN_V1 < HEADER_LEN_V2);
    assert!(CONTROL_BODY_MAX <= BODY_LEN_MAX && DISPLAY_BODY_MAX <= CONTROL_BODY_MAX);
    assert!(DISPLAY_BODY_MAX as usize <= DISPLAY_QUEUE_BYTES);
    assert!(KEY_LEN_MIN <= KEY_LEN_MAX);
    assert!(SEALS_RESERVED < SEALS_WARN && SEALS_WARN < SEALS_MAX);
    assert!(MIN_PAYLOAD_BYTES > 707, "the largest refusal, sealed");
    assert!(CLIENT_WRITTEN_MAX <= HANDSHAKE_WRITTEN_MAX);
    assert!(HANDSHAKE_WRITTEN_MAX <= HANDSHAKE_MESSAGE_MAX + HANDSHAKE_PREFIX_LEN);
};

//! Bounds of the page, the tap, the admin endpoint, the runs and the log, each with its reason: what a peer, a page or a reader may cost. Those
//! of sockets and lanes are settings.

use std::time::Duration;

/// Bytes of log that wait for standard error; a line more is dropped and counted. As much as a pipe holds.
pub const LOG_QUEUE_BYTES: usize = 64 * 1024;

/// How long an ending command waits for its log to be written: a reader that is there needs far less.
pub const LOG_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The latest units kept for a page that is opened later, in bytes, where no setting says else: some screens of frames.
pub const TAP_RECENT_BYTES: usize = 1024 * 1024;

/// What may wait for one listener, in bytes, where no setting says else: more than the longest control frame.
pub const TAP_QUEUE_BYTES: usize = 8 * 1024 * 1024;

/// Listeners at once, where no setting says else: each may hold a queue.
pub const TAP_LISTENERS: usize = 16;

/// What ends a listener's wait for a fuller batch, in bytes: one write takes it.
pub const TAP_BATCH_BYTES: usize = 64 * 1024;

/// What one unit costs beside its bytes: its place in the queue and the head of its allocation.
pub const UNIT_COST_BYTES: usize = 80;

/// Directions whose losses are told apart, more than peers come by at once; those of further ones are added up under connection 0.
pub const LOSSES_TOLD_APART_MAX: usize = 1024;

/// How long a unit may wait for others to travel with it. The first one after a pause does not.
pub const TAP_FLUSH_EVERY: Duration = Duration::from_millis(30);

/// Operators at once; more are closed.
pub const ADMIN_PEERS: usize = 8;

/// How long connecting to the admin endpoint and its handshake may take, on either side.
pub const ADMIN_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an operator may say nothing, or take nothing.
pub const ADMIN_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a server may take to say whose store it holds; one that is stopped says nothing.
pub const ADMIN_WHERE_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a question: two ids and a path fit many times.
pub const ADMIN_ASK_BYTES_MAX: u32 = 64 * 1024;

/// Bytes of an answer: a page of requests with the longest ids, each byte of them escaped, fits.
pub const ADMIN_SAID_BYTES_MAX: u32 = 8 * 1024 * 1024;

/// Connections of the page's server at once; further ones wait unaccepted. A browser opens six.
pub const PAGE_CONNECTIONS_MAX: usize = 128;

/// How long a request's head may take, an idle connection's next one included.
pub const PAGE_HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// The longest request head, in bytes: what a browser sends with every cookie of its own.
pub const PAGE_HEAD_BYTES_MAX: usize = 16 * 1024;

/// The most header lines of a request: a browser sends twenty.
pub const PAGE_HEAD_LINES_MAX: usize = 64;

/// How long a stop waits for answers under way.
pub const PAGE_STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// How long to wait after a failed accept, which is mostly a want of file descriptors.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The longest body that is read: a code in JSON is under 64 bytes.
pub const PAGE_BODY_BYTES_MAX: usize = 1024;

/// How long a body may take to arrive.
pub const PAGE_BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest message a page may send; it has nothing to say but pongs and a close.
pub const WS_MESSAGE_BYTES_MAX: usize = 1024;

/// How often a page is asked whether it is still there; one that did not answer by the next time
/// is let go.
pub const WS_PING_EVERY: Duration = Duration::from_secs(20);

/// How long one batch may take to be taken by a slow page.
pub const WS_SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a close may take.
pub const WS_CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a code opens the door.
pub const CODE_LIFE: Duration = Duration::from_secs(10 * 60);

/// How long a page stays in.
pub const SESSION_LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// Codes that may wait to be used; a further one takes the place of the oldest.
pub const CODES_MAX: usize = 16;

/// Sessions at once; a further one takes the place of the oldest.
pub const SESSIONS_MAX: usize = 64;

/// Wrong codes and tokens in a row before the door makes everybody wait.
pub const FAILURES_MAX: u32 = 10;

/// After how long one more wrong try is allowed.
pub const FAILURE_FORGIVEN_AFTER: Duration = Duration::from_secs(6);

/// The longest file that is read, in bytes.
pub const TOKEN_FILE_BYTES_MAX: usize = 256;

/// How long the server may take over each step of its answer.
pub const ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest answer that is read, in bytes.
pub const ANSWER_BYTES_MAX: u64 = 16 * 1024;

/// The longest head of an answer that is read, in bytes.
pub const ANSWER_HEAD_BYTES_MAX: usize = 16 * 1024;

/// Runs that one peer may have at once: each is a task with its events.
pub const RUNS_MAX: usize = 256;

/// Steps whose refusal may wait for room in the lanes; over it the peer is read no further.
pub const REFUSALS_MAX: usize = 64;

/// Longest script file in bytes.
pub const SCRIPT_FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Most events of a script, repetitions and typed words counted one by one.
pub const SCRIPT_EVENTS_MAX: usize = 1_000_000;

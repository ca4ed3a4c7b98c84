//! The table of settings.

use super::Environment;

/// One setting: its key in the file, its variable, its default and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Key in the file; the flag is the same with hyphens.
    pub key: &'static str,
    /// Environment variable.
    pub variable: &'static str,
    /// The value where no layer gives one; empty means none.
    pub default: Default,
    /// Unit of the value.
    pub unit: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
}

/// Where a default comes from.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// The same everywhere.
    Text(&'static str),
    /// Depends on the user and their environment.
    Computed(fn(&Environment) -> String),
}

const fn setting(
    key: &'static str,
    variable: &'static str,
    default: &'static str,
    unit: &'static str,
    doc: &'static str,
) -> Setting {
    Setting { key, variable, default: Default::Text(default), unit, doc }
}

/// Every setting, in the order in which they are printed.
pub const SETTINGS: &[Setting] = &[
    setting(
        "providers",
        "TWOLANE_PROVIDERS",
        "127.0.0.1:0",
        "address",
        "where the provider endpoint listens",
    ),
    setting("http", "TWOLANE_HTTP", "127.0.0.1:0", "address", "where the page is served; `off` for no page"),
    Setting {
        key: "run_dir",
        variable: "TWOLANE_RUN_DIR",
        default: Default::Computed(Environment::run_dir),
        unit: "path",
        doc: "where connection files and ports.json are written",
    },
    setting(
        "providers_file",
        "TWOLANE_PROVIDERS_FILE",
        "",
        "path",
        "the provider endpoint's connection file; RUN_DIR/providers.json where unset",
    ),
    setting(
        "wire_version",
        "TWOLANE_WIRE_VERSION",
        "1",
        "1 or 2",
        "version of the envelope that the endpoint writes",
    ),
    setting(
        "script",
        "TWOLANE_SCRIPT",
        "",
        "path",
        "what the script provider plays; its own script where unset",
    ),
    setting(
        "key_file",
        "TWOLANE_KEY_FILE",
        "",
        "path",
        "a fixed connection key: a connection file, 64 hex digits or a JSON array; a fresh one where unset",
    ),
    setting(
        "daemon_id",
        "TWOLANE_DAEMON_ID",
        "",
        "32 hex digits",
        "a fixed daemon id, for hosts that cannot re-read a connection file; a fresh one where unset",
    ),
    setting(
        "handshake_limit",
        "TWOLANE_HANDSHAKE_LIMIT",
        "2s",
        "time",
        "one absolute deadline for a whole handshake",
    ),
    setting(
        "pending_peers",
        "TWOLANE_PENDING_PEERS",
        "256",
        "connections",
        "connections in their handshake at once",
    ),
    setting(
        "waiting_peers",
        "TWOLANE_WAITING_PEERS",
        "1024",
        "connections",
        "connections that wait for a place in the handshake, for at most one handshake_limit",
    ),
    setting("peers", "TWOLANE_PEERS", "256", "connections", "authenticated connections of an endpoint"),
    setting(
        "stall_limit",
        "TWOLANE_STALL_LIMIT",
        "30s",
        "time",
        "a peer that reads nothing for so long while control waits is closed",
    ),
    setting(
        "control_queue",
        "TWOLANE_CONTROL_QUEUE",
        "8MiB",
        "bytes",
        "control that waits for one peer; over it the run waits",
    ),
    setting(
        "display_queue",
        "TWOLANE_DISPLAY_QUEUE",
        "256KiB",
        "bytes",
        "display that waits for one peer; over it the oldest is shed and counted",
    ),
    setting("display_frames", "TWOLANE_DISPLAY_FRAMES", "1024", "frames", "the same, counted in frames"),
    setting(
        "write_batch",
        "TWOLANE_WRITE_BATCH",
        "256KiB",
        "bytes",
        "bytes of frames in one write to a peer that keeps up; one frame at least",
    ),
    setting(
        "contended_batch",
        "TWOLANE_CONTENDED_BATCH",
        "16KiB",
        "bytes",
        "the same for a peer that does not: what a control frame may have to wait for",
    ),
    setting(
        "drain",
        "TWOLANE_DRAIN",
        "10s",
        "time",
        "how long a stopping server waits for its peers to read",
    ),
    setting(
        "receive_buffer",
        "TWOLANE_RECEIVE_BUFFER",
        "40KiB",
        "bytes",
        "receive buffer of lane sockets; short ones keep control ahead of display",
    ),
    setting(
        "segment_limit",
        "TWOLANE_SEGMENT_LIMIT",
        "8KiB",
        "bytes",
        "bytes of one TCP segment on lane sockets, at most a quarter of the receive buffer; 0 leaves the platform's",
    ),
    setting(
        "unsent_limit",
        "TWOLANE_UNSENT_LIMIT",
        "16KiB",
        "bytes",
        "unsent bytes that the kernel may hold (TCP_NOTSENT_LOWAT); 0 leaves the platform's",
    ),
    setting(
        "tap_recent",
        "TWOLANE_TAP_RECENT",
        "1MiB",
        "bytes",
        "the latest frames and messages kept for a page that is opened later; 0 keeps none",
    ),
    setting(
        "tap_queue",
        "TWOLANE_TAP_QUEUE",
        "8MiB",
        "bytes",
        "what may wait for one page or `twolane tap`; over it what is new is lost to them, and counted",
    ),
    setting("tap_listeners", "TWOLANE_TAP_LISTENERS", "16", "listeners", "pages and `twolane tap` at once"),
    setting(
        "connector",
        "TWOLANE_CONNECTOR",
        "off",
        "address",
        "where sealed turns are answered: a literal loopback address; `off` for no connector",
    ),
    setting(
        "callers",
        "TWOLANE_CALLERS",
        "",
        "path",
        "who may ask for sealed turns, in TOML: `twolane serve --help` shows one; needed by connector",
    ),
    setting(
        "connector_backend",
        "TWOLANE_CONNECTOR_BACKEND",
        "script",
        "script or exec",
        "what runs sealed turns: `script` says again what it was asked, `exec` is a program",
    ),
    setting(
        "connector_exec",
        "TWOLANE_CONNECTOR_EXEC",
        "",
        "command",
        "program and arguments of the backend `exec`, as a shell would split them; no shell runs it",
    ),
    setting(
        "connector_frame",
        "TWOLANE_CONNECTOR_FRAME",
        "2MiB",
        "bytes",
        "the longest frame of a sealed turn; `check-config` names the one that the callers' payloads need",
    ),
    setting(
        "connector_peers",
        "TWOLANE_CONNECTOR_PEERS",
        "1024",
        "connections",
        "connections of the connector at once; more are closed",
    ),
    setting(
        "run_limit",
        "TWOLANE_RUN_LIMIT",
        "10m",
        "time",
        "how long the backend may take for one sealed turn",
    ),
    setting(
        "expiry_skew",
        "TWOLANE_EXPIRY_SKEW",
        "5m",
        "time",
        "how far ahead of now a sealed turn may expire",
    ),
    setting(
        "reply_kept",
        "TWOLANE_REPLY_KEPT",
        "24h",
        "time",
        "how long a finished reply is kept, from the later of its expiry and its end",
    ),
    setting(
        "tombstone_kept",
        "TWOLANE_TOMBSTONE_KEPT",
        "30d",
        "time",
        "how long after that the request's id stays used up",
    ),
    Setting {
        key: "data_dir",
        variable: "TWOLANE_DATA_DIR",
        default: Default::Computed(Environment::data_dir),
        unit: "path",
        doc: "where the replay store is; mode 0700",
    },
    setting(
        "self_attach",
        "TWOLANE_SELF_ATTACH",
        "false",
        "boolean",
        "the server also attaches a reader of its own, so that the page has traffic to show",
    ),
    setting(
        "log",
        "TWOLANE_LOG",
        "info",
        "filter",
        "what is logged to standard error: error, warn, info, debug, trace, or target=level,...",
    ),
];

//! The settings with their types.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use twolane_core::connector::replay::Retention;
use twolane_core::envelope::Version;
use twolane_core::lanes::outbox::Budget;
use twolane_core::limits::DAEMON_ID_LEN;

use super::layers::{Resolved, Value};
use super::table::Setting;
use super::{ConfigFault, value};
use crate::inspect::Bounds;
use crate::net::address::parse_loopback;
use crate::net::socket::{SEGMENT_BYTES, SEGMENTS_MIN, Tuning};
use crate::net::writer::Pace;

/// Every setting, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the provider endpoint listens: a literal loopback address.
    pub providers: SocketAddr,
    /// Where the page is served: a literal loopback address; `None` for no page.
    pub http: Option<SocketAddr>,
    /// Directory of connection files and `ports.json`.
    pub run_dir: PathBuf,
    /// The provider endpoint's connection file, where it has another place than the run dir.
    pub providers_file: Option<PathBuf>,
    /// Version of the envelope that the endpoint writes.
    pub wire_version: Version,
    /// What the script provider plays; its own script where `None`.
    pub script: Option<PathBuf>,
    /// Where a fixed key is read from.
    pub key_file: Option<PathBuf>,
    /// A fixed daemon id.
    pub daemon_id: Option<[u8; DAEMON_ID_LEN]>,
    /// Deadline of a whole handshake.
    pub handshake_limit: Duration,
    /// Connections in their handshake at once.
    pub pending_peers: usize,
    /// Connections that wait for a place in the handshake.
    pub waiting_peers: usize,
    /// Authenticated connections of an endpoint.
    pub peers: usize,
    /// What waits for one peer at most.
    pub budget: Budget,
    /// How it is written, and how long a peer may read nothing while control waits.
    pub pace: Pace,
    /// How long a stopping server waits for its peers to read.
    pub drain: Duration,
    /// Buffers of lane sockets.
    pub tuning: Tuning,
    /// What the tap may cost.
    pub tap: Bounds,
    /// The connector; `None` for none.
    pub connector: Option<Connector>,
    /// Where the replay store is.
    pub data_dir: PathBuf,
    /// Whether the server attaches a reader of its own.
    pub self_attach: bool,
    /// Log filter.
    pub log: String,
}

/// Where and how sealed turns are answered.
#[derive(Clone, Debug)]
pub struct Connector {
    /// Where it listens: a literal loopback address.
    pub address: SocketAddr,
    /// Who may ask.
    pub callers: PathBuf,
    /// The program that runs turns, with its arguments; the built-in script where `None`.
    pub exec: Option<Vec<String>>,
    /// Bytes of a frame.
    pub frame_max: u32,
    /// Connections at once.
    pub peers: usize,
    /// How long a run may take.
    pub run_limit: Duration,
    /// How far ahead of now a request may expire.
    pub skew: Duration,
    /// How long replies are kept, and their tombstones.
    pub retention: Retention,
}

impl Connector {
    fn from_resolved(resolved: &Resolved) -> Result<Option<Self>, ConfigFault> {
        let at = |key| At::find(resolved, key);
        let address = at("connector").read(|text| match text {
            "off" => Ok(None),
            _ => parse_loopback(text).map(Some).map_err(|fault| fault.to_string()),
        })?;
        let is_exec = at("connector_backend").read(|text| match text {
            "script" => Ok(false),
            "exec" => Ok(true),
            _ => Err("expected script or exec".to_owned()),
        })?;
        let exec = at("connector_exec").read(|text| match shlex::split(text) {
            Some(words) if words.is_empty() && is_exec && address.is_some() => {
                Err("the backend `exec` needs a program".to_owned())
            }
            Some(words) => Ok(is_exec.then_some(words)),
            None => Err("a quote is not closed".to_owned()),
        })?;
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let retention = Retention {
            finished_ms: ms(at("reply_kept").read(value::long_time)?),
            tombstone_ms: ms(at("tombstone_kept").read(value::long_time)?),
        };
        let frame_max = at("connector_frame").read(some_bytes)?;
        let peers = at("connector_peers").read(value::count)?;
        let run_limit = at("run_limit").read(positive_time)?;
        let skew = at("expiry_skew").read(positive_time)?;
        let callers = at("callers");
        let Some(address) = address else { return Ok(None) };
        let callers =
            callers.read(|text| match text {
                "" => Err("a connector needs a file that says who may ask; `twolane serve --help` shows one"
                    .to_owned()),
                _ => Ok(PathBuf::from(text)),
            })?;
        Ok(Some(Self { address, callers, exec, frame_max, peers, run_limit, skew, retention }))
    }
}

impl Config {
    pub(super) fn from_resolved(resolved: &Resolved) -> Result<Self, ConfigFault> {
        let at = |key| At::find(resolved, key);
        Ok(Self {
            providers: at("providers")
                .read(|text| parse_loopback(text).map_err(|fault| fault.to_string()))?,
            http: at("http").read(|text| match text {
                "off" => Ok(None),
                _ => parse_loopback(text).map(Some).map_err(|fault| fault.to_string()),
            })?,
            run_dir: at("run_dir").read(|text| match text {
                "" => Err("expected a path".to_owned()),
                _ => Ok(PathBuf::from(text)),
            })?,
            providers_file: at("providers_file").path(),
            wire_version: at("wire_version").read(|text| match text {
                "1" => Ok(Version::V1),
                "2" => Ok(Version::V2),
                _ => Err("expected 1 or 2".to_owned()),
            })?,
            script: at("script").path(),
            key_file: at("key_file").path(),
            daemon_id: at("daemon_id").read(daemon_id)?,
            handshake_limit: at("handshake_limit").read(positive_time)?,
            pending_peers: at("pending_peers").read(value::count)?,
            waiting_peers: at("waiting_peers").read(value::count)?,
            peers: at("peers").read(value::count)?,
            budget: Budget {
                control_bytes: at("control_queue").read(size)?,
                display_bytes: at("display_queue").read(size)?,
                display_entries: at("display_frames").read(value::count)?,
            },
            pace: Pace {
                batch_bytes: at("write_batch").read(size)?,
                contended_bytes: at("contended_batch").read(size)?,
                stall: at("stall_limit").read(positive_time)?,
            },
            drain: at("drain").read(value::time)?,
            tuning: {
                let receive_bytes = at("receive_buffer").read(some_bytes)?;
                Tuning {
                    receive_bytes,
                    unsent_bytes: at("unsent_limit").read(value::bytes)?,
                    segment_bytes: at("segment_limit").read(|text| segment(text, receive_bytes))?,
                }
            },
            tap: Bounds {
                recent_bytes: at("tap_recent").read(value::bytes)? as usize,
                queue_bytes: at("tap_queue").read(size)?,
                listeners: at("tap_listeners").read(value::count)?,
            },
            connector: Connector::from_resolved(resolved)?,
            data_dir: at("data_dir").read(|text| match text {
                "" => Err("expected a path".to_owned()),
                _ => Ok(PathBuf::from(text)),
            })?,
            self_attach: at("self_attach").read(value::boolean)?,
            log: at("log").read(|text| {
                let filter: Result<tracing_subscriber::EnvFilter, _> = text.parse();
                filter.map(|_| text.to_owned()).map_err(|fault| fault.to_string())
            })?,
        })
    }

    /// Where the provider endpoint's connection file is written.
    pub fn providers_file(&self) -> PathBuf {
        self.providers_file.clone().unwrap_or_else(|| self.run_dir.join("providers.json"))
    }
}

fn positive_time(text: &str) -> Result<Duration, String> {
    match value::time(text)? {
        time if time.is_zero() => Err("expected more than 0".to_owned()),
        time => Ok(time),
    }
}

/// A buffer below this is a mistake of its unit rather than a wish.
fn some_bytes(text: &str) -> Result<u32, String> {
    match value::bytes(text)? {
        ..4096 => Err("at least 4KiB".to_owned()),
        bytes => Ok(bytes),
    }
}

fn size(text: &str) -> Result<usize, String> {
    some_bytes(text).map(|bytes| bytes as usize)
}

/// A window without room for a few segments closes for as long as the kernel's timers take.
fn segment(text: &str, receive_bytes: u32) -> Result<u32, String> {
    let most = (receive_bytes / SEGMENTS_MIN).min(*SEGMENT_BYTES.end());
    match value::bytes(text)? {
        0 => Ok(0),
        bytes if bytes < *SEGMENT_BYTES.start() => {
            Err(format!("at least {} bytes, or 0", SEGMENT_BYTES.start()))
        }
        bytes if bytes > most => Err(format!(
            "at most {most} bytes: a quarter of receive_buffer, and {} for any",
            SEGMENT_BYTES.end()
        )),
        bytes => Ok(bytes),
    }
}

fn daemon_id(text: &str) -> Result<Option<[u8; DAEMON_ID_LEN]>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let mut id = [0; DAEMON_ID_LEN];
    crate::net::identity::hex_into(text, &mut id)
        .map(|()| Some(id))
        .ok_or_else(|| "expected 32 hex digits".to_owned())
}

/// One value with its setting.
struct At<'a> {
    setting: &'static Setting,
    value: &'a Value,
}

impl<'a> At<'a> {
    fn find(resolved: &'a Resolved, key: &str) -> Self {
        // The typed form asks for keys of the table only; a test below resolves every one.
        let mut rows = resolved.rows();
        let (setting, value) = rows
            .find(|(setting, _)| setting.key == key)
            .unwrap_or_else(|| unreachable!("{key} is not in the table of settings"));
        Self { setting, value }
    }

    fn read<T>(&self, read: impl Fn(&str) -> Result<T, String>) -> Result<T, ConfigFault> {
        read(&self.value.text).map_err(|reason| ConfigFault::Value {
            key: self.setting.key,
            value: self.value.text.clone(),
            from: self.value.source.to_string(),
            reason,
        })
    }

    fn path(&self) -> Option<PathBuf> {
        (!self.value.text.is_empty()).then(|| PathBuf::from(&self.value.text))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Environment, Layers};
    use super::*;

    fn with(key: &'static str, text: &str) -> Result<Config, ConfigFault> {
        let layers = Layers::default().flag(key, Some(text.to_owned()));
        layers.resolve(&Environment::with(&[]))?.typed()
    }

    #[test]
    fn the_defaults_are_those_of_the_specification() {
        let config = Layers::default().resolve(&Environment::with(&[])).unwrap().typed().unwrap();
        assert_eq!(config.handshake_limit, Duration::from_secs(2));
        assert_eq!((config.pending_peers, config.waiting_peers, config.peers), (256, 1024, 256));
        assert_eq!((config.budget, config.pace), (Budget::default(), Pace::default()));
        assert_eq!(config.pace.stall, Duration::from_secs(30));
        assert_eq!(config.drain, Duration::from_secs(10));
        assert_eq!((config.tuning, config.tap), (Tuning::default(), Bounds::default()));
        assert_eq!(config.wire_version, Version::V1);
        assert_eq!(config.providers_file(), PathBuf::from("/tmp/twolane-1000/providers.json"));
    }

    #[test]
    fn a_refused_value_is_named_with_its_place_and_what_would_do() {
        let fault = with("providers", "0.0.0.0:80").unwrap_err().to_string();
        assert!(
            fault.contains("providers") && fault.contains("flag") && fault.contains("127.0.0.1"),
            "{fault}"
        );
        for (key, text) in [
            ("http", "example.org:80"),
            ("wire_version", "3"),
            ("peers", "0"),
            ("drain", "10"),
            ("handshake_limit", "0s"),
            ("daemon_id", "abc"),
            ("receive_buffer", "1KiB"),
            ("segment_limit", "100"),
            ("segment_limit", "16KiB"),
            ("control_queue", "0"),
            ("display_queue", "256"),
            ("display_frames", "0"),
            ("write_batch", "1"),
            ("contended_batch", "-1"),
            ("tap_queue", "1"),
            ("tap_listeners", "0"),
            ("connector", "0.0.0.0:1"),
            ("connector_backend", "shell"),
            ("connector_exec", "a \"b"),
            ("reply_kept", "1y"),
            ("data_dir", ""),
            ("self_attach", "yes"),
            ("run_dir", ""),
            ("log", "a=b=c"),
        ] {
            let fault = with(key, text).unwrap_err().to_string();
            assert!(fault.contains(key) && fault.contains("flag"), "{fault}");
        }
    }

    #[test]
    fn the_page_can_be_switched_off() {
        assert_eq!(with("http", "off").unwrap().http, None);
    }

    #[test]
    fn an_id_is_32_hex_digits() {
        let id = with("daemon_id", "000102030405060708090a0b0c0d0e0F").unwrap().daemon_id;
        assert_eq!(id, Some([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]));
    }
}

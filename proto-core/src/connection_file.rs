//! The connection file: where an endpoint is and how to authenticate to it (docs/wire.md, "Connection file").
//!
//! Opening the file, its owner and its mode are the host's; the text is read and written here.

use core::fmt;
use core::net::{IpAddr, SocketAddr};

use heapless::Vec;

use crate::envelope::Version;
use crate::handshake::field::{
    FieldFault, FieldReason, array, each_known, exact_bytes, integer, missing, string, write_string,
};
use crate::handshake::{DaemonId, Key, KeyFault};
use crate::limits::{CONNECTION_FILE_ENDPOINTS_MAX, CONNECTION_FILE_MAX, DAEMON_ID_LEN};
use crate::scan::string::JsonStr;
use crate::scan::value::Value;

/// The only schema there is.
const SCHEMA: u64 = 1;

/// Bytes of the longest text of an IP address, `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`.
const ADDRESS_TEXT_MAX: usize = 45;

/// What a connection file says. Its `Debug` does not show the key.
///
/// ```
/// use twolane_core::connection_file::{
///     ConnectionFile, ConnectionFileParts, Endpoint, EndpointFault, EndpointReason, write,
/// };
/// use twolane_core::envelope::Version;
/// use twolane_core::handshake::{DaemonId, Key};
///
/// // What a server writes and a client reads; one of the endpoints is on another machine.
/// let mut text = String::new();
/// write(
///     &ConnectionFileParts {
///         version: Version::V2,
///         endpoints: &["127.0.0.1:4710".parse().unwrap(), "192.0.2.7:4710".parse().unwrap()],
///         key: &Key::new(&[7; 32]).unwrap(),
///         daemon_id: DaemonId([1; 16]),
///         pid: 4711,
///         daemon_ver: "twolane 0.1",
///     },
///     &mut text,
/// )
/// .unwrap();
///
/// let file = ConnectionFile::parse(text.as_bytes()).unwrap();
/// assert_eq!((file.wire_version(), file.daemon_id(), file.pid()), (Some(Version::V2), DaemonId([1; 16]), 4711));
/// assert!(file.daemon_ver() == "twolane 0.1");
/// assert_eq!(format!("{:?}", file.key()), "Key(..)");
///
/// // Only the loopback endpoint is for connecting.
/// let other = EndpointFault { index: 1, reason: EndpointReason::NotLoopback };
/// let found: Vec<_> = file.loopback_endpoints().collect();
/// assert_eq!(found, [Ok("127.0.0.1:4710".parse().unwrap()), Err(other)]);
/// let Endpoint { host, port } = file.endpoints()[1];
/// assert!(host == "192.0.2.7" && port == 4710);
/// assert_eq!(file.endpoints()[1].loopback(), Err(EndpointReason::NotLoopback));
/// ```
#[derive(Clone, Debug)]
pub struct ConnectionFile<'a> {
    wire_version: Option<Version>,
    endpoints: Vec<Endpoint<'a>, CONNECTION_FILE_ENDPOINTS_MAX>,
    key: Key,
    daemon_id: DaemonId,
    pid: u32,
    daemon_ver: JsonStr<'a>,
}

/// One endpoint of a connection file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// The host as it is written.
    pub host: JsonStr<'a>,
    /// The TCP port.
    pub port: u16,
}

impl Endpoint<'_> {
    /// The address to connect to, where the host is a literal of `127.0.0.0/8` or `::1`.
    ///
    /// ```
    /// use twolane_core::connection_file::{Endpoint, EndpointReason};
    /// use twolane_core::scan::value::Value;
    ///
    /// let endpoint = |host| Endpoint { host: Value::parse(host).unwrap().as_str().unwrap(), port: 4710 };
    /// assert_eq!(endpoint(br#""::1""#).loopback(), Ok("[::1]:4710".parse().unwrap()));
    /// // Names are not resolved, not even this one.
    /// assert_eq!(endpoint(br#""localhost""#).loopback(), Err(EndpointReason::NotAnAddress));
    /// ```
    pub fn loopback(&self) -> Result<SocketAddr, EndpointReason> {
        let mut buffer = [0; ADDRESS_TEXT_MAX];
        let text = self.host.decode_into(&mut buffer).ok_or(EndpointReason::NotAnAddress)?;
        let address: IpAddr = text.parse().map_err(|_| EndpointReason::NotAnAddress)?;
        if !address.is_loopback() {
            return Err(EndpointReason::NotLoopback);
        }
        Ok(SocketAddr::new(address, self.port))
    }
}

/// Which endpoint of a file is not to be connected to, and why.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("endpoint {index} of the connection file: {reason}")]
pub struct EndpointFault {
    /// Its place in the file, from 0.
    pub index: usize,
    /// Why.
    pub reason: EndpointReason,
}

/// Why an endpoint is not to be connected to.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointReason {
    /// The host is a name or something else that is no IP address; names are not resolved.
    #[error("the host is not a literal IP address; only 127.0.0.0/8 and ::1 are connected to")]
    NotAnAddress,
    /// An address of another machine.
    #[error("the host is not a loopback address; only 127.0.0.0/8 and ::1 are connected to")]
    NotLoopback,
}

impl<'a> ConnectionFile<'a> {
    /// Reads the text of a file: unknown members are passed over, in any order, white space around the object too.
    pub fn parse(text: &'a [u8]) -> Result<Self, ConnectionFileFault> {
        if text.len() > CONNECTION_FILE_MAX {
            let reason = ConnectionFileReason::TooLarge { len: text.len() };
            return Err(ConnectionFileFault { offset: CONNECTION_FILE_MAX, reason });
        }
        let object = Value::parse(text).map_err(FieldFault::from)?;
        Found::in_object(&object)?.complete(&object)
    }

    /// The version of the envelope that the file declares; a file of version 1 need not.
    pub const fn wire_version(&self) -> Option<Version> {
        self.wire_version
    }

    /// One endpoint or more, as they are written.
    pub fn endpoints(&self) -> &[Endpoint<'a>] {
        &self.endpoints
    }

    /// The endpoints that may be connected to; in the place of each other one, why not.
    pub fn loopback_endpoints(&self) -> impl Iterator<Item = Result<SocketAddr, EndpointFault>> {
        self.endpoints
            .iter()
            .enumerate()
            .map(|(index, endpoint)| endpoint.loopback().map_err(|reason| EndpointFault { index, reason }))
    }

    /// The connection key.
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The connection key alone.
    pub(crate) fn into_key(self) -> Key {
        self.key
    }

    /// The process that has to answer.
    pub const fn daemon_id(&self) -> DaemonId {
        self.daemon_id
    }

    /// The id of that process in its system. It proves nothing.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// What that process runs. It proves nothing.
    pub const fn daemon_ver(&self) -> JsonStr<'a> {
        self.daemon_ver
    }
}

/// Where and why a text is no connection file. The text of the file is not in it.
///
/// ```
/// use twolane_core::connection_file::{ConnectionFile, ConnectionFileFault, ConnectionFileReason};
///
/// let fault: ConnectionFileFault = ConnectionFile::parse(br#"{"schema": 2}"#).unwrap_err();
/// assert_eq!(fault.reason, ConnectionFileReason::UnsupportedSchema { found: 2 });
/// assert_eq!(fault.to_string(), "byte 11: member `schema`: 2 is not supported, expected 1");
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct ConnectionFileFault {
    /// Offset in the text.
    pub offset: usize,
    /// Why.
    pub reason: ConnectionFileReason,
}

/// Why a text is no connection file.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionFileReason {
    /// Over [`CONNECTION_FILE_MAX`] bytes.
    #[error("the file has {len} bytes, at most 65536 are read")]
    TooLarge {
        /// Its length in bytes.
        len: usize,
    },
    /// Not an object with the members that have to be there.
    #[error(transparent)]
    Field(FieldReason),
    /// Another `schema` than 1.
    #[error("member `schema`: {found} is not supported, expected 1")]
    UnsupportedSchema {
        /// The one declared.
        found: u64,
    },
    /// A `wire_version` that is neither 1 nor 2.
    #[error("member `wire_version`: {found} is not supported, expected 1 or 2")]
    UnsupportedWireVersion {
        /// The one declared.
        found: u64,
    },
    /// An empty list of endpoints.
    #[error("member `endpoints`: there is none, at least one is needed")]
    NoEndpoints,
    /// More than [`CONNECTION_FILE_ENDPOINTS_MAX`] endpoints.
    #[error("member `endpoints`: more than 8")]
    TooManyEndpoints,
    /// A key that is too short or too long.
    #[error("member `key`: {0}")]
    Key(KeyFault),
}

impl From<FieldFault> for ConnectionFileFault {
    fn from(fault: FieldFault) -> Self {
        Self { offset: fault.offset, reason: ConnectionFileReason::Field(fault.reason) }
    }
}

/// What has to be known to write a connection file.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionFileParts<'a> {
    /// The version of the envelope that the endpoint speaks.
    pub version: Version,
    /// Where it listens: 1 to [`CONNECTION_FILE_ENDPOINTS_MAX`] addresses.
    pub endpoints: &'a [SocketAddr],
    /// The connection key.
    pub key: &'a Key,
    /// The process that serves it.
    pub daemon_id: DaemonId,
    /// The id of that process in its system.
    pub pid: u32,
    /// What it runs.
    pub daemon_ver: &'a str,
}

/// Writes the text of a connection file: 2 spaces, one array element a line, no final newline. `wire_version` is
/// there for version 2 only. An error if `out` fails, and for a number of endpoints that no reader would accept.
///
/// The key is in the text: mind where `out` puts it.
///
/// ```
/// use twolane_core::connection_file::{ConnectionFileParts, write};
/// use twolane_core::envelope::Version;
/// use twolane_core::handshake::{DaemonId, Key};
///
/// let key = Key::new(&[7; 32]).unwrap();
/// let parts = ConnectionFileParts {
///     version: Version::V1,
///     endpoints: &["[::1]:4710".parse().unwrap()],
///     key: &key,
///     daemon_id: DaemonId([1; 16]),
///     pid: 4711,
///     daemon_ver: "twolane 0.1",
/// };
/// let mut text = String::new();
/// write(&parts, &mut text).unwrap();
/// assert!(text.starts_with("{\n  \"schema\": 1,\n  \"endpoints\": [\n    {\n      \"host\": \"::1\","));
/// // No reader would take a file without an endpoint.
/// assert!(write(&ConnectionFileParts { endpoints: &[], ..parts }, &mut text).is_err());
/// ```
pub fn write(parts: &ConnectionFileParts<'_>, out: &mut impl fmt::Write) -> fmt::Result {
    if !(1..=CONNECTION_FILE_ENDPOINTS_MAX).contains(&parts.endpoints.len()) {
        return Err(fmt::Error);
    }
    write!(out, "{{\n  \"schema\": {SCHEMA}")?;
    if parts.version == Version::V2 {
        out.write_str(",\n  \"wire_version\": 2")?;
    }
    out.write_str(",\n  \"endpoints\": ")?;
    write_lines(out, parts.endpoints, |out, endpoint| {
        let (host, port) = (endpoint.ip(), endpoint.port());
        write!(out, "{{\n      \"host\": \"{host}\",\n      \"port\": {port}\n    }}")
    })?;
    out.write_str(",\n  \"key\": ")?;
    write_lines(out, parts.key.bytes(), |out, byte| write!(out, "{byte}"))?;
    out.write_str(",\n  \"daemon_id\": ")?;
    write_lines(out, &parts.daemon_id.0, |out, byte| write!(out, "{byte}"))?;
    write!(out, ",\n  \"pid\": {},\n  \"daemon_ver\": ", parts.pid)?;
    write_string(out, parts.daemon_ver)?;
    out.write_str("\n}")
}

/// An array, one element a line.
fn write_lines<W: fmt::Write, T>(
    out: &mut W,
    elements: &[T],
    mut write_element: impl FnMut(&mut W, &T) -> fmt::Result,
) -> fmt::Result {
    let mut before = "[\n    ";
    for element in elements {
        out.write_str(before)?;
        before = ",\n    ";
        write_element(out, element)?;
    }
    out.write_str("\n  ]")
}

const KNOWN: [&str; 7] = ["schema", "wire_version", "endpoints", "key", "daemon_id", "pid", "daemon_ver"];

/// The members that were found so far.
#[derive(Default)]
struct Found<'a> {
    schema: Option<u64>,
    wire_version: Option<Version>,
    endpoints: Option<Vec<Endpoint<'a>, CONNECTION_FILE_ENDPOINTS_MAX>>,
    key: Option<Key>,
    daemon_id: Option<DaemonId>,
    pid: Option<u32>,
    daemon_ver: Option<JsonStr<'a>>,
}

impl<'a> Found<'a> {
    fn in_object(object: &Value<'a>) -> Result<Self, ConnectionFileFault> {
        let mut found = Self::default();
        each_known(object, &KNOWN, &mut |name, value| {
            match name {
                "schema" => found.schema = Some(schema(value, name)?),
                "wire_version" => found.wire_version = Some(wire_version(value, name)?),
                "endpoints" => found.endpoints = Some(endpoints(value, name)?),
                "key" => found.key = Some(key(value)?),
                "daemon_id" => {
                    let mut id = DaemonId([0; DAEMON_ID_LEN]);
                    exact_bytes(value, name, &mut id.0)?;
                    found.daemon_id = Some(id);
                }
                "pid" => found.pid = u32::try_from(integer(value, name, u64::from(u32::MAX))?).ok(),
                _ => found.daemon_ver = Some(string(value, name)?),
            }
            Ok::<_, ConnectionFileFault>(())
        })?;
        Ok(found)
    }

    fn complete(self, object: &Value<'_>) -> Result<ConnectionFile<'a>, ConnectionFileFault> {
        let lacking = self.first_lacking();
        let Self { schema: Some(_), endpoints: Some(endpoints), key: Some(key), .. } = self else {
            return Err(missing(object, lacking).into());
        };
        let (Some(daemon_id), Some(pid), Some(daemon_ver)) = (self.daemon_id, self.pid, self.daemon_ver)
        else {
            return Err(missing(object, lacking).into());
        };
        Ok(ConnectionFile { wire_version: self.wire_version, endpoints, key, daemon_id, pid, daemon_ver })
    }

    /// The first member, in the order in which they are written, that has to be there and is not.
    fn first_lacking(&self) -> &'static str {
        let known = [
            ("schema", self.schema.is_some()),
            ("endpoints", self.endpoints.is_some()),
            ("key", self.key.is_some()),
            ("daemon_id", self.daemon_id.is_some()),
            ("pid", self.pid.is_some()),
        ];
        known.into_iter().find(|(_, is_there)| !is_there).map_or("daemon_ver", |(name, _)| name)
    }
}

fn at(value: &Value<'_>, reason: ConnectionFileReason) -> ConnectionFileFault {
    ConnectionFileFault { offset: value.span().start, reason }
}

fn schema(value: &Value<'_>, name: &'static str) -> Result<u64, ConnectionFileFault> {
    match integer(value, name, u64::MAX)? {
        SCHEMA => Ok(SCHEMA),
        found => Err(at(value, ConnectionFileReason::UnsupportedSchema { found })),
    }
}

fn wire_version(value: &Value<'_>, name: &'static str) -> Result<Version, ConnectionFileFault> {
    let found = integer(value, name, u64::MAX)?;
    let version = u8::try_from(found).ok().and_then(Version::from_number);
    version.ok_or(at(value, ConnectionFileReason::UnsupportedWireVersion { found }))
}

fn key(value: &Value<'_>) -> Result<Key, ConnectionFileFault> {
    Key::from_array(value)?.map_err(|fault| at(value, ConnectionFileReason::Key(fault)))
}

fn endpoints<'a>(
    value: &Value<'a>,
    name: &'static str,
) -> Result<Vec<Endpoint<'a>, CONNECTION_FILE_ENDPOINTS_MAX>, ConnectionFileFault> {
    let mut endpoints = Vec::new();
    let mut elements = array(value, name)?;
    while let Some(element) = elements.next_element().map_err(FieldFault::from)? {
        let endpoint = endpoint(&element)?;
        endpoints.push(endpoint).map_err(|_| at(&element, ConnectionFileReason::TooManyEndpoints))?;
    }
    if endpoints.is_empty() {
        return Err(at(value, ConnectionFileReason::NoEndpoints));
    }
    Ok(endpoints)
}

fn endpoint<'a>(object: &Value<'a>) -> Result<Endpoint<'a>, FieldFault> {
    let (mut host, mut port) = (None, None);
    each_known(object, &["host", "port"], &mut |name, value| -> Result<(), FieldFault> {
        match name {
            "host" => host = Some(string(value, name)?),
            _ => port = u16::try_from(integer(value, name, u64::from(u16::MAX))?).ok(),
        }
        Ok(())
    })?;
    Ok(Endpoint { host: host.ok_or(missing(object, "host"))?, port: port.ok_or(missing(object, "port"))? })
}

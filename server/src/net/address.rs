//! Addresses: literal loopback only, on both sides of a connection (docs/wire.md, "Transport").

use std::net::{IpAddr, SocketAddr};

/// Why an address is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// Not `IP:PORT`; names are not looked up, since what a name means can change.
    #[error(
        "`{text}` is not a literal address; expected 127.0.0.1:PORT or [::1]:PORT (port 0 picks a free one)"
    )]
    NotLiteral {
        /// What was given.
        text: String,
    },
    /// An address that other machines could reach.
    #[error("{ip} is not a loopback address; lanes stay on this machine: use 127.0.0.1 or ::1")]
    NotLoopback {
        /// The address given.
        ip: IpAddr,
    },
}

/// Reads `IP:PORT` with a literal loopback IP.
pub fn parse_loopback(text: &str) -> Result<SocketAddr, AddressFault> {
    let address: SocketAddr = text.parse().map_err(|_| AddressFault::NotLiteral { text: text.to_owned() })?;
    check_loopback(address.ip())?;
    Ok(address)
}

fn check_loopback(ip: IpAddr) -> Result<(), AddressFault> {
    if ip.is_loopback() { Ok(()) } else { Err(AddressFault::NotLoopback { ip }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_loopback_addresses_of_both_families_are_taken() {
        for text in ["127.0.0.1:0", "127.8.9.1:70", "[::1]:65535"] {
            assert_eq!(parse_loopback(text).map(|address| address.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn names_and_reachable_addresses_are_refused_by_name() {
        for text in ["localhost:0", "127.0.0.1", "127.0.0.1:65536", "", ":80", "::1:80x"] {
            assert!(matches!(parse_loopback(text), Err(AddressFault::NotLiteral { .. })), "{text}");
        }
        for text in ["0.0.0.0:0", "192.168.1.4:80", "[::]:0", "[fe80::1]:9", "[::ffff:10.0.0.1]:1"] {
            assert!(matches!(parse_loopback(text), Err(AddressFault::NotLoopback { .. })), "{text}");
        }
    }
}

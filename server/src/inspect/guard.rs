//! What every request must show before anything looks at it, and what every answer carries.
//!
//! The page is reachable from any site the person visits, so nothing rests on the address being
//! a loopback one: a name that resolves to it (DNS rebinding) is turned away by its `Host`, a
//! request sent from another site by its `Origin`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::problem::Problem;

/// Where the browser thinks it is: an allowed host and its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    name: Name,
    /// 80 where none is written.
    pub(crate) port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Localhost,
    Ip(IpAddr),
}

impl Place {
    /// Reads `host` or `host:port`. `None` unless the host is `localhost` or a literal loopback
    /// address in full: 127.0.0.0/8 or `[::1]`. Any port is allowed, for ssh forwards.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, parse_port(port)?),
            _ => (text, 80),
        };
        let name = if let Some(v6) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Name::Ip(IpAddr::V6(v6.parse::<Ipv6Addr>().ok()?))
        } else if name.eq_ignore_ascii_case("localhost") {
            Name::Localhost
        } else {
            Name::Ip(IpAddr::V4(name.parse::<Ipv4Addr>().ok()?))
        };
        match name {
            Name::Ip(ip) if !ip.is_loopback() => None,
            _ => Some(Self { name, port }),
        }
    }
}

/// One to five digits and nothing else; `u16`'s own parser would take a sign.
fn parse_port(text: &str) -> Option<u16> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Turns away what names no allowed host, and puts the headers on every answer.
pub(crate) async fn guard(mut request: Request, next: Next) -> Response {
    let mut response = match place(request.uri(), request.headers()) {
        Ok(place) => {
            request.extensions_mut().insert(place);
            next.run(request).await
        }
        Err(problem) => problem.into(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn place(uri: &Uri, headers: &HeaderMap) -> Result<Place, Problem> {
    // A proxy's form of request names a second host; nobody asks a loopback page that way.
    if uri.authority().is_some() {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "host", "the request line names a host"));
    }
    let Some(host) = only(headers, &header::HOST) else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "host", "exactly one Host is needed"));
    };
    Place::parse(host).ok_or_else(|| {
        Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "host",
            "this server answers to localhost and literal loopback addresses only",
        )
    })
}

/// Turns away what does not come from our own page.
pub(crate) fn check_origin(place: Place, headers: &HeaderMap) -> Result<(), Problem> {
    let refused = |text| Problem::new(StatusCode::FORBIDDEN, "origin", text);
    let Some(origin) = only(headers, &header::ORIGIN) else {
        return Err(refused("exactly one Origin is needed"));
    };
    match origin.strip_prefix("http://").and_then(Place::parse) {
        Some(origin) if origin == place => Ok(()),
        _ => Err(refused("the Origin is not this page")),
    }
}

/// Turns away browsers: they send an Origin with every POST, and no page may hold the token.
pub(crate) fn check_no_origin(headers: &HeaderMap) -> Result<(), Problem> {
    if headers.contains_key(header::ORIGIN) {
        return Err(Problem::new(StatusCode::FORBIDDEN, "origin", "this is not for pages"));
    }
    Ok(())
}

/// The header's value where it stands exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok()
}

/// `connect-src 'self'` covers the WebSocket of the same host and port.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
     style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

const PERMISSIONS_POLICY: &str = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), \
     usb=(), serial=(), hid=(), midi=()";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), PERMISSIONS_POLICY),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_localhost_and_literal_loopback_addresses_are_places() {
        for allowed in [
            "localhost",
            "LocalHost:1",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.255.3.4:65535",
            "[::1]",
            "[::1]:7000",
        ] {
            assert!(Place::parse(allowed).is_some(), "{allowed}");
        }
        for refused in [
            "",
            ":80",
            "127.0.0.1.evil.example",
            "127.0.0.1.evil.example:80",
            "localhost.evil.example",
            "localhost.",
            "notlocalhost",
            "127.1",
            "127.0.0.01",
            "0x7f.0.0.1",
            "2130706433",
            "0.0.0.0",
            "10.0.0.1",
            "[::]",
            "[::2]",
            "[::ffff:127.0.0.1]",
            "::1",
            "[::1",
            "[::1]x:80",
            "127.0.0.1:",
            "127.0.0.1:+80",
            "127.0.0.1:65536",
            "127.0.0.1:80:80",
            "127.0.0.1 :80",
            "user@127.0.0.1",
            "127.0.0.1/",
            "evil.example@127.0.0.1:80",
        ] {
            assert!(Place::parse(refused).is_none(), "{refused}");
        }
    }

    #[test]
    fn a_place_without_a_port_is_at_80() {
        assert_eq!(Place::parse("localhost"), Place::parse("LOCALHOST:80"));
        assert_eq!(Place::parse("[::1]"), Place::parse("[0:0:0:0:0:0:0:1]:80"));
        assert_ne!(Place::parse("localhost:81"), Place::parse("localhost:82"));
        assert_ne!(Place::parse("localhost:81"), Place::parse("127.0.0.1:81"));
    }
}

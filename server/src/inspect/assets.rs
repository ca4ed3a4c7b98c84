//! The built page, embedded by `build.rs`.
//!
//! Not compressed on the way: it travels over loopback.

use std::fmt::Write as _;

use axum::body::{Body, Bytes};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode};
use sha2::{Digest as _, Sha256};

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The page's files by the path in their address.
#[derive(Debug)]
pub(crate) struct Assets {
    sorted: Vec<Asset>,
}

#[derive(Debug)]
struct Asset {
    path: &'static str,
    bytes: &'static [u8],
    etag: HeaderValue,
    content_type: &'static str,
    cache: &'static str,
}

/// May be kept for ever: another content has another name.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// May be kept, and must be asked for each time.
const ASK_EACH_TIME: &str = "no-cache";

impl Assets {
    /// The files of `web-demo/dist` as they were when this binary was built; maybe none.
    pub(crate) fn embedded() -> Self {
        Self::new(PAGE)
    }

    fn new(files: &'static [(&'static str, &'static [u8])]) -> Self {
        let mut sorted: Vec<Asset> = files.iter().map(|(path, bytes)| Asset::new(path, bytes)).collect();
        sorted.sort_by_key(|asset| asset.path);
        Self { sorted }
    }

    /// The file at that path of an address, `/` being the page itself. A path is looked up as it
    /// is written: there is no folder that `..` could leave.
    pub(crate) fn answer(&self, path: &str, request: &HeaderMap) -> Option<Response<Body>> {
        let path = if path == "/" { "/index.html" } else { path };
        let at = self.sorted.binary_search_by_key(&path, |asset| asset.path).ok();
        match at.and_then(|at| self.sorted.get(at)) {
            Some(asset) => Some(asset.answer(request)),
            None if path == "/index.html" => Some(no_page()),
            None => None,
        }
    }
}

impl Asset {
    fn new(path: &'static str, bytes: &'static [u8]) -> Self {
        let mut etag = String::from("\"");
        for byte in Sha256::digest(bytes).iter().take(16) {
            let _ = write!(etag, "{byte:02x}");
        }
        etag.push('"');
        Self {
            path,
            bytes,
            // Hexadecimal digits in quotes are always a header's value.
            etag: HeaderValue::try_from(etag).unwrap_or_else(|_| HeaderValue::from_static("\"\"")),
            content_type: content_type(path),
            cache: if names_its_content(path) { FOREVER } else { ASK_EACH_TIME },
        }
    }

    fn answer(&self, request: &HeaderMap) -> Response<Body> {
        let known = request.get_all(header::IF_NONE_MATCH).iter().any(|value| {
            let ours = self.etag.to_str().unwrap_or_default();
            value.to_str().is_ok_and(|tags| {
                tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == ours)
            })
        });
        let body = if known { Body::empty() } else { Body::from(Bytes::from_static(self.bytes)) };
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.etag.clone());
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(self.cache));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        if known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        response
    }
}

fn no_page() -> Response<Body> {
    let mut response = Response::new(Body::from(
        "This twolane was built without its page. In the source folder, run\n\n    \
         cargo xtask page\n\nthen build and start the server again.\n",
    ));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "webmanifest" => "application/manifest+json",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Whether the bundler put a hash into the name: `/assets/NAME-HASH.EXT`, eight characters or
/// more with a digit among them, which no word has. A hash without a digit is asked for each time.
fn names_its_content(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/assets/") else {
        return false;
    };
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    stem.split_once('-').is_some_and(|(_, hash)| {
        let hash = hash.get(hash.len().saturating_sub(8)..).unwrap_or_default();
        hash.len() == 8
            && hash.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
            && hash.bytes().any(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[(&str, &[u8])] = &[
        ("/index.html", b"<!doctype html>"),
        ("/assets/twolane-B4f9_x2Z.wasm", b"\0asm"),
        ("/assets/inspector-timeline.js", b"0"),
    ];

    fn header<'a>(response: &'a Response<Body>, name: &str) -> &'a str {
        response.headers().get(name).unwrap().to_str().unwrap()
    }

    #[test]
    fn a_file_has_its_type_and_says_how_long_it_may_be_kept() {
        let assets = Assets::new(FILES);
        let answer = |path| assets.answer(path, &HeaderMap::new()).unwrap();
        let index = answer("/");
        assert_eq!(header(&index, "content-type"), "text/html; charset=utf-8");
        assert_eq!(header(&index, "cache-control"), ASK_EACH_TIME);
        let module = answer("/assets/twolane-B4f9_x2Z.wasm");
        assert_eq!(header(&module, "content-type"), "application/wasm");
        assert_eq!(header(&module, "cache-control"), FOREVER);
        assert_eq!(header(&answer("/assets/inspector-timeline.js"), "cache-control"), ASK_EACH_TIME);
    }

    #[test]
    fn a_known_content_is_not_sent_again() {
        let assets = Assets::new(FILES);
        let first = assets.answer("/", &HeaderMap::new()).unwrap();
        let mut request = HeaderMap::new();
        let tag = header(&first, "etag");
        request.insert(header::IF_NONE_MATCH, format!("\"other\", W/{tag}").parse().unwrap());
        assert_eq!(assets.answer("/", &request).unwrap().status(), StatusCode::NOT_MODIFIED);
        let other = assets.answer("/assets/inspector-timeline.js", &request).unwrap();
        assert_eq!(other.status(), StatusCode::OK);
    }

    #[test]
    fn without_a_page_the_answer_is_the_command_that_builds_it() {
        let assets = Assets::new(&[]);
        let answer = assets.answer("/", &HeaderMap::new()).unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(assets.answer("/assets/a.js", &HeaderMap::new()).is_none());
    }
}

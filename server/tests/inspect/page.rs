//! The page, the headers of every answer, and the server's own bounds.

use std::net::SocketAddr;

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use twolane::inspect::{Config, Inspect};

use super::client::{Answer, Ask, Running, send};

const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
     img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

fn assert_guarded(answer: &Answer) {
    assert_eq!(answer.header("content-security-policy"), POLICY);
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
    assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
    assert!(answer.header("permissions-policy").contains("camera=()"));
    assert!(!answer.has("access-control-allow-origin"));
}

#[tokio::test]
async fn every_answer_carries_the_headers() {
    let running = Running::start().await;
    let cookie = running.cookie().await;
    let index = Ask::new("GET", "/").send(&running).await;
    let tap = Ask::new("GET", "/api/tap").origin(&running).header("Cookie", &cookie).upgrade();
    for (status, ask) in [
        (index.status, Ask::new("GET", "/")),
        (index.status, Ask::new("HEAD", "/")),
        (200, Ask::new("GET", "/api/health")),
        (200, running.enter(&running.code())),
        (101, tap),
        (400, Ask::new("GET", "/").host("")),
        (401, Ask::new("POST", "/api/code")),
        (403, Ask::new("POST", "/api/enter")),
        (404, Ask::new("GET", "/nothing")),
        (404, Ask::new("GET", "/api/nothing")),
        (405, Ask::new("POST", "/")),
        (405, Ask::new("DELETE", "/api/enter")),
        (405, Ask::new("OPTIONS", "/api/enter")),
        (421, Ask::new("GET", "/").host("evil.example")),
    ] {
        let answer = ask.send(&running).await;
        assert_eq!(answer.status, status, "{}", ask.text(running.address));
        assert_guarded(&answer);
    }
    running.stop().await;
}

#[tokio::test]
async fn health_needs_no_secret_and_shows_none() {
    let running = Running::start().await;
    let answer = Ask::new("GET", "/api/health").send(&running).await;
    assert_eq!(answer.json(), serde_json::json!({ "ok": true, "version": env!("CARGO_PKG_VERSION") }));
    assert_eq!(answer.header("cache-control"), "no-store");
    running.stop().await;
}

#[tokio::test]
async fn no_path_leads_out_of_the_page() {
    let running = Running::start().await;
    for path in [
        "/../Cargo.toml",
        "/../../../../etc/passwd",
        "/assets/../../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/..%2fCargo.toml",
        "/..\\Cargo.toml",
        "//etc/passwd",
        "/./index.html",
        "/index.html/",
        "/index.html%00",
    ] {
        let answer = Ask::new("GET", path).send(&running).await;
        assert_eq!(answer.status, 404, "{path}");
    }
    running.stop().await;
}

/// Where the page was built before this test was: the binary holds it, and it is asked for again
/// only where its name does not tell its content.
#[tokio::test]
async fn the_embedded_page_is_served_or_the_command_that_builds_it() {
    let running = Running::start().await;
    let index = Ask::new("GET", "/").send(&running).await;
    let text = String::from_utf8(index.body.clone()).unwrap();
    if index.status == 503 {
        assert!(text.contains("cargo xtask page"), "{text}");
        assert_eq!(index.header("cache-control"), "no-store");
        return running.stop().await;
    }
    assert_eq!(index.status, 200);
    assert_eq!(index.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(index.header("cache-control"), "no-cache");
    let again =
        Ask::new("GET", "/index.html").header("If-None-Match", index.header("etag")).send(&running).await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_guarded(&again);
    let references: Vec<&str> = text
        .split('"')
        .filter(|word| word.starts_with("/assets/") || word.starts_with("./assets/"))
        .collect();
    assert!(!references.is_empty(), "{text}");
    for reference in references {
        let answer = Ask::new("GET", reference.trim_start_matches('.')).send(&running).await;
        assert_eq!(answer.status, 200, "{reference}");
        assert!(!answer.body.is_empty());
        assert_ne!(answer.header("content-type"), "application/octet-stream", "{reference}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_head_that_is_too_long_or_no_http_is_turned_away() {
    let running = Running::start().await;
    let long = Ask::new("GET", "/").header("X-Long", &"x".repeat(64 * 1024)).text(running.address);
    assert_eq!(send(running.address, long.as_bytes()).await.status, 431);
    let many = (0..200).fold(Ask::new("GET", "/"), |ask, _| ask.header("X-Many", "1"));
    assert_eq!(many.send(&running).await.status, 431);
    assert_eq!(
        send(running.address, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n").await.status,
        400
    );
    assert_eq!(Ask::new("GET", "/api/health").send(&running).await.status, 200);
    running.stop().await;
}

#[tokio::test]
async fn idle_and_unfinished_connections_do_not_hold_a_stop() {
    let running = Running::start().await;
    let idle = TcpStream::connect(running.address).await.unwrap();
    let mut unfinished = TcpStream::connect(running.address).await.unwrap();
    unfinished.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
    assert_eq!(Ask::new("GET", "/api/health").send(&running).await.status, 200);
    running.stop().await;
    drop((idle, unfinished));
}

#[tokio::test]
async fn a_listener_that_others_can_reach_is_refused() {
    let inspect = Inspect::new(Config::default()).unwrap();
    let listener = TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], 0))).await.unwrap();
    let fault = inspect.run(listener, std::future::pending()).await.unwrap_err();
    assert!(fault.to_string().contains("0.0.0.0"), "{fault}");
}

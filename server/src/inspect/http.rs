//! The addresses of the page's server.
//!
//! | request | needs | answer |
//! |---|---|---|
//! | `GET /`, `GET /assets/..` | - | the page |
//! | `GET /api/health` | - | `{"ok":true,"version":".."}` |
//! | `GET /api/session` | - | `{"valid":true,"expires_in_s":N}` or `{"valid":false}` |
//! | `POST /api/enter` `{"code":".."}` | Origin, a code | the session's cookie, and what `/api/session` says |
//! | `GET /api/tap` | Origin, the cookie | a WebSocket of pcapng |
//! | `POST /api/code` | the token, no Origin | `{"code":"..","expires_in_s":N}` |
//! | `GET /api/tap.pcapng` | the token, no Origin | an endless pcapng file |
//!
//! Every request needs an allowed Host. What is refused says why as
//! `{"reason":"WORD","text":"sentence"}`. No secret is ever part of an address.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Extension, Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Method, Response, StatusCode, Uri};
use axum::routing::{get, post};
use serde::Deserialize;
use tokio::sync::watch;

use super::assets::Assets;
use super::door::{Door, Refusal};
use super::guard::{Place, check_no_origin, check_origin, guard};
use super::problem::{Problem, json};
use super::stream::{Pcapng, PcapngBody};
use super::tap::Tap;
use super::{Clock, ws};
use crate::limits::{CODE_LIFE, PAGE_BODY_BYTES_MAX, PAGE_BODY_TIMEOUT, SESSION_LIFE, WS_MESSAGE_BYTES_MAX};
use crate::stop::{Stop, Stopper};

/// What the handlers share.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) door: Door,
    pub(crate) tap: Tap,
    pub(crate) clock: Clock,
    pub(crate) assets: Assets,
    /// True from the moment the server stops: every tap ends.
    pub(crate) stopper: Stopper,
    pub(crate) stop: Stop,
    /// How many WebSockets are open.
    pub(crate) open: watch::Sender<usize>,
}

impl Site {
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }
}

type Answer = Result<Response<Body>, Problem>;

/// Everything in the table above, behind the guard.
pub(crate) fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route("/api/health", get(health))
        .route("/api/session", get(session))
        .route("/api/enter", post(enter))
        .route("/api/tap", get(tap))
        .route("/api/code", post(code))
        .route("/api/tap.pcapng", get(tap_file))
        .method_not_allowed_fallback(not_allowed)
        .fallback(page)
        .layer(axum::middleware::from_fn(guard))
        .with_state(site)
}

async fn health() -> Response<Body> {
    json(StatusCode::OK, &serde_json::json!({ "ok": true, "version": env!("CARGO_PKG_VERSION") }))
}

async fn page(State(site): State<Arc<Site>>, method: Method, uri: Uri, headers: HeaderMap) -> Answer {
    if method != Method::GET && method != Method::HEAD {
        return not_allowed().await;
    }
    site.assets
        .answer(uri.path(), &headers)
        .ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "address", "there is nothing at this address"))
}

async fn not_allowed() -> Answer {
    Err(Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this address takes another method"))
}

async fn session(
    State(site): State<Arc<Site>>,
    Extension(place): Extension<Place>,
    headers: HeaderMap,
) -> Response<Body> {
    session_answer(session_left(&site, place, &headers))
}

async fn enter(
    State(site): State<Arc<Site>>,
    Extension(place): Extension<Place>,
    request: Request,
) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Enter {
        code: String,
    }
    check_origin(place, request.headers())?;
    let body = body(request).await?;
    let Ok(Enter { code }) = serde_json::from_slice(&body) else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "body", r#"the body is not {"code":"TEXT"}"#));
    };
    let session = site.door.enter(&code, site.now()).map_err(refused)?;
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}",
        cookie_name(place),
        session.text(),
        SESSION_LIFE.as_secs()
    );
    let mut answer = session_answer(Some(SESSION_LIFE));
    let cookie = HeaderValue::try_from(cookie)
        .map_err(|_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "cookie", "no cookie can be made"))?;
    answer.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(answer)
}

async fn tap(
    State(site): State<Arc<Site>>,
    Extension(place): Extension<Place>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer {
    check_origin(place, &headers)?;
    let Some(left) = session_left(&site, place, &headers) else {
        return Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "session",
            "this page is not let in, or no longer; `twolane open-page` prints a new address",
        ));
    };
    let upgrade = upgrade.map_err(|fault| Problem::new(fault.status(), "websocket", fault.body_text()))?;
    let listener = site.tap.listen().ok_or_else(crowded)?;
    let stream = Pcapng::new(listener);
    let open = ws::Open::new(&site.open);
    let stopping = site.stop.clone();
    Ok(upgrade
        .max_message_size(WS_MESSAGE_BYTES_MAX)
        .max_frame_size(WS_MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| ws::serve(socket, stream, left, stopping, open)))
}

async fn code(State(site): State<Arc<Site>>, headers: HeaderMap) -> Answer {
    check_token(&site, &headers)?;
    let code = site.door.issue_code(site.now()).map_err(|fault| refused(fault.into()))?;
    let answer = serde_json::json!({ "code": code.text(), "expires_in_s": CODE_LIFE.as_secs() });
    Ok(json(StatusCode::OK, &answer))
}

async fn tap_file(State(site): State<Arc<Site>>, headers: HeaderMap) -> Answer {
    check_token(&site, &headers)?;
    let listener = site.tap.listen().ok_or_else(crowded)?;
    let mut answer = Response::new(PcapngBody::start(Pcapng::new(listener), site.stop.clone()));
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}

fn check_token(site: &Site, headers: &HeaderMap) -> Result<(), Problem> {
    check_no_origin(headers)?;
    let token = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "))
        .ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, "token", "the token is needed"))?;
    site.door.check_token(token, site.now()).map_err(refused)
}

fn session_left(site: &Site, place: Place, headers: &HeaderMap) -> Option<Duration> {
    let name = cookie_name(place);
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    // Another server on this host may have set one of the same name; ours is found beside it.
    values
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .filter(|(have, _)| *have == name)
        .find_map(|(_, value)| site.door.session_left(value, site.now()))
}

/// Browsers send a host's cookies to every port of it, so the port is part of the name: that of
/// the address in the browser, which two servers never share, even behind ssh forwards.
fn cookie_name(place: Place) -> String {
    format!("twolane-{}", place.port)
}

fn session_answer(left: Option<Duration>) -> Response<Body> {
    let answer = match left {
        Some(left) => serde_json::json!({ "valid": true, "expires_in_s": left.as_secs() }),
        None => serde_json::json!({ "valid": false }),
    };
    json(StatusCode::OK, &answer)
}

async fn body(request: Request) -> Result<Bytes, Problem> {
    let too_long = || {
        let text = format!("the body is longer than {PAGE_BODY_BYTES_MAX} bytes, or was cut off");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body", text)
    };
    let body = request.into_body();
    // What is announced to be too long is not waited for.
    if body.size_hint().lower() > PAGE_BODY_BYTES_MAX as u64 {
        return Err(too_long());
    }
    let read = axum::body::to_bytes(body, PAGE_BODY_BYTES_MAX);
    match tokio::time::timeout(PAGE_BODY_TIMEOUT, read).await {
        Ok(read) => read.map_err(|_| too_long()),
        Err(_) => {
            let text = format!("the body did not arrive within {} s", PAGE_BODY_TIMEOUT.as_secs());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "body", text))
        }
    }
}

fn refused(refusal: Refusal) -> Problem {
    let text = refusal.to_string();
    match refusal {
        Refusal::Code => Problem::new(StatusCode::FORBIDDEN, "code", text),
        Refusal::Token => Problem::new(StatusCode::UNAUTHORIZED, "token", text),
        Refusal::TooMany { retry_after } => {
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "tries", text).retry_after(retry_after.as_secs() + 1)
        }
        Refusal::Door(_) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "random", text),
    }
}

fn crowded() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "taps", "too many listen to the tap; close one of them")
        .retry_after(5)
}

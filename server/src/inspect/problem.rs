//! An answer that says why not.

use axum::body::Body;
use axum::http::header::{self, HeaderValue};
use axum::http::{Response, StatusCode};
use serde::Serialize;

/// A refusal or fault as the page and the command line get it:
/// `{"reason":"origin","text":"the Origin is not this page"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    status: StatusCode,
    reason: &'static str,
    text: String,
    retry_after_s: Option<u64>,
}

impl Problem {
    /// `reason` is one stable word for programs, `text` a sentence for people.
    pub(crate) fn new(status: StatusCode, reason: &'static str, text: impl Into<String>) -> Self {
        Self { status, reason, text: text.into(), retry_after_s: None }
    }

    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }
}

impl From<Problem> for Response<Body> {
    fn from(problem: Problem) -> Self {
        let mut response =
            json(problem.status, &serde_json::json!({ "reason": problem.reason, "text": problem.text }));
        if let Some(seconds) = problem.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl axum::response::IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        self.into()
    }
}

/// One JSON object, never kept by anyone on the way.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

//! The methods of the `sessions` endpoint and their parameters. A member that a method does not have is refused.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::mode::{Spelled, words};
use super::scalar::{Id, OwnedCursor};
use super::step::{Generation, Model};
use super::wire::{Wire, decoded, missing, named, object, quoted, wrong};
use crate::body::{BodyFault, BodyReason, Expected};
use crate::scan::json::Kind;
use crate::scan::value::Value;

/// One request of a caller: `{"method","params"}`.
///
/// ```
/// use twolane_core::session::{Id, Method, StatusParams, Wire};
///
/// let status = Method::RunStatus(StatusParams { session: Id::new("s").unwrap(), run_id: None });
/// assert_eq!(status.to_json(), r#"{"method":"run.status","params":{"session":"s"}}"#);
/// assert_eq!(status.name(), "run.status");
/// assert_eq!(Method::parse(status.to_json().as_bytes()), Ok(status));
/// // A misspelled member is never taken for a default.
/// let fault = Method::parse(br#"{"method":"session.subscribe","params":{"session":"s","form":"start"}}"#).unwrap_err();
/// assert_eq!(fault.to_string(), "byte 54: `params`: unknown member");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Starts a run, or queues it behind the one that is active.
    SessionSend(Box<SendParams>),
    /// Streams a session's units.
    SessionSubscribe(SubscribeParams),
    /// Reads its messages.
    SessionRead(ReadParams),
    /// Names all sessions.
    SessionList,
    /// How a run is.
    RunStatus(StatusParams),
    /// What came of a run.
    RunResult(RunParams),
    /// Ends a run early.
    RunCancel(CancelParams),
    /// Ends a pause.
    RunResume(ResumeParams),
}

impl Method {
    /// The name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SessionSend(_) => "session.send",
            Self::SessionSubscribe(_) => "session.subscribe",
            Self::SessionRead(_) => "session.read",
            Self::SessionList => "session.list",
            Self::RunStatus(_) => "run.status",
            Self::RunResult(_) => "run.result",
            Self::RunCancel(_) => "run.cancel",
            Self::RunResume(_) => "run.resume",
        }
    }

    fn of(name: &str, params: &Value<'_>) -> Option<Result<Self, BodyFault>> {
        Some(match name {
            "session.send" => Wire::read(params).map(Self::SessionSend),
            "session.subscribe" => Wire::read(params).map(Self::SessionSubscribe),
            "session.read" => Wire::read(params).map(Self::SessionRead),
            "session.list" => Nothing::read(params).map(|_| Self::SessionList),
            "run.status" => Wire::read(params).map(Self::RunStatus),
            "run.result" => Wire::read(params).map(Self::RunResult),
            "run.cancel" => Wire::read(params).map(Self::RunCancel),
            "run.resume" => Wire::read(params).map(Self::RunResume),
            _ => return None,
        })
    }
}

object! {
    /// No parameters.
    Nothing is strict {}
}

impl Wire for Method {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        let (mut method, mut params) = (None, None);
        let mut members = super::wire::members(value)?;
        while let Some(member) = members.next_member()? {
            if member.name == "method" {
                method = Some(member.value);
            } else if member.name == "params" {
                params = Some(member.value);
            } else {
                let reason = BodyReason::UnknownMember;
                return Err(BodyFault { offset: member.name_span.start, member: None, reason });
            }
        }
        let method = method.ok_or_else(|| missing(value, "method"))?;
        let name = String::read(&method).map_err(|fault| named("method", fault))?;
        let params = params.ok_or_else(|| missing(value, "params"))?;
        let reason = BodyReason::Unfamiliar;
        let unknown = BodyFault { offset: method.span().start, member: Some("method"), reason };
        Self::of(&name, &params).ok_or(unknown)?.map_err(|fault| named("params", fault))
    }

    fn write(&self, out: &mut String) {
        out.push_str("{\"method\":");
        quoted(out, self.name());
        out.push_str(",\"params\":");
        match self {
            Self::SessionSend(params) => params.write(out),
            Self::SessionSubscribe(params) => params.write(out),
            Self::SessionRead(params) => params.write(out),
            Self::SessionList => out.push_str("{}"),
            Self::RunStatus(params) => params.write(out),
            Self::RunResult(params) => params.write(out),
            Self::RunCancel(params) => params.write(out),
            Self::RunResume(params) => params.write(out),
        }
        out.push('}');
    }
}

object! {
    /// A prompt, and how it is to be answered.
    ///
    /// ```
    /// use twolane_core::session::{SendParams, Wire};
    ///
    /// let text = br#"{"session":"s","prompt":"Hi","model":{"provider":"p","model":"m"},"tools":[],"generation":{}}"#;
    /// let send = SendParams::parse(text).unwrap();
    /// assert_eq!((send.prompt.as_str(), send.max_steps), ("Hi", None));
    /// ```
    pub SendParams is strict {
        /// The session; one that nobody used is made.
        need session: Id,
        /// What the caller says.
        need prompt: String,
        /// Instructions of this run.
        may system: Option<String>,
        /// Makes the send safe to repeat: the same id is the same run.
        may send_id: Option<Id>,
        /// Who answers.
        need model: Model,
        /// Tools that may be called, by name.
        need tools: Vec<String>,
        /// How the model generates.
        need generation: Generation,
        /// Steps at most.
        may max_steps: Option<u64>,
    }
}

object! {
    /// Which session, from where.
    ///
    /// ```
    /// use twolane_core::session::{From, OwnedCursor, SubscribeParams, Wire};
    ///
    /// let text = br#"{"session":"s","from":{"wal_seq":4,"sub_index":0,"log_id":"9f"}}"#;
    /// let cursor = OwnedCursor { wal_seq: 4, sub_index: 0, log_id: "9f".to_owned() };
    /// assert_eq!(SubscribeParams::parse(text).unwrap().from, Some(From::Cursor(cursor)));
    /// assert!(SubscribeParams::parse(br#"{"session":"s","from":"strat"}"#).is_err());
    /// ```
    pub SubscribeParams is strict {
        /// The session; one that nobody used is made.
        need session: Id,
        /// Where to begin; `live` where absent.
        may from: Option<From>,
    }
}

/// Where a subscription begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// At the oldest unit that is kept.
    Start,
    /// With what comes from now on.
    Live,
    /// Behind this unit.
    Cursor(OwnedCursor),
}

impl Wire for From {
    fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
        if value.kind() == Kind::ObjectStart {
            return OwnedCursor::read(value).map(Self::Cursor);
        }
        match value.as_str() {
            Some(word) if word == "start" => Ok(Self::Start),
            Some(word) if word == "live" => Ok(Self::Live),
            Some(_) => {
                let reason = BodyReason::Unfamiliar;
                Err(BodyFault { offset: value.span().start, member: None, reason })
            }
            None => Err(wrong(value, Expected::String)),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Start => quoted(out, "start"),
            Self::Live => quoted(out, "live"),
            Self::Cursor(cursor) => cursor.write(out),
        }
    }
}

/// Words of parameters, where a later one is refused.
macro_rules! strict_word {
    ($name:ident) => {
        impl Wire for $name {
            fn read(value: &Value<'_>) -> Result<Self, BodyFault> {
                let text = value.as_str().ok_or_else(|| wrong(value, Expected::String))?;
                let reason = BodyReason::Unfamiliar;
                let fault = BodyFault { offset: value.span().start, member: None, reason };
                Self::find(&decoded(text)).ok_or(fault)
            }

            fn write(&self, out: &mut String) {
                quoted(out, self.name());
            }
        }
    };
}

words! {
    /// How messages are shown.
    pub View {
        /// Without what only their provider reads.
        Default = "default",
        /// As they are stored.
        Stored = "stored",
    }
}

strict_word!(View);

object! {
    /// Which messages.
    ///
    /// ```
    /// use twolane_core::session::{ReadParams, View, Wire};
    ///
    /// let read = ReadParams::parse(br#"{"session":"s","limit":10,"view":"stored"}"#).unwrap();
    /// assert_eq!((read.limit, read.view), (Some(10), Some(View::Stored)));
    /// ```
    pub ReadParams is strict {
        /// The session.
        need session: Id,
        /// The first message, counted from 0.
        may from_ordinal: Option<u64>,
        /// Messages at most.
        may limit: Option<u64>,
        /// How they are shown.
        may view: Option<View>,
    }
}

object! {
    /// Which run: the session's latest, or this one.
    pub StatusParams is strict {
        /// The session.
        need session: Id,
        /// The run.
        may run_id: Option<Id>,
    }
}

object! {
    /// Which run.
    pub RunParams is strict {
        /// The run.
        need run_id: Id,
    }
}

words! {
    /// When a run ends that is cancelled.
    pub CancelAt {
        /// At once.
        Now = "now",
        /// Behind the step that is under way.
        StepBoundary = "step_boundary",
    }
}

strict_word!(CancelAt);

object! {
    /// What to cancel: a run, or a submission that waits.
    ///
    /// ```
    /// use twolane_core::session::{CancelAt, CancelParams, ResumeParams, RunParams, Wire};
    ///
    /// let cancel = CancelParams::parse(br#"{"run_id":"r","at":"step_boundary"}"#).unwrap();
    /// assert_eq!(cancel.at, Some(CancelAt::StepBoundary));
    /// assert!(RunParams::parse(br#"{"run_id":"r"}"#).is_ok() && ResumeParams::parse(b"{}").is_err());
    /// ```
    pub CancelParams is strict {
        /// The run.
        may run_id: Option<Id>,
        /// The submission.
        may submission_id: Option<Id>,
        /// When.
        may at: Option<CancelAt>,
    }
}

object! {
    /// Which run goes on.
    pub ResumeParams is strict {
        /// The run.
        need run_id: Id,
    }
}

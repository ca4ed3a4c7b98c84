//! What the methods of the `sessions` endpoint answer.

use alloc::string::String;
use alloc::vec::Vec;

use super::content::Message;
use super::failure::{Failure, Usage};
use super::json::Json;
use super::mode::{OpenState, words};
use super::scalar::{Id, OwnedCursor};
use super::unit::{PauseReason, RunReason};
use super::wire::{object, union};

words! {
    /// Why a request was not done.
    pub Code {
        /// The body is no JSON, or no request.
        BadRequest = "bad_request",
        /// The body is longer than requests may be.
        TooLong = "too_long",
        /// No such method.
        UnknownMethod = "unknown_method",
        /// The method has no such parameter.
        UnknownMember = "unknown_member",
        /// A parameter that has to be there is not.
        MissingMember = "missing_member",
        /// A parameter has a value that it cannot have.
        BadMember = "bad_member",
        /// No such session, run or submission.
        NotFound = "not_found",
        /// Cancelled by whoever asked.
        Cancelled = "cancelled",
        /// Too many sends wait in the session.
        QueueFull = "queue_full",
        /// The send id was used with other parameters.
        SendIdReuse = "send_id_reuse",
        /// The session's run waits for something else than a send.
        RunPaused = "run_paused",
        /// The cursor is one of another log.
        CursorUnknown = "cursor_unknown",
        /// The cursor is ahead of the log.
        CursorAhead = "cursor_ahead",
        /// What followed the cursor is not kept any more.
        CursorExpired = "cursor_expired",
        /// Too many requests are open on the connection.
        TooManyRequests = "too_many_requests",
        /// Too many subscriptions are open on the connection.
        TooManySubscriptions = "too_many_subscriptions",
        /// Not done by this version.
        Unsupported = "unsupported",
        /// The log's disk does not take it now.
        StoreUnavailable = "store_unavailable",
        /// The server stops.
        Stopping = "stopping",
    }
}

object! {
    /// The body of an Error frame.
    ///
    /// ```
    /// use twolane_core::session::{Closed, Code, OpenState, Refused, Wire};
    ///
    /// let code = OpenState::Known(Code::QueueFull);
    /// let refused = Refused::<Closed> { code, message: "64 sends wait".to_owned(), detail: None };
    /// assert_eq!(refused.to_json(), r#"{"code":"queue_full","message":"64 sends wait"}"#);
    /// ```
    pub Refused<M> {
        /// For programs.
        need code: OpenState<Code, M>,
        /// For people.
        need message: String,
        /// More of it, by code.
        may detail: Option<Json>,
    }
}

union! {
    /// What `session.send` answers.
    ///
    /// ```
    /// use twolane_core::session::{Open, SendState, Wire};
    ///
    /// let later = SendState::<Open>::parse(br#"{"state":"outsourced"}"#).unwrap();
    /// assert!(matches!(later, SendState::Unfamiliar(_)), "neither active nor finished");
    /// ```
    pub SendState by "state" {
        /// The run goes on.
        Active = "active" {
            /// The run.
            need run_id: Id,
        },
        /// The run waits for the one that is active.
        Pending = "pending" {
            /// What it is called while it waits.
            need submission_id: Id,
        },
        /// The run ended.
        Finished = "finished" {
            /// The run.
            need run_id: Id,
            /// Why.
            need reason: OpenState<RunReason, M>,
        },
        /// The run waits for something.
        Paused = "paused" {
            /// The run.
            need run_id: Id,
            /// For what.
            need pause_reason: OpenState<PauseReason, M>,
        },
    }
}

words! {
    /// How a run is. `unknown` is the server's word for a run that it does not know.
    pub RunState {
        /// A step is under way.
        Active = "active",
        /// It waits.
        Paused = "paused",
        /// The session has no run.
        Idle = "idle",
        /// No such run.
        Unknown = "unknown",
        /// Ended: the model was done.
        Completed = "completed",
        /// Ended: no step was left.
        MaxSteps = "max_steps",
        /// Ended: somebody asked for it.
        Cancelled = "cancelled",
        /// Ended: the process ended under it.
        Interrupted = "interrupted",
        /// Ended: it failed.
        Error = "error",
    }
}

impl From<RunReason> for RunState {
    fn from(reason: RunReason) -> Self {
        match reason {
            RunReason::Completed => Self::Completed,
            RunReason::MaxSteps => Self::MaxSteps,
            RunReason::Cancelled => Self::Cancelled,
            RunReason::Interrupted => Self::Interrupted,
            RunReason::Error => Self::Error,
        }
    }
}

object! {
    /// What `run.status` answers.
    ///
    /// ```
    /// use twolane_core::session::{Open, OpenState, RunState, RunStatus, Wire};
    ///
    /// // The server's word, and a word of a later server.
    /// let unknown = RunStatus::<Open>::parse(br#"{"state":"unknown","retries_used":0}"#).unwrap();
    /// assert_eq!(unknown.state, OpenState::Known(RunState::Unknown));
    /// let later = RunStatus::<Open>::parse(br#"{"state":"asleep","retries_used":0}"#).unwrap();
    /// assert_eq!(later.state, OpenState::Unknown("asleep".to_owned()));
    /// ```
    pub RunStatus<M> {
        /// How it is.
        need state: OpenState<RunState, M>,
        /// Tokens so far.
        may usage: Option<Usage>,
        /// How often a step was tried again.
        need retries_used: u64,
        /// Why it ended.
        may reason: Option<OpenState<RunReason, M>>,
        /// What it waits for.
        may pause_reason: Option<OpenState<PauseReason, M>>,
        /// How it failed.
        may error: Option<Failure<M>>,
    }
}

object! {
    /// What `run.result` answers.
    ///
    /// ```
    /// use twolane_core::session::{FinalMessage, Open, RunResult, Wire};
    ///
    /// let text = br#"{"run_id":"r","state":"completed","reason":"completed","final_message":{"ordinal":1,"mid":"m","text":"Hi"}}"#;
    /// let result = RunResult::<Open>::parse(text).unwrap();
    /// assert!(matches!(result.final_message, Some(FinalMessage { ordinal: 1, .. })));
    /// assert_eq!(result.to_json().as_bytes(), text);
    /// ```
    pub RunResult<M> {
        /// The run.
        need run_id: Id,
        /// How it is.
        need state: OpenState<RunState, M>,
        /// Why it ended.
        may reason: Option<OpenState<RunReason, M>>,
        /// How it failed.
        may error: Option<Failure<M>>,
        /// The model's last message, exactly where the run completed.
        may final_message: Option<FinalMessage>,
    }
}

object! {
    /// The message that a run came to.
    pub FinalMessage {
        /// Its place in the session, counted from 0.
        need ordinal: u64,
        /// Its id.
        need mid: Id,
        /// Its text, without reasoning.
        need text: String,
    }
}

object! {
    /// What `session.read` answers.
    ///
    /// ```
    /// use twolane_core::session::{Open, SessionMessages, StoredMessage, Wire};
    ///
    /// let text = br#"{"messages":[{"ordinal":0,"mid":"m","message":{"role":"user","content":[]},"written_at":5}]}"#;
    /// let read = SessionMessages::<Open>::parse(text).unwrap();
    /// let first: &StoredMessage<Open> = &read.messages[0];
    /// assert_eq!((first.ordinal, first.written_at), (0, 5));
    /// ```
    pub SessionMessages<M> {
        /// In order.
        need messages: Vec<StoredMessage<M>>,
        /// Where to read on; absent where these are the last.
        may next_from_ordinal: Option<u64>,
        /// A cursor behind which everything is newer than these.
        may head: Option<OwnedCursor>,
    }
}

object! {
    /// One message of a session.
    pub StoredMessage<M> {
        /// Its place, counted from 0.
        need ordinal: u64,
        /// Its id.
        need mid: Id,
        /// What was said.
        need message: Message<M>,
        /// When, in Unix milliseconds.
        need written_at: u64,
    }
}

object! {
    /// What `session.list` answers.
    ///
    /// ```
    /// use twolane_core::session::{Open, OpenState, RunState, SessionEntry, SessionList, Wire};
    ///
    /// let text = br#"{"sessions":[{"session":"s","head":{"wal_seq":2,"sub_index":0,"log_id":"9f"},"state":"idle"}]}"#;
    /// let list = SessionList::<Open>::parse(text).unwrap();
    /// let first: &SessionEntry<Open> = &list.sessions[0];
    /// assert_eq!((first.head.wal_seq, &first.state), (2, &OpenState::Known(RunState::Idle)));
    /// ```
    pub SessionList<M> {
        /// In the order of their ids.
        need sessions: Vec<SessionEntry<M>>,
    }
}

object! {
    /// One session.
    pub SessionEntry<M> {
        /// Its id.
        need session: Id,
        /// The end of its log.
        need head: OwnedCursor,
        /// Its latest run.
        may run_id: Option<Id>,
        /// How that is; `idle` where there is none.
        need state: OpenState<RunState, M>,
    }
}

words! {
    /// What `run.cancel` answers.
    ///
    /// ```
    /// use twolane_core::session::{Cancelled, Spelled};
    ///
    /// assert_eq!((Cancelled::Ack.name(), Cancelled::NotActive.name()), ("ack", "not_active"));
    /// ```
    pub Cancelled {
        /// It will end.
        Ack = "ack",
        /// There was nothing to end.
        NotActive = "not_active",
    }
}

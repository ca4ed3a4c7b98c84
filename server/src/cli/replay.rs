//! `twolane replay`: what the replay store holds, and what a person may decide about it.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use serde_json::json;

use super::desk::{Desk, Which};
use super::store::{line, unexpected};
use super::{Exit, Failure, Global};
use crate::admin::desk::{Ask, Row, Said, Verdict};
use crate::store::RequestKey;

/// What to do with the store.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane replay list --state indeterminate      requests whose end nobody saw\n  \
    twolane replay show runner-1 request-17\n  \
    twolane replay resolve runner-1 request-17 --as failed    its caller gets a reply: it failed\n  \
    twolane replay resolve runner-1 request-17 --as retired   its caller is refused: Retired\n  \
    twolane replay clock                           the mark that the clock is held against\n  \
    twolane replay clock accept                    after the clock was set right by hand\n\n\
    The store is that of `data_dir`. A server that runs with the same run directory is asked; where none does, the\n\
    store is opened. One that another server holds is exit code 3.")]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    which: Which,
    /// One JSON object a line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Every request that is known, in the order of callers and ids
    List {
        /// Only those in this state
        #[arg(long, value_name = "STATE", value_parser = ["running", "indeterminate", "resolved", "finished", "retired"])]
        state: Option<String>,
    },
    /// One request
    Show {
        /// The caller's runtime id
        caller: String,
        /// The request's id
        request_id: String,
    },
    /// Decide an Indeterminate request. It is never run
    Resolve {
        /// The caller's runtime id
        caller: String,
        /// The request's id
        request_id: String,
        /// `failed`: it is answered as failed from now on; `retired`: as one whose reply is gone
        #[arg(long = "as", value_name = "VERDICT", value_enum)]
        verdict: Verdict,
    },
    /// The clock's mark
    Clock {
        /// `accept`: what the clock shows now becomes the mark
        #[arg(value_parser = ["accept"])]
        accept: Option<String>,
    },
}

/// Asks the server that holds the store, or opens it.
pub(super) fn run(global: &Global, options: Options) -> Result<Exit, Failure> {
    let Options { action, which, json } = options;
    let mut desk = Desk::open(global, which)?;
    match action {
        Action::List { state } => list(&mut desk, state.as_deref(), json),
        Action::Show { caller, request_id } => {
            let key = RequestKey { caller, request_id };
            shown(desk.ask(Ask::Show(key.clone()))?, &key, json)
        }
        Action::Resolve { caller, request_id, verdict } => {
            let key = RequestKey { caller, request_id };
            shown(desk.ask(Ask::Resolve { key: key.clone(), verdict })?, &key, json)
        }
        Action::Clock { accept } => {
            clock(&desk.ask(if accept.is_some() { Ask::AcceptClock } else { Ask::Clock })?, json)
        }
    }
}

fn list(desk: &mut Desk, only: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let mut after = None;
    loop {
        let rows = match desk.ask(Ask::List { after })? {
            Said::Rows(rows) => rows,
            said => return Err(unexpected(&said)),
        };
        let Some(last) = rows.last() else { return Ok(Exit::Done) };
        after = Some(last.key.clone());
        for row in &rows {
            if only.is_none_or(|only| row.stage.name() == only) {
                show(row, json)?;
            }
        }
    }
}

/// One request, as a row or an object.
fn show(row: &Row, json: bool) -> Result<(), Failure> {
    let Row { key, stage, since_unix_ms, claimed_at_unix_ms, expires_at_unix_ms, binding_sha256 } = row;
    if json {
        let object = json!({
            "caller": key.caller,
            "request_id": key.request_id,
            "state": stage.name(),
            "since_unix_ms": since_unix_ms,
            "claimed_at_unix_ms": claimed_at_unix_ms,
            "expires_at_unix_ms": expires_at_unix_ms,
            "binding_sha256": binding_sha256,
        });
        return line(&object.to_string());
    }
    let (caller, request_id) = (quiet(&key.caller), quiet(&key.request_id));
    line(&format!("{:<14}{:<12}{caller}  {request_id}", stage.name(), ago(*since_unix_ms)))
}

fn shown(said: Said, key: &RequestKey, json: bool) -> Result<Exit, Failure> {
    let replies = match said {
        Said::Shown { row, replies } => {
            show(&row, json)?;
            replies
        }
        Said::Stands(stage) => {
            let words = format!("it is {}, and only an indeterminate request can be resolved", stage.name());
            return Err(Failure::new(Exit::Failed, words));
        }
        Said::Unknown => {
            let (caller, request_id) = (quiet(&key.caller), quiet(&key.request_id));
            let words = format!("nothing is known of request {request_id} of caller {caller}");
            return Err(Failure::new(Exit::Failed, words));
        }
        said => return Err(unexpected(&said)),
    };
    for (key_id, bytes) in replies {
        line(&match json {
            true => json!({ "key_id": key_id, "sealed_bytes": bytes }).to_string(),
            false => format!("  reply of {bytes} bytes under key {key_id}"),
        })?;
    }
    Ok(Exit::Done)
}

fn clock(said: &Said, json: bool) -> Result<Exit, Failure> {
    let Said::Clock { mark_unix_ms: mark, clock_unix_ms: now } = said else { return Err(unexpected(said)) };
    line(&match json {
        true => json!({ "mark_unix_ms": mark, "clock_unix_ms": now }).to_string(),
        false => format!("mark {mark} ms, clock {now} ms: {} s apart", now.abs_diff(*mark) / 1000),
    })?;
    Ok(Exit::Done)
}

/// Ids are the callers' words: nothing in them may move a terminal's cursor.
fn quiet(id: &str) -> String {
    id.escape_debug().to_string()
}

fn ago(unix_ms: u64) -> String {
    match now_unix_ms().saturating_sub(unix_ms) / 1000 {
        seconds @ ..120 => format!("{seconds} s ago"),
        seconds @ ..7200 => format!("{} min ago", seconds / 60),
        seconds @ ..172_800 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} d ago", seconds / 86_400),
    }
}

fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

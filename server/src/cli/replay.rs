//! `twolane replay`: what the replay store holds, and what a person may decide about it.

use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Exit, Failure, Global, environment, written};
use crate::connector::serve::STORE_FILE;
use crate::store::{Change, Engine as _, EngineFault, Listed, Outcome, RedbEngine, RequestKey, State};

/// Records that are read at a time.
const PAGE: usize = 500;

/// What to do with the store.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane replay list --state indeterminate      requests whose end nobody saw\n  \
    twolane replay show runner-1 request-17\n  \
    twolane replay retire runner-1 request-17      give its caller a final answer: Retired\n  \
    twolane replay clock                           the mark that the clock is held against\n  \
    twolane replay clock accept                    after the clock was set right by hand\n\n\
    The store is that of `data_dir`. A server that runs holds it: stop it first (exit code 3 otherwise).")]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
    /// Directory of the store [default: the setting data_dir]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<String>,
    /// One JSON object a line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Every request that is known, in the order of callers and ids
    List {
        /// Only those in this state
        #[arg(long, value_name = "STATE", value_parser = ["indeterminate", "finished", "retired"])]
        state: Option<String>,
    },
    /// One request
    Show {
        /// The caller's runtime id
        caller: String,
        /// The request's id
        request_id: String,
    },
    /// Turn an Indeterminate request into a tombstone: it is answered Retired, and never run
    Retire {
        /// The caller's runtime id
        caller: String,
        /// The request's id
        request_id: String,
    },
    /// The clock's mark
    Clock {
        /// `accept`: what the clock shows now becomes the mark
        #[arg(value_parser = ["accept"])]
        accept: Option<String>,
    },
}

/// Reads or changes the store that no server holds.
pub(super) fn run(global: &Global, options: Options) -> Result<Exit, Failure> {
    let Options { action, data_dir, json } = options;
    let config = global.layers().flag("data_dir", data_dir).resolve(&environment())?.typed()?;
    let engine = open(&config.data_dir.join(STORE_FILE))?;
    let out = Out { json };
    match action {
        Action::List { state } => list(&engine, state.as_deref(), out),
        Action::Show { caller, request_id } => show(&engine, &RequestKey { caller, request_id }, out),
        Action::Retire { caller, request_id } => retire(&engine, &RequestKey { caller, request_id }, out),
        Action::Clock { accept } => clock(&engine, accept.is_some(), out),
    }
}

fn open(path: &Path) -> Result<RedbEngine, Failure> {
    if !path.exists() {
        return Err(Failure::new(Exit::Failed, format!("there is no store at {}", path.display())));
    }
    RedbEngine::open(path).map_err(|fault| {
        let exit = if matches!(fault, EngineFault::Locked) { Exit::Unreachable } else { Exit::Failed };
        let advice = if exit == Exit::Unreachable { "; stop the server that serves from it" } else { "" };
        Failure::new(exit, format!("{}: {fault}{advice}", path.display()))
    })
}

#[derive(Clone, Copy)]
struct Out {
    json: bool,
}

impl Out {
    /// One request, as a row or an object.
    fn row(self, (key, record): &Listed) -> Result<(), Failure> {
        let (state, since_ms) = stage(record.state, record.claimed_at_unix_ms);
        let line = if self.json {
            json!({
                "caller": key.caller,
                "request_id": key.request_id,
                "state": state,
                "since_unix_ms": since_ms,
                "claimed_at_unix_ms": record.claimed_at_unix_ms,
                "expires_at_unix_ms": record.expires_at_unix_ms,
                "binding_sha256": hex(&record.binding),
            })
            .to_string()
        } else {
            let (caller, request_id) = (quiet(&key.caller), quiet(&key.request_id));
            format!("{state:<14}{:<12}{caller}  {request_id}", ago(since_ms))
        };
        self.line(&line)
    }

    fn line(self, line: &str) -> Result<(), Failure> {
        written(writeln!(std::io::stdout().lock(), "{line}"))
    }
}

/// A claim without a server that runs it is one whose end nobody saw.
const fn stage(state: State, claimed_at_unix_ms: u64) -> (&'static str, u64) {
    match state {
        State::Claimed { .. } => ("indeterminate", claimed_at_unix_ms),
        State::Finished { completed_at_unix_ms } => ("finished", completed_at_unix_ms),
        State::Retired { at_unix_ms } => ("retired", at_unix_ms),
    }
}

fn list(engine: &RedbEngine, only: Option<&str>, out: Out) -> Result<Exit, Failure> {
    let mut after: Option<RequestKey> = None;
    loop {
        let page = engine.list(after.as_ref(), PAGE).map_err(damaged)?;
        let Some((last, _)) = page.last() else { return Ok(Exit::Done) };
        after = Some(last.clone());
        for listed in &page {
            if only.is_none_or(|only| stage(listed.1.state, 0).0 == only) {
                out.row(listed)?;
            }
        }
    }
}

fn show(engine: &RedbEngine, key: &RequestKey, out: Out) -> Result<Exit, Failure> {
    let found = engine.find(key, &[0; 16]).map_err(damaged)?;
    let Some(found) = found else { return Err(unknown(key)) };
    out.row(&(key.clone(), found.record))?;
    for (key_id, sealed) in engine.replies(key).map_err(damaged)? {
        let (key_id, bytes) = (hex(&key_id), sealed.len());
        out.line(&match out.json {
            true => json!({ "key_id": key_id, "sealed_bytes": bytes }).to_string(),
            false => format!("  reply of {bytes} bytes under key {key_id}"),
        })?;
    }
    Ok(Exit::Done)
}

fn retire(engine: &RedbEngine, key: &RequestKey, out: Out) -> Result<Exit, Failure> {
    let change = Change::Retire { key: key.clone(), at_unix_ms: now_unix_ms() };
    match engine.commit(&[change]).map_err(damaged)?.first() {
        Some(Outcome::Done) => show(engine, key, out),
        Some(Outcome::Stands(record)) => {
            let state = stage(record.state, 0).0;
            Err(Failure::new(
                Exit::Failed,
                format!("it is {state}, and only an indeterminate request can be retired"),
            ))
        }
        _ => Err(unknown(key)),
    }
}

fn clock(engine: &RedbEngine, accept: bool, out: Out) -> Result<Exit, Failure> {
    if accept {
        engine.commit(&[Change::AcceptClock { now_unix_ms: now_unix_ms() }]).map_err(damaged)?;
    }
    let (mark, now) = (engine.mark_unix_ms().map_err(damaged)?, now_unix_ms());
    out.line(&match out.json {
        true => json!({ "mark_unix_ms": mark, "clock_unix_ms": now }).to_string(),
        false => format!("mark {mark} ms, clock {now} ms: {} s apart", now.abs_diff(mark) / 1000),
    })?;
    Ok(Exit::Done)
}

fn unknown(key: &RequestKey) -> Failure {
    let (caller, request_id) = (quiet(&key.caller), quiet(&key.request_id));
    Failure::new(Exit::Failed, format!("nothing is known of request {request_id} of caller {caller}"))
}

fn damaged(fault: EngineFault) -> Failure {
    Failure::new(Exit::Failed, fault)
}

/// Ids are the callers' words: nothing in them may move a terminal's cursor.
fn quiet(id: &str) -> String {
    id.escape_debug().to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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

//! `twolane open`: what a captured message of the connector says under its seal.

mod document;
mod keys;
mod source;

use std::io::{Write as _, stdout};
use std::path::PathBuf;

use clap::Args;
use twolane_core::connector::open::NotOpened;
use twolane_core::connector::outside::Outside;

use super::{Exit, Failure, written};
use keys::{Closed, Keys};
use source::Messages;

/// What to open, and with what.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane open run.pcapng --key-file runner-1.key             all messages of a capture\n  \
    twolane open run.pcapng --key-file runner-1.key --row 3     index 3 of decode --json\n  \
    twolane tap -o - | twolane open - --callers callers.toml    a server's, while they come\n  \
    xxd -p frame.bin | twolane open - --key-file runner-1.key   one, length prefix first\n\n\
    A capture, raw bytes, hexadecimal or base64, as `twolane decode` takes them. Each message\n\
    becomes one JSON object on a line: who and what it is of, the id of the key, the document.\n\
    What does not open says why. The id of a key tells nothing of it; keys are read from files\n\
    alone.\n\n\
    Exit codes:\n  \
    0  all opened and keep their rules\n  \
    1  nothing to open, or a failure, which no key seals\n  \
    2  wrong usage or a key file that is none\n  \
    3  not opened under any of the keys\n  \
    4  the input is damaged, or a document breaks a rule")]
pub(super) struct Options {
    /// Capture, byte stream or text to read; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A caller's secret, made by `twolane keygen`; more than one are tried in turn
    #[arg(long, value_name = "FILE", required_unless_present = "callers")]
    key_file: Vec<PathBuf>,
    /// A server's callers file: each message is opened with the keys of its caller
    #[arg(long, value_name = "FILE")]
    callers: Option<PathBuf>,
    /// Open this unit of the capture only
    #[arg(long, value_name = "INDEX")]
    row: Option<u64>,
}

/// Opens what is there and says how it went: the worst of all.
pub(super) fn run(options: &Options) -> Result<Exit, Failure> {
    let keys = Keys::read(&options.key_file, options.callers.as_deref())?;
    let mut messages = Messages::open(&options.file, options.row)?;
    let (mut worst, mut found) = (Exit::Done, 0_u64);
    while let Some((index, bytes)) = messages.next()? {
        let mut line = String::new();
        let exit = one(index, &bytes, &keys, &mut line);
        worst = worse(worst, exit);
        found += 1;
        written(stdout().lock().write_all(line.as_bytes()))?;
    }
    if messages.is_damaged() {
        worst = worse(worst, Exit::Damaged);
    }
    if found > 0 {
        return Ok(worst);
    }
    let words = match options.row {
        Some(row) => format!("unit {row} is no whole message of the connector; `twolane decode` lists them"),
        None if worst == Exit::Damaged => {
            "the input is damaged, and no message of the connector is whole; `twolane decode` says where"
                .to_owned()
        }
        None => "there is no message of the connector in it; `twolane decode` shows what is".to_owned(),
    };
    Err(Failure::new(worse(worst, Exit::Failed), words))
}

fn worse(one: Exit, other: Exit) -> Exit {
    if other as u8 > one as u8 { other } else { one }
}

/// Appends what one message says, or why it says nothing.
fn one(index: u64, bytes: &[u8], keys: &Keys, line: &mut String) -> Exit {
    let mut object = document::Object::begin(index, line);
    let outside = match source::body(bytes).and_then(Outside::read) {
        Ok(outside) => outside,
        Err(fault) => {
            object.text("fault", &NotOpened::Carriage(fault).to_string());
            object.end();
            return Exit::Damaged;
        }
    };
    object.text("message", outside.sort.name());
    object.text("message_id", outside.message_id);
    if let Some(read) = outside.envelope() {
        object.text("caller_runtime_id", read.envelope.caller_runtime_id);
        object.text("request_id", read.envelope.request_id);
    }
    if let Some(hint) = outside.hint() {
        object.text("code", hint.code);
    }
    let exit = match keys.open(&outside) {
        Ok((key, text)) => {
            object.text("key_id", &key.id().to_string());
            object.document(&text);
            match outside.judge(&text) {
                Ok(()) => Exit::Done,
                Err(broken) => {
                    object.text("fault", &broken.to_string());
                    Exit::Damaged
                }
            }
        }
        Err(closed) => {
            object.text("fault", &reason(&outside, &closed));
            closed.exit()
        }
    };
    object.end();
    exit
}

/// Why it stays closed, and for a key that is wrong whose it should be.
fn reason(outside: &Outside<'_>, closed: &Closed) -> String {
    let caller = outside.envelope().map_or("", |read| read.envelope.caller_runtime_id);
    match closed {
        Closed::UnknownCaller => format!("unknown caller \"{caller}\": the callers file does not name it"),
        Closed::Not(NotOpened::OtherKey) => format!("caller \"{caller}\": {}", NotOpened::OtherKey),
        Closed::Not(fault) => fault.to_string(),
    }
}

impl Closed {
    const fn exit(&self) -> Exit {
        match self {
            Self::Not(NotOpened::Failure | NotOpened::OtherPayload) => Exit::Failed,
            Self::Not(NotOpened::Carriage(_) | NotOpened::NoEnvelope) => Exit::Damaged,
            _ => Exit::Unreachable,
        }
    }
}

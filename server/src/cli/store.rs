//! `twolane store`: the store of replies as a whole, also while a server holds it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::desk::{Desk, Which};
use super::{Exit, Failure, Global, written};
use crate::admin::desk::{Ask, Said};
use crate::store::Checked;

/// What to do with it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane store check                        hold every record and reply against the others\n  \
    twolane store backup /backups/replay.redb  copy all that was answered into one file\n\n\
    A server that runs with the same run directory is asked, and goes on meanwhile. The copy becomes a store as\n\
    `replay.redb` in an empty data directory. What was asked after the copy was made is not known to it, and would be\n\
    run again: give callers new keys before a server serves from an old copy.")]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    which: Which,
    /// One JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Read everything and say what is wrong: exit code 4 where anything is
    Check,
    /// Copy everything, as of one moment, into a new file
    Backup {
        /// The copy; it must not be there
        file: PathBuf,
    },
}

/// Asks the server that holds the store, or opens it.
pub(super) fn run(global: &Global, options: Options) -> Result<Exit, Failure> {
    let Options { action, which, json } = options;
    let mut desk = Desk::open(global, which)?;
    match action {
        Action::Check => match desk.ask(Ask::Check)? {
            Said::Checked(checked) => said(&checked, json),
            said => Err(unexpected(&said)),
        },
        Action::Backup { file } => {
            let to = absolute(&file)?;
            match desk.ask(Ask::BackUp { to })? {
                Said::BackedUp { bytes } => {
                    let object = json!({ "file": file, "bytes": bytes });
                    line(&if json {
                        object.to_string()
                    } else {
                        format!("{bytes} bytes in {}", file.display())
                    })?;
                    Ok(Exit::Done)
                }
                said => Err(unexpected(&said)),
            }
        }
    }
}

/// The server has a directory of its own to which a path might be relative.
fn absolute(file: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(file)
        .map_err(|fault| Failure::new(Exit::Usage, format!("{}: {fault}", file.display())))
}

fn said(checked: &Checked, json: bool) -> Result<Exit, Failure> {
    if json {
        let object = serde_json::to_string(checked).map_err(|fault| Failure::new(Exit::Failed, fault))?;
        line(&object)?;
    } else {
        let Checked { claimed, finished, retired, replies, reply_bytes, faults, told } = checked;
        line(&format!("{claimed} claimed, {finished} finished, {retired} retired"))?;
        line(&format!("{replies} replies of {reply_bytes} bytes"))?;
        for fault in told {
            line(&format!("wrong: {fault}"))?;
        }
        line(&if *faults == 0 { "nothing is wrong".to_owned() } else { format!("{faults} faults") })?;
    }
    Ok(if checked.faults == 0 { Exit::Done } else { Exit::Damaged })
}

pub(super) fn line(line: &str) -> Result<(), Failure> {
    written(writeln!(std::io::stdout().lock(), "{line}"))
}

/// A server of another version.
pub(super) fn unexpected(said: &Said) -> Failure {
    Failure::new(Exit::Failed, format!("the server answered something else: {said:?}"))
}

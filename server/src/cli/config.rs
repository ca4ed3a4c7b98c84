//! `twolane config` and `twolane check-config`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use clap::Args;

use super::{Exit, Failure, Global, environment, warn_of_unknown, written};
use crate::config::{Connector, Resolved};
use crate::connector::serve::STORE_FILE;
use crate::connector::{Callers, callers_file};
use crate::provider::Script;
use crate::store::{Engine as _, EngineFault, RedbEngine, Replies};

/// How to print the settings.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane config\n  \
    twolane config --json | jq -r 'select(.source != \"default\") | .key'\n  \
    TWOLANE_DRAIN=2s twolane --config site.toml config")]
pub(super) struct Options {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// How to check the configuration.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  twolane --config site.toml check-config && systemctl restart twolane")]
pub(super) struct CheckOptions {}

/// Prints every setting, then complains about the first that cannot be used.
pub(super) fn run(global: &Global, options: &Options) -> Result<Exit, Failure> {
    let environment = environment();
    warn_of_unknown(&environment);
    let resolved = global.layers().resolve(&environment)?;
    let text = if options.json { json(&resolved) } else { table(&resolved) };
    written(std::io::stdout().lock().write_all(text.as_bytes()))?;
    resolved.typed()?;
    Ok(Exit::Done)
}

/// Checks all that can be checked without starting: every value, the script, the key file.
pub(super) fn check(global: &Global) -> Result<Exit, Failure> {
    let environment = environment();
    warn_of_unknown(&environment);
    let config = global.layers().resolve(&environment)?.typed()?;
    let usage = |fault: &dyn std::error::Error| Failure::new(Exit::Usage, fault.to_string());
    if let Some(path) = &config.key_file {
        crate::net::identity::read_key(path).map_err(|fault| usage(&fault))?;
    }
    let script = match &config.script {
        Some(path) => Script::read(path),
        None => Script::built_in(),
    };
    let script = script.map_err(|fault| usage(&fault))?;
    let lanes: Vec<_> = script.lanes().into_iter().map(|(lane, count)| format!("{count} {lane}")).collect();
    let mut text = format!(
        "configuration: good\nscript \"{}\": {} frames in {:.1}s\n",
        script.name,
        lanes.join(" + "),
        script.length().as_secs_f32()
    );
    if let Some(connector) = &config.connector {
        text += &check_connector(connector, &config.data_dir)?;
    }
    written(std::io::stdout().lock().write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

/// Who may ask and for how much, and what a key that is gone leaves unreadable.
fn check_connector(connector: &Connector, data_dir: &Path) -> Result<String, Failure> {
    let usage = |fault: &dyn std::error::Error| Failure::new(Exit::Usage, fault.to_string());
    let callers = callers_file::read(&connector.callers).map_err(|fault| usage(&fault))?;
    let callers = Callers::new(callers, connector.frame_max.into()).map_err(|fault| usage(&fault))?;
    let mut text = format!("connector: {} callers\n", callers.count());
    let path = data_dir.join(STORE_FILE);
    if !path.exists() {
        return Ok(text + "store: not made yet\n");
    }
    let engine = match RedbEngine::open(&path) {
        Ok(engine) => engine,
        Err(EngineFault::Locked) => {
            return Ok(text + "store: held by a running server, so its replies were not counted\n");
        }
        Err(fault) => return Err(Failure::new(Exit::Failed, format!("{}: {fault}", path.display()))),
    };
    let known: Vec<[u8; 16]> = callers.key_ids().map(|key| key.0).collect();
    let Replies { requests, unreadable } =
        engine.count_replies(&known).map_err(|fault| Failure::new(Exit::Failed, fault))?;
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "store: {requests} replies, {unreadable} of them under keys that no caller has any more"
    );
    Ok(text)
}

fn table(resolved: &Resolved) -> String {
    let rows: Vec<[String; 5]> = resolved
        .rows()
        .map(|(setting, value)| {
            let text = if value.text.is_empty() { "-" } else { &value.text };
            let source = value.source.to_string();
            [setting.key.to_owned(), text.to_owned(), source, setting.unit.to_owned(), setting.doc.to_owned()]
        })
        .collect();
    let head = ["key", "value", "source", "unit", "meaning"].map(str::to_owned);
    let mut widths = [0; 4];
    for row in rows.iter().chain([&head]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for [key, value, source, unit, doc] in [head].into_iter().chain(rows) {
        let [a, b, c, d] = widths;
        out.push_str(&format!("{key:<a$}  {value:<b$}  {source:<c$}  {unit:<d$}  {doc}\n"));
    }
    out
}

fn json(resolved: &Resolved) -> String {
    let mut out = String::new();
    for (setting, value) in resolved.rows() {
        let row = serde_json::json!({
            "key": setting.key,
            "value": value.text,
            "source": value.source.to_string(),
            "variable": setting.variable,
            "unit": setting.unit,
            "doc": setting.doc,
        });
        out.push_str(&row.to_string());
        out.push('\n');
    }
    out
}

//! What a server says of itself when it starts: where, what, how durable.

use std::fmt::Write as _;
use std::path::Path;

use super::open_files::Shortage;
use crate::config::{Config, Connector, Environment};
use crate::connector::serve::STORE_FILE;
use crate::inspect::DoorFault;
use crate::server::Server;

/// The lines of the banner.
pub(super) fn text(
    config: &Config,
    server: &Server,
    shortage: Option<Shortage>,
) -> Result<String, DoorFault> {
    let mut out = String::new();
    let mut row = |name: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {name:<11}{value}");
    };
    row("providers", &format!("{}  wire version {}", server.providers(), config.wire_version.number()));
    row("file", &server.connection_file().display().to_string());
    row("plays", &plays(server));
    row("durable", "no: a run on lanes lives in memory and ends with the server");
    if let (Some(address), Some(connector)) = (server.connector(), &config.connector) {
        row("connector", &format!("{address}  sealed turns, {}", runs(connector)));
        row(
            "store",
            &format!("{}  durable: synced before each reply", config.data_dir.join(STORE_FILE).display()),
        );
    }
    match server.page_url() {
        Some(url) => {
            let again = open_page_hint(config);
            row("page", &format!("{}  (one use, 10 minutes; then `{again}`)", url?));
        }
        None => row("page", "off"),
    }
    if let Some(shortage) = shortage {
        row("open files", &shortage.to_string());
    }
    row("try", &attach_hint(config, server));
    Ok(format!("twolane {}\n{out}", env!("CARGO_PKG_VERSION")))
}

fn runs(connector: &Connector) -> String {
    match &connector.exec {
        Some(words) => format!("run by {}", words.first().map_or("", String::as_str)),
        None => "each said again by the built-in script".to_owned(),
    }
}

fn plays(server: &Server) -> String {
    let provider = server.endpoint().provider();
    let when = match (provider.plays_unasked(), provider.answers_requests()) {
        (true, true) => "to every peer, and to step requests",
        (true, false) => "to every peer",
        (false, _) => "to step requests",
    };
    let again = match provider.repeat_after() {
        Some(pause) => format!(", again after {}s", pause.as_secs_f32()),
        None => String::new(),
    };
    format!("script \"{}\" {when}{again}", provider.name())
}

fn open_page_hint(config: &Config) -> String {
    if is_standard(config) {
        "twolane open-page".to_owned()
    } else {
        format!("twolane open-page --run-dir {}", config.run_dir.display())
    }
}

fn attach_hint(config: &Config, server: &Server) -> String {
    let in_run_dir = server.connection_file() == config.run_dir.join("providers.json");
    if in_run_dir && is_standard(config) {
        "twolane attach".to_owned()
    } else {
        format!("twolane attach --connection-file {}", server.connection_file().display())
    }
}

/// Whether commands of the same user look there by themselves.
fn is_standard(config: &Config) -> bool {
    config.run_dir == Path::new(&Environment::of_process().run_dir())
}

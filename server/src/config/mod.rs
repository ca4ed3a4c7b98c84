//! Settings: one table, four layers (flags, environment, file, defaults), one typed result.

mod layers;
mod table;
mod typed;
mod value;

pub(crate) use value::time;

pub use layers::{Environment, Layers, Resolved, Source, UnknownVariable, Value};
pub use table::{SETTINGS, Setting};
pub use typed::{Config, Connector};

use std::path::PathBuf;

/// Why the configuration cannot be used. Each names the place of the value.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFault {
    /// The file named by `--config` or `TWOLANE_CONFIG`, or the one in its standard place, cannot be read.
    #[error("cannot read the configuration {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("{} is not valid TOML: {source}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// A key that no setting has.
    #[error("{}: unknown key `{key}`{}", path.display(), near(key))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// A table or a list where a setting takes one value.
    #[error("{}: `{key}` takes a text, a number or a boolean, not a {found}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// The TOML type found.
        found: &'static str,
    },
    /// A variable that is not UTF-8.
    #[error("{variable} is not valid UTF-8")]
    NotText {
        /// The variable.
        variable: &'static str,
    },
    /// A value that its setting does not take.
    #[error("{key} = {value:?} (from {from}): {reason}")]
    Value {
        /// The setting.
        key: &'static str,
        /// The value as given.
        value: String,
        /// The layer it came from.
        from: String,
        /// Why, and what would be taken.
        reason: String,
    },
}

fn near(key: &str) -> String {
    match nearest(key) {
        Some(setting) => format!("; did you mean `{}`?", setting.key),
        None => "; `twolane config` lists every key".to_owned(),
    }
}

/// The setting that was probably meant.
fn nearest(key: &str) -> Option<&'static Setting> {
    let same = |setting: &&Setting| {
        let (a, b) = (setting.key.replace('_', ""), key.replace(['_', '-'], ""));
        a.eq_ignore_ascii_case(&b) || a.starts_with(&b) || b.starts_with(&a)
    };
    SETTINGS.iter().find(same)
}

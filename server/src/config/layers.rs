//! Which layer gives a setting its value.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::table::{Default, SETTINGS, Setting};
use super::{Config, ConfigFault, nearest};

type Lookup = Box<dyn Fn(&str) -> Option<OsString>>;

/// What the names of all variables of this program begin with.
const PREFIX: &str = "TWOLANE_";

/// Variables that no setting has: where the configuration file is, and which program this project's tests start.
const OTHER_VARIABLES: [&str; 2] = ["TWOLANE_CONFIG", "TWOLANE_BIN"];

/// What the process was started with, apart from its flags. Taken as a value so that tests own it.
pub struct Environment {
    variable: Lookup,
    names: Vec<String>,
    user_id: u32,
    temporary: PathBuf,
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        Self {
            variable: Box::new(|name| std::env::var_os(name)),
            names: std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect(),
            user_id: rustix::process::geteuid().as_raw(),
            temporary: std::env::temp_dir(),
        }
    }

    /// One with these variables only.
    pub fn with(variables: &[(&str, &str)]) -> Self {
        let variables: Vec<(String, OsString)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
        Self {
            names: variables.iter().map(|(name, _)| name.clone()).collect(),
            variable: Box::new(move |name| {
                variables.iter().find(|(have, _)| have == name).map(|(_, value)| value.clone())
            }),
            user_id: 1000,
            temporary: PathBuf::from("/tmp"),
        }
    }

    /// A variable's value; an empty one is as unset.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// Variables that look like this program's and are none, in alphabetic order: mostly misspelt ones.
    pub fn unknown(&self) -> Vec<UnknownVariable> {
        let is_known = |name: &str| {
            OTHER_VARIABLES.contains(&name) || SETTINGS.iter().any(|setting| setting.variable == name)
        };
        let unknown = self.names.iter().filter(|name| name.starts_with(PREFIX) && !is_known(name));
        let mut unknown: Vec<_> = unknown.map(|name| UnknownVariable(name.clone())).collect();
        unknown.sort();
        unknown
    }

    /// `$XDG_RUNTIME_DIR/twolane`, else `<tmp>/twolane-<uid>`.
    pub fn run_dir(&self) -> String {
        match self.variable("XDG_RUNTIME_DIR") {
            Some(dir) => PathBuf::from(dir).join("twolane"),
            None => self.temporary.join(format!("twolane-{}", self.user_id)),
        }
        .to_string_lossy()
        .into_owned()
    }

    /// `$XDG_STATE_HOME/twolane`, with `$HOME/.local/state` where the variable is unset, and a place in the run
    /// directory where there is no home.
    pub fn data_dir(&self) -> String {
        let base = match (self.variable("XDG_STATE_HOME"), self.variable("HOME")) {
            (Some(dir), _) => PathBuf::from(dir).join("twolane"),
            (None, Some(home)) => PathBuf::from(home).join(".local/state/twolane"),
            (None, None) => PathBuf::from(self.run_dir()).join("data"),
        };
        base.to_string_lossy().into_owned()
    }

    /// `$XDG_CONFIG_HOME/twolane/config.toml`, with `$HOME/.config` where the variable is unset.
    fn standard_file(&self) -> Option<PathBuf> {
        let base = match self.variable("XDG_CONFIG_HOME") {
            Some(dir) => PathBuf::from(dir),
            None => PathBuf::from(self.variable("HOME")?).join(".config"),
        };
        Some(base.join("twolane").join("config.toml"))
    }
}

/// A variable with this program's prefix that it does not know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownVariable(String);

impl std::fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.0.escape_debug();
        let key = self.0.trim_start_matches(PREFIX).to_lowercase();
        match nearest(&key) {
            Some(Setting { variable, .. }) => {
                write!(f, "{name} is set and sets nothing; did you mean {variable}?")
            }
            None => write!(f, "{name} is set and sets nothing; `twolane config` lists every key"),
        }
    }
}

/// The layer a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A flag of the command.
    Flag,
    /// The setting's variable.
    Variable(&'static str),
    /// The configuration file.
    File(PathBuf),
    /// The table.
    Default,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Variable(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A setting's value before it is typed, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// As it was written; empty means none.
    pub text: String,
    /// The layer that gave it.
    pub source: Source,
}

/// The layers above the defaults.
#[derive(Clone, Debug, std::default::Default)]
pub struct Layers {
    flags: Vec<(&'static str, String)>,
    file: Option<PathBuf>,
}

impl Layers {
    /// With the file named by `--config`, where it was given.
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { flags: Vec::new(), file }
    }

    /// The same with a flag's value, where it was given.
    #[must_use]
    pub fn flag(mut self, key: &'static str, value: Option<String>) -> Self {
        if let Some(value) = value {
            self.flags.push((key, value));
        }
        self
    }

    /// Gives every setting its value.
    pub fn resolve(&self, environment: &Environment) -> Result<Resolved, ConfigFault> {
        let file = self.read_file(environment)?;
        let mut values = Vec::with_capacity(SETTINGS.len());
        for setting in SETTINGS {
            values.push(self.value(setting, environment, file.as_ref())?);
        }
        Ok(Resolved { values })
    }

    fn value(
        &self,
        setting: &Setting,
        environment: &Environment,
        file: Option<&(PathBuf, toml::Table)>,
    ) -> Result<Value, ConfigFault> {
        if let Some((_, text)) = self.flags.iter().find(|(key, _)| *key == setting.key) {
            return Ok(Value { text: text.clone(), source: Source::Flag });
        }
        if let Some(text) = environment.variable(setting.variable) {
            let text = text.into_string().map_err(|_| ConfigFault::NotText { variable: setting.variable })?;
            return Ok(Value { text, source: Source::Variable(setting.variable) });
        }
        if let Some((path, table)) = file
            && let Some(value) = table.get(setting.key)
        {
            return Ok(Value { text: scalar(path, setting.key, value)?, source: Source::File(path.clone()) });
        }
        let text = match setting.default {
            Default::Text(text) => text.to_owned(),
            Default::Computed(compute) => compute(environment),
        };
        Ok(Value { text, source: Source::Default })
    }

    /// A file that was asked for must be there; the one in the standard place may be missing.
    fn read_file(&self, environment: &Environment) -> Result<Option<(PathBuf, toml::Table)>, ConfigFault> {
        let named = self.file.clone().or_else(|| environment.variable("TWOLANE_CONFIG").map(PathBuf::from));
        let (path, required) = match (named, environment.standard_file()) {
            (Some(path), _) => (path, true),
            (None, Some(path)) => (path, false),
            (None, None) => return Ok(None),
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => parse(&path, &text).map(|table| Some((path, table))),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound && !required => Ok(None),
            Err(source) => Err(ConfigFault::Unreadable { path, source }),
        }
    }
}

fn parse(path: &Path, text: &str) -> Result<toml::Table, ConfigFault> {
    let table: toml::Table = text
        .parse()
        .map_err(|source| ConfigFault::Syntax { path: path.to_owned(), source: Box::new(source) })?;
    for key in table.keys() {
        if !SETTINGS.iter().any(|setting| setting.key == key) {
            return Err(ConfigFault::UnknownKey { path: path.to_owned(), key: key.clone() });
        }
    }
    Ok(table)
}

fn scalar(path: &Path, key: &str, value: &toml::Value) -> Result<String, ConfigFault> {
    Ok(match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Boolean(yes) => yes.to_string(),
        other => {
            return Err(ConfigFault::Shape {
                path: path.to_owned(),
                key: key.to_owned(),
                found: other.type_str(),
            });
        }
    })
}

/// Every setting with its value, in the order of the table.
#[derive(Clone, Debug)]
pub struct Resolved {
    values: Vec<Value>,
}

impl Resolved {
    /// Settings and values side by side.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Setting, &Value)> {
        SETTINGS.iter().zip(&self.values)
    }

    /// Checks every value and gives it its type.
    pub fn typed(&self) -> Result<Config, ConfigFault> {
        Config::from_resolved(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'a>(resolved: &'a Resolved, key: &str) -> &'a Value {
        resolved.rows().find(|(setting, _)| setting.key == key).map(|(_, value)| value).unwrap()
    }

    #[test]
    fn flags_win_over_variables_over_the_file_over_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        std::fs::write(&file, "drain = \"3s\"\npeers = 7\nstall_limit = \"9s\"\n").unwrap();
        let environment = Environment::with(&[("TWOLANE_DRAIN", "2s"), ("TWOLANE_PEERS", "6")]);
        let layers = Layers::new(Some(file.clone())).flag("drain", Some("1s".into()));
        let resolved = layers.resolve(&environment).unwrap();
        assert_eq!(*value(&resolved, "drain"), Value { text: "1s".into(), source: Source::Flag });
        let from_variable = Value { text: "6".into(), source: Source::Variable("TWOLANE_PEERS") };
        assert_eq!(*value(&resolved, "peers"), from_variable);
        assert_eq!(*value(&resolved, "stall_limit"), Value { text: "9s".into(), source: Source::File(file) });
        assert_eq!(value(&resolved, "wire_version").source, Source::Default);
    }

    #[test]
    fn an_empty_variable_is_as_unset() {
        let environment = Environment::with(&[("TWOLANE_DRAIN", ""), ("XDG_RUNTIME_DIR", "")]);
        let resolved = Layers::default().resolve(&environment).unwrap();
        assert_eq!(value(&resolved, "drain").source, Source::Default);
        assert_eq!(value(&resolved, "run_dir").text, "/tmp/twolane-1000");
        let environment = Environment::with(&[("XDG_RUNTIME_DIR", "/run/user/1000")]);
        let resolved = Layers::default().resolve(&environment).unwrap();
        assert_eq!(value(&resolved, "run_dir").text, "/run/user/1000/twolane");
    }

    #[test]
    fn unknown_keys_are_refused_by_name_with_the_nearest_known_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        for (text, hint) in [("wire-version = 2", "wire_version"), ("colour = \"red\"", "twolane config")] {
            std::fs::write(&file, text).unwrap();
            let fault = Layers::new(Some(file.clone())).resolve(&Environment::with(&[])).unwrap_err();
            assert!(fault.to_string().contains(hint), "{fault}");
        }
    }

    #[test]
    fn a_file_that_was_asked_for_must_be_there() {
        let fault = Layers::new(Some("/nowhere/at/all.toml".into())).resolve(&Environment::with(&[]));
        assert!(matches!(fault, Err(ConfigFault::Unreadable { .. })));
        let environment = Environment::with(&[("XDG_CONFIG_HOME", "/nowhere/at/all")]);
        assert!(Layers::default().resolve(&environment).is_ok());
    }

    #[test]
    fn variables_that_set_nothing_are_named_with_the_nearest_known_one() {
        let names = [
            "TWOLANE_WIREVERSION",
            "TWOLANE_DRAIN",
            "TWOLANE_CONFIG",
            "TWOLANE_BIN",
            "HOME",
            "TWOLANE_\u{1b}x",
        ];
        let unknown = Environment::with(&names.map(|name| (name, "1"))).unknown();
        let said: Vec<String> = unknown.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("\\u{1b}x") && said[0].contains("twolane config"), "{said:?}");
        assert!(
            said[1].contains("TWOLANE_WIREVERSION") && said[1].contains("TWOLANE_WIRE_VERSION"),
            "{said:?}"
        );
    }

    #[test]
    fn no_two_settings_share_a_key_or_a_variable() {
        for (at, setting) in SETTINGS.iter().enumerate() {
            assert_eq!(setting.variable, format!("TWOLANE_{}", setting.key.to_uppercase()));
            assert!(SETTINGS[at + 1..].iter().all(|other| other.key != setting.key));
        }
    }
}

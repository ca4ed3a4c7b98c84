//! Script files: timed control and display events, checked when they are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;
use twolane_core::body::{Direction, DisplayEvent, Payload, ProviderControl, Tag};
use twolane_core::envelope::Lane;

use super::words::words;
use crate::limits::{SCRIPT_EVENTS_MAX, SCRIPT_FILE_BYTES_MAX};

/// The script inside the binary.
const DEFAULT: &str = include_str!("../../scripts/default.toml");

/// A script whose every event may go on the wire.
#[derive(Debug)]
pub struct Script {
    /// For people.
    pub name: String,
    /// What starts it.
    pub start: Start,
    /// The run's id where nobody requested it.
    pub run_id: String,
    /// The pause before an unasked run is played again; `None` to play it once.
    pub repeat_after: Option<Duration>,
    /// The events, in order; the last one ends its generation.
    pub events: Vec<Event>,
}

/// What starts a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// A peer that is authenticated.
    Connect,
    /// A step request, on its generation and corr.
    Request,
    /// Both.
    Both,
}

impl Start {
    /// Whether a peer that is authenticated starts it.
    pub const fn on_connect(self) -> bool {
        matches!(self, Self::Connect | Self::Both)
    }

    /// Whether a step request starts it.
    pub const fn on_request(self) -> bool {
        matches!(self, Self::Request | Self::Both)
    }
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time after the event before it.
    pub after: Duration,
    /// Its lane.
    pub lane: Lane,
    /// The step, counted from 1.
    pub step: u64,
    /// The payload's JSON text.
    pub payload: Vec<u8>,
    /// For a `display_gap`: how many frames it stands for. It is not sent as it is, since it takes that many seqs.
    pub dropped: Option<u64>,
    /// Whether it ends its generation.
    pub last: bool,
}

/// Why a script is not played. Whoever wrote it is at fault.
#[derive(Debug, thiserror::Error)]
pub enum ScriptFault {
    /// The file cannot be read.
    #[error("cannot read the script {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML, or has keys that scripts do not have.
    #[error("script {name}: {source}")]
    Syntax {
        /// The file.
        name: String,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// An event cannot be played.
    #[error("script {name}, line {line}: {reason}")]
    Event {
        /// The file.
        name: String,
        /// The event's line, from 1.
        line: usize,
        /// Why, and what to do.
        reason: String,
    },
    /// The script as a whole cannot be played.
    #[error("script {name}: {reason}")]
    Whole {
        /// The file.
        name: String,
        /// Why, and what to do.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    start: Start,
    run_id: Option<String>,
    repeat_after_ms: Option<u64>,
    #[serde(default)]
    event: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    after_ms: u64,
    lane: LaneWord,
    step: Option<u64>,
    payload: toml::Table,
    /// The `delta` is sent a word at a time, so far apart.
    word_ms: Option<u64>,
    /// The event is sent so often.
    times: Option<u32>,
    /// Time between repetitions.
    every_ms: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LaneWord {
    Control,
    Display,
}

impl From<LaneWord> for Lane {
    fn from(word: LaneWord) -> Self {
        match word {
            LaneWord::Control => Self::Control,
            LaneWord::Display => Self::Display,
        }
    }
}

impl Script {
    /// The script inside the binary.
    pub fn built_in() -> Result<Self, ScriptFault> {
        Self::parse("default", DEFAULT)
    }

    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Self, ScriptFault> {
        let unreadable = |source| ScriptFault::Unreadable { path: path.to_owned(), source };
        let name = path.display().to_string();
        let len = std::fs::metadata(path).map_err(unreadable)?.len();
        if len > SCRIPT_FILE_BYTES_MAX {
            let reason = format!(
                "{len} bytes; at most {SCRIPT_FILE_BYTES_MAX} are read (`times` and `word_ms` make events)"
            );
            return Err(ScriptFault::Whole { name, reason });
        }
        Self::parse(&name, &std::fs::read_to_string(path).map_err(unreadable)?)
    }

    /// Reads and checks a text; `name` is what faults call it.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptFault> {
        let file: File = toml::from_str(text)
            .map_err(|source| ScriptFault::Syntax { name: name.to_owned(), source: Box::new(source) })?;
        let mut reader = Reader { events: Vec::new(), step: 1 };
        let count = file.event.len();
        for (at, entry) in file.event.iter().enumerate() {
            let is_final = at + 1 == count;
            reader.entry(entry.as_ref(), is_final).map_err(|reason| ScriptFault::Event {
                name: name.to_owned(),
                line: line_of(text, entry.span().start),
                reason,
            })?;
        }
        let whole = |reason: &str| ScriptFault::Whole { name: name.to_owned(), reason: reason.to_owned() };
        if reader.events.is_empty() {
            return Err(whole("no events; add [[event]] tables, the last with payload.type = \"finished\""));
        }
        let run_id = file.run_id.unwrap_or_else(|| "run_script".to_owned());
        if run_id.is_empty() || run_id.len() > 240 {
            return Err(whole("run_id has to have 1 to 240 bytes"));
        }
        if file.repeat_after_ms.is_some() && !file.start.on_connect() {
            return Err(whole(
                "repeat_after_ms is for start = \"connect\" or \"both\"; a request is answered once",
            ));
        }
        Ok(Self {
            name: file.name.unwrap_or_else(|| name.to_owned()),
            start: file.start,
            run_id,
            repeat_after: file.repeat_after_ms.map(Duration::from_millis),
            events: reader.events,
        })
    }

    /// How long it plays.
    pub fn length(&self) -> Duration {
        self.events.iter().map(|event| event.after).sum()
    }
}

struct Reader {
    events: Vec<Event>,
    step: u64,
}

impl Reader {
    fn entry(&mut self, entry: &Entry, is_final: bool) -> Result<(), String> {
        self.step = match entry.step {
            None => self.step,
            Some(step) if step >= self.step => step,
            Some(step) => {
                return Err(format!("step is {step}, but step {} has begun; steps only go up", self.step));
            }
        };
        let lane = Lane::from(entry.lane);
        let last = check_event(lane, &entry.payload, is_final)?;
        let after = Duration::from_millis(entry.after_ms);
        match (entry.word_ms, entry.times, entry.every_ms) {
            (Some(word_ms), None, None) => {
                let text = entry.payload.get("delta").and_then(toml::Value::as_str);
                let text = text.ok_or("word_ms needs a payload with a `delta`")?;
                for (at, word) in words(text).into_iter().enumerate() {
                    let after = if at == 0 { after } else { Duration::from_millis(word_ms) };
                    let mut payload = entry.payload.clone();
                    payload.insert("delta".to_owned(), toml::Value::String(word.to_owned()));
                    self.push(after, lane, json(&payload)?, false)?;
                }
                Ok(())
            }
            (None, Some(times), every_ms) if !last => {
                let payload = json(&entry.payload)?;
                for at in 0..times {
                    let after = if at == 0 { after } else { Duration::from_millis(every_ms.unwrap_or(0)) };
                    self.push(after, lane, payload.clone(), false)?;
                }
                Ok(())
            }
            (None, None, None) => self.push(after, lane, json(&entry.payload)?, last),
            (None, None, Some(_)) => Err("every_ms needs `times`; for typed text use word_ms".to_owned()),
            (None, Some(_), _) => {
                Err("the event that ends the run is sent once; leave out `times`".to_owned())
            }
            (Some(_), ..) => Err("word_ms cannot be combined with times or every_ms".to_owned()),
        }
    }

    fn push(&mut self, after: Duration, lane: Lane, payload: Vec<u8>, last: bool) -> Result<(), String> {
        if self.events.len() >= SCRIPT_EVENTS_MAX {
            return Err(format!("more than {SCRIPT_EVENTS_MAX} events"));
        }
        let dropped = match Payload::parse(&payload).and_then(|payload| DisplayEvent::read(&payload)) {
            Ok(DisplayEvent::DisplayGap { dropped }) => Some(dropped),
            _ => None,
        };
        self.events.push(Event { after, lane, step: self.step, payload, dropped, last });
        Ok(())
    }
}

/// Checks a payload by the rules of its readers, and says whether it ends the run.
fn check_event(lane: Lane, payload: &toml::Table, is_final: bool) -> Result<bool, String> {
    let text = json(payload)?;
    let payload = Payload::parse(&text).map_err(|fault| format!("payload: {fault}"))?;
    let Some(tag) = payload.tag() else {
        let known: Vec<_> = Tag::ALL
            .into_iter()
            .filter(|tag| tag.check(lane, Direction::ProviderToRunner).is_ok())
            .map(Tag::name)
            .collect();
        return Err(format!("payload.type is unknown; the {} lane has {}", lane.name(), known.join(", ")));
    };
    tag.check(lane, Direction::ProviderToRunner).map_err(|reason| format!("payload: {reason}"))?;
    let read = match lane {
        Lane::Display => DisplayEvent::read(&payload).map(|_| ()),
        Lane::Control => ProviderControl::from_provider(&payload).map(|_| ()),
    };
    read.map_err(|fault| format!("payload: {fault}"))?;
    if let (Lane::Display, Ok(DisplayEvent::DisplayGap { dropped: 0 })) = (lane, DisplayEvent::read(&payload))
    {
        return Err("payload: a gap of 0 frames is none; `dropped` is at least 1".to_owned());
    }
    let ends = matches!(tag, Tag::Finished | Tag::Error);
    match (ends, is_final) {
        (true, false) => Err(format!("`{}` ends the run, but events follow; move it to the end", tag.name())),
        (false, true) => Err(format!(
            "the last event is `{}`; a run ends with control `finished` or `error`, so add one",
            tag.name()
        )),
        (ends, _) => Ok(ends),
    }
}

fn json(table: &toml::Table) -> Result<Vec<u8>, String> {
    let mut out = String::new();
    write_table(table, &mut out)?;
    Ok(out.into_bytes())
}

/// Compact JSON: `type` first, the other members in the order of the file.
fn write_table(table: &toml::Table, out: &mut String) -> Result<(), String> {
    let tag = table.iter().filter(|(name, _)| *name == "type");
    let rest = table.iter().filter(|(name, _)| *name != "type");
    let mut before = '{';
    for (name, value) in tag.chain(rest) {
        out.push(before);
        before = ',';
        write_text(name, out);
        out.push(':');
        write_value(value, out)?;
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
    Ok(())
}

fn write_value(value: &toml::Value, out: &mut String) -> Result<(), String> {
    match value {
        toml::Value::String(text) => write_text(text, out),
        toml::Value::Integer(number) => out.push_str(&number.to_string()),
        toml::Value::Float(number) if number.is_finite() => {
            out.push_str(&serde_json::json!(number).to_string());
        }
        toml::Value::Float(_) => return Err("payload: JSON has no number for inf and nan".to_owned()),
        toml::Value::Boolean(yes) => out.push_str(if *yes { "true" } else { "false" }),
        toml::Value::Datetime(_) => {
            return Err("payload: JSON has no dates; write a text in quotes".to_owned());
        }
        toml::Value::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(element, out)?;
            }
            out.push(']');
        }
        toml::Value::Table(table) => write_table(table, out)?,
    }
    Ok(())
}

fn write_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

impl Script {
    /// How many events there are of each lane, for people.
    pub fn lanes(&self) -> BTreeMap<&'static str, usize> {
        let mut lanes = BTreeMap::new();
        for event in &self.events {
            *lanes.entry(event.lane.name()).or_insert(0) += 1;
        }
        lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINISHED: &str = "[[event]]\nlane = \"control\"\npayload = { type = \"finished\" }\n";

    fn parse(text: &str) -> Result<Script, ScriptFault> {
        Script::parse("test.toml", text)
    }

    fn refused(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_script_inside_the_binary_is_long_and_shows_everything() {
        let script = Script::built_in().unwrap();
        assert!((60..=95).contains(&script.length().as_secs()), "{:?}", script.length());
        assert!(script.events.len() > 400, "{}", script.events.len());
        assert!(script.events.iter().map(|event| event.step).max() > Some(3));
        let all: Vec<u8> = script.events.iter().flat_map(|event| event.payload.clone()).collect();
        let all = String::from_utf8(all).unwrap();
        let tags = [
            "text_delta",
            "reasoning_delta",
            "tool_input_delta",
            "display_gap",
            "display_reset",
            "stream_start",
            "step_started",
            "assistant_message",
            "step_finished",
            "finished",
        ];
        for tag in tags {
            assert!(all.contains(&format!("{{\"type\":\"{tag}\"")), "{tag}");
        }
        assert!(!all.is_ascii());
    }

    #[test]
    fn type_comes_first_and_the_rest_in_the_order_of_the_file() {
        let event = "[[event]]\nlane = \"display\"\npayload = { message_id = \"m\", delta = \"é\\n\", type = \"text_delta\" }\n";
        let script = parse(&format!("start = \"connect\"\n{event}{FINISHED}")).unwrap();
        let expected = "{\"type\":\"text_delta\",\"message_id\":\"m\",\"delta\":\"é\\n\"}";
        assert_eq!(String::from_utf8_lossy(&script.events[0].payload), expected);
        assert!(script.events[1].last);
    }

    #[test]
    fn typed_text_becomes_one_event_a_word() {
        let event = "[[event]]\nafter_ms = 5\nword_ms = 40\nlane = \"display\"\n\
                     payload = { type = \"text_delta\", message_id = \"m\", delta = \"one two three\" }\n";
        let script = parse(&format!("start = \"request\"\n{event}{FINISHED}")).unwrap();
        let times: Vec<_> = script.events.iter().map(|event| event.after.as_millis()).collect();
        assert_eq!(times, [5, 40, 40, 0]);
    }

    #[test]
    fn an_event_can_be_repeated() {
        let event = "[[event]]\ntimes = 3\nevery_ms = 2\nlane = \"display\"\npayload = { type = \"display_reset\" }\n";
        assert_eq!(parse(&format!("start = \"connect\"\n{event}{FINISHED}")).unwrap().events.len(), 4);
    }

    #[test]
    fn a_fault_names_the_line_and_what_to_do() {
        for (event, hints) in [
            ("lane = \"display\"\npayload = { type = \"finished\" }", ["line 2", "lane"]),
            ("lane = \"control\"\npayload = { type = \"step_request\" }", ["line 2", "step_request"]),
            (
                "lane = \"display\"\npayload = { type = \"text_dleta\" }",
                ["line 2", "text_delta, reasoning_delta"],
            ),
            (
                "lane = \"display\"\npayload = { type = \"text_delta\", delta = \"x\" }",
                ["line 2", "message_id"],
            ),
            ("lane = \"display\"\nword_ms = 4\npayload = { type = \"display_reset\" }", ["line 2", "delta"]),
            ("lane = \"display\"\nevery_ms = 4\npayload = { type = \"display_reset\" }", ["line 2", "times"]),
            ("lane = \"display\"\nsped = 4\npayload = { type = \"display_reset\" }", ["line 4", "sped"]),
            ("lane = \"side\"\npayload = { type = \"display_reset\" }", ["line 3", "display"]),
            ("lane = \"display\"\npayload = { type = \"display_gap\", dropped = nan }", ["line 2", "nan"]),
        ] {
            let fault = refused(&format!("start = \"connect\"\n[[event]]\n{event}\n{FINISHED}"));
            assert!(hints.iter().all(|hint| fault.contains(hint)), "{fault}");
        }
    }

    #[test]
    fn a_run_has_one_end_and_it_is_the_end() {
        let reset = "[[event]]\nlane = \"display\"\npayload = { type = \"display_reset\" }\n";
        assert!(refused(&format!("start = \"connect\"\n{reset}")).contains("finished"));
        assert!(refused(&format!("start = \"connect\"\n{FINISHED}{reset}")).contains("move it"));
        assert!(refused("start = \"connect\"\n").contains("no events"));
        let again = format!("start = \"request\"\nrepeat_after_ms = 4\n{FINISHED}");
        assert!(refused(&again).contains("answered once"));
    }
}

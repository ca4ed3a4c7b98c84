//! One unit as one line for the eye.

use std::fmt::Write as _;

use twolane_capture::Direction;
use twolane_capture::row::{Kind, Row, mark};
use twolane_capture::units::Unit;
use twolane_core::body::{Body, Payload};
use twolane_core::handshake::Stage;
use twolane_core::handshake::message::{ClientHello, ServerProof};

use super::text::push_safe;

/// Columns left to the summary where the terminal is too narrow for all.
const SUMMARY_MIN: usize = 20;

const RESET: &str = "\x1b[0m";
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const CYAN: &str = "\x1b[36m";
const FAINT: &str = "\x1b[2m";

/// Prints lines of one width.
pub(super) struct Table {
    width: usize,
    is_colored: bool,
    has_head: bool,
    /// Time of the first unit that has one: others are relative to it.
    base_ns: Option<u64>,
}

impl Table {
    pub(super) fn new(width: usize, is_colored: bool) -> Self {
        Self { width, is_colored, has_head: false, base_ns: None }
    }

    /// Takes the time of a unit, printed or not.
    pub(super) fn see_time(&mut self, row: &Row<'_>) {
        self.base_ns = self.base_ns.or(row.time_ns());
    }

    /// Appends a unit's line, before the first one the head.
    pub(super) fn line(&mut self, unit: &Unit<'_>, out: &mut String) {
        if !self.has_head {
            self.has_head = true;
            let head = columns(["time s", "conn", "dir", "what", "lane", "gen", "corr", "seq", "len"]);
            let _ = writeln!(out, "{head}  summary");
        }
        self.title(unit, out);
    }

    /// Appends a unit's line.
    pub(super) fn title(&self, unit: &Unit<'_>, out: &mut String) {
        let row = &unit.row;
        let is_frame = row.frame_type().is_some();
        let framed = |value: String| if is_frame { value } else { String::new() };
        let generation = match row.epoch {
            0 => row.channel.to_string(),
            epoch => format!("{epoch}/{}", row.channel),
        };
        let line = columns([
            &self.relative(row),
            &row.connection.to_string(),
            if row.direction == Direction::AToB { "a>b" } else { "b>a" },
            row.frame_type().map_or(row.kind.name(), |known| known.name()),
            row.lane().map_or("", |lane| lane.name()),
            &framed(generation),
            &framed(row.corr.to_string()),
            &row.seq().map(|seq| seq.to_string()).unwrap_or_default(),
            &row.len.to_string(),
        ]);
        let room = self.width.saturating_sub(line.chars().count() + 2).max(SUMMARY_MIN);
        let color = if self.is_colored { color(unit) } else { "" };
        let start = out.len();
        let _ = write!(out, "{color}{line}  ");
        let mut summary = String::new();
        summarize(unit, &mut summary, room);
        push_safe(summary.chars(), room, out);
        out.truncate(start + out.get(start..).map_or(0, |text| text.trim_end().len()));
        if !color.is_empty() {
            out.push_str(RESET);
        }
        out.push('\n');
    }

    fn relative(&self, row: &Row<'_>) -> String {
        let (Some(time), Some(base)) = (row.time_ns(), self.base_ns) else { return "-".to_owned() };
        let sign = if time < base { "-" } else { "" };
        let micros = time.abs_diff(base) / 1000;
        format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000)
    }
}

fn columns(values: [&str; 9]) -> String {
    let [time, connection, direction, what, lane, generation, corr, seq, len] = values;
    format!(
        "{time:>11}  {connection:>4}  {direction:<3}  {what:<10}  {lane:<7}  {generation:>5}  {corr:>5}  {seq:>5}  {len:>7}"
    )
}

/// What matters is told in words too: colour only helps the eye.
fn color(unit: &Unit<'_>) -> &'static str {
    match unit.row.kind {
        _ if unit.fault.is_some() || unit.breach.is_some() || unit.verified() == Some(false) => RED,
        Kind::Gap => YELLOW,
        Kind::Handshake | Kind::Connector => CYAN,
        _ if unit.row.lane == twolane_capture::row::DISPLAY => FAINT,
        _ => "",
    }
}

/// What is to be said of a unit, of which about `room` characters will be shown.
fn summarize(unit: &Unit<'_>, out: &mut String, room: usize) {
    let row = &unit.row;
    if let Some(fault) = unit.fault {
        let _ = write!(out, "FAULT {fault}; ");
    }
    if let Some(breach) = unit.breach {
        let _ = write!(out, "LAW BROKEN {breach}; ");
    }
    if row.is_marked(mark::GUESS) {
        out.push_str("(guess) ");
    }
    if row.law == twolane_capture::row::LawMark::Joined {
        out.push_str("(joined here) ");
    }
    match row.kind {
        Kind::Gap => {
            let _ = write!(out, "{} bytes are not in the capture", row.len);
        }
        Kind::Handshake => message(unit, out),
        Kind::Frame => {
            if row.flags().is_last() {
                out.push_str("LAST ");
            }
            body(row.body(), out, room);
        }
        Kind::Connector | Kind::Fault => {}
    }
    let text = out.trim_end_matches([' ', ';']).len();
    out.truncate(text);
}

fn message(unit: &Unit<'_>, out: &mut String) {
    let Some(stage) = unit.stage() else { return };
    let text = unit.row.body();
    let _ = write!(out, "{stage}");
    match stage {
        Stage::ClientHello => {
            if let Ok(hello) = ClientHello::parse(text) {
                let _ = write!(out, " role={}", hello.role);
            }
        }
        Stage::ServerProof => {
            if let Ok(proof) = ServerProof::parse(text) {
                let _ = write!(out, " daemon_id={} daemon_ver={}", proof.daemon_id, proof.daemon_ver);
            }
        }
        Stage::ClientAuth => {}
    }
    match unit.verified() {
        Some(true) => out.push_str(" verified"),
        Some(false) => out.push_str(" NOT VERIFIED: another key made this proof"),
        None => {}
    }
}

fn body(text: &[u8], out: &mut String, room: usize) {
    match Body::parse(text) {
        Ok(body) => payload(&body.payload, out, room),
        // Not a body of the lanes: its own text says most.
        Err(_) => {
            let shown = text.get(..text.len().min(room.saturating_mul(4))).unwrap_or_default();
            match std::str::from_utf8(shown) {
                Ok(readable) => out.push_str(readable),
                Err(fault) if fault.valid_up_to() + 4 > shown.len() && fault.valid_up_to() > 0 => {
                    out.push_str(&String::from_utf8_lossy(shown));
                }
                Err(_) => super::text::push_hex(shown, out),
            }
        }
    }
}

/// The tag, then the text of a delta in quotes or the members of another payload.
fn payload(payload: &Payload<'_>, out: &mut String, room: usize) {
    out.extend(payload.name().chars().take(room));
    let Some(mut members) = payload.value().members() else { return };
    while let Ok(Some(member)) = members.next_member() {
        if member.name == "type" {
            continue;
        }
        if let (true, Some(delta)) = (member.name == "delta", member.value.as_str()) {
            out.push_str(" \"");
            out.extend(delta.chars().take(room));
            out.push('"');
            continue;
        }
        out.push(' ');
        out.extend(member.name.chars().take(room));
        out.push('=');
        match member.value.as_str() {
            Some(text) => out.extend(text.chars().take(room)),
            None => {
                let raw = member.value.raw();
                let shown = raw.get(..raw.len().min(room.saturating_mul(4))).unwrap_or_default();
                out.push_str(&String::from_utf8_lossy(shown));
            }
        }
    }
}

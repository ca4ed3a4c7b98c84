//! One unit as one line for the eye.

use std::fmt::Write as _;

use twolane_capture::Direction;
use twolane_capture::row::{Kind, Row};
use twolane_capture::summary;
use twolane_capture::units::Unit;

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
            summary::what(row),
            row.lane().map_or("", |lane| lane.name()),
            &framed(generation),
            &framed(row.corr.to_string()),
            &row.seq().map(|seq| seq.to_string()).unwrap_or_default(),
            &row.len.to_string(),
        ]);
        let room = self.width.saturating_sub(line.chars().count() + 2).max(SUMMARY_MIN);
        let color = if self.is_colored { color(unit) } else { "" };
        let start = out.len();
        let _ = write!(out, "{color}{line}  {}", summary::line(unit, room));
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
        "{time:>11}  {connection:>4}  {direction:<3}  {what:<17}  {lane:<7}  {generation:>5}  {corr:>5}  {seq:>5}  {len:>7}"
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

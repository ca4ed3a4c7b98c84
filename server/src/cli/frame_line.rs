//! One frame as one line: a row for people, an object for programs.

use std::fmt::Write as _;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use twolane_core::body::Body;
use twolane_core::envelope::Header;
use twolane_core::scan::value::Value;

use super::attach_law::{Checked, Laws};
use super::decode::json::{hex, push_body};
use super::decode::text::{Integer, push_quoted, push_safe};
use crate::net::inbox::Taken;

/// Characters of a row's last column.
const DETAIL_MAX: usize = 72;

/// How frames are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Rows, the payload cut to the eye's width.
    Short,
    /// Rows with whole payloads.
    Full,
    /// One JSON object a line.
    Json,
}

/// Prints the frames of one connection that we opened.
pub(super) struct Printer {
    style: Style,
    started: Instant,
    index: u64,
}

impl Printer {
    /// Times count from now.
    pub(super) fn new(style: Style) -> Self {
        Self { style, started: Instant::now(), index: 0 }
    }

    /// The style.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// The head of the table.
    pub(super) fn head(&self) -> String {
        match self.style {
            Style::Json => String::new(),
            Style::Full | Style::Short => row("time s", "lane", "gen", "corr", "seq", "", "type", "payload"),
        }
    }

    /// Appends the line of a frame that was read at `offset` of its stream.
    pub(super) fn frame(&mut self, frame: &Taken, offset: u64, checked: &Checked, out: &mut String) {
        match self.style {
            Style::Json => self.object(frame, offset, checked, out),
            Style::Full | Style::Short => self.row(frame, checked, out),
        }
        self.index += 1;
    }

    /// The law's verdict.
    pub(super) fn verdict(&self, laws: &Laws) -> String {
        let Laws { frames, ended, dropped, breaches, faults, .. } = laws;
        if self.style == Style::Json {
            return format!(
                "{{\"kind\":\"law\",\"ok\":{},\"frames\":{frames},\"generations_ended\":{ended},\
                 \"dropped\":{},\"breaches\":{breaches},\"faults\":{faults}}}\n",
                laws.kept(),
                Integer(*dropped),
            );
        }
        let word = if laws.kept() { "law kept" } else { "law BROKEN" };
        let mut text = format!(
            "{word}: {frames} frames, {ended} generations ended, {dropped} display frames dropped and accounted for"
        );
        if !laws.kept() {
            // Writing to a String cannot fail.
            let _ = write!(text, ", {breaches} breaches of seq, {faults} frames that cannot be read");
        }
        text.push('\n');
        text
    }

    fn row(&self, frame: &Taken, checked: &Checked, out: &mut String) {
        let header = &frame.header;
        let body = Body::parse(frame.body()).ok();
        let kind = body.as_ref().map_or_else(
            || header.frame_type().name().to_owned(),
            |body| printable(body.payload.name().raw()),
        );
        let mut detail = body.as_ref().map(|body| detail(body.payload.value())).unwrap_or_default();
        if self.style == Style::Short && detail.chars().count() > DETAIL_MAX {
            detail = detail.chars().take(DETAIL_MAX - 1).chain(['…']).collect();
        }
        if let Some((_, reason)) = &checked.fault {
            detail = format!("FAULT {reason}  {detail}");
        }
        let time = format!("{:9.3}", self.started.elapsed().as_secs_f64());
        let seq = checked.seq.map(|seq| seq.to_string()).unwrap_or_default();
        let last = if header.flags().is_last() { "LAST" } else { "" };
        let generation = match header.epoch() {
            0 => header.channel().to_string(),
            epoch => format!("{epoch}/{}", header.channel()),
        };
        let lane = header.lane().map_or("-", |lane| lane.name());
        let corr = header.corr().to_string();
        out.push_str(&row(&time, lane, &generation, &corr, &seq, last, &kind, &detail));
    }

    fn object(&self, frame: &Taken, offset: u64, checked: &Checked, out: &mut String) {
        let header = &frame.header;
        let _ = write!(
            out,
            "{{\"index\":{},\"time_ns\":{},\"connection\":1,\"direction\":\"b>a\",\"kind\":\"frame\",{}",
            self.index,
            Integer(now_ns()),
            header_members(header),
        );
        let _ = write!(out, ",\"offset\":{}", Integer(offset));
        let body = frame.body();
        if !body.is_empty() && !push_body(body, out) {
            hex("body_hex", body, out);
        }
        if let Some((offset, reason)) = &checked.fault {
            let offset = offset.map_or_else(|| "null".to_owned(), |offset| offset.to_string());
            let _ = write!(out, ",\"fault\":{{\"offset\":{offset},\"reason\":");
            push_quoted(reason, out);
            out.push('}');
        }
        out.push_str("}\n");
    }
}

fn header_members(header: &Header) -> String {
    let lane = header.lane().map_or_else(|_| "null".to_owned(), |lane| format!("\"{}\"", lane.name()));
    let mut out = format!(
        "\"version\":{},\"type\":\"{}\",\"lane\":{lane},\"last\":{},\"channel\":{},\"corr\":{}",
        header.version().number(),
        header.frame_type().name(),
        header.flags().is_last(),
        header.channel(),
        Integer(header.corr()),
    );
    if header.version().number() > 1 {
        let _ = write!(out, ",\"epoch\":{}", header.epoch());
    }
    let _ = write!(out, ",\"len\":{}", header.body_len());
    out
}

#[allow(clippy::too_many_arguments, reason = "one argument a column")]
fn row(
    time: &str,
    lane: &str,
    generation: &str,
    corr: &str,
    seq: &str,
    last: &str,
    kind: &str,
    detail: &str,
) -> String {
    let line = format!(
        "{time:>9}  {lane:<7}  {generation:>5}  {corr:>5}  {seq:>6}  {last:<4}  {kind:<17}  {detail}"
    );
    format!("{}\n", line.trim_end())
}

/// The delta of an event that has one, else its members.
fn detail(payload: Value<'_>) -> String {
    let mut delta = None;
    let mut members = String::new();
    let Some(mut list) = payload.members() else { return String::new() };
    while let Ok(Some(member)) = list.next_member() {
        if member.name == "delta" {
            delta = Some(printable(member.value.raw()));
        } else if member.name != "type" {
            let separator = if members.is_empty() { "" } else { " " };
            let _ = write!(
                members,
                "{separator}{}={}",
                printable(member.name.raw()),
                printable(member.value.raw())
            );
        }
    }
    delta.unwrap_or(members)
}

/// Text off the wire that cannot steer a terminal, whole.
fn printable(raw: impl AsRef<[u8]>) -> String {
    let mut out = String::new();
    push_safe(String::from_utf8_lossy(raw.as_ref()).chars(), usize::MAX, &mut out);
    out
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

//! One unit in one line: what is wrong with it, then what it carries. The table and the page show the same.

use alloc::string::String;
use core::fmt::{self, Display, Write};

use twolane_core::body::Tag;
use twolane_core::connector::outside::{Outside, Sort};
use twolane_core::dissect::{self, Fault, Field, FieldName, NodeKind, Sink};
use twolane_core::handshake::Stage;

use crate::row::{Kind, LawMark, NO_TAG, Row, mark};
use crate::units::{Unit, stage_of};

/// Members of handshake messages that no eye compares: 64 digits of chance each.
const UNSAID: [&str; 4] = ["client_nonce", "server_nonce", "server_proof", "client_auth"];

/// What a unit is, in one word: its payload's tag, its stage of the handshake or its sort of connector message, else its frame type, else its kind.
#[must_use]
pub fn what(row: &Row<'_>) -> &'static str {
    let tag = Tag::from_code(row.tag).map(Tag::name);
    let named = tag.or_else(|| stage_of(row).map(Stage::name)).or_else(|| row.sort().map(Sort::name));
    named.or_else(|| Some(row.frame_type()?.name())).unwrap_or(row.kind.name())
}

/// The line of `unit` in at most `room` characters; what was cut off shows as an ellipsis. What could steer a terminal
/// or reorder the line is escaped.
#[must_use]
pub fn line(unit: &Unit<'_>, room: usize) -> String {
    let row = &unit.row;
    let mut line = Line::new(room);
    // A line that is full takes nothing more; that is no failure.
    let _ = head(unit, &mut line);
    if row.kind == Kind::Connector {
        let _ = match Outside::read(row.body()) {
            Ok(outside) => connector(&outside, &mut line),
            Err(_) => plain(row.body(), &mut line),
        };
        return line.text;
    }
    let mut members = Members {
        line,
        is_message: row.kind == Kind::Handshake,
        is_tag_said: row.tag != NO_TAG,
        is_fault_said: unit.fault.is_some(),
        depth: 0,
        within: None,
        has_content: false,
    };
    match (row.kind, unit.stage()) {
        (Kind::Frame, _) => dissect::frame(row.bytes, &mut members),
        (Kind::Handshake, Some(stage)) => dissect::handshake(row.bytes, stage, &mut members),
        _ => {}
    }
    let Members { mut line, has_content, .. } = members;
    if !has_content && matches!(row.kind, Kind::Frame | Kind::Handshake) {
        let _ = plain(row.body(), &mut line);
    }
    line.text
}

/// What a gap stands for, as a sentence without a full stop.
#[derive(Debug, Clone, Copy)]
pub struct Gap<'a>(pub &'a Row<'a>);

impl Display for Gap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = Counted(self.0.len, "byte");
        match self.0.lost_units() {
            None if self.0.len == 1 => write!(f, "{bytes} is not in the capture"),
            None => write!(f, "{bytes} are not in the capture"),
            Some(units) if self.0.is_marked(mark::EARLIER) => {
                write!(f, "{} passed before the tap was joined, {bytes}", Counted(units, "unit"))
            }
            Some(units) => write!(f, "{} lost by the tap, {bytes}", Counted(units, "unit")),
        }
    }
}

/// A count of things that form their plural with an s: `1 byte`, `4,321 bytes`.
#[derive(Debug, Clone, Copy)]
pub struct Counted(pub u64, pub &'static str);

impl Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        grouped(self.0, f)?;
        write!(f, " {}{}", self.1, if self.0 == 1 { "" } else { "s" })
    }
}

fn grouped(number: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match number / 1000 {
        0 => write!(f, "{number}"),
        thousands => {
            grouped(thousands, f)?;
            write!(f, ",{:03}", number % 1000)
        }
    }
}

/// Whether a character could steer a terminal or reorder the line around it.
#[must_use]
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What is wrong, and what is known besides the bytes.
fn head(unit: &Unit<'_>, line: &mut Line) -> fmt::Result {
    let row = &unit.row;
    if let Some(fault) = unit.fault {
        line.part(format_args!("FAULT {fault}"))?;
    }
    if let Some(breach) = unit.breach {
        line.part(format_args!("LAW BROKEN {breach}"))?;
    }
    if row.is_marked(mark::GUESS) {
        line.part(format_args!("(guess)"))?;
    }
    if row.law == LawMark::Joined {
        line.part(format_args!("(joined here)"))?;
    }
    if row.kind == Kind::Gap {
        line.part(format_args!("{}", Gap(row)))?;
    }
    match unit.verified() {
        Some(true) => line.part(format_args!("verified"))?,
        Some(false) => line.part(format_args!("NOT VERIFIED: another key made this proof"))?,
        None => {}
    }
    if row.kind == Kind::Frame && row.flags().is_last() {
        line.part(format_args!("LAST"))?;
    }
    Ok(())
}

/// What a message of the connector says without a key.
fn connector(outside: &Outside<'_>, line: &mut Line) -> fmt::Result {
    if let Some(hint) = outside.hint() {
        let status = outside.status.unwrap_or_default();
        line.part(format_args!("status: \"{status}\"  code: \"{}\"", hint.code))?;
    }
    match outside.envelope() {
        Some(read) => {
            let (envelope, sealed) =
                (read.envelope, u64::try_from(read.ciphertext.len()).unwrap_or(u64::MAX));
            line.part(format_args!("caller_runtime_id: \"{}\"", envelope.caller_runtime_id))?;
            line.part(format_args!("request_id: \"{}\"", envelope.request_id))?;
            line.part(format_args!("{}: {} sealed", envelope.message_kind.name(), Counted(sealed, "byte")))
        }
        None => line.part(format_args!("messageId: \"{}\"", outside.message_id)),
    }
}

/// A text that is no body of the lanes says most by itself; other bytes in hexadecimal.
fn plain(body: &[u8], line: &mut Line) -> fmt::Result {
    // Up to 4 bytes are one character.
    let shown = body.get(..body.len().min(line.room.saturating_mul(4))).unwrap_or_default();
    let (text, is_text) = match core::str::from_utf8(shown) {
        Ok(text) => (text, true),
        Err(fault) => {
            let text = shown.get(..fault.valid_up_to()).unwrap_or_default();
            let is_cut_character = shown.len() < body.len() && fault.error_len().is_none();
            (core::str::from_utf8(text).unwrap_or_default(), is_cut_character)
        }
    };
    match (shown.is_empty(), is_text) {
        (true, _) => Ok(()),
        (_, true) => line.part(format_args!("{text}")),
        (_, false) => {
            line.part(format_args!(""))?;
            shown.iter().try_for_each(|byte| write!(line, "{byte:02x}"))
        }
    }
}

/// A line that takes only so many characters.
struct Line {
    text: String,
    room: usize,
    /// Characters so far.
    len: usize,
    /// Where the last character of what was told, escaped or not, begins in the text.
    last: usize,
    is_cut: bool,
}

impl Line {
    fn new(room: usize) -> Self {
        Self { text: String::new(), room, len: 0, last: 0, is_cut: false }
    }

    /// Appends a part, two blanks behind the one before.
    fn part(&mut self, part: fmt::Arguments<'_>) -> fmt::Result {
        if self.len > 0 {
            self.write_str("  ")?;
        }
        self.write_fmt(part)
    }

    fn cut(&mut self) -> fmt::Result {
        self.is_cut = true;
        if self.len >= self.room {
            self.text.truncate(self.last);
        }
        if self.room > 0 {
            self.text.push('…');
        }
        Err(fmt::Error)
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if self.is_cut {
                return Err(fmt::Error);
            }
            let is_escaped = is_unsafe(character);
            let width = if is_escaped { character.escape_default().count() } else { 1 };
            if width > self.room.saturating_sub(self.len) {
                return self.cut();
            }
            self.last = self.text.len();
            self.len += width;
            if is_escaped {
                self.text.extend(character.escape_default());
            } else {
                self.text.push(character);
            }
        }
        Ok(())
    }
}

/// Collects the members of the payload, or of a handshake message, that are no containers.
struct Members {
    line: Line,
    is_message: bool,
    is_tag_said: bool,
    is_fault_said: bool,
    depth: usize,
    /// The depth of the container whose members count, while it is open.
    within: Option<usize>,
    /// There was such a container.
    has_content: bool,
}

impl Sink for Members {
    fn open(&mut self, field: Field<'_>) {
        let is_content = match field.name {
            FieldName::Member(name) => name.as_plain() == Some("payload") && field.kind == NodeKind::Object,
            FieldName::Known(_) => self.is_message && field.kind == NodeKind::Object,
            FieldName::Index(_) => false,
        };
        if self.within.is_none() && is_content {
            self.within = Some(self.depth);
            self.has_content = true;
        }
        self.depth += 1;
    }

    fn close(&mut self, _end: usize) {
        self.depth = self.depth.saturating_sub(1);
        if self.within == Some(self.depth) {
            self.within = None;
        }
    }

    fn leaf(&mut self, field: Field<'_>, _end: usize) {
        let name = match field.name {
            FieldName::Member(name) => name.as_plain().unwrap_or_default(),
            FieldName::Known(_) | FieldName::Index(_) => "",
        };
        let is_said = self.is_tag_said && name == "type";
        if self.within.is_none() || self.line.is_cut || is_said || UNSAID.contains(&name) {
            return;
        }
        // A line that is full takes nothing more; that is no failure.
        let _ = match field.kind {
            NodeKind::String => self.line.part(format_args!("{}: \"{}\"", field.name, field.value)),
            _ => self.line.part(format_args!("{}: {}", field.name, field.value)),
        };
    }

    fn fault(&mut self, fault: Fault) {
        if !self.is_fault_said {
            let _ = self.line.part(format_args!("FAULT {fault}"));
        }
    }
}

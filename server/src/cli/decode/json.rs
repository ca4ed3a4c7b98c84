//! One unit as one JSON object on a line, and the verdict on all of them.

use std::fmt::Write as _;

use twolane_capture::row::{Kind, mark};
use twolane_capture::summary::is_unsafe;
use twolane_capture::units::{Unit, UnitFault};
use twolane_capture::{Direction, Totals};
use twolane_core::body::{Body, BodyReason};
use twolane_core::connector::outside::Outside;
use twolane_core::limits::INTEGER_MAX;
use twolane_core::scan::json::{Kind as TokenKind, Scanner};

use super::text::{Integer, push_escape, push_hex, push_quoted};

/// Bytes that are printed in hexadecimal of a body that is no JSON or of a fault; `len` says how many there are.
const HEX_MAX: usize = 4096;

/// Appends the object and a line end. Writing to a String cannot fail.
pub(super) fn object(unit: &Unit<'_>, out: &mut String) {
    let row = &unit.row;
    let _ = write!(out, "{{\"index\":{}", Integer(unit.index));
    if let Some(time) = row.time_ns() {
        let _ = write!(out, ",\"time_ns\":{}", Integer(time));
    }
    let direction = if row.direction == Direction::AToB { "a>b" } else { "b>a" };
    let (connection, kind) = (row.connection, row.kind.name());
    let _ = write!(out, ",\"connection\":{connection},\"direction\":\"{direction}\",\"kind\":\"{kind}\"");
    match row.kind {
        Kind::Frame => frame(unit, out),
        Kind::Handshake => handshake(unit, out),
        Kind::Gap => {
            let _ = write!(out, ",\"offset\":{},\"bytes\":{}", Integer(row.offset), Integer(row.len));
            if let Some(units) = row.lost_units() {
                let _ = write!(out, ",\"units\":{}", Integer(units));
            }
        }
        Kind::Connector => connector(unit, out),
        Kind::Fault => {
            let _ = write!(out, ",\"len\":{},\"offset\":{}", Integer(row.len), Integer(row.offset));
            hex("bytes_hex", row.bytes, out);
        }
    }
    for (bit, name) in [(mark::GUESS, "guess"), (mark::CUT, "cut"), (mark::EARLIER, "before_joining")] {
        if row.is_marked(bit) {
            let _ = write!(out, ",\"{name}\":true");
        }
    }
    if let Some(fault) = unit.fault {
        let offset = row.offset.saturating_add(unit.fault_byte().unwrap_or(0));
        let _ = write!(out, ",\"fault\":{{\"offset\":{},\"reason\":", Integer(offset));
        push_quoted(&fault.to_string(), out);
        let name = UnitFault::name_of(fault.code()).unwrap_or_default();
        let _ = write!(out, ",\"name\":\"{name}\"}}");
    } else if let Some(breach) = unit.breach {
        let _ = write!(out, ",\"fault\":{{\"offset\":{},\"reason\":", Integer(row.offset));
        push_quoted(&breach.to_string(), out);
        out.push_str(",\"name\":\"law\"}");
    }
    out.push_str("}\n");
}

/// Appends the verdict on all that was read and a line end.
pub(super) fn law(totals: &Totals, out: &mut String) {
    let Totals { frames, ended, dropped, breaches, faults, unruled, .. } = *totals;
    let _ = writeln!(
        out,
        "{{\"kind\":\"law\",\"ok\":{},\"frames\":{},\"generations_ended\":{},\"dropped\":{},\"breaches\":{},\
         \"faults\":{},\"without_seq\":{}}}",
        totals.is_law_kept(),
        Integer(frames),
        Integer(ended),
        Integer(dropped),
        Integer(breaches),
        Integer(faults),
        Integer(unruled),
    );
}

fn frame(unit: &Unit<'_>, out: &mut String) {
    let row = &unit.row;
    let name = row.frame_type().map_or("unknown", |known| known.name());
    let lane = row.lane().map_or_else(|| "null".to_owned(), |lane| format!("\"{}\"", lane.name()));
    let _ = write!(
        out,
        ",\"version\":{},\"type\":\"{name}\",\"lane\":{lane},\"last\":{},\"channel\":{},\"corr\":{}",
        row.version,
        row.flags().is_last(),
        row.channel,
        Integer(row.corr),
    );
    if row.version > 1 {
        let _ = write!(out, ",\"epoch\":{}", row.epoch);
    }
    let _ = write!(out, ",\"len\":{},\"offset\":{}", Integer(row.len), Integer(row.offset));
    let body = row.body();
    if !body.is_empty() {
        let is_whole = !row.is_marked(mark::CUT);
        if !(is_whole && push_body(body, out)) {
            hex("body_hex", body, out);
        }
    }
    if row.law as u8 > 1 {
        let _ = write!(out, ",\"law\":\"{}\"", row.law.name());
    }
}

fn handshake(unit: &Unit<'_>, out: &mut String) {
    let row = &unit.row;
    if let Some(stage) = unit.stage() {
        let _ = write!(out, ",\"stage\":\"{stage}\"");
    }
    let verified = match unit.verified() {
        None => "null",
        Some(true) => "true",
        Some(false) => "false",
    };
    let _ = write!(
        out,
        ",\"verified\":{verified},\"len\":{},\"offset\":{}",
        Integer(row.len),
        Integer(row.offset)
    );
    let text = row.body();
    if row.is_marked(mark::CUT) || !push_body(text, out) {
        hex("body_hex", text, out);
    }
}

/// What is outside of the seal, by the wire's names; the ids are those of the envelope where it can be read.
fn connector(unit: &Unit<'_>, out: &mut String) {
    let row = &unit.row;
    let _ = write!(out, ",\"len\":{},\"offset\":{}", Integer(row.len), Integer(row.offset));
    if let Ok(outside) = Outside::read(row.body()) {
        let mut text = |name: &str, value: &str| {
            let _ = write!(out, ",\"{name}\":");
            push_quoted(value, out);
        };
        text("message", outside.sort.name());
        text("schema_version", outside.schema_version());
        text("message_id", outside.message_id);
        text("service_id", outside.service_id);
        text("operation", outside.operation);
        if let Some(status) = outside.status {
            text("status", status);
        }
        text("payload_schema", outside.payload_schema);
        if let Some(hint) = outside.hint() {
            text("code", hint.code);
        }
        if let Some(read) = outside.envelope() {
            text("caller_runtime_id", read.envelope.caller_runtime_id);
            text("request_id", read.envelope.request_id);
            text("message_kind", read.envelope.message_kind.name());
            let _ = write!(out, ",\"ciphertext_bytes\":{}", read.ciphertext.len());
        }
    }
    // All of it: `twolane open` takes it.
    out.push_str(",\"bytes_hex\":\"");
    push_hex(row.bytes, out);
    out.push('"');
}

fn hex(name: &str, bytes: &[u8], out: &mut String) {
    let shown = bytes.get(..bytes.len().min(HEX_MAX)).unwrap_or_default();
    let _ = write!(out, ",\"{name}\":\"");
    push_hex(shown, out);
    out.push('"');
}

/// Appends `,"body":...` where the text is one strict JSON value without a name that occurs twice in what is
/// interpreted: a program must not read another meaning than we do. False, and nothing appended, elsewhere.
fn push_body(text: &[u8], out: &mut String) -> bool {
    let start = out.len();
    out.push_str(",\"body\":");
    let is_ambiguous = Body::parse(text).is_err_and(|fault| fault.reason == BodyReason::DuplicateName);
    let is_pushed = !is_ambiguous && push_value(text, out).is_some();
    if !is_pushed {
        out.truncate(start);
    }
    is_pushed
}

/// Appends a JSON value on one line: no white space between tokens, integers over 2^53-1 as strings, characters that
/// steer a terminal escaped.
fn push_value(text: &[u8], out: &mut String) -> Option<()> {
    let text = std::str::from_utf8(text).ok()?;
    let mut scanner = Scanner::new(text.as_bytes());
    let mut end = 0;
    while let Some(token) = scanner.next_token().ok()? {
        out.extend(text.get(end..token.start)?.chars().filter(|c| matches!(c, ',' | ':')));
        end = token.end;
        let written = text.get(token.span())?;
        match token.kind {
            TokenKind::Number { .. } if !is_exact(written) => {
                let _ = write!(out, "\"{written}\"");
            }
            TokenKind::String { .. } | TokenKind::Name { .. } if written.chars().any(is_unsafe) => {
                for character in written.chars() {
                    if is_unsafe(character) { push_escape(character, out) } else { out.push(character) }
                }
            }
            _ => out.push_str(written),
        }
    }
    Some(())
}

/// Whether a number is no integer, or one that every reader keeps.
fn is_exact(number: &str) -> bool {
    if number.contains(['.', 'e', 'E']) {
        return true;
    }
    let digits = number.trim_start_matches('-');
    digits.parse().is_ok_and(|magnitude: u64| magnitude <= INTEGER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Option<String> {
        let mut out = String::new();
        push_body(text.as_bytes(), &mut out).then_some(out)
    }

    #[test]
    fn a_body_becomes_one_line_with_the_same_meaning() {
        let text = "{ \"a\" : [1,\r\n 2.5e3 , -7] ,\t\"b\": {\"c\":\"x y\"} }";
        assert_eq!(body(text).as_deref(), Some(r#","body":{"a":[1,2.5e3,-7],"b":{"c":"x y"}}"#));
    }

    #[test]
    fn integers_that_not_every_reader_keeps_are_strings() {
        assert_eq!(body("[9007199254740991]").as_deref(), Some(r#","body":[9007199254740991]"#));
        assert_eq!(body("[9007199254740992]").as_deref(), Some(r#","body":["9007199254740992"]"#));
        assert_eq!(body("[-9007199254740992]").as_deref(), Some(r#","body":["-9007199254740992"]"#));
    }

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        assert_eq!(body("[\"\u{9b}31m\u{202e}\"]").as_deref(), Some(r#","body":["\u009b31m\u202e"]"#));
    }

    #[test]
    fn what_is_not_json_or_has_two_meanings_is_left_to_hexadecimal() {
        assert_eq!(body("{\"a\":1,}"), None);
        assert_eq!(body("{\"version\":1,\"version\":1}"), None);
    }
}

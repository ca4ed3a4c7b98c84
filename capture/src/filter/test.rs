//! One test of a filter: a column, an operator, a value.

use alloc::string::String;

use twolane_core::body::Tag;
use twolane_core::connector::outside::{Outside, Sort};
use twolane_core::envelope::FrameType;

use super::lex::{Lexer, Operator};
use super::{FilterFault, FilterReason};
use crate::piece::Direction;
use crate::row::{self, CONNECTOR_TAG, HANDSHAKE_TAG, Kind, LawMark, NO_TAG, Row, mark};
use crate::units::{UnitFault, verified};

#[derive(Debug, Clone)]
pub(super) enum Test {
    Word { column: Word, code: u8, is_equal: bool },
    Number { column: Number, operator: Operator, value: u64 },
    Mark(Mark),
    Text { text: String, is_wanted: bool },
    Id { column: Id, text: String, is_part: bool, is_wanted: bool },
}

/// Columns whose values are words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Kind,
    Lane,
    Type,
    Tag,
    Direction,
    Law,
    Fault,
    Verified,
}

/// Columns whose values are numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Generation,
    Epoch,
    Corr,
    Seq,
    Dropped,
    Version,
    Flags,
    Connection,
    Len,
    Offset,
}

/// Ids of a message of the connector.
#[derive(Debug, Clone, Copy)]
pub(super) enum Id {
    Caller,
    Request,
}

/// What is true or not.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    Last,
    Guess,
    Cut,
}

/// `code` of `fault=any`.
const ANY_FAULT: u8 = u8::MAX;

const WORDS: [(&str, Word); 8] = [
    ("kind", Word::Kind),
    ("lane", Word::Lane),
    ("type", Word::Type),
    ("tag", Word::Tag),
    ("dir", Word::Direction),
    ("law", Word::Law),
    ("fault", Word::Fault),
    ("verified", Word::Verified),
];

const NUMBERS: [(&str, Number); 11] = [
    ("gen", Number::Generation),
    ("channel", Number::Generation),
    ("epoch", Number::Epoch),
    ("corr", Number::Corr),
    ("seq", Number::Seq),
    ("dropped", Number::Dropped),
    ("version", Number::Version),
    ("flags", Number::Flags),
    ("conn", Number::Connection),
    ("len", Number::Len),
    ("offset", Number::Offset),
];

const IDS: [(&str, Id); 2] = [("caller", Id::Caller), ("request", Id::Request)];

const MARKS: [(&str, Mark); 3] = [("last", Mark::Last), ("guess", Mark::Guess), ("cut", Mark::Cut)];

impl Test {
    pub(super) fn parse(lexer: &mut Lexer<'_>) -> Result<Self, FilterFault> {
        let start = lexer.offset;
        let name = lexer.take_name();
        if name.is_empty() || ["and", "or"].iter().any(|word| word.eq_ignore_ascii_case(name)) {
            return Err(FilterFault { offset: start, reason: FilterReason::ExpectedTest });
        }
        if let Some(mark) = named(&MARKS, name) {
            return Ok(Self::Mark(mark));
        }
        if let Some(column) = named(&WORDS, name) {
            return word(column, lexer);
        }
        if let Some(column) = named(&NUMBERS, name) {
            return number(column, lexer);
        }
        if let Some(column) = named(&IDS, name) {
            return id(column, lexer);
        }
        if name.eq_ignore_ascii_case("text") {
            return text(lexer);
        }
        Err(FilterFault { offset: start, reason: FilterReason::UnknownName })
    }

    pub(super) fn holds(&self, row: &Row<'_>) -> bool {
        match self {
            Self::Word { column, code, is_equal } => column.is(*code, row) == *is_equal,
            Self::Number { column, operator, value } => {
                column.of(row).is_some_and(|found| operator.compares(found, *value))
            }
            Self::Mark(Mark::Last) => row.flags().is_last(),
            Self::Mark(Mark::Guess) => row.is_marked(mark::GUESS),
            Self::Mark(Mark::Cut) => row.is_marked(mark::CUT),
            Self::Text { text, is_wanted } => contains(row.body(), text.as_bytes()) == *is_wanted,
            Self::Id { column, text, is_part, is_wanted } => {
                column.is(text, *is_part, row) == Some(*is_wanted)
            }
        }
    }
}

impl Operator {
    fn compares(self, found: u64, value: u64) -> bool {
        match self {
            Self::Equal => found == value,
            Self::Unequal => found != value,
            Self::Less => found < value,
            Self::LessOrEqual => found <= value,
            Self::Greater => found > value,
            Self::GreaterOrEqual => found >= value,
            Self::Contains | Self::Lacks => false,
        }
    }
}

fn named<T: Copy>(list: &[(&str, T)], name: &str) -> Option<T> {
    list.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, column)| *column)
}

fn operator(
    lexer: &mut Lexer<'_>,
    allowed: &[Operator],
    spelled: &'static str,
) -> Result<Operator, FilterFault> {
    let offset = lexer.offset;
    lexer
        .take_operator()
        .filter(|operator| allowed.contains(operator))
        .ok_or(FilterFault { offset, reason: FilterReason::ExpectedOperator(spelled) })
}

fn word(column: Word, lexer: &mut Lexer<'_>) -> Result<Test, FilterFault> {
    let operator = operator(lexer, &[Operator::Equal, Operator::Unequal], "= or !=")?;
    let offset = lexer.offset;
    let value = lexer.take_value()?;
    match column.code(&value) {
        Some(code) => Ok(Test::Word { column, code, is_equal: operator == Operator::Equal }),
        None => Err(FilterFault { offset, reason: FilterReason::ExpectedValue(column.values()) }),
    }
}

fn number(column: Number, lexer: &mut Lexer<'_>) -> Result<Test, FilterFault> {
    use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
    let all = [Equal, Unequal, Less, LessOrEqual, Greater, GreaterOrEqual];
    let operator = operator(lexer, &all, "=, !=, <, <=, > or >=")?;
    let offset = lexer.offset;
    let value = lexer.take_value()?;
    let parsed = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
        // A sign is not a digit, but the parser of the standard library takes one.
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16),
        _ => value.parse(),
    };
    match parsed {
        Ok(value) => Ok(Test::Number { column, operator, value }),
        Err(_) => {
            let reason = FilterReason::ExpectedValue("an integer, decimal or 0x..., of at most 64 bits");
            Err(FilterFault { offset, reason })
        }
    }
}

fn text(lexer: &mut Lexer<'_>) -> Result<Test, FilterFault> {
    let operator = operator(lexer, &[Operator::Contains, Operator::Lacks], "~ or !~")?;
    let offset = lexer.offset;
    let value = lexer.take_value()?;
    if value.is_empty() {
        return Err(FilterFault { offset, reason: FilterReason::ExpectedValue("a text to look for") });
    }
    Ok(Test::Text { text: value, is_wanted: operator == Operator::Contains })
}

fn id(column: Id, lexer: &mut Lexer<'_>) -> Result<Test, FilterFault> {
    use Operator::{Contains, Equal, Lacks, Unequal};
    let operator = operator(lexer, &[Equal, Unequal, Contains, Lacks], "=, !=, ~ or !~")?;
    let text = lexer.take_value()?;
    let (is_part, is_wanted) = match operator {
        Contains => (true, true),
        Lacks => (true, false),
        other => (false, other == Equal),
    };
    Ok(Test::Id { column, text, is_part, is_wanted })
}

/// Whether `text`, which is not empty, stands in `body`. A loop, because a search library's code is a tenth of the
/// page's module, and reading and judging a row takes longer than this.
fn contains(body: &[u8], text: &[u8]) -> bool {
    let Some((first, others)) = text.split_first() else { return true };
    let mut rest = body;
    while let Some(place) = rest.iter().position(|byte| byte == first) {
        rest = rest.get(place + 1..).unwrap_or_default();
        if rest.starts_with(others) {
            return true;
        }
    }
    false
}

impl Word {
    /// The code that stands for a word in this column.
    fn code(self, word: &str) -> Option<u8> {
        let is = |name: &str| name.eq_ignore_ascii_case(word);
        match self {
            Self::Kind => Kind::ALL.into_iter().find(|kind| is(kind.name())).map(Kind::code),
            Self::Lane => {
                named(&[("none", row::NO_LANE), ("control", row::CONTROL), ("display", row::DISPLAY)], word)
            }
            Self::Type => FrameType::ALL.into_iter().find(|frame| is(frame.name())).map(FrameType::code),
            Self::Tag => tag_code(word),
            Self::Direction => named(&[("a>b", 0), ("b>a", 1)], word),
            Self::Law => LawMark::ALL.into_iter().find(|law| is(law.name())).map(|law| law as u8),
            Self::Fault => named(&[("none", 0), ("any", ANY_FAULT)], word)
                .or_else(|| (1..ANY_FAULT).find(|code| UnitFault::name_of(*code).is_some_and(is))),
            Self::Verified => named(&[("none", 0), ("yes", 1), ("no", 2)], word),
        }
    }

    /// What may stand in this column, for an error.
    const fn values(self) -> &'static str {
        match self {
            Self::Kind => "handshake, frame, connector, gap or fault",
            Self::Lane => "control, display or none",
            Self::Type => "a frame type such as StreamData",
            Self::Tag => {
                "a payload's tag such as text_delta, a handshake message such as ClientHello, request, reply, failure or none"
            }
            Self::Direction => "a>b or b>a",
            Self::Law => "kept, joined, broken or none",
            Self::Fault => "a fault such as header, end or hole, or any, or none",
            Self::Verified => "yes, no or none",
        }
    }

    fn is(self, code: u8, row: &Row<'_>) -> bool {
        match self {
            Self::Kind => row.kind.code() == code,
            Self::Lane => row.lane == code,
            Self::Type => row.frame_type == code,
            Self::Tag => row.tag == code,
            Self::Direction => u8::from(row.direction == Direction::BToA) == code,
            Self::Law => row.law as u8 == code,
            Self::Fault if code == ANY_FAULT => row.fault != 0,
            Self::Fault => row.fault == code,
            Self::Verified => code == verified(row).map_or(0, |right| if right { 1 } else { 2 }),
        }
    }
}

impl Id {
    /// Whether the row's id is `text`, or has it as a part; `None` where the row has none.
    fn is(self, text: &str, is_part: bool, row: &Row<'_>) -> Option<bool> {
        if row.kind != Kind::Connector {
            return None;
        }
        let outside = Outside::read(row.body()).ok()?;
        let id = match self {
            Self::Request => outside.message_id,
            Self::Caller => outside.envelope()?.envelope.caller_runtime_id,
        };
        Some(if is_part { contains(id.as_bytes(), text.as_bytes()) } else { id == text })
    }
}

fn tag_code(word: &str) -> Option<u8> {
    named(
        &[
            ("none", NO_TAG),
            ("ClientHello", HANDSHAKE_TAG),
            ("ServerProof", HANDSHAKE_TAG + 1),
            ("ClientAuth", HANDSHAKE_TAG + 2),
        ],
        word,
    )
    .or_else(|| {
        let place = (0..).zip(Sort::ALL).find(|(_, sort)| sort.name().eq_ignore_ascii_case(word));
        place.map(|(place, _)| CONNECTOR_TAG + place)
    })
    .or_else(|| Tag::ALL.into_iter().find(|tag| tag.name().eq_ignore_ascii_case(word)).map(Tag::code))
}

impl Number {
    /// The row's number, where it has one.
    fn of(self, row: &Row<'_>) -> Option<u64> {
        let framed = |value: u64| (row.version != row::NO_VERSION).then_some(value);
        match self {
            Self::Generation => framed(u64::from(row.channel)),
            Self::Epoch => framed(u64::from(row.epoch)),
            Self::Corr => framed(row.corr),
            Self::Seq => row.seq(),
            Self::Dropped => framed(row.dropped),
            Self::Version => framed(u64::from(row.version)),
            Self::Flags => framed(u64::from(row.flags)),
            Self::Connection => Some(u64::from(row.connection)),
            Self::Len => Some(row.len),
            Self::Offset => Some(row.offset),
        }
    }
}

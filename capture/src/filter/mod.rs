//! Filters over rows: one small language for the command line and the page.
//!
//! ```text
//! lane=control and (gen=3 or gen=4) and seq>=10
//! tag=text_delta text~"needle" not guess
//! kind=fault or law=broken
//! dir=b>a len>1000
//! ```
//!
//! Tests are joined by `and`, `or`, `not` and parentheses; two tests side by side mean `and`, which binds closer
//! than `or`. Names and words may be written in any case. A value with spaces or parentheses stands in double
//! quotes, in which `\"` and `\\` are the only escapes.
//!
//! | name | values | operators |
//! |---|---|---|
//! | `kind` | `handshake`, `frame`, `connector`, `gap`, `fault` | `=` `!=` |
//! | `lane` | `control`, `display`, `none` | `=` `!=` |
//! | `type` | `StreamData`, `Ping`, ... | `=` `!=` |
//! | `tag` | `text_delta`, ... of a payload; `ClientHello`, `ServerProof`, `ClientAuth`; `request`, `reply`, `failure` of the connector; `none` | `=` `!=` |
//! | `dir` | `a>b`, `b>a` | `=` `!=` |
//! | `law` | `kept`, `joined`, `broken`, `none` | `=` `!=` |
//! | `fault` | `header`, `end`, `hole`, ... ([`crate::units::UnitFault::NAMES`]), `none`, `any` | `=` `!=` |
//! | `verified` | `yes`, `no`, `none` | `=` `!=` |
//! | `gen` (or `channel`), `epoch`, `corr`, `seq`, `dropped`, `version`, `flags`, `conn`, `len`, `offset` | integers, decimal or `0x...` | `=` `!=` `<` `<=` `>` `>=` |
//! | `caller`, `request` | the ids that a message of the connector carries outside of its seal; the caller's is in its envelope | `=` `!=` `~` `!~` |
//! | `text` | bytes to be found in the body as it stands on the wire | `~` `!~` |
//! | `last`, `guess`, `cut` | alone: whether it is so | |
//!
//! A number or id that a unit does not have (the seq of a gap) passes no test, `!=` included.

mod lex;
mod parse;
mod test;

use alloc::vec::Vec;

pub use crate::limits::{FILTER_DEPTH_MAX, FILTER_LEN_MAX};
pub use lex::Operator;
use test::Test;

use crate::row::Row;

/// A filter, parsed once. Judging a row allocates nothing, an id of the connector aside.
#[derive(Debug, Clone)]
pub struct Filter {
    program: Vec<Op>,
}

/// One step over a single truth value, which starts as true.
#[derive(Debug, Clone)]
enum Op {
    Test(Test),
    Not,
    /// Goes to the step of that number where the value is false.
    UnlessGoto(usize),
    /// Goes to the step of that number where the value is true.
    IfGoto(usize),
}

impl Filter {
    /// Reads a filter; an empty one lets everything pass.
    ///
    /// # Errors
    ///
    /// The first place that cannot be read, with what was expected there.
    pub fn parse(text: &str) -> Result<Self, FilterFault> {
        parse::program(text).map(|program| Self { program })
    }

    /// Whether a unit passes.
    #[must_use]
    pub fn matches(&self, row: &Row<'_>) -> bool {
        let (mut at, mut value) = (0, true);
        while let Some(op) = self.program.get(at) {
            at += 1;
            match op {
                Op::Test(test) => value = test.holds(row),
                Op::Not => value = !value,
                Op::UnlessGoto(target) if !value => at = *target,
                Op::IfGoto(target) if value => at = *target,
                Op::UnlessGoto(_) | Op::IfGoto(_) => {}
            }
        }
        value
    }
}

/// Where a filter cannot be read, and what was expected there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("filter, byte {offset}: {reason}")]
pub struct FilterFault {
    /// Offset in the text, in bytes.
    pub offset: usize,
    /// What is wrong.
    pub reason: FilterReason,
}

/// What is wrong in a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FilterReason {
    /// A test or an opening parenthesis belongs here.
    #[error("expected a test such as lane=control, `not` or `(`")]
    ExpectedTest,
    /// The name of no column.
    #[error(
        "no such name; there are kind, lane, type, tag, dir, law, fault, verified, gen, epoch, corr, seq, dropped, version, flags, conn, len, offset, caller, request, text, last, guess, cut"
    )]
    UnknownName,
    /// The name needs an operator and a value.
    #[error("expected {0} after the name")]
    ExpectedOperator(&'static str),
    /// The operator needs a value.
    #[error("expected {0}")]
    ExpectedValue(&'static str),
    /// A parenthesis is not closed.
    #[error("expected `)`")]
    ExpectedClose,
    /// A parenthesis closes nothing.
    #[error("`)` without `(`")]
    UnexpectedClose,
    /// A quote is not closed.
    #[error("expected a closing double quote")]
    UnclosedQuote,
    /// A character that begins nothing.
    #[error("unexpected character")]
    UnexpectedCharacter,
    /// Too many levels.
    #[error("nested deeper than {FILTER_DEPTH_MAX}")]
    TooDeep,
    /// Too long a text.
    #[error("longer than {FILTER_LEN_MAX} bytes")]
    TooLong,
}

//! A filter's grammar: `or` of `and`s of tests, compiled as it is read.

use alloc::vec::Vec;

use super::lex::Lexer;
use super::test::Test;
use super::{FilterFault, FilterReason, Op};
use crate::limits::{FILTER_DEPTH_MAX, FILTER_LEN_MAX};

pub(super) fn program(text: &str) -> Result<Vec<Op>, FilterFault> {
    if text.len() > FILTER_LEN_MAX {
        return Err(FilterFault { offset: FILTER_LEN_MAX, reason: FilterReason::TooLong });
    }
    let mut parser = Parser { lexer: Lexer::new(text), program: Vec::new(), depth: 0 };
    if parser.lexer.is_at_end() {
        return Ok(parser.program);
    }
    parser.any()?;
    let offset = parser.lexer.offset;
    if parser.lexer.take(')') {
        return Err(FilterFault { offset, reason: FilterReason::UnexpectedClose });
    }
    if !parser.lexer.is_at_end() {
        return Err(FilterFault { offset, reason: FilterReason::UnexpectedCharacter });
    }
    Ok(parser.program)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    program: Vec<Op>,
    depth: usize,
}

impl Parser<'_> {
    fn fault<T>(&self, reason: FilterReason) -> Result<T, FilterFault> {
        Err(FilterFault { offset: self.lexer.offset, reason })
    }

    /// Tests joined by `or`.
    fn any(&mut self) -> Result<(), FilterFault> {
        let mut jumps = Vec::new();
        loop {
            self.all()?;
            if !self.lexer.take_word("or") {
                break;
            }
            jumps.push(self.program.len());
            self.program.push(Op::IfGoto(usize::MAX));
        }
        self.land(&jumps);
        Ok(())
    }

    /// Tests joined by `and` or by standing side by side.
    fn all(&mut self) -> Result<(), FilterFault> {
        let mut jumps = Vec::new();
        loop {
            self.one()?;
            let is_joined = self.lexer.take_word("and");
            let next = self.lexer.peek_name();
            let follows = self.lexer.starts_group() || !(next.is_empty() || next.eq_ignore_ascii_case("or"));
            if !(is_joined || follows) {
                break;
            }
            jumps.push(self.program.len());
            self.program.push(Op::UnlessGoto(usize::MAX));
        }
        self.land(&jumps);
        Ok(())
    }

    /// A test, its opposite, or an expression in parentheses.
    fn one(&mut self) -> Result<(), FilterFault> {
        if self.depth >= FILTER_DEPTH_MAX {
            return self.fault(FilterReason::TooDeep);
        }
        self.depth += 1;
        if self.lexer.take_word("not") {
            self.one()?;
            self.program.push(Op::Not);
        } else if self.lexer.take('(') {
            self.any()?;
            if !self.lexer.take(')') {
                return self.fault(FilterReason::ExpectedClose);
            }
        } else {
            let test = Test::parse(&mut self.lexer)?;
            self.program.push(Op::Test(test));
        }
        self.depth -= 1;
        Ok(())
    }

    /// Makes the jumps at these steps go to the next one.
    fn land(&mut self, jumps: &[usize]) {
        let end = self.program.len();
        for &jump in jumps {
            if let Some(Op::IfGoto(target) | Op::UnlessGoto(target)) = self.program.get_mut(jump) {
                *target = end;
            }
        }
    }
}

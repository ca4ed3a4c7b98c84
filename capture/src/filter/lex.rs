//! A filter's text as tokens.

use alloc::string::String;

use super::{FilterFault, FilterReason};

/// How a column and a value are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `~`
    Contains,
    /// `!~`
    Lacks,
}

impl Operator {
    /// Longer spellings first, so that `<=` is not read as `<`.
    const SPELLINGS: [(&str, Self); 9] = [
        ("!=", Self::Unequal),
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("!~", Self::Lacks),
        ("==", Self::Equal),
        ("=", Self::Equal),
        ("<", Self::Less),
        (">", Self::Greater),
        ("~", Self::Contains),
    ];
}

/// A text being read from left to right.
pub(super) struct Lexer<'a> {
    text: &'a str,
    pub(super) offset: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut lexer = Self { text, offset: 0 };
        lexer.skip_space();
        lexer
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: usize) {
        self.offset += bytes;
        self.skip_space();
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.offset += rest.len() - rest.trim_start().len();
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// Takes `character`, if it comes next.
    pub(super) fn take(&mut self, character: char) -> bool {
        let is_next = self.rest().starts_with(character);
        if is_next {
            self.advance(character.len_utf8());
        }
        is_next
    }

    pub(super) fn starts_group(&self) -> bool {
        self.rest().starts_with('(')
    }

    /// The next word of letters, without taking it.
    pub(super) fn peek_name(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    /// Takes `word`, in any case, if it comes next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.peek_name().eq_ignore_ascii_case(word);
        if is_next {
            self.advance(word.len());
        }
        is_next
    }

    pub(super) fn take_name(&mut self) -> &'a str {
        let name = self.peek_name();
        self.advance(name.len());
        name
    }

    pub(super) fn take_operator(&mut self) -> Option<Operator> {
        let rest = self.rest();
        let (spelling, operator) =
            Operator::SPELLINGS.into_iter().find(|(spelling, _)| rest.starts_with(spelling))?;
        self.advance(spelling.len());
        Some(operator)
    }

    /// Takes a bare or quoted value; empty where a bare one is not there.
    pub(super) fn take_value(&mut self) -> Result<String, FilterFault> {
        if self.rest().starts_with('"') {
            return self.take_quoted();
        }
        let rest = self.rest();
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"')).unwrap_or(rest.len());
        let value = rest.get(..end).unwrap_or_default();
        self.advance(end);
        Ok(value.into())
    }

    fn take_quoted(&mut self) -> Result<String, FilterFault> {
        let start = self.offset;
        let mut value = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((place, character)) = characters.next() {
            match character {
                '"' => {
                    self.advance(place + 1);
                    return Ok(value);
                }
                '\\' => match characters.next() {
                    Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                    Some((_, other)) => value.extend(['\\', other]),
                    None => break,
                },
                _ => value.push(character),
            }
        }
        Err(FilterFault { offset: start, reason: FilterReason::UnclosedQuote })
    }
}

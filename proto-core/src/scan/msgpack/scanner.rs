//! A pull scanner over one MessagePack value: constant stack, no heap, the offset and reason of the first fault.

use core::ops::Range;

use super::fault::{MsgpackFault, MsgpackReason};
use super::header::{Kind, Token, token_at};
use crate::limits::MSGPACK_DEPTH_MAX;

const LEVELS: usize = MSGPACK_DEPTH_MAX as usize;

/// A pull scanner over one value of any shape. Headers of every length are passed; a [`Token`] says whether its own
/// is the shortest.
///
/// ```
/// use twolane_core::scan::msgpack::{Kind, Scanner};
///
/// // {"id": 7, "list": [1, 2]}
/// let mut scanner = Scanner::new(b"\x82\xa2id\x07\xa4list\x92\x01\x02");
/// assert_eq!(scanner.next_token()?.unwrap().kind, Kind::Map(2));
/// let key = scanner.next_token()?.unwrap();
/// assert_eq!((scanner.text(&key), scanner.position(), scanner.depth()), (Some("id"), 4, 1));
/// assert_eq!(scanner.next_token()?.unwrap().kind, Kind::Unsigned(7));
/// scanner.next_token()?;
/// let (list, span) = scanner.skip_value()?.unwrap();
/// assert_eq!((list.kind, &scanner.bytes()[span]), (Kind::Array(2), &b"\x92\x01\x02"[..]));
/// assert_eq!(scanner.next_token()?, None);
/// # Ok::<(), twolane_core::scan::msgpack::MsgpackFault>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Values that are still to come in each open container; a pair of a map counts as two.
    open: [u64; LEVELS],
    depth: usize,
    complete: bool,
    failed: Option<MsgpackFault>,
}

impl<'a> Scanner<'a> {
    /// Scans `bytes`, which have to be one value.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, open: [0; LEVELS], depth: 0, complete: false, failed: None }
    }

    /// The bytes that are scanned.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Offset after the last token.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Containers that are open around the next token.
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The text of a token of this scanner that is [`Kind::Str`].
    pub fn text(&self, token: &Token) -> Option<&'a str> {
        if token.kind != Kind::Str {
            return None;
        }
        core::str::from_utf8(self.bytes.get(token.content_span())?).ok()
    }

    /// The next token, `None` after the value. A fault stays.
    ///
    /// An array or map has no token for its end: it ends with the last of the elements that it announced.
    pub fn next_token(&mut self) -> Result<Option<Token>, MsgpackFault> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        let outcome = self.advance();
        if let Err(fault) = outcome {
            self.failed = Some(fault);
        }
        outcome
    }

    /// Passes over the value that comes next with all that is inside, and gives its first token and its bytes.
    pub fn skip_value(&mut self) -> Result<Option<(Token, Range<usize>)>, MsgpackFault> {
        let around = self.depth;
        let Some(first) = self.next_token()? else { return Ok(None) };
        // An empty container, like a scalar, leaves no more levels open than there were.
        let inner = matches!(first.kind, Kind::Array(1..) | Kind::Map(1..));
        if inner {
            while self.depth > around && self.next_token()?.is_some() {}
        }
        Ok(Some((first, first.start..self.position)))
    }

    fn advance(&mut self) -> Result<Option<Token>, MsgpackFault> {
        if self.complete {
            if self.position < self.bytes.len() {
                return Err(MsgpackFault { offset: self.position, reason: MsgpackReason::TrailingBytes });
            }
            return Ok(None);
        }
        let token = token_at(self.bytes, self.position)?;
        let inside = match token.kind {
            Kind::Array(count) => u64::from(count),
            Kind::Map(pairs) => u64::from(pairs) * 2,
            Kind::Str => {
                self.check_text(&token)?;
                0
            }
            _ => 0,
        };
        let container = matches!(token.kind, Kind::Array(_) | Kind::Map(_));
        if container && self.depth == LEVELS {
            return Err(MsgpackFault { offset: token.start, reason: MsgpackReason::TooDeep });
        }
        // Each value has a byte or more, so that a count that the bytes cannot hold ends them too early.
        let left = self.bytes.len().saturating_sub(token.end);
        if usize::try_from(inside).map_or(true, |inside| inside > left) {
            let reason = MsgpackReason::UnexpectedEnd;
            return Err(MsgpackFault { offset: self.bytes.len(), reason });
        }
        self.position = token.end;
        match self.open.get_mut(self.depth) {
            Some(level) if inside > 0 => {
                *level = inside;
                self.depth += 1;
            }
            _ => self.leave(),
        }
        Ok(Some(token))
    }

    fn check_text(&self, token: &Token) -> Result<(), MsgpackFault> {
        let content = self.bytes.get(token.content_span()).unwrap_or_default();
        core::str::from_utf8(content).map(drop).map_err(|fault| MsgpackFault {
            offset: token.content.saturating_add(fault.valid_up_to()),
            reason: MsgpackReason::InvalidUtf8,
        })
    }

    /// One value is complete, and with it each container whose last one it was.
    fn leave(&mut self) {
        while let Some(level) = self.depth.checked_sub(1).and_then(|inner| self.open.get_mut(inner)) {
            *level = level.saturating_sub(1);
            if *level > 0 {
                return;
            }
            self.depth -= 1;
        }
        self.complete = true;
    }
}

/// Whether `bytes` are exactly one value.
///
/// ```
/// use twolane_core::scan::msgpack::{MsgpackFault, MsgpackReason, validate};
///
/// assert_eq!(validate(b"\x92\x01\x02"), Ok(()));
/// // One element of the two, and one value too many.
/// assert_eq!(validate(b"\x92\x01"), Err(MsgpackFault { offset: 2, reason: MsgpackReason::UnexpectedEnd }));
/// assert_eq!(validate(b"\x01\x02"), Err(MsgpackFault { offset: 1, reason: MsgpackReason::TrailingBytes }));
/// ```
pub fn validate(bytes: &[u8]) -> Result<(), MsgpackFault> {
    let mut scanner = Scanner::new(bytes);
    while scanner.next_token()?.is_some() {}
    Ok(())
}

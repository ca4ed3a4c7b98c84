//! The front of a unit whose bytes end too early.

use twolane_core::envelope::{Header, Peeked, peek};
use twolane_core::frame::FrameDecoder;
use twolane_core::handshake::message::{Sighted, split};
use twolane_core::limits::{BODY_LEN_MAX, CONNECTOR_PREFIX_LEN, HANDSHAKE_PREFIX_LEN, HEADER_LEN_MAX};

use super::transcript::{begins_connector, begins_message};
use super::{Part, UnitFault};
use crate::bytes::count;
use crate::row::Kind;

/// What can be said of a unit from its first bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Partial {
    pub(super) kind: Kind,
    pub(super) header: Option<Header>,
    part: Part,
    /// Bytes of `part`, counted as [`twolane_core::frame::EndFault`] counts them.
    pub(super) expected: u64,
    actual: u64,
    /// Bytes of the whole unit, where they are announced.
    pub(super) total: Option<u64>,
}

impl Partial {
    /// Reads the front of a unit, all that there is of it.
    pub(super) fn of(bytes: &[u8]) -> Self {
        if begins_message(bytes) {
            return Self::message(bytes);
        }
        if begins_connector(bytes) != Some(false) && bytes.len() > CONNECTOR_PREFIX_LEN {
            return Self::connector(bytes);
        }
        if let Ok(Peeked::Header(header)) = peek(bytes) {
            let head = header.version().header_len();
            let body = u64::from(header.body_len());
            return Self {
                kind: Kind::Frame,
                header: Some(header),
                part: Part::Body,
                expected: body,
                actual: count(bytes.len().saturating_sub(head)),
                total: Some(count(head) + body),
            };
        }
        let decoder = FrameDecoder::new(BODY_LEN_MAX);
        let (part, expected, actual) = match decoder.end(bytes) {
            Err(end) if end.part == twolane_core::frame::Part::Prefix => {
                (Part::Prefix, end.expected, end.actual)
            }
            Err(end) => (Part::Header, end.expected, end.actual),
            Ok(()) => (Part::Header, HEADER_LEN_MAX, bytes.len()),
        };
        let (expected, actual) = (count(expected), count(actual));
        Self { kind: Kind::Fault, header: None, part, expected, actual, total: None }
    }

    /// Reads the front of a handshake message.
    pub(super) fn message(bytes: &[u8]) -> Self {
        let kind = Kind::Handshake;
        let total = match split(bytes) {
            Ok(Sighted::Need(total)) if bytes.len() >= HANDSHAKE_PREFIX_LEN => Some(total),
            _ => None,
        };
        let Some(total) = total else {
            let (expected, actual) = (count(HANDSHAKE_PREFIX_LEN), count(bytes.len()));
            return Self { kind, header: None, part: Part::LengthPrefix, expected, actual, total: None };
        };
        Self {
            kind,
            header: None,
            part: Part::Message,
            expected: count(total - HANDSHAKE_PREFIX_LEN),
            actual: count(bytes.len().saturating_sub(HANDSHAKE_PREFIX_LEN)),
            total: Some(count(total)),
        }
    }

    /// Reads the front of a message of the connector.
    pub(super) fn connector(bytes: &[u8]) -> Self {
        let announced = bytes.first_chunk::<CONNECTOR_PREFIX_LEN>().map(|prefix| u32::from_be_bytes(*prefix));
        let (part, expected) = match announced {
            None => (Part::LengthPrefix, count(CONNECTOR_PREFIX_LEN)),
            Some(len) => (Part::Message, u64::from(len)),
        };
        let there = if announced.is_some() { CONNECTOR_PREFIX_LEN } else { 0 };
        Self {
            kind: Kind::Connector,
            header: None,
            part,
            expected,
            actual: count(bytes.len().saturating_sub(there)),
            total: announced.map(|len| count(CONNECTOR_PREFIX_LEN).saturating_add(u64::from(len))),
        }
    }

    /// The fault where the capture lacks what follows.
    pub(super) fn hole(&self) -> UnitFault {
        UnitFault::Hole { part: self.part, expected: self.expected, actual: self.actual }
    }

    /// The fault where nothing follows.
    pub(super) fn end(&self) -> UnitFault {
        UnitFault::End { part: self.part, expected: self.expected, actual: self.actual }
    }
}

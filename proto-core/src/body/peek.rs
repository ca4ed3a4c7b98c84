//! What an index of bodies needs, in one pass.

use super::display::DisplayEvent;
use super::envelope::Body;
use super::plain;
use super::tag::Tag;

/// The columns of one body in a packed index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peeked {
    /// The place on its lane in its generation.
    pub seq: u64,
    /// The step in its run.
    pub step_id: u64,
    /// The payload's tag; `None` for an unfamiliar one.
    pub tag: Option<Tag>,
    /// The count of a `display_gap`; `None` on every other tag, and where the count is missing or malformed.
    pub dropped: Option<u64>,
}

/// Reads a body for an index; `None` exactly where [`Body::parse`] refuses it.
pub fn peek(text: &[u8]) -> Option<Peeked> {
    let body = Body::parse(text).ok()?;
    let tag = body.payload.tag();
    let dropped = match tag {
        Some(Tag::DisplayGap) => plain::integer_member(&body.payload.value(), b"dropped").or_else(|| {
            match DisplayEvent::read(&body.payload) {
                Ok(DisplayEvent::DisplayGap { dropped }) => Some(dropped),
                _ => None,
            }
        }),
        _ => None,
    };
    Some(Peeked { seq: body.seq, step_id: body.step_id, tag, dropped })
}

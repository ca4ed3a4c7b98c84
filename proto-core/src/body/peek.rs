//! What an index of bodies needs, in one pass.

use super::display::DisplayEvent;
use super::envelope::Body;
use super::plain::{self, Members};
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
    /// Whether the members of a payload with a known tag are as [`DisplayEvent`] and
    /// [`ProviderControl`](super::ProviderControl) want them; true for an unfamiliar one.
    pub is_kept: bool,
}

/// Reads a body for an index; `None` exactly where [`Body::parse`] refuses it.
///
/// ```
/// use twolane_core::body::{Peeked, Tag, peek};
///
/// let text = br#"{"version":1,"run_id":"r","step_id":3,"seq":9,"payload":{"type":"display_gap","dropped":4}}"#;
/// let row = Peeked { seq: 9, step_id: 3, tag: Some(Tag::DisplayGap), dropped: Some(4), is_kept: true };
/// assert_eq!(peek(text), Some(row));
/// assert_eq!(peek(b"{}"), None);
/// ```
pub fn peek(text: &[u8]) -> Option<Peeked> {
    let mut members = Members::none(text);
    let plain = if cfg!(twolane_backend = "compact") { None } else { plain::read(text, &mut members) };
    let is_plain = plain.is_some();
    let body = plain.or_else(|| Body::parse_any(text).ok())?;
    let payload = &body.payload;
    let tag = payload.tag();
    let is_kept = tag.is_none_or(|tag| {
        let rules = tag.rules();
        (is_plain && members.keep(rules)) || payload.check_members(tag).is_ok()
    });
    let dropped = match tag {
        Some(Tag::DisplayGap) if is_kept => {
            let at_a_glance = if is_plain { members.integer(b"dropped") } else { None };
            at_a_glance.or_else(|| DisplayEvent::read(payload).ok().and_then(|event| event.dropped()))
        }
        _ => None,
    };
    Some(Peeked { seq: body.seq, step_id: body.step_id, tag, dropped, is_kept })
}

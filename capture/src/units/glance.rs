//! The two or three values of a body that a row shows.

use twolane_core::body::{Body, Tag};

/// What one look at a body finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Glance {
    pub(super) seq: Option<u64>,
    pub(super) tag: Option<Tag>,
    pub(super) dropped: Option<u64>,
    /// The numbering is that of a subscription, found by the frame's correlation.
    pub(super) is_subscription: bool,
}

/// Looks at a lane body once. What cannot be read is left out; dissection says why.
pub(super) fn glance(body: &[u8]) -> Glance {
    let Ok(body) = Body::parse(body) else { return Glance::default() };
    let tag = body.payload.tag();
    let dropped = match tag {
        Some(Tag::DisplayGap) => dropped(&body),
        _ => None,
    };
    Glance { seq: Some(body.seq), tag, dropped, is_subscription: false }
}

fn dropped(body: &Body<'_>) -> Option<u64> {
    let mut members = body.payload.value().members()?;
    while let Ok(Some(member)) = members.next_member() {
        if member.name == "dropped" {
            return member.value.as_u64();
        }
    }
    None
}

//! Every bound of reading captures, with its reason.

use twolane_core::limits::CONTROL_BODY_MAX;

/// Longest record of a capture file, with its header: the largest frame of the wire (64 MiB of
/// body) and room for what surrounds it. A record's buffer grows as its bytes arrive, never on the
/// word of its header.
pub const MAX_RECORD_BYTES: usize = 64 * 1024 * 1024 + 64 * 1024;

/// Interfaces described in one section of a pcapng file: far more than a machine has.
pub const MAX_INTERFACES: usize = 1024;

/// Bytes looked at before a text is taken for hex or base64: no random bytes look like text for so long.
pub const SNIFF_BYTES: usize = 4096;

/// Longest line of a hex dump: ten times what the widest of the common dumps prints.
pub const MAX_DUMP_LINE_BYTES: usize = 1024;

/// Bytes that one `*` of a hex dump may stand for: they are made up from a few characters, so no more than a body.
pub const MAX_DUMP_REPEAT_BYTES: u64 = 64 * 1024 * 1024;

/// Decoded bytes of a text that are handed on at once, so that a long text needs little memory.
pub(crate) const TEXT_CHUNK_BYTES: usize = 4096;

/// Bytes held behind a hole of one direction; one more and the hole is declared missing.
pub const MAX_HELD_BYTES: usize = 4 * 1024 * 1024;

/// Segments held behind a hole of one direction, which bounds the search for a segment's place;
/// one more and the hole is declared missing.
pub const MAX_HELD_SEGMENTS: usize = 8192;

/// What holding one segment costs beside its bytes, so that many small ones are bounded too.
pub(crate) const HELD_OVERHEAD_BYTES: usize = 96;

/// Packets of a connection that may pass before what should have come before a held segment is
/// declared missing.
pub const MAX_REORDER_PACKETS: u64 = 1024;

/// Packets of a connection that may pass after an acknowledgement of bytes that were not seen
/// before they are declared missing: a capture on several queues can show an acknowledgement
/// shortly before what it acknowledges.
pub const ACK_GRACE_PACKETS: u64 = 16;

/// The greatest window TCP can have; a segment further ahead belongs to something else.
pub(crate) const MAX_AHEAD: i32 = 1 << 30;

/// Connections followed at once, for what a host's loopback may hold. When one more begins, the one idle for longest is closed as
/// forgotten.
pub const MAX_CONNECTIONS: usize = 4096;

/// Bytes held behind holes in all directions of all connections together.
pub const MAX_HELD_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// Extension headers passed over in one IPv6 packet: more than any host sends.
pub(crate) const MAX_EXTENSIONS: usize = 8;

/// VLAN tags passed over in one packet: no network stacks more.
pub(crate) const MAX_VLAN_TAGS: usize = 4;

/// Longest body of a frame that a search believes, in bytes: the largest that our endpoints take.
pub const PLAUSIBLE_BODY_MAX: u32 = CONTROL_BODY_MAX;

/// Proofs that make a boundary: each legal header in a chain of frames is one, and so is each StreamData body that
/// begins and ends as a JSON object.
pub const PROOFS_OF_BOUNDARY: u32 = 3;

/// Proofs that are enough where the bytes end exactly at the end of a frame, or inside the next.
pub(crate) const PROOFS_AT_END: u32 = 2;

/// Places of one search that wait for more bytes, so that hostile bytes cost no more than random ones; with one more
/// the first is given up.
pub(crate) const MAX_UNDECIDED: usize = 64;

/// Bytes of an unreadable place that are shown; the rest is only counted.
pub const EVIDENCE_LEN_MAX: usize = 256;

/// Laws followed at once in one direction, as many as generations have numbers. One more and all are forgotten: the next frame of each is taken as it is.
pub(crate) const MAX_LAWS: usize = 65_536;

/// A larger buffer is given back once the unit that needed it is out, in bytes.
pub(crate) const KEPT_CAPACITY_MAX: usize = 64 * 1024;

/// Longest packet that readers of pcapng take; a longer unit is written in parts.
pub const MAX_PACKET_BYTES: usize = 262_144;

/// Longest name of an endpoint that a label holds; what is longer is cut.
pub const MAX_ENDPOINT_BYTES: usize = 255;

/// Deepest nesting of parentheses and `not`s in a filter, which bounds the stack of its reader.
pub const FILTER_DEPTH_MAX: usize = 32;

/// Longest text of a filter in bytes: more than a person types.
pub const FILTER_LEN_MAX: usize = 4096;

//! Bounds of reading files.

/// Longest record of a capture file, with its header: the largest frame of the wire (64 MiB of
/// body) and room for what surrounds it. A record's buffer grows as its bytes arrive, never on the
/// word of its header.
pub const MAX_RECORD_BYTES: usize = 64 * 1024 * 1024 + 64 * 1024;

/// Interfaces described in one section of a pcapng file.
pub const MAX_INTERFACES: usize = 1024;

/// Bytes looked at before a text is taken for hex or base64.
pub const SNIFF_BYTES: usize = 4096;

/// Longest line of a hex dump.
pub const MAX_DUMP_LINE_BYTES: usize = 1024;

/// Bytes that one `*` of a hex dump may stand for.
pub const MAX_DUMP_REPEAT_BYTES: u64 = 64 * 1024 * 1024;

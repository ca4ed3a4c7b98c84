#![no_std]
//! What surrounds the wire in a file: from a source of bytes to the ordered bytes of each
//! direction of each connection.
//!
//! A [`Source`] is pushed the bytes of a file or a pipe, in any chunks, and hands [`Piece`]s to a
//! [`SegmentSink`] as soon as each is certain. It opens no socket or file, reads no clock, and
//! keeps nothing but what an unfinished record or a hole in a TCP stream forces it to keep.
//!
//! ```
//! use twolane_capture::{Direction, Format, Piece, SegmentSink, Source};
//!
//! #[derive(Default)]
//! struct Sizes { bytes: usize, missing: u64 }
//!
//! impl SegmentSink for Sizes {
//!     fn piece(&mut self, _time_ns: Option<u64>, _connection: u32, _side: Direction, piece: Piece<'_>) {
//!         match piece {
//!             Piece::Bytes(bytes) => self.bytes += bytes.len(),
//!             Piece::Missing { bytes } | Piece::Lost { bytes, .. } => self.missing += bytes,
//!             Piece::Opened { .. } | Piece::Closed { .. } | Piece::Packet { .. } => {}
//!         }
//!     }
//! }
//!
//! let mut sizes = Sizes::default();
//! let mut source = Source::new();
//! source.push(b"6b 00 00", &mut sizes)?;
//! source.push(b" 00 01\n", &mut sizes)?;
//! source.finish(&mut sizes)?;
//! assert_eq!(source.format(), Some(Format::Hex));
//! assert_eq!(sizes.bytes, 5);
//! # Ok::<(), twolane_capture::SourceFault>(())
//! ```
//!
//! # The order of pieces
//!
//! | source | pieces of one direction of one connection |
//! |---|---|
//! | TCP in pcap or pcapng | `Opened`, then `Bytes` and `Missing` in stream order, then one `Closed` |
//! | raw, hex, base64 | connection 1, `AToB` only: `Opened { how: Opening::Stream }`, `Bytes`, `Closed { reason: EndOfCapture }` |
//! | our own tap | `Packet`, each one whole unit; `Missing` after a `Packet` whose end is not there, before one whose beginning is not; `Lost` where whole units are not there |
//!
//! `Opened` and `Closed` are said once a direction, not once a connection: a direction in which
//! nothing was sent (and no SYN was seen) says neither. [`Source::finish`] closes every direction
//! that is still open.
//!
//! `connection` counts from 1 in the order of first packets; a tap's packets keep the number of
//! their label, moved up past the numbers of earlier sections of the file; what a tap cannot tell
//! apart by connections has the number 0. `time_ns` is
//! nanoseconds since 1970 at which the packet that carried the piece was captured, so it may step
//! back where segments were captured out of order; `None` where the source has no times.
//!
//! # Sniffing
//!
//! 1. The first four bytes are one of the magics of pcap or pcapng: that format.
//! 2. Every character could stand in a hex text or dump: hex. Every character could stand in a
//!    base64 text: base64. What could be either is hex. This is decided after 4,096 bytes or at
//!    the end; the first character that can stand in neither decides for raw at once.
//! 3. All else is raw: one direction of a byte stream.
//!
//! No stream of frames or handshake messages is mistaken for another format: its first four bytes
//! are a length of at most 64 MiB, and four characters of text or a magic are a greater number.

extern crate alloc;

mod base64;
mod bytes;
mod columns;
pub mod filter;
mod index;
mod ip;
mod keyed;
mod limits;
mod link;
mod outlet;
mod packets;
mod parts;
mod pcap;
mod pcapng;
mod piece;
mod record;
pub mod row;
mod source;
mod stream;
pub mod summary;
pub mod tap;
mod tcp;
mod text;
pub mod units;

pub use columns::Columns;
pub use filter::{Filter, FilterFault};
pub use index::{Index, Totals, Way};
pub use limits::{
    ACK_GRACE_PACKETS, MAX_CONNECTIONS, MAX_DUMP_LINE_BYTES, MAX_DUMP_REPEAT_BYTES, MAX_HELD_BYTES,
    MAX_HELD_SEGMENTS, MAX_HELD_TOTAL_BYTES, MAX_INTERFACES, MAX_RECORD_BYTES, MAX_REORDER_PACKETS,
    SNIFF_BYTES,
};
pub use piece::{CloseReason, Direction, Ends, Loss, Opening, Piece, SegmentSink};
pub use record::Ignored;
pub use source::{Format, Reason, Source, SourceFault};

//! The header and the streaming decoder.

use twolane_core::envelope::{Header, Peeked, peek};
use twolane_core::frame::{FrameDecoder, Item};

use crate::TwolaneStatus;
use crate::border::{self, Place, begin, bytes, fits, put, state};

/// A header that keeps every rule of its version.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TwolaneHeader {
    /// Correlation of step, approval or request.
    pub corr: u64,
    /// Body bytes after the header.
    pub body_len: u32,
    /// Version 2 only, else 0.
    pub epoch: u32,
    /// Channel; `stream_gen` on lane sockets.
    pub channel: u16,
    /// 1 or 2.
    pub version: u8,
    /// Frame type, 0 to 11.
    pub frame_type: u8,
    /// Flag bits.
    pub flags: u8,
    /// 1 on the control lane, 2 on the display lane, 0 on none.
    pub lane: u8,
}

impl From<Header> for TwolaneHeader {
    fn from(header: Header) -> Self {
        Self {
            corr: header.corr(),
            body_len: header.body_len(),
            epoch: header.epoch(),
            channel: header.channel(),
            version: header.version().number(),
            frame_type: header.frame_type().code(),
            flags: header.flags().bits(),
            lane: header.lane().map_or(0, |lane| lane as u8 + 1),
        }
    }
}

/// Reads the header at the start of `unread`. `Need` puts into `need` how many bytes have to be there.
///
/// # Safety
/// `unread` has `len` readable bytes; `header` and `need` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_peek(
    unread: *const u8,
    len: usize,
    header: *mut TwolaneHeader,
    need: *mut usize,
) -> TwolaneStatus {
    // Safety: the caller's promise.
    let Some(unread) = (unsafe { bytes(unread, len) }) else { return TwolaneStatus::Usage };
    let (status, found, total) = match peek(unread) {
        Ok(Peeked::Header(found)) => (TwolaneStatus::Ok, found.into(), found.version().header_len()),
        Ok(Peeked::Need(total)) => (TwolaneStatus::Need, TwolaneHeader::default(), total),
        Err(_) => (TwolaneStatus::Refused, TwolaneHeader::default(), 0),
    };
    // Safety: the caller's promise.
    if unsafe { put(header, found) && put(need, total) } { status } else { TwolaneStatus::Usage }
}

/// The state of a decoder. It holds no bytes, needs no end, and may be thrown away at any time.
#[repr(C)]
pub struct TwolaneDecoder {
    opaque: [u64; 12],
}

// Safety: asserted below.
unsafe impl Place for TwolaneDecoder {
    type State = FrameDecoder;
}

const _: () = assert!(fits::<TwolaneDecoder>());

/// What the front of the unread bytes holds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TwolaneItem {
    /// Nothing whole.
    Nothing = 0,
    /// A frame.
    Frame = 1,
    /// A legal frame over the limit; its body will be skipped.
    Oversize = 2,
}

/// One step of a decoder.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TwolaneDecoded {
    /// The header of a frame, whole or over the limit.
    pub header: TwolaneHeader,
    /// Bytes to drop from the front of the unread ones, whatever was found.
    pub consumed: usize,
    /// Bytes that have to be there, after that, before another call is useful; 0 where something was found.
    pub need: usize,
    /// The body inside the unread bytes; null where there is none.
    pub body: *const u8,
    /// Bytes of the body.
    pub body_len: usize,
    /// What was found.
    pub item: TwolaneItem,
}

/// Begins a decoder that hands out bodies of up to `body_limit` bytes.
///
/// # Safety
/// `decoder` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_decoder_init(
    decoder: *mut TwolaneDecoder,
    body_limit: u32,
) -> TwolaneStatus {
    // Safety: the caller's promise.
    let begun = unsafe { begin(decoder, FrameDecoder::new(body_limit)) };
    if begun { TwolaneStatus::Ok } else { TwolaneStatus::Usage }
}

/// Looks at the front of the unread bytes. After `Refused` the decoder stays so.
///
/// # Safety
/// `decoder` was begun; `unread` has `len` readable bytes; `decoded` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twolane_decode(
    decoder: *mut TwolaneDecoder,
    unread: *const u8,
    len: usize,
    decoded: *mut TwolaneDecoded,
) -> TwolaneStatus {
    // Safety: the caller's promise.
    let (Some(decoder), Some(unread)) = (unsafe { state(decoder) }, unsafe { bytes(unread, len) }) else {
        return TwolaneStatus::Usage;
    };
    let mut found = TwolaneDecoded {
        header: TwolaneHeader::default(),
        consumed: 0,
        need: 0,
        body: core::ptr::null(),
        body_len: 0,
        item: TwolaneItem::Nothing,
    };
    let status = match decoder.decode(unread) {
        Err(_) => TwolaneStatus::Refused,
        Ok(step) => {
            found.consumed = step.consumed;
            match step.item {
                Item::Need(need) => found.need = need,
                Item::Oversize(header) => {
                    (found.item, found.header) = (TwolaneItem::Oversize, header.into());
                }
                Item::Frame(frame) => {
                    (found.item, found.header) = (TwolaneItem::Frame, frame.header.into());
                    (found.body, found.body_len) = (frame.body.as_ptr(), frame.body.len());
                }
            }
            if found.item == TwolaneItem::Nothing { TwolaneStatus::Need } else { TwolaneStatus::Ok }
        }
    };
    // Safety: the caller's promise.
    if unsafe { border::put(decoded, found) } { status } else { TwolaneStatus::Usage }
}

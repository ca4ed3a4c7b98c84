//! One packet out of a capture file, and the packets that were of no use.

/// A packet as the file holds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) time_ns: Option<u64>,
    /// Link type number as registered for pcap files.
    pub(crate) link: u16,
    /// What was captured.
    pub(crate) data: &'a [u8],
    /// Bytes on the wire; more than `data` where the snap length cut the packet.
    pub(crate) wire_len: u32,
    pub(crate) flow: Option<Flow>,
    pub(crate) comment: Option<&'a str>,
}

/// What `epb_flags` say of a packet's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Inbound,
    Outbound,
}

/// What one step of a reader of files made of its input.
#[derive(Debug)]
pub(crate) enum Step<'a> {
    /// Nothing yet: this many bytes must be there. Always more than were given.
    Need(usize),
    /// The first `used` bytes, never 0, were read; they held this packet, if any.
    Done { used: usize, record: Option<Record<'a>> },
    /// The first `used` bytes began a new section of the file.
    Section { used: usize },
}

/// Why a packet was of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skip {
    LinkType,
    NotIp,
    NotTcp,
    Fragment,
    HeadersCut,
    Malformed,
    OutOfWindow,
    AfterClose,
}

/// Packets that were read and not used, by reason. Where one of them carried bytes of a followed
/// connection, those show up as [`crate::Piece::Missing`] as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ignored {
    /// Of a link type that is not read.
    pub link_type: u64,
    /// Neither IPv4 nor IPv6.
    pub not_ip: u64,
    /// IP, and not TCP.
    pub not_tcp: u64,
    /// TCP in IP fragments, which are not put together.
    pub fragment: u64,
    /// Cut by the snap length before the end of the TCP header's fixed part.
    pub headers_cut: u64,
    /// Headers whose lengths contradict each other.
    pub malformed: u64,
    /// Sequence number more than 2^30 bytes ahead of its direction.
    pub out_of_window: u64,
    /// Bytes of a direction that had been closed, beyond its end.
    pub after_close: u64,
}

impl Ignored {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        [
            self.link_type,
            self.not_ip,
            self.not_tcp,
            self.fragment,
            self.headers_cut,
            self.malformed,
            self.out_of_window,
            self.after_close,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    pub(crate) fn count(&mut self, skip: Skip) {
        let counter = match skip {
            Skip::LinkType => &mut self.link_type,
            Skip::NotIp => &mut self.not_ip,
            Skip::NotTcp => &mut self.not_tcp,
            Skip::Fragment => &mut self.fragment,
            Skip::HeadersCut => &mut self.headers_cut,
            Skip::Malformed => &mut self.malformed,
            Skip::OutOfWindow => &mut self.out_of_window,
            Skip::AfterClose => &mut self.after_close,
        };
        *counter = counter.saturating_add(1);
    }
}

//! What a source hands out.

use core::net::SocketAddr;

use crate::tap::Label;

/// The direction of a piece: `a` is the side that opened the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the side that opened the connection.
    AToB,
    /// From the side that accepted it.
    BToA,
}

impl Direction {
    /// The other direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::AToB => Self::BToA,
            Self::BToA => Self::AToB,
        }
    }
}

/// How a direction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Opening {
    /// Its SYN was captured: the next byte is the first one sent.
    Syn,
    /// The capture joined in the middle: any number of bytes may have been sent before.
    Joined,
    /// A file that is a byte stream by itself; whether it begins at the beginning is not known.
    Stream,
}

/// The two addresses of a TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ends {
    /// Address and port of the side that opened the connection.
    pub a: SocketAddr,
    /// Address and port of the side that accepted it.
    pub b: SocketAddr,
    /// No SYN was seen: `a` is the side with the higher port number of the first packet.
    pub guessed: bool,
}

/// Why a direction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// Its sender said so, and every byte before was delivered or declared missing.
    Fin,
    /// One of the sides reset the connection.
    Reset,
    /// The same two ports began another connection, which has a number of its own.
    Replaced,
    /// More connections than can be followed at once; this was the one idle for longest. What
    /// follows of it, if anything, is a connection joined in the middle.
    Forgotten,
    /// The source ended.
    EndOfCapture,
}

/// Why a tap did not write whole units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loss {
    /// The tap's reader was too slow for them.
    Overrun,
    /// They passed before the tap was joined.
    Earlier,
}

/// One ordered piece of one direction of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The direction begins.
    Opened {
        /// Whether its first byte is at hand.
        how: Opening,
        /// The addresses; `None` where the source has none.
        ends: Option<Ends>,
    },
    /// The next bytes of the direction, never empty, cut anywhere.
    Bytes(&'a [u8]),
    /// Bytes that were sent and are not in the capture, at this place in the direction.
    Missing {
        /// How many; never 0.
        bytes: u64,
    },
    /// Nothing follows in this direction of this connection.
    Closed {
        /// Why.
        reason: CloseReason,
    },
    /// One whole unit of our own tap: a frame, a handshake message or a connector packet.
    Packet {
        /// The unit's bytes.
        bytes: &'a [u8],
        /// Its label, to be read with [`crate::tap::Label::parse`]; `None` where the packet has
        /// no comment or one that is not UTF-8.
        comment: Option<&'a str>,
    },
    /// Whole units of our own tap that passed at this place without being written.
    Lost {
        /// Where they belong. Connection 0 stands for any number of connections that are not told apart.
        label: Label<'a>,
        /// How many; never 0.
        units: u64,
        /// Their bytes added up, as far as the file can say it: below 4 GiB.
        bytes: u64,
        /// Why.
        how: Loss,
    },
}

/// Takes the pieces of a source.
pub trait SegmentSink {
    /// One piece. `time_ns` counts from 1970; `connection` from 1.
    fn piece(&mut self, time_ns: Option<u64>, connection: u32, direction: Direction, piece: Piece<'_>);
}

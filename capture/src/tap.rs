//! Our own tap: pcapng with one packet a unit, link type USER0 (147).

/// What a tapped unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One frame of a lane or provider socket: header and body.
    Frame,
    /// One handshake message with its length prefix.
    Handshake,
    /// One connector packet with its length prefix.
    Connector,
}

impl Kind {
    /// The word in the label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Handshake => "handshake",
            Self::Connector => "connector",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Frame, Self::Handshake, Self::Connector].into_iter().find(|kind| kind.name() == name)
    }
}

/// A packet's label: `twolane conn=N endpoint=NAME kind=frame|handshake|connector`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label<'a> {
    /// The connection's number in its server.
    pub connection: u32,
    /// The endpoint's name.
    pub endpoint: &'a str,
    /// What the packet is.
    pub kind: Kind,
}

impl<'a> Label<'a> {
    /// Reads a packet's comment; `None` if it is not a label of ours. Words after the third are
    /// left for later versions.
    #[must_use]
    pub fn parse(comment: &'a str) -> Option<Self> {
        let mut words = comment.split(' ');
        if words.next()? != "twolane" {
            return None;
        }
        Some(Self {
            connection: words.next()?.strip_prefix("conn=")?.parse().ok()?,
            endpoint: words.next()?.strip_prefix("endpoint=")?,
            kind: Kind::from_name(words.next()?.strip_prefix("kind=")?)?,
        })
    }
}

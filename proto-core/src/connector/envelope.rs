//! What lies around the seal: `gamecult.model.transport_envelope.v3`, and what it authenticates.

use core::ops::Range;

#[cfg(feature = "std")]
use super::document::SchemaId;
use super::document::{DocumentFault, Fields, Schemas, variants};
use crate::limits::{CONNECTOR_ID_MAX, SEAL_NONCE_LEN};
use crate::scan::msgpack::{Full, Output, Reader, Writer};

/// Names the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeSchema {}

impl Schemas for EnvelopeSchema {
    const ID: &'static str = "gamecult.model.transport_envelope.v3";
}

const DOCUMENT: &str = "transport_envelope";
const FIELDS: u32 = 6;

/// Bytes of the authenticated data of an envelope whose ids are ids.
pub const AAD_LEN_MAX: usize = 1 + (2 + EnvelopeSchema::ID.len()) + 2 * (3 + CONNECTOR_ID_MAX) + (1 + 10);

variants! {
    /// Which way an envelope goes.
    MessageKind {
        /// To the server.
        Invocation = "Invocation",
        /// To the caller.
        Result = "Result",
    }
}

/// 12 bytes that never come twice under one key.
///
/// ```
/// use twolane_core::connector::envelope::Nonce;
///
/// // Without a random source: 4 bytes drawn once, and a counter that is stored before it is used.
/// let nonce = Nonce::counted(*b"disk", 0x0102);
/// assert_eq!(nonce, Nonce(*b"disk\0\0\0\0\0\0\x01\x02"));
/// assert_ne!(nonce, Nonce::counted(*b"disk", 0x0103));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nonce(pub [u8; SEAL_NONCE_LEN]);

impl Nonce {
    /// For a host without a random source: a prefix drawn once, and a counter that was durably reserved.
    pub const fn counted(prefix: [u8; 4], counter: u64) -> Self {
        let [a, b, c, d] = prefix;
        let [e, f, g, h, i, j, k, l] = counter.to_be_bytes();
        Self([a, b, c, d, e, f, g, h, i, j, k, l])
    }
}

/// All of an envelope but the ciphertext. The ids are as they were received: whether they are ids is judged after
/// the seal is opened.
///
/// ```
/// use twolane_core::connector::envelope::{AAD_LEN_MAX, Envelope, MessageKind, Nonce};
/// use twolane_core::scan::msgpack::{Output, Written};
///
/// let nonce = Nonce([3; 12]);
/// let message_kind = MessageKind::Invocation;
/// let envelope = Envelope { caller_runtime_id: "caller-1", request_id: "request-1", message_kind, nonce };
/// let mut buffer = [0; 256];
/// let mut written = Written::new(&mut buffer);
/// envelope.write_front(&mut written, 20).unwrap();
/// let front = written.len();
/// // The ciphertext follows, as many bytes as were announced.
/// written.put(&[0xcc; 20]).unwrap();
/// assert_eq!(written.len(), front + 20);
///
/// // What is authenticated does not hold the nonce: the cipher takes that by itself.
/// let mut aad = [0; AAD_LEN_MAX];
/// let mut written = Written::new(&mut aad);
/// envelope.write_aad(&mut written).unwrap();
/// let len = written.len();
/// assert!(len < front && !aad[..len].windows(12).any(|window| window == nonce.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// Who asks.
    pub caller_runtime_id: &'a str,
    /// The request.
    pub request_id: &'a str,
    /// Which way it goes.
    pub message_kind: MessageKind,
    /// Of the seal.
    pub nonce: Nonce,
}

/// An envelope in canonical bytes.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::document::Schemas;
/// use twolane_core::connector::envelope::{
///     AAD_LEN_MAX, Envelope, EnvelopeSchema, MessageKind, Nonce, ReadEnvelope,
/// };
/// use twolane_core::scan::msgpack::Output;
///
/// let envelope = Envelope {
///     caller_runtime_id: "caller-1",
///     request_id: "request-1",
///     message_kind: MessageKind::Invocation,
///     nonce: Nonce([3; 12]),
/// };
/// let mut bytes = Vec::new();
/// envelope.write_front(&mut bytes, 20).unwrap();
/// bytes.put(&[0xcc; 20]).unwrap();
///
/// let read = ReadEnvelope::read(&bytes).unwrap();
/// assert_eq!((read.envelope, read.ciphertext), (envelope, &[0xcc; 20][..]));
/// assert_eq!(read.ciphertext_span(), bytes.len() - 20..bytes.len());
///
/// // What the seal vouches for besides its text: the schema, both ids and the direction.
/// let mut aad = Vec::new();
/// envelope.write_aad(&mut aad).unwrap();
/// assert!(aad.len() <= AAD_LEN_MAX);
/// assert!(aad.windows(36).any(|window| window == EnvelopeSchema::ID.as_bytes()));
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadEnvelope<'a> {
    /// What is before the ciphertext.
    pub envelope: Envelope<'a>,
    /// The ciphertext, the tag at its end; of any length.
    pub ciphertext: &'a [u8],
    start: usize,
}

impl<'a> ReadEnvelope<'a> {
    /// Reads an envelope that is all of `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Self, DocumentFault> {
        let mut f = Fields::new(Reader::new(bytes), DOCUMENT);
        f.map(FIELDS)?;
        f.schema_id(EnvelopeSchema::ID)?;
        let envelope = Envelope {
            caller_runtime_id: f.key("caller_runtime_id")?.str()?,
            request_id: f.key("request_id")?.str()?,
            message_kind: f.key("message_kind")?.named(MessageKind::from_name)?,
            nonce: Nonce(f.key("nonce")?.array()?),
        };
        let ciphertext = f.key("ciphertext")?.bin()?;
        let start = f.position().saturating_sub(ciphertext.len());
        f.end()?;
        Ok(Self { envelope, ciphertext, start })
    }

    /// Where the ciphertext stands in the bytes that were read.
    pub const fn ciphertext_span(&self) -> Range<usize> {
        self.start..self.start.saturating_add(self.ciphertext.len())
    }
}

/// An envelope that holds its own, for hosts: what [`ReadEnvelope`] reads, through serde.
///
/// ```
/// use twolane_core::connector::document::SchemaId;
/// use twolane_core::connector::envelope::{Ciphertext, MessageKind, Nonce, ReadEnvelope, TransportEnvelope};
/// use twolane_core::connector::over_serde;
///
/// // What serde writes is what the core's own reader reads.
/// let envelope = TransportEnvelope {
///     schema_id: SchemaId::NEW,
///     caller_runtime_id: "caller-1".into(),
///     request_id: "request-1".into(),
///     message_kind: MessageKind::Result,
///     nonce: Nonce([3; 12]),
///     ciphertext: Ciphertext(vec![0xcc; 20]),
/// };
/// let bytes = over_serde::write(&envelope).unwrap();
/// assert_eq!(ReadEnvelope::read(&bytes).unwrap().ciphertext, envelope.ciphertext.0);
/// ```
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "transport_envelope"))]
pub struct TransportEnvelope {
    /// The document's name.
    pub schema_id: SchemaId<EnvelopeSchema>,
    /// Who asks.
    pub caller_runtime_id: alloc::boxed::Box<str>,
    /// The request.
    pub request_id: alloc::boxed::Box<str>,
    /// Which way it goes.
    pub message_kind: MessageKind,
    /// Of the seal.
    pub nonce: Nonce,
    /// The ciphertext, the tag at its end.
    pub ciphertext: Ciphertext,
}

/// The ciphertext of a [`TransportEnvelope`].
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ciphertext(pub alloc::vec::Vec<u8>);

impl Envelope<'_> {
    /// Writes all up to a ciphertext of `ciphertext_len` bytes, tag included, which has to follow.
    pub fn write_front(&self, out: &mut impl Output, ciphertext_len: u32) -> Result<(), Full> {
        let mut w = Writer(out);
        w.map(FIELDS)?;
        for (name, text) in [
            ("schema_id", EnvelopeSchema::ID),
            ("caller_runtime_id", self.caller_runtime_id),
            ("request_id", self.request_id),
            ("message_kind", self.message_kind.name()),
        ] {
            w.str(name)?;
            w.str(text)?;
        }
        w.str("nonce")?;
        w.bin(&self.nonce.0)?;
        w.str("ciphertext")?;
        w.bin_header(ciphertext_len)
    }

    /// Writes what the seal authenticates besides its plaintext.
    pub fn write_aad(&self, out: &mut impl Output) -> Result<(), Full> {
        let mut w = Writer(out);
        w.array(4)?;
        [EnvelopeSchema::ID, self.caller_runtime_id, self.request_id, self.message_kind.name()]
            .iter()
            .try_for_each(|text| w.str(text))
    }
}

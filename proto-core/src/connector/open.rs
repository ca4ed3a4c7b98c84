//! A captured message opened with a key, and why one does not open.

use alloc::vec::Vec;

use super::admit::judge;
use super::carriage::CarriageFault;
use super::document::{DocumentFault, ReadResult, Refusal, Schemas, Valid};
use super::envelope::{Envelope, EnvelopeSchema, MessageKind, Nonce, ReadEnvelope};
use super::outside::{Outside, Sort};
use super::seal::SealKey;
use zeroize::Zeroize;

/// Why a message is not opened. Who could not open it may have the wrong key, or it is not what was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// No operation message.
    #[error("no operation message: {0}")]
    Carriage(CarriageFault),
    /// A failure: anyone may have said it.
    #[error("nothing in it is sealed: it is a failure")]
    Failure,
    /// Another payload.
    #[error("`payloadSchema`: no envelope of ours")]
    OtherPayload,
    /// No envelope.
    #[error("`payload`: no canonical envelope in canonical base64")]
    NoEnvelope,
    /// The seal is right, but goes the other way.
    #[error("wrong direction: a {} carries what was sealed as {}", carried.name(), sealed.name())]
    Direction {
        /// What carries it.
        carried: Sort,
        /// Which way it was sealed for.
        sealed: MessageKind,
    },
    /// The key does not make a document of the first bytes.
    #[error("wrong key: it was sealed under another one, or its nonce was changed")]
    OtherKey,
    /// The key is right, and something else is not.
    #[error("the key is right, but {} changed since it was sealed", .0.words())]
    Changed(Changed),
}

/// What changed after it was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// `message_kind` of the envelope: it was sealed for the other direction.
    Kind,
    /// `request_id` of the envelope: it was sealed for that of `messageId`.
    RequestId,
    /// An id, the text or its tag.
    Other,
}

impl Changed {
    const fn words(self) -> &'static str {
        match self {
            Self::Kind => "`message_kind` (wrong direction)",
            Self::RequestId => "`request_id` (`messageId` is what was sealed)",
            Self::Other => "`caller_runtime_id`, `request_id`, the ciphertext or its tag",
        }
    }
}

/// A rule that an opened document breaks, by itself or against what carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The carriage names another request than the envelope.
    #[error("`messageId` is not the `request_id` of the envelope")]
    MessageId,
    /// A request that no server takes.
    #[error("a server refuses it: {}", .0.name())]
    Refused(Refusal),
    /// A result that is none.
    #[error("{0}")]
    Result(DocumentFault),
    /// A result for another caller.
    #[error("`caller_runtime_id`: another inside of the seal")]
    Caller,
    /// A result of another request.
    #[error("`request_id`: another inside of the seal")]
    RequestId,
}

impl Outside<'_> {
    /// The envelope that a key is tried on, or why there is none.
    pub fn sealed(&self) -> Result<ReadEnvelope<'_>, NotOpened> {
        if self.sort == Sort::Failure {
            return Err(NotOpened::Failure);
        }
        if self.payload_schema != EnvelopeSchema::ID {
            return Err(NotOpened::OtherPayload);
        }
        self.envelope().ok_or(NotOpened::NoEnvelope)
    }

    /// Opens the seal and gives the document in it, whose rules are not judged.
    ///
    /// ```
    /// use twolane_core::connector::digest::Digest;
    /// use twolane_core::connector::document::write_malformed;
    /// use twolane_core::connector::envelope::Nonce;
    /// use twolane_core::connector::open::{Changed, NotOpened};
    /// use twolane_core::connector::outside::Outside;
    /// use twolane_core::connector::seal::SealKey;
    /// use twolane_core::connector::sealed::seal_malformed;
    ///
    /// // A captured reply, and two keys to try on it.
    /// let (key, other, mut buffer) = (SealKey::from_bytes(&[1; 32]), SealKey::from_bytes(&[2; 32]), [0; 2048]);
    /// let ids = ["caller-1", "request-1"];
    /// let frame = seal_malformed(&mut buffer, &key, Nonce([4; 12]), ids, &Digest::ZERO).unwrap();
    /// let outside = Outside::read(&frame[4..]).unwrap();
    /// assert_eq!(outside.sealed().unwrap().envelope.caller_runtime_id, "caller-1");
    /// assert_eq!(outside.open(&other).unwrap_err(), NotOpened::OtherKey);
    /// let mut sealed = Vec::new();
    /// write_malformed(&mut sealed, ids[1], ids[0], &Digest::ZERO).unwrap();
    /// assert_eq!(outside.open(&key), Ok(sealed));
    ///
    /// // The words for a message that was changed on its way.
    /// let changed = NotOpened::Changed(Changed::RequestId).to_string();
    /// assert!(changed.contains("`request_id`"), "{changed}");
    /// ```
    pub fn open(&self, key: &SealKey) -> Result<Vec<u8>, NotOpened> {
        let read = self.sealed()?;
        let sealed = read.envelope.message_kind;
        match unsealed(key, &read.envelope, read.ciphertext) {
            Some(_) if sealed != way(self.sort) => Err(NotOpened::Direction { carried: self.sort, sealed }),
            Some(text) => Ok(text),
            None => Err(self.cause(key, &read)),
        }
    }

    /// Judges the document that [`Self::open`] gave. What only who asked can compare is not: model, digests, binding.
    ///
    /// ```
    /// use twolane_core::connector::digest::Digest;
    /// use twolane_core::connector::document::write_malformed;
    /// use twolane_core::connector::envelope::Nonce;
    /// use twolane_core::connector::open::Broken;
    /// use twolane_core::connector::outside::Outside;
    /// use twolane_core::connector::seal::SealKey;
    /// use twolane_core::connector::sealed::seal_again;
    ///
    /// // A server that sealed one caller's result for another.
    /// let mut result = Vec::new();
    /// write_malformed(&mut result, "request-1", "caller-2", &Digest::ZERO).unwrap();
    /// let (key, mut buffer) = (SealKey::from_bytes(&[1; 32]), [0; 2048]);
    /// let frame = seal_again(&mut buffer, &key, Nonce([4; 12]), ["caller-1", "request-1"], &result).unwrap();
    /// let outside = Outside::read(&frame[4..]).unwrap();
    /// let text = outside.open(&key).unwrap();
    /// assert_eq!(outside.judge(&text), Err(Broken::Caller));
    /// ```
    pub fn judge(&self, text: &[u8]) -> Result<(), Broken> {
        let Some(ReadEnvelope { envelope, .. }) = self.envelope() else { return Ok(()) };
        if self.message_id != envelope.request_id {
            return Err(Broken::MessageId);
        }
        if self.sort == Sort::Request {
            let judged = judge(text, envelope.caller_runtime_id, envelope.request_id);
            return judged.map(|_| ()).map_err(|refused| Broken::Refused(refused.refusal));
        }
        let result = Valid::<ReadResult<'_>>::read(text).map_err(Broken::Result)?;
        if result.caller_runtime_id.as_str() != envelope.caller_runtime_id {
            return Err(Broken::Caller);
        }
        if result.request_id.as_str() != envelope.request_id {
            return Err(Broken::RequestId);
        }
        Ok(())
    }

    /// Why the seal is not right.
    fn cause(&self, key: &SealKey, read: &ReadEnvelope<'_>) -> NotOpened {
        if !begins_document(key, &read.envelope.nonce, read.ciphertext) {
            return NotOpened::OtherKey;
        }
        let message_kind = match read.envelope.message_kind {
            MessageKind::Invocation => MessageKind::Result,
            MessageKind::Result => MessageKind::Invocation,
        };
        let guesses = [
            (Changed::Kind, Envelope { message_kind, ..read.envelope }),
            (Changed::RequestId, Envelope { request_id: self.message_id, ..read.envelope }),
        ];
        for (changed, envelope) in guesses {
            if let Some(mut text) = unsealed(key, &envelope, read.ciphertext) {
                text.zeroize();
                return NotOpened::Changed(changed);
            }
        }
        NotOpened::Changed(Changed::Other)
    }
}

const fn way(sort: Sort) -> MessageKind {
    match sort {
        Sort::Request => MessageKind::Invocation,
        Sort::Reply | Sort::Failure => MessageKind::Result,
    }
}

fn unsealed(key: &SealKey, envelope: &Envelope<'_>, ciphertext: &[u8]) -> Option<Vec<u8>> {
    let mut sealed = ciphertext.to_vec();
    let len = key.open(envelope, &mut sealed).ok()?.len();
    sealed.truncate(len);
    Some(sealed)
}

/// Whether the first bytes would be those of a document under this key. It tells a wrong key from a changed text: no
/// more than the document's first key, which everyone knows, is compared, and nothing of the text is kept.
fn begins_document(key: &SealKey, nonce: &Nonce, ciphertext: &[u8]) -> bool {
    /// A map's header, which differs from document to document, and the text `schema_id`.
    const FRONT: &[u8; 11] = b"\x80\xa9schema_id";
    let mut block = [0; FRONT.len()];
    // What encrypting zeros gives is what the cipher adds to a text.
    let is_sealed = key.seal_detached(nonce, &[], &mut block).is_ok();
    let behind = ciphertext.iter().zip(&block).map(|(byte, mask)| byte ^ mask);
    let begins =
        ciphertext.len() >= FRONT.len() && behind.zip(FRONT).skip(1).all(|(byte, known)| byte == *known);
    block.zeroize();
    is_sealed && begins
}

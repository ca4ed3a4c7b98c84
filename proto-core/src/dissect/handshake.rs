//! One message of the handshake: its length prefix and its JSON text.

use super::fault::{Fault, FaultReason};
use super::field::{FieldValue, NodeKind, Sink};
use super::header::known;
use super::json::{Root, json_fields, unread};
use super::schema::Schema;
use crate::handshake::Stage;
use crate::handshake::message::{ClientAuth, ClientHello, MessageFault, ServerProof, Sighted, split};
use crate::limits::HANDSHAKE_PREFIX_LEN;

/// Dissects the bytes of one handshake message, its 4-byte length prefix first.
///
/// `bytes` should end with the message: what is left over is a fault, and so is what is missing. Proofs and nonces
/// are shown as hex and not verified: that takes a key.
///
/// ```
/// use twolane_core::dissect::{Fault, Field, Sink, Stage, handshake};
///
/// /// The names of fields, for a list of what a message holds.
/// #[derive(Default)]
/// struct Names(Vec<String>, Option<Fault>);
///
/// impl Sink for Names {
///     fn open(&mut self, field: Field<'_>) {
///         self.0.push(field.name.to_string());
///     }
///
///     fn close(&mut self, _: usize) {}
///
///     fn leaf(&mut self, field: Field<'_>, _: usize) {
///         self.0.push(field.name.to_string());
///     }
///
///     fn fault(&mut self, fault: Fault) {
///         self.1 = Some(fault);
///     }
/// }
///
/// let mut names = Names::default();
/// handshake(b"\x0f\0\0\0{\"role\":\"none\"}", Stage::ClientHello, &mut names);
/// assert_eq!(names.0, ["len", "ClientHello", "role"]);
/// assert_eq!(names.1.unwrap().to_string(), "byte 18: member `client_nonce` is missing");
/// ```
pub fn handshake(bytes: &[u8], stage: Stage, sink: &mut dyn Sink) {
    let Some(prefix) = bytes.first_chunk::<HANDSHAKE_PREFIX_LEN>() else {
        unread(0..bytes.len(), sink);
        return sink.fault(cut(HANDSHAKE_PREFIX_LEN, bytes));
    };
    let len = u64::from(u32::from_le_bytes(*prefix));
    let meaning = "bytes of the message after this prefix";
    sink.leaf(known("len", NodeKind::Integer, 0, FieldValue::Number(len), meaning), HANDSHAKE_PREFIX_LEN);
    let rest = bytes.get(HANDSHAKE_PREFIX_LEN..).unwrap_or_default();
    match split(bytes) {
        Err(fault) => {
            unread(HANDSHAKE_PREFIX_LEN..bytes.len(), sink);
            sink.fault(Fault { offset: 0, reason: FaultReason::HandshakeLength(fault) });
        }
        Ok(Sighted::Need(expected)) => {
            // The cut explains a text that ends too early better than the scanner can.
            let _ = message(rest, stage, sink);
            sink.fault(cut(expected, bytes));
        }
        Ok(Sighted::Message { consumed, json }) => {
            let json = bytes.get(json).unwrap_or_default();
            let judged = message(json, stage, sink);
            unread(consumed..bytes.len(), sink);
            match judged {
                Err(fault) => sink.fault(fault.shifted(HANDSHAKE_PREFIX_LEN)),
                Ok(()) if bytes.len() > consumed => {
                    let reason = FaultReason::TrailingBytes { count: bytes.len() - consumed };
                    sink.fault(Fault { offset: consumed, reason });
                }
                Ok(()) => {}
            }
        }
    }
}

/// Tells the text of the message and gives its fault, if any; offsets of the fault are in the text.
fn message(json: &[u8], stage: Stage, sink: &mut dyn Sink) -> Result<(), Fault> {
    if json.is_empty() {
        return Ok(());
    }
    let meaning = match stage {
        Stage::ClientHello => "message 1, from the client",
        Stage::ServerProof => "message 2, from the server",
        Stage::ClientAuth => "message 3, from the client",
    };
    let root = Root { name: stage.name(), schema: Schema::Handshake, meaning, payload_type: None };
    json_fields(json, HANDSHAKE_PREFIX_LEN, root, sink)?;
    let judged: Result<(), MessageFault> = match stage {
        Stage::ClientHello => ClientHello::parse(json).map(drop),
        Stage::ServerProof => ServerProof::parse(json).map(drop),
        Stage::ClientAuth => ClientAuth::parse(json).map(drop),
    };
    Ok(judged?)
}

const fn cut(expected: usize, bytes: &[u8]) -> Fault {
    let actual = bytes.len();
    Fault { offset: actual, reason: FaultReason::CutMessage { expected, actual } }
}

//! The connector's carriage: what is read is written and read again, checks never see bytes that are not there, and
//! the dissector keeps its laws and names a fault wherever the readers do.

use twolane_core::connector::admit::{arrive, judge, scratch_len};
use twolane_core::connector::base64::{decode_in_place, encode_in_place, encoded_len};
use twolane_core::connector::carriage::{OperationRequest, OperationResponse};
use twolane_core::connector::envelope::ReadEnvelope;
use twolane_core::connector::failure::Hint;
use twolane_core::dissect::Tree;

use crate::dissect::keeps_the_laws;
use crate::seeds::Seeds;

/// The bytes are one frame with its length prefix.
pub fn run(bytes: &[u8]) {
    let tree = Tree::connector(bytes);
    keeps_the_laws(&tree, bytes.len());
    let Some(body) = bytes.get(4..) else { return };
    let mut scratch = vec![0; scratch_len(body.len())];
    if let Ok(arrived) = arrive(body, &mut scratch) {
        assert!(scratch_len(body.len()) >= arrived.sealed.len());
        let (caller, id) = (arrived.envelope.caller_runtime_id, arrived.envelope.request_id);
        assert_eq!(id, arrived.request.message_id);
        let _ = judge(arrived.sealed, caller, id);
    }
    let request = OperationRequest::read(body);
    let response = OperationResponse::read(body);
    assert!(request.is_err() || response.is_err(), "no message is both");
    assert!(request.is_ok() || response.is_ok() || tree.fault.is_some(), "a fault that is not told");
    if let Ok(request) = request {
        let mut again = Vec::new();
        request.write(&mut again).expect("a vector takes all");
        assert_eq!(OperationRequest::read(&again), Ok(request));
        payload(request.payload);
    }
    if let Ok(response) = response {
        assert_eq!(&body[response.payload_span()], response.payload.as_bytes());
        payload(response.payload);
    }
}

/// What is canonical base64 has one spelling.
fn payload(text: &str) {
    let mut bytes = text.as_bytes().to_vec();
    let Ok(len) = decode_in_place(&mut bytes) else { return };
    let decoded = bytes[..len].to_vec();
    let mut again = vec![0; encoded_len(len).expect("short")];
    let start = again.len() - len;
    again[start..].copy_from_slice(&decoded);
    assert!(encode_in_place(&mut again, len));
    assert_eq!(again, text.as_bytes());
    let _ = Hint::parse(&decoded);
    if let Ok(read) = ReadEnvelope::read(&decoded) {
        let mut again = Vec::new();
        let len = u32::try_from(read.ciphertext.len()).expect("short");
        read.envelope.write_front(&mut again, len).expect("a vector takes all");
        again.extend_from_slice(read.ciphertext);
        assert_eq!(again, decoded, "an envelope has one form");
    }
}

/// Frames of the connector.
pub fn seeds(seeds: &Seeds) -> Vec<Vec<u8>> {
    seeds.connector.clone()
}

//! The connector up to its seal: carriage, base64, envelope, documents, judgement, arithmetic.
#![no_std]
#![no_main]

use no_panic::{output, program};
use twolane_core::connector::admit::{arrive, judge};
use twolane_core::connector::answer::{Sent, believe};
use twolane_core::connector::arithmetic::{frame_bytes_for_payload, payload_bytes_for_frame};
use twolane_core::connector::base64::{decode_in_place, encode_in_place};
use twolane_core::connector::carriage::{OperationRequest, OperationResponse};
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Disposition, ProviderRequest, ReadInvocation, ReadRequest, ReadResult, SchemaId, ToolChoice, Valid,
};
use twolane_core::connector::envelope::ReadEnvelope;
use twolane_core::connector::failure::{Failure, Hint};
use twolane_core::connector::text::{FailureMessage, Id};
use twolane_core::scan::msgpack::Written;

program!(|bytes| {
    let mut scratch = [0; 512];
    output(arrive(bytes, &mut scratch).is_ok());
    if let Ok(request) = OperationRequest::read(bytes) {
        output(Hint::read(request.payload, &mut scratch));
        output(Failure::NotAdmitted.write(request.reply_to(), &mut Written::new(&mut scratch)));
        output(request.write(&mut Written::new(&mut scratch)));
    }
    if let Ok(response) = OperationResponse::read(bytes) {
        output(response.answers("request-1"));
    }
    if let Ok(read) = ReadEnvelope::read(bytes) {
        output(read.envelope.write_aad(&mut Written::new(&mut scratch)));
        output(read.ciphertext_span());
    }
    output(judge(bytes, "caller-1", "request-1").is_ok());
    if let Ok(read) = ReadInvocation::read(bytes) {
        output(read.request_sha256());
    }
    if let Ok(read) = Valid::<ReadRequest<'_>>::read(bytes) {
        read.input.iter().for_each(output);
        read.tools.iter().for_each(output);
        write(&read, &mut scratch);
    }
    let digest = Digest::of(bytes);
    let sent = Sent {
        caller_runtime_id: "caller-1",
        request_id: "request-1",
        model: "model-a",
        native_request_sha256: digest,
        provider_request_sha256: digest,
    };
    output(believe(bytes, &sent).is_ok());
    if let Ok(read) = Valid::<ReadResult<'_>>::read(bytes)
        && let Disposition::Transported(transported) = &read.disposition
    {
        transported.events.iter().for_each(output);
    }
    let frame = bytes.len() as u64;
    output((payload_bytes_for_frame(frame), frame_bytes_for_payload(frame)));
    output(
        core::str::from_utf8(bytes)
            .is_ok_and(|text| FailureMessage::cut(text).is_some() && Id::new(text).is_ok()),
    );
    output(decode_in_place(bytes));
    output(encode_in_place(bytes, frame as usize / 2));
});

/// Writes a request from parts that were read.
fn write(read: &ReadRequest<'_>, buffer: &mut [u8; 512]) {
    let first = read.input.iter().next();
    let parts = ProviderRequest {
        schema_id: SchemaId::NEW,
        request_id: read.request_id,
        conversation_id: read.conversation_id,
        model: read.model,
        instructions: read.instructions,
        input: first.as_slice(),
        reasoning_effort: read.reasoning_effort,
        reasoning_summary: None,
        service_tier: None,
        output_format_name: read.output_format_name,
        previous_response_id: None,
        tools: &[][..],
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: read.parallel_tool_calls,
        output_schema_json: read.output_schema_json,
        max_output_tokens: read.max_output_tokens,
        prompt_cache_key: read.prompt_cache_key,
    };
    if let Ok(request) = Valid::new(parts) {
        output((request.write(&mut Written::new(buffer)), request.sha256()));
    }
}

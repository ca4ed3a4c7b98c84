//! What the callers of the benches ask, and its seal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use twolane_core::connector::answer::{Reply, Sent, believe, open_reply};
use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Disposition, InputItem, OwnedInvocation, OwnedRequest, ProviderRequest, SchemaId, Tool, ToolChoice,
    TransportInvocation, Valid,
};
use twolane_core::connector::envelope::Nonce;
use twolane_core::connector::seal::SealKey;
use twolane_core::connector::sealed::{SealedFault, seal_invocation};
use twolane_core::connector::text::{Content, Id, JsonObject, Name};
use twolane_core::limits::CONNECTOR_PREFIX_LEN;

/// The one caller.
pub(super) const CALLER: &str = "bench";

const MODEL: &str = "model-1";

/// How long a request may be started.
const EXPIRY: Duration = Duration::from_secs(240);

/// The caller's secret, of no use elsewhere.
pub(super) fn key() -> SealKey {
    SealKey::from_secret("a secret of the benches, of no use elsewhere").expect("a long text")
}

pub(super) fn id(text: &str) -> Id<Box<str>> {
    Id::new(text.into()).expect("an id")
}

fn content(text: &str) -> Content<Box<str>> {
    Content::new(text.into()).expect("a text without NUL")
}

pub(super) fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    u64::try_from(since.as_millis()).expect("milliseconds in 64 bits")
}

/// A request of 1.8 KB in canonical bytes: a short conversation and a tool. The last words, which the script says
/// again, are 32.
pub(super) fn request(request_id: &str) -> Valid<OwnedRequest> {
    let words = |count: usize| content(&"word ".repeat(count));
    let request = ProviderRequest {
        schema_id: SchemaId::NEW,
        request_id: id(request_id),
        conversation_id: id("conversation-1"),
        model: id(MODEL),
        instructions: words(64),
        input: vec![
            InputItem::UserText { text: words(32) },
            InputItem::AssistantText { text: words(132) },
            InputItem::UserText { text: words(32) },
        ],
        reasoning_effort: None,
        reasoning_summary: None,
        service_tier: None,
        output_format_name: None,
        previous_response_id: None,
        tools: vec![Tool {
            name: Name::new("look_up".into()).expect("a name"),
            description: content("Looks a word up."),
            parameters_json: JsonObject::new("{\"type\":\"object\"}".into()).expect("an object"),
        }],
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: false,
        output_schema_json: None,
        max_output_tokens: None,
        prompt_cache_key: None,
    };
    Valid::new(request).expect("a request that keeps the rules")
}

/// The request as its caller stores it.
pub(super) fn invocation(request_id: &str) -> Valid<OwnedInvocation> {
    let request = request(request_id);
    let invocation = TransportInvocation {
        schema_id: SchemaId::NEW,
        caller_runtime_id: id(CALLER),
        expires_at_unix_ms: now_unix_ms() + u64::try_from(EXPIRY.as_millis()).expect("a few minutes"),
        native_request_sha256: native(),
        provider_request_sha256: request.sha256().expect("a digest"),
        request,
    };
    Valid::new(invocation).expect("an invocation that keeps the rules")
}

fn native() -> Digest {
    Digest::of(b"the request in its caller's own form")
}

/// What ties a reply to the request.
pub(super) fn binding(request_id: &str) -> Digest {
    let request = request(request_id).sha256().expect("a digest");
    Digest::binding(CALLER, request_id, &native(), &request)
}

/// A frame with its prefix, under a nonce of its own.
pub(super) fn sealed(key: &SealKey, invocation: &Valid<OwnedInvocation>) -> Vec<u8> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let nonce = Nonce::counted(*b"test", NUMBER.fetch_add(1, Ordering::Relaxed));
    let Err(SealedFault::BufferTooShort { needed, .. }) = seal_invocation(&mut [], key, nonce, invocation)
    else {
        panic!("no frame is empty");
    };
    let mut frame = vec![0; usize::try_from(needed).expect("a short frame")];
    seal_invocation(&mut frame, key, nonce, invocation).expect("a frame");
    frame
}

/// Opens a reply and believes it, as every caller has to. Panics where the turn did not run to its end.
pub(super) fn opened(key: &SealKey, invocation: &Valid<OwnedInvocation>, frame: &mut [u8]) {
    let request_id = invocation.request.request_id.as_str();
    let body = frame.get_mut(CONNECTOR_PREFIX_LEN..).expect("a frame");
    let plaintext = match open_reply(body, key, CALLER, request_id).expect("a reply") {
        Reply::Sealed(plaintext) => plaintext,
        Reply::Hint(hint) => panic!("{hint:?}"),
    };
    let sent = Sent {
        caller_runtime_id: CALLER,
        request_id,
        model: MODEL,
        native_request_sha256: invocation.native_request_sha256,
        provider_request_sha256: invocation.provider_request_sha256,
    };
    let result = believe(plaintext, &sent).expect("a result of this request");
    assert!(matches!(result.disposition, Disposition::Transported(_)), "refused");
}

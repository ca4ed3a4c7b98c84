//! A request of 1.8 KB read strictly and borrowed, against rmp-serde's derived reading, which borrows too.

use std::borrow::Cow;
use std::hint::black_box;

use serde::Deserialize;
use twolane_core::connector::document::{ReadRequest, Valid};

use super::asked;
use crate::timing::{Thing, judge, medians};

/// Requests read in one round.
const CALLS: u32 = 100_000;

/// What ours may take at most, as a share of the peer's time.
const RATIO_MAX: f64 = 0.6;

/// The request in the peer's hands; it keeps no rule but the types.
#[derive(Deserialize)]
#[expect(dead_code, reason = "read, as a program would read them")]
struct Request<'a> {
    schema_id: &'a str,
    request_id: &'a str,
    conversation_id: &'a str,
    model: &'a str,
    instructions: &'a str,
    #[serde(borrow)]
    input: Vec<Item<'a>>,
    reasoning_effort: Option<&'a str>,
    reasoning_summary: Option<&'a str>,
    service_tier: Option<&'a str>,
    output_format_name: Option<&'a str>,
    previous_response_id: Option<&'a str>,
    tools: Vec<Tool<'a>>,
    tool_choice: Cow<'a, str>,
    parallel_tool_calls: bool,
    output_schema_json: Option<&'a str>,
    max_output_tokens: Option<u32>,
    prompt_cache_key: Option<&'a str>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "read, as a program would read them")]
enum Item<'a> {
    UserText { text: &'a str },
    AssistantText { text: &'a str },
    ToolCall { call_id: &'a str, name: &'a str, arguments: &'a str },
    ToolResult { call_id: &'a str, output: &'a str },
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "read, as a program would read them")]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json: &'a str,
}

/// False where the promise was not kept.
pub(crate) fn bench(rounds: u32) -> bool {
    let bytes = asked::request("0123456789abcdef").to_vec().expect("a short request");
    println!(
        "decode: a request of {} bytes in canonical form, every rule checked; medians of {rounds} rounds",
        bytes.len()
    );
    let [ours, peer] = medians(
        rounds,
        CALLS,
        [
            Thing::new(1, &mut || {
                let request = Valid::<ReadRequest<'_>>::read(black_box(&bytes)).expect("a request");
                black_box(&request);
            }),
            Thing::new(1, &mut || {
                let request: Request<'_> = rmp_serde::from_slice(black_box(&bytes)).expect("a request");
                black_box(&request);
            }),
        ],
    );
    println!("  Valid<ReadRequest>::read      {ours:>8.0} ns");
    println!("  rmp-serde, derived, borrowed  {peer:>8.0} ns   ours takes {:.2}x of it", ours / peer);
    judge(&format!("at most {RATIO_MAX}x"), ours <= RATIO_MAX * peer)
}

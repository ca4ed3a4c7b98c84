//! What routing within a run needs of a body: the envelope's fields and the payload's type.

use std::borrow::Cow;
use std::hint::black_box;

use serde::Deserialize;
use serde_json::value::RawValue;
use twolane_core::body;

use crate::timing::{Thing, judge, medians};

/// A delta as a provider sends it, 214 bytes, in the order in which every writer puts the members.
const BODY: &[u8] = br#"{"version":1,"run_id":"run_01k9z3q6f2t8","step_id":7,"seq":20481,"payload":{"type":"text_delta","message_id":"msg_01k9z3q7c4vx","delta":"The lane gives way under pressure, and says so, every time, here and there"}}"#;

/// Bodies read in one round.
const CALLS: u32 = 400_000;

/// What ours may take at most, as a share of the peer's time.
const RATIO_MAX: f64 = 0.35;

/// The envelope in the peer's hands; the payload is passed over as one value.
#[derive(Deserialize)]
struct Envelope<'a> {
    version: u64,
    #[serde(borrow)]
    run_id: Cow<'a, str>,
    step_id: u64,
    seq: u64,
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// The payload in the peer's hands; other members are passed over.
#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
}

// 214 bytes are what the promise is about.
const _: () = assert!(BODY.len() == 214);

/// False where the promise was not kept.
pub(crate) fn bench(rounds: u32) -> bool {
    println!(
        "fields: envelope and payload type of a {}-byte body, the whole text held against the grammar and duplicate \
         names refused; medians of {rounds} rounds",
        BODY.len()
    );
    let [ours, peer] = medians(
        rounds,
        CALLS,
        [
            Thing::new(1, &mut || {
                black_box(body::peek(black_box(BODY)).expect("a body"));
            }),
            Thing::new(1, &mut || {
                black_box(serde(black_box(BODY)).expect("a body"));
            }),
        ],
    );
    println!("  body::peek                                            {ours:>8.1} ns");
    println!(
        "  serde_json: a struct with a &RawValue, then its type  {peer:>8.1} ns   ours takes {:.2}x of it",
        ours / peer
    );
    judge(&format!("at most {RATIO_MAX}x"), ours <= RATIO_MAX * peer)
}

/// The same by derived structs: two passes over the payload.
fn serde(text: &[u8]) -> serde_json::Result<(u64, u64, Cow<'_, str>, Cow<'_, str>)> {
    let Envelope { version, run_id, step_id, seq, payload } = serde_json::from_slice(text)?;
    assert_eq!(version, 1);
    let Payload { r#type } = serde_json::from_str(payload.get())?;
    Ok((step_id, seq, run_id, r#type))
}

//! The two readers of bodies agree, the typed ones never say more than the dissector, and a payload passes on.

use twolane_core::body::{Body, DisplayEvent, ProviderControl, peek, write_into};
use twolane_core::dissect::Tree;
use twolane_core::limits::INTEGER_MAX;

/// The bytes are one body.
pub fn run(bytes: &[u8]) {
    let parsed = Body::parse(bytes);
    let peeked = peek(bytes);
    assert_eq!(parsed.is_ok(), peeked.is_some(), "peek is there exactly where parse is");
    let tree = Tree::body(bytes);
    let (Ok(body), Some(peeked)) = (parsed, peeked) else {
        let foreign = parsed.is_err_and(|fault| fault.is_foreign());
        // Bytes that are no JSON at all are bytes, without a fault; see the dissector's own words.
        assert!(!foreign || tree.fault.is_none(), "a body of another schema is no fault");
        return;
    };
    assert_eq!((peeked.seq, peeked.step_id, peeked.tag), (body.seq, body.step_id, body.payload.tag()));
    let display = DisplayEvent::read(&body.payload);
    let provider = ProviderControl::from_provider(&body.payload);
    let runner = ProviderControl::from_runner(&body.payload);
    if let Ok(DisplayEvent::DisplayGap { dropped }) = display {
        assert_eq!(peeked.dropped, Some(dropped));
    }
    let is_read = display.is_ok() || provider.is_ok() || runner.is_ok();
    assert!(peeked.is_kept || !is_read, "an index refuses what a reader takes");
    assert!(!peeked.is_kept || tree.fault.is_none(), "an index takes what the dissector refuses");
    if tree.fault.is_some() {
        assert!(display.is_err() && provider.is_err() && runner.is_err(), "read what the dissector refuses");
    }
    if body.seq <= INTEGER_MAX && body.step_id <= INTEGER_MAX {
        pass_on(&body);
    }
}

fn pass_on(body: &Body<'_>) {
    let run_id: String = body.run_id.chars().collect();
    let mut out = vec![0; body.payload.raw().len() + run_id.len() * 6 + 200];
    let len = write_into(&mut out, &run_id, body.step_id, body.seq, body.payload.raw());
    let again = Body::parse(&out[..len.expect("what was read is written")]).expect("and read again");
    assert_eq!((again.seq, again.step_id), (body.seq, body.step_id));
    assert!(again.run_id == run_id.as_str());
    assert_eq!(again.payload.raw(), body.payload.raw(), "the payload's spelling is kept");
}

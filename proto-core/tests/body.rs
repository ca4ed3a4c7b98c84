//! The body envelope and the payloads of both lanes: what is read, what is refused and by which name.

use twolane_core::body::{
    Approval, Body, BodyFault, BodyReason, Direction, DisplayEvent, ErrorClass, Expected, FinishReason,
    Payload, ProviderControl, Tag, Usage, WriteFault, peek, write, write_into,
};
use twolane_core::envelope::Lane;
use twolane_core::limits::INTEGER_MAX;
use twolane_core::scan::json::JsonReason;

fn body_of(payload: &str) -> String {
    format!(r#"{{"version":1,"run_id":"run-7f","step_id":3,"seq":9,"payload":{payload}}}"#)
}

fn refusal(text: &str) -> (Option<&'static str>, BodyReason) {
    let fault = Body::parse(text.as_bytes()).expect_err(text);
    assert!(fault.offset <= text.len(), "{fault} in {text}");
    (fault.member, fault.reason)
}

#[test]
fn the_envelope_reads_in_any_spelling() {
    let spellings = [
        r#"{"version":1,"run_id":"run-7f","step_id":3,"seq":9,"payload":{"type":"display_reset"}}"#,
        r#" { "payload" : { "x" : [{}] , "type" : "display_reset" } , "seq":9,"step_id":3,
            "run_id":"run-7f","more":null,"version":1 } "#,
        r#"{"version":1,"run_id":"run\u002d7f","step_id":3,"seq":9,"payload":{"type":"display\u005freset"}}"#,
        r#"{"v\u0065rsion":1,"run_id":"run-7f","step_id":3,"seq":9,"payload":{"type":"display_reset"}}"#,
    ];
    for text in spellings {
        let body = Body::parse(text.as_bytes()).expect(text);
        assert_eq!((body.run_id.to_string().as_str(), body.step_id, body.seq), ("run-7f", 3, 9));
        assert_eq!(body.payload.tag(), Some(Tag::DisplayReset));
        assert_eq!(body.payload.raw(), &text.as_bytes()[body.payload.span()]);
        assert!(body.payload.raw().starts_with(b"{") && body.payload.raw().ends_with(b"}"));
    }
}

#[test]
fn a_refused_envelope_names_member_and_rule() {
    let string = BodyReason::WrongShape { expected: Expected::String };
    let integer = BodyReason::WrongShape { expected: Expected::Integer };
    let object = BodyReason::WrongShape { expected: Expected::Object };
    let long = "x".repeat(257);
    let rows: &[(&str, Option<&str>, BodyReason)] = &[
        ("[1]", None, BodyReason::Foreign),
        ("{}", None, BodyReason::Foreign),
        (r#"{"version":1}"#, None, BodyReason::Foreign),
        (r#"{"payload":{"type":"x"}}"#, None, BodyReason::Foreign),
        (r#"{"version":2,"payload":[]}"#, Some("version"), BodyReason::UnsupportedVersion { found: 2 }),
        (r#"{"version":0,"payload":[]}"#, Some("version"), BodyReason::UnsupportedVersion { found: 0 }),
        (r#"{"version":"1","payload":[]}"#, Some("version"), integer),
        (r#"{"version":1.0,"payload":[]}"#, Some("version"), integer),
        (r#"{"version":1,"payload":{"type":"x"}}"#, Some("run_id"), BodyReason::Missing),
        (r#"{"version":1,"run_id":7,"payload":{}}"#, Some("run_id"), string),
        (r#"{"version":1,"run_id":"","payload":{}}"#, Some("run_id"), BodyReason::EmptyId),
        (r#"{"version":1,"run_id":"r","payload":{}}"#, Some("step_id"), BodyReason::Missing),
        (r#"{"version":1,"run_id":"r","step_id":-1,"payload":{}}"#, Some("step_id"), integer),
        (r#"{"version":1,"run_id":"r","step_id":1e2,"payload":{}}"#, Some("step_id"), integer),
        (
            r#"{"version":1,"run_id":"r","step_id":18446744073709551616,"payload":{}}"#,
            Some("step_id"),
            integer,
        ),
        (r#"{"version":1,"run_id":"r","step_id":1,"payload":{}}"#, Some("seq"), BodyReason::Missing),
        (r#"{"version":1,"run_id":"r","step_id":1,"seq":null,"payload":{}}"#, Some("seq"), integer),
        (r#"{"version":1,"run_id":"r","step_id":1,"seq":1,"payload":[]}"#, Some("payload"), object),
        (r#"{"version":1,"run_id":"r","step_id":1,"seq":1,"payload":{}}"#, Some("type"), BodyReason::Missing),
        (r#"{"version":1,"run_id":"r","step_id":1,"seq":1,"payload":{"type":1}}"#, Some("type"), string),
        (
            r#"{"version":1,"run_id":"r","run_id":"s","payload":{}}"#,
            Some("run_id"),
            BodyReason::DuplicateName,
        ),
        (r#"{"version":1,"x":1,"\u0078":2,"payload":{}}"#, None, BodyReason::DuplicateName),
        (
            r#"{"version":1,"run_id":"r","step_id":1,"seq":1,"payload":{"type":"a","type":"b"}}"#,
            Some("type"),
            BodyReason::DuplicateName,
        ),
        (
            r#"{"version":1,"run_id":"r","step_id":1,"seq":1,"payload":{"type":"a","k":1,"k":2}}"#,
            None,
            BodyReason::DuplicateName,
        ),
        (r#"{"version":1,"payload":{}"#, None, BodyReason::Json(JsonReason::UnexpectedEnd)),
        (r#"{"version":1,"payload":{}} x"#, None, BodyReason::Json(JsonReason::TrailingBytes)),
        ("\u{feff}{}", None, BodyReason::Json(JsonReason::ByteOrderMark)),
        (r#"{"version":1,"payload":"\ud800"}"#, None, BodyReason::Json(JsonReason::LoneSurrogate)),
    ];
    for (text, member, reason) in rows {
        assert_eq!(refusal(text), (*member, *reason), "{text}");
    }
    let text = format!(r#"{{"version":1,"run_id":"{long}","step_id":1,"seq":1,"payload":{{"type":"x"}}}}"#);
    assert_eq!(refusal(&text), (Some("run_id"), BodyReason::IdTooLong { len: 257 }));
}

#[test]
fn only_a_body_of_no_schema_is_foreign() {
    let foreign = |text: &str| Body::parse(text.as_bytes()).expect_err(text).is_foreign();
    assert!(foreign(r#"{"jsonrpc":"2.0","id":1}"#));
    assert!(!foreign(r#"{"version":2,"payload":{}}"#));
    assert!(!foreign(r#"{"version":1,"payload":{}}"#));
    assert!(!foreign("{"));
}

#[test]
fn an_id_is_measured_after_unescaping() {
    let id = r"\u0041".repeat(256);
    let text = format!(r#"{{"version":1,"run_id":"{id}","step_id":0,"seq":0,"payload":{{"type":"x"}}}}"#);
    assert_eq!(Body::parse(text.as_bytes()).expect("256 characters").run_id.decoded_len(), 256);
}

#[test]
fn display_events_read_with_their_members() {
    let read =
        |payload: &'static str| DisplayEvent::read(&Payload::parse(payload.as_bytes()).expect(payload));
    match read(r#"{"type":"text_delta","message_id":"m","delta":"a\nb","tool_call_id":"c"}"#) {
        Ok(DisplayEvent::TextDelta { message_id, delta, tool_call_id: Some(call) }) => {
            assert!(message_id == "m" && delta == "a\nb" && call == "c");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        read(r#"{"delta":"","message_id":"m","type":"text_delta","tool_call_id":null}"#),
        Ok(DisplayEvent::TextDelta { tool_call_id: None, .. })
    ));
    assert!(matches!(
        read(r#"{"type":"reasoning_delta","message_id":"m","delta":"d","new":{}}"#),
        Ok(DisplayEvent::ReasoningDelta { .. })
    ));
    assert!(matches!(
        read(r#"{"type":"tool_input_delta","tool_call_id":"c","delta":"{"}"#),
        Ok(DisplayEvent::ToolInputDelta { .. })
    ));
    assert_eq!(read(r#"{"type":"display_gap","dropped":3}"#), Ok(DisplayEvent::DisplayGap { dropped: 3 }));
    assert_eq!(read(r#"{"type":"display_reset"}"#), Ok(DisplayEvent::DisplayReset));
    match read(r#"{"type":"sparkle","x":1}"#) {
        Ok(DisplayEvent::Unfamiliar { name }) => assert!(name == "sparkle"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refused_payload_names_member_and_rule() {
    let rows: &[(&str, &str, BodyReason)] = &[
        (r#"{"type":"text_delta","delta":""}"#, "message_id", BodyReason::Missing),
        (r#"{"type":"text_delta","message_id":"","delta":""}"#, "message_id", BodyReason::EmptyId),
        (r#"{"type":"text_delta","message_id":"m"}"#, "delta", BodyReason::Missing),
        (
            r#"{"type":"text_delta","message_id":"m","delta":null}"#,
            "delta",
            BodyReason::WrongShape { expected: Expected::String },
        ),
        (r#"{"type":"tool_input_delta","message_id":"m","delta":""}"#, "tool_call_id", BodyReason::Missing),
        (
            r#"{"type":"display_gap","dropped":-1}"#,
            "dropped",
            BodyReason::WrongShape { expected: Expected::Integer },
        ),
        (r#"{"type":"finished"}"#, "type", BodyReason::WrongLane { tag: Tag::Finished, lane: Lane::Display }),
    ];
    for (text, member, reason) in rows {
        let payload = Payload::parse(text.as_bytes()).expect(text);
        let BodyFault { member: found, reason: why, .. } = DisplayEvent::read(&payload).expect_err(text);
        assert_eq!((found, why), (Some(*member), *reason), "{text}");
    }
}

#[test]
fn control_of_a_provider_reads_with_its_members() {
    let read = |payload: &'static str| {
        ProviderControl::from_provider(&Payload::parse(payload.as_bytes()).expect(payload))
    };
    assert!(matches!(
        read(r#"{"type":"stream_start"}"#),
        Ok(ProviderControl::StreamStart { message_id: None, model: None, provider_request_id: None })
    ));
    assert!(matches!(
        read(r#"{"type":"step_started","attempt":2}"#),
        Ok(ProviderControl::StepStarted { attempt: Some(2) })
    ));
    match read(r#"{"type":"assistant_message","message":{"message_id":"m","content":[]}}"#) {
        Ok(ProviderControl::AssistantMessage { message }) => {
            assert_eq!(message.raw(), br#"{"message_id":"m","content":[]}"#);
        }
        other => panic!("{other:?}"),
    }
    match read(r#"{"type":"step_finished","finish_reason":"tool_calls","usage":{"input_tokens":5}}"#) {
        Ok(ProviderControl::StepFinished { finish_reason: FinishReason::ToolCalls, usage }) => {
            assert_eq!(usage, Usage { input_tokens: Some(5), ..Usage::default() });
        }
        other => panic!("{other:?}"),
    }
    match read(r#"{"type":"finished","finish_reason":"tired"}"#) {
        Ok(ProviderControl::Finished { finish_reason: Some(FinishReason::Other { name }), usage: None }) => {
            assert!(name == "tired");
        }
        other => panic!("{other:?}"),
    }
    let error = r#"{"type":"error","error":{"class":"auth_required","message":"no","status":401,"retry_after_secs":0.5}}"#;
    match read(error) {
        Ok(ProviderControl::Error { error }) => {
            assert_eq!(error.class(), ErrorClass::Auth);
            assert!(error.class_name == "auth_required", "written back unchanged");
            assert_eq!((error.status, error.retry_after_secs), (Some(401), Some("0.5")));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(read(r#"{"type":"new"}"#), Ok(ProviderControl::Unfamiliar { .. })));
}

#[test]
fn a_provider_and_its_runner_refuse_what_is_not_theirs() {
    let rows = [
        ("text_delta", BodyReason::WrongLane { tag: Tag::TextDelta, lane: Lane::Control }),
        (
            "step_request",
            BodyReason::WrongDirection { tag: Tag::StepRequest, direction: Direction::ProviderToRunner },
        ),
        (
            "run_finished",
            BodyReason::WrongDirection { tag: Tag::RunFinished, direction: Direction::ProviderToRunner },
        ),
    ];
    for (tag, reason) in rows {
        let text = format!(r#"{{"type":"{tag}"}}"#);
        let payload = Payload::parse(text.as_bytes()).expect("a payload");
        assert_eq!(ProviderControl::from_provider(&payload).expect_err(tag).reason, reason);
    }
    let request = Payload::parse(br#"{"type":"step_request","request":{"model":"m"}}"#).expect("a payload");
    assert!(matches!(ProviderControl::from_runner(&request), Ok(ProviderControl::StepRequest { .. })));
    let cancel = Payload::parse(br#"{"type":"cancel"}"#).expect("a payload");
    assert!(matches!(ProviderControl::from_runner(&cancel), Ok(ProviderControl::Cancel)));
}

#[test]
fn duplicates_are_refused_in_every_object_that_is_interpreted() {
    for text in [
        r#"{"type":"step_finished","finish_reason":"stop","usage":{"input_tokens":1,"input_tokens":1}}"#,
        r#"{"type":"error","error":{"class":"auth","message":"","x":1,"x":2}}"#,
    ] {
        let payload = Payload::parse(text.as_bytes()).expect(text);
        let fault = ProviderControl::from_provider(&payload).expect_err(text);
        assert_eq!(fault.reason, BodyReason::DuplicateName);
    }
}

#[test]
fn fill_tokens_saturate_and_are_absent_when_all_three_are() {
    let fill = |input, cached, write| {
        let usage = Usage {
            input_tokens: input,
            cached_input_tokens: cached,
            cache_write_tokens: write,
            output_tokens: Some(1),
            reasoning_tokens: Some(1),
        };
        usage.fill_tokens()
    };
    assert_eq!(fill(None, None, None), None);
    assert_eq!(fill(Some(1), None, Some(3)), Some(4));
    assert_eq!(fill(Some(u64::MAX), Some(1), None), Some(u64::MAX));
}

#[test]
fn numbers_of_an_error_are_in_range() {
    let error = |member: &str| {
        let text = format!(r#"{{"type":"error","error":{{"class":"auth","message":"m",{member}}}}}"#);
        let payload = Payload::parse(text.as_bytes()).expect("a payload");
        ProviderControl::from_provider(&payload).map(drop).map_err(|fault| fault.member)
    };
    assert_eq!(error(r#""status":65535"#), Ok(()));
    assert_eq!(error(r#""status":65536"#), Err(Some("status")));
    assert_eq!(error(r#""retry_after_secs":-0.0"#), Ok(()));
    assert_eq!(error(r#""retry_after_secs":1e3"#), Ok(()));
    assert_eq!(error(r#""retry_after_secs":-0.5"#), Err(Some("retry_after_secs")));
    assert_eq!(error(r#""retry_after_secs":"1""#), Err(Some("retry_after_secs")));
}

#[test]
fn tags_keep_their_codes_and_spellings() {
    for tag in Tag::ALL {
        let text = format!(r#"{{"type":"{}"}}"#, tag.name());
        assert_eq!(Payload::parse(text.as_bytes()).expect("a payload").tag(), Some(tag), "{text}");
        assert_eq!(Tag::from_code(tag.code()), Some(tag));
    }
    let codes: Vec<u8> = Tag::ALL.iter().map(|tag| tag.code()).collect();
    assert_eq!(codes, [1, 2, 3, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23, 32, 33, 34, 35, 36, 37, 48, 49, 50]);
    assert_eq!(Tag::from_code(0), None);
}

#[test]
fn a_tag_travels_only_on_its_lane_and_in_its_direction() {
    use Direction::{CallerToRunner, ProviderToRunner, RunnerToCaller, RunnerToProvider};
    let everywhere = [
        (Lane::Display, ProviderToRunner),
        (Lane::Display, RunnerToProvider),
        (Lane::Display, RunnerToCaller),
        (Lane::Display, CallerToRunner),
        (Lane::Control, ProviderToRunner),
        (Lane::Control, RunnerToProvider),
        (Lane::Control, RunnerToCaller),
        (Lane::Control, CallerToRunner),
    ];
    let places = |tag: Tag| -> String {
        let allowed = everywhere.iter().map(|(lane, way)| tag.check(*lane, *way).is_ok());
        allowed.map(|ok| if ok { 'x' } else { '.' }).collect()
    };
    for (tags, expected) in [
        (&[Tag::TextDelta, Tag::ReasoningDelta, Tag::ToolInputDelta, Tag::DisplayGap][..], "x.x....."),
        (&[Tag::DisplayReset], "x.x...x."),
        (&[Tag::StreamStart, Tag::Finished], "....x..."),
        (&[Tag::StepStarted, Tag::AssistantMessage, Tag::StepFinished, Tag::Error], "....x.x."),
        (&[Tag::StepRequest, Tag::Cancel], ".....x.."),
        (&[Tag::RunStarted, Tag::ToolCall, Tag::ToolResult, Tag::ApprovalRequest], "......x."),
        (&[Tag::Paused, Tag::RunFinished], "......x."),
        (&[Tag::Allow, Tag::AllowNarrowed, Tag::Deny], ".......x"),
    ] {
        for tag in tags {
            assert_eq!(places(*tag), expected, "{}", tag.name());
        }
    }
}

#[test]
fn an_index_learns_its_columns() {
    let columns = |payload: &str| peek(body_of(payload).as_bytes()).map(|found| (found.tag, found.dropped));
    assert_eq!(columns(r#"{"type":"display_gap","dropped":4}"#), Some((Some(Tag::DisplayGap), Some(4))));
    assert_eq!(columns(r#"{"dropped":4,"type":"display_gap"}"#), Some((Some(Tag::DisplayGap), Some(4))));
    assert_eq!(columns(r#"{"type":"display_gap"}"#), Some((Some(Tag::DisplayGap), None)));
    assert_eq!(columns(r#"{"type":"paused","dropped":4}"#), Some((Some(Tag::Paused), None)));
    assert_eq!(columns(r#"{"type":"sparkle"}"#), Some((None, None)));
    assert_eq!(columns(r#"{"x":1}"#), None);
    let found = peek(body_of(r#"{"type":"cancel"}"#).as_bytes()).expect("a body");
    assert_eq!((found.step_id, found.seq), (3, 9));
}

#[test]
fn an_index_learns_whether_a_known_payload_has_its_members() {
    let id_of =
        |len: usize| format!(r#"{{"type":"text_delta","message_id":"{}","delta":""}}"#, "m".repeat(len));
    for (payload, is_kept) in [
        (r#"{"type":"text_delta","message_id":"m","delta":"d"}"#, true),
        (r#"{"delta":"d\n","message_id":"\u006d","more":[1],"type":"text_delta","tool_call_id":null}"#, true),
        (r#"{"type":"text_delta","message_id":"m","d\u0065lta":"d"}"#, true),
        (r#"{"type":"text_delta","message_id":"m"}"#, false),
        (r#"{"type":"text_delta","delta":"d"}"#, false),
        (r#"{"type":"text_delta","message_id":"m","delta":7}"#, false),
        (r#"{"type":"text_delta","message_id":"m","delta":null}"#, false),
        (r#"{"type":"text_delta","message_id":"","delta":"d"}"#, false),
        (r#"{"type":"text_delta","message_id":"m","delta":"d","tool_call_id":7}"#, false),
        (&id_of(256), true),
        (&id_of(257), false),
        (r#"{"type":"display_gap","dropped":18446744073709551615}"#, true),
        (r#"{"type":"display_gap","dropped":18446744073709551616}"#, false),
        (r#"{"type":"display_gap","dropped":-1}"#, false),
        (r#"{"type":"display_gap"}"#, false),
        (r#"{"type":"assistant_message","message":{}}"#, true),
        (r#"{"type":"assistant_message","message":[]}"#, false),
        (r#"{"type":"finished"}"#, true),
        (r#"{"type":"finished","usage":{"input_tokens":"many"}}"#, false),
        (r#"{"type":"error","error":{"class":"transient","message":"m","retry_after_secs":0.5}}"#, true),
        (r#"{"type":"error","error":{"class":"transient"}}"#, false),
        (r#"{"type":"step_request"}"#, false),
        (r#"{"type":"display_reset"}"#, true),
        (r#"{"type":"sparkle","delta":7}"#, true),
    ] {
        let found = peek(body_of(payload).as_bytes()).expect("a body");
        assert_eq!(found.is_kept, is_kept, "{payload}");
    }
}

#[test]
fn a_written_body_is_what_serde_json_would_write() {
    let run_id = "a\"\\/\u{8}\u{c}\n\r\t\u{1}\u{7f}é🔎";
    let mut out = String::new();
    write(&mut out, run_id, 1, INTEGER_MAX, br#" {"type" : "cancel"} "#).expect("a body");
    let expected = format!(
        r#"{{"version":1,"run_id":{},"step_id":1,"seq":9007199254740991,"payload":{{"type" : "cancel"}}}}"#,
        serde_json::to_string(run_id).expect("a string"),
    );
    assert_eq!(out, expected);
    let body = Body::parse(out.as_bytes()).expect("what we write");
    assert!(body.run_id == run_id);
}

#[test]
fn what_no_reader_would_accept_is_not_written() {
    let attempt = |run_id: &str, step_id, seq, payload: &str| {
        let mut out = String::new();
        let fault = write(&mut out, run_id, step_id, seq, payload.as_bytes()).expect_err(payload);
        assert_eq!(out, "", "nothing is written on refusal");
        fault
    };
    let good = r#"{"type":"cancel"}"#;
    let over = INTEGER_MAX + 1;
    assert_eq!(attempt("r", over, 0, good), WriteFault::IntegerTooLarge { member: "step_id", value: over });
    assert_eq!(attempt("r", 0, over, good), WriteFault::IntegerTooLarge { member: "seq", value: over });
    assert_eq!(attempt("", 0, 0, good), WriteFault::EmptyRunId);
    assert_eq!(attempt(&"r".repeat(257), 0, 0, good), WriteFault::RunIdTooLong { len: 257 });
    for payload in ["", "[]", "{}", r#"{"type":1}"#, r#"{"type":"a","type":"a"}"#, r#"{"type":"a"}x"#] {
        assert!(matches!(attempt("r", 0, 0, payload), WriteFault::Payload(_)), "{payload}");
    }
    // 63 levels by itself, 64 in its envelope; one more is one too many.
    let nested =
        |levels: usize| format!(r#"{{"type":"a","x":{}{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1));
    let mut out = String::new();
    write(&mut out, "r", 0, 0, nested(63).as_bytes()).expect("64 levels in all");
    assert!(Body::parse(out.as_bytes()).is_ok());
    assert!(matches!(attempt("r", 0, 0, &nested(64)), WriteFault::Payload(_)));
}

#[test]
fn a_fixed_buffer_holds_a_body_or_says_that_it_is_full() {
    let mut out = [0; 128];
    let len = write_into(&mut out, "r", 1, 2, br#"{"type":"cancel"}"#).expect("room for it");
    assert_eq!(&out[..len], br#"{"version":1,"run_id":"r","step_id":1,"seq":2,"payload":{"type":"cancel"}}"#);
    let mut short = [0; 128];
    assert_eq!(write_into(&mut short[..len - 1], "r", 1, 2, br#"{"type":"cancel"}"#), Err(WriteFault::Full));
}

#[test]
fn the_bodies_of_a_deployed_peer_read() {
    let rows = include_str!("../../fixtures/captures/peer-v1-loopback.expected.jsonl");
    let mut count = 0;
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(row).expect("a row");
        let text = row["body"].to_string();
        let body = Body::parse(text.as_bytes()).expect(&text);
        assert_eq!(Some(body.seq), row["body"]["seq"].as_u64());
        assert!(body.payload.name() == row["body"]["payload"]["type"].as_str().expect("a type"));
        let display = row["header"].as_str().is_some_and(|header| header.contains("Flags(4)"));
        let read = if display {
            DisplayEvent::read(&body.payload).map(drop)
        } else {
            ProviderControl::from_provider(&body.payload).map(drop)
        };
        assert_eq!(read, Ok(()), "{text}");
        count += 1;
    }
    assert_eq!(count, 40);
}

#[test]
fn only_a_whole_and_familiar_allow_lets_a_tool_run() {
    let read = |payload: &str| {
        let payload = Payload::parse(payload.as_bytes()).expect(payload);
        Approval::read(&payload).map(|answer| (answer.is_allowed(), format!("{answer:?}")))
    };
    for (payload, allowed, shown) in [
        (r#"{"type":"allow","tool_call_id":"c1","more":1}"#, true, "Allow"),
        (r#"{"tool_call_id":"c1","type":"allow_narrowed","input":{"path":"a"}}"#, true, "AllowNarrowed"),
        (r#"{"type":"allow_narrowed","tool_call_id":"c1","input":null}"#, true, "AllowNarrowed"),
        (r#"{"type":"deny","tool_call_id":"c1","reason":""}"#, false, "Deny"),
        (r#"{"type":"allow_always","tool_call_id":"c1"}"#, false, "Unfamiliar"),
    ] {
        let (is_allowed, text) = read(payload).expect(payload);
        assert_eq!(is_allowed, allowed, "{payload}");
        assert!(text.starts_with(shown), "{text}");
    }
    for (payload, member, reason) in [
        (r#"{"type":"allow"}"#, "tool_call_id", BodyReason::Missing),
        (r#"{"type":"allow","tool_call_id":""}"#, "tool_call_id", BodyReason::EmptyId),
        (r#"{"type":"allow_narrowed","tool_call_id":"c1"}"#, "input", BodyReason::Missing),
        (r#"{"type":"deny","tool_call_id":"c1"}"#, "reason", BodyReason::Missing),
    ] {
        let fault = read(payload).expect_err(payload);
        assert_eq!((fault.member, fault.reason), (Some(member), reason), "{payload}");
    }
    let tag = Tag::Cancel;
    let direction = Direction::CallerToRunner;
    let fault = read(r#"{"type":"cancel"}"#).expect_err("a unit of another direction");
    assert_eq!(fault.reason, BodyReason::WrongDirection { tag, direction });
}

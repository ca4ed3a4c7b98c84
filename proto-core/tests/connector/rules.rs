//! Each rule of the documents, kept by writers and readers, named with its field.

use twolane_core::connector::digest::Digest;
use twolane_core::connector::document::{
    Disposition, DocumentReason, Event, EventPayload, ProviderRequest, ReadInvocation, ReadRequest,
    ReadResult, RequestParts, SchemaId, Tool, ToolChoice, TransportInvocation, TransportResult, Transported,
    Valid,
};
use twolane_core::connector::text::{
    CacheKey, CallId, Content, FailureMessage, Id, JsonObject, Name, StopId,
};
use twolane_core::limits::{EVENTS_MAX, INPUT_ITEMS_MAX, TOOLS_MAX};
use twolane_core::scan::msgpack::Writer;

use crate::made::{items, receipt, request_parts, t, tools};

#[test]
fn an_id_is_1_to_256_bytes_without_white_space_at_its_ends() {
    for good in ["a", "a b", "é", "\u{200b}", "a\u{2028}b", &"x".repeat(256), &"é".repeat(128)] {
        assert!(Id::new(good).is_ok(), "{good:?}");
    }
    // Every character of Unicode's White_Space, at either end.
    let white = "\u{9}\u{a}\u{b}\u{c}\u{d} \u{85}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\
        \u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";
    assert_eq!(white.chars().count(), 25);
    for blank in white.chars() {
        for bad in [format!("{blank}a"), format!("a{blank}"), blank.to_string()] {
            assert!(Id::new(bad.as_str()).is_err(), "{bad:?}");
        }
    }
    for bad in ["", &"x".repeat(257), &format!("{}x", "é".repeat(128))] {
        assert!(Id::new(bad).is_err(), "{} bytes", bad.len());
    }
}

#[test]
fn each_kind_of_text_keeps_its_own_rule() {
    assert!(Content::new(" ").is_ok() && Content::new("").is_err());
    assert!(JsonObject::new("{}").is_ok() && JsonObject::new(" {\"a\":1}\n").is_ok());
    for bad in ["", "[]", "1", "{} {}", "{\"a\":1,}", "\u{feff}{}", "{\"a\":\"\\ud800\"}"] {
        assert!(JsonObject::new(bad).is_err(), "{bad:?}");
    }
    let deep = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    assert!(JsonObject::new(deep(64)).is_ok() && JsonObject::new(deep(65)).is_err());
    assert!(Name::new("a-Z_9").is_ok() && Name::new("x".repeat(64)).is_ok());
    for bad in ["", "a b", "a.b", "é", &"x".repeat(65)] {
        assert!(Name::new(bad).is_err(), "{bad:?}");
    }
    assert!(CallId::new(" ~").is_ok() && CallId::new("x".repeat(64)).is_ok());
    assert!(CallId::new("").is_err() && CallId::new("é").is_err() && CallId::new("x".repeat(65)).is_err());
    assert!(
        CacheKey::new(" a ").is_ok() && CacheKey::new("").is_err() && CacheKey::new(" \u{3000}").is_err()
    );
    assert!(
        StopId::new("é".repeat(32)).is_ok()
            && StopId::new("x".repeat(65)).is_err()
            && StopId::new(" a").is_err()
    );
    assert!(FailureMessage::new("x".repeat(1024)).is_ok() && FailureMessage::new("x".repeat(1025)).is_err());
    assert!(FailureMessage::new("").is_err());
}

#[test]
fn a_failure_message_is_cut_at_a_character() {
    let long = format!("{}é", "x".repeat(1023));
    assert_eq!(FailureMessage::cut(&long).unwrap().as_str(), "x".repeat(1023));
    assert_eq!(FailureMessage::cut("short").unwrap().as_str(), "short");
    assert_eq!(FailureMessage::cut(""), None);
}

fn refused(parts: RequestParts<'_>) -> (String, DocumentReason) {
    let fault = Valid::new(parts).expect_err("a broken rule");
    (fault.path.to_string(), fault.reason)
}

#[test]
fn the_rules_between_fields_of_a_request() {
    let (items, tools) = (items(), tools());
    let whole = request_parts(&items, &tools);
    let at = |field: &str, reason| (format!("provider_request: {field}"), reason);
    assert_eq!(
        refused(ProviderRequest { tools: &[][..], ..whole }),
        at("tool_choice", DocumentReason::RequiredWithoutTool)
    );
    assert!(Valid::new(ProviderRequest { tools: &[][..], tool_choice: ToolChoice::Auto, ..whole }).is_ok());
    let pair = DocumentReason::OutputFormat;
    assert_eq!(
        refused(ProviderRequest { output_format_name: None, ..whole }),
        at("output_schema_json", pair)
    );
    assert_eq!(
        refused(ProviderRequest { output_schema_json: None, ..whole }),
        at("output_schema_json", pair)
    );
    let twice = [tools[0], Tool { description: t("Another."), ..tools[0] }];
    assert_eq!(
        refused(ProviderRequest { tools: &twice, ..whole }),
        at("tools", DocumentReason::DuplicateTool)
    );
}

/// The same rules on the way in, with the offset: the bytes are written around the check.
#[test]
fn the_reader_keeps_the_rules_between_fields() {
    use twolane_core::connector::document::Document;
    let (items, tools) = (items(), tools());
    let whole = request_parts(&items, &tools);
    let twice = [tools[0], Tool { description: t("Another."), ..tools[0] }];
    let cases = [
        (ProviderRequest { tools: &[][..], ..whole }, DocumentReason::RequiredWithoutTool),
        (ProviderRequest { output_format_name: None, ..whole }, DocumentReason::OutputFormat),
        (ProviderRequest { tools: &twice, ..whole }, DocumentReason::DuplicateTool),
    ];
    for (parts, reason) in cases {
        let mut bytes = Vec::new();
        parts.write(&mut Writer(&mut bytes)).unwrap();
        let fault = Valid::<ReadRequest<'_>>::read(&bytes).expect_err("a broken rule");
        assert_eq!(fault.reason, reason);
        assert!(fault.offset.is_some());
    }
}

#[test]
fn lists_have_their_bounds_and_are_judged_by_their_header() {
    let (items, tools) = (items(), tools());
    let whole = request_parts(&items, &tools);
    let max = usize::try_from(INPUT_ITEMS_MAX).unwrap();
    let many = vec![items[0]; max + 1];
    assert!(Valid::new(ProviderRequest { input: &many[..max], ..whole }).is_ok());
    assert_eq!(
        refused(ProviderRequest { input: &many, ..whole }).1,
        DocumentReason::TooMany { max: INPUT_ITEMS_MAX, found: 4097 }
    );
    let names: Vec<String> = (0..=TOOLS_MAX).map(|number| format!("tool-{number}")).collect();
    let many: Vec<Tool<&str>> = names.iter().map(|name| Tool { name: t(name), ..tools[0] }).collect();
    let max = usize::try_from(TOOLS_MAX).unwrap();
    let most = Valid::new(ProviderRequest { tools: &many[..max], ..whole }).unwrap().to_vec().unwrap();
    assert_eq!(Valid::<ReadRequest<'_>>::read(&most).unwrap().tools.len(), TOOLS_MAX);
    assert_eq!(
        refused(ProviderRequest { tools: &many, ..whole }).1,
        DocumentReason::TooMany { max: TOOLS_MAX, found: 257 }
    );
    // A list of 4,097 that ends after its header: the number is the fault, not the end.
    let bytes = crate::made::request_bytes();
    let at = bytes.windows(7).position(|window| window == b"\xa5input\x94").unwrap() + 6;
    let cut = [&bytes[..at], &[0xdc, 0x10, 0x01]].concat();
    let fault = Valid::<ReadRequest<'_>>::read(&cut).unwrap_err();
    assert_eq!(fault.reason, DocumentReason::TooMany { max: INPUT_ITEMS_MAX, found: 4097 });
    assert_eq!((fault.offset, fault.path.to_string().as_str()), (Some(at), "provider_request: input"));
}

fn result_of<'a>(events: &'a [Event<&'a str>]) -> TransportResult<&'a str, &'a [Event<&'a str>]> {
    TransportResult {
        schema_id: SchemaId::NEW,
        request_id: t("r"),
        caller_runtime_id: t("c"),
        binding_sha256: Digest::ZERO,
        disposition: Disposition::Transported(Transported { events, receipt: receipt() }),
    }
}

#[test]
fn events_count_from_0_without_a_hole() {
    use twolane_core::connector::document::Document;
    let event = |sequence| Event { sequence, payload: EventPayload::TextDelta { text: t("x") } };
    for (sequences, expected) in [(&[1][..], 0), (&[0, 2], 1), (&[0, 0], 1), (&[0, 1, 3], 2)] {
        let events: Vec<Event<&str>> = sequences.iter().map(|sequence| event(*sequence)).collect();
        let parts = result_of(&events);
        let reason = DocumentReason::EventOrder { expected };
        assert_eq!(Valid::new(parts).unwrap_err().reason, reason, "{sequences:?}");
        let mut bytes = Vec::new();
        parts.write(&mut Writer(&mut bytes)).unwrap();
        let fault = Valid::<ReadResult<'_>>::read(&bytes).unwrap_err();
        assert_eq!((fault.reason, fault.path.group), (reason, "events"), "{sequences:?}");
    }
    let most: Vec<Event<&str>> = (0..u64::from(EVENTS_MAX)).map(event).collect();
    assert!(Valid::new(result_of(&most)).is_ok());
    let more: Vec<Event<&str>> = (0..=u64::from(EVENTS_MAX)).map(event).collect();
    let reason = DocumentReason::TooMany { max: EVENTS_MAX, found: 65_537 };
    assert_eq!(Valid::new(result_of(&more)).unwrap_err().reason, reason);
}

#[test]
fn a_native_digest_is_never_zero() {
    let (items, tools) = (items(), tools());
    let parts = TransportInvocation {
        schema_id: SchemaId::NEW,
        caller_runtime_id: t("caller-1"),
        expires_at_unix_ms: 1,
        native_request_sha256: Digest::ZERO,
        provider_request_sha256: Digest::ZERO,
        request: Valid::new(request_parts(&items, &tools)).unwrap(),
    };
    let fault = Valid::new(parts).unwrap_err();
    assert_eq!(fault.to_string(), "transport_invocation: native_request_sha256: a digest is never zero");
    let bytes = crate::made::invocation_bytes();
    let zeroed: Vec<u8> = bytes.iter().map(|byte| if *byte == 7 { 0 } else { *byte }).collect();
    assert_eq!(ReadInvocation::read(&zeroed).unwrap_err().reason, DocumentReason::ZeroDigest);
}

#[test]
fn a_fault_names_the_innermost_document_and_field_and_no_word_of_the_peer() {
    let bytes = crate::made::invocation_bytes();
    let at = bytes.windows(5).position(|window| window == b"today").unwrap();
    let mut broken = bytes;
    broken[at] = b'!';
    let fault = ReadInvocation::read(&broken).unwrap_err();
    assert_eq!(
        fault.to_string(),
        format!(
            "provider_request: input.name at byte {}: expected 1 to 64 characters of [A-Za-z0-9_-]; found 5 bytes",
            at - 1
        )
    );
    assert!(!format!("{fault:?}").contains("oday"));
}

//! What strict JSON is, fault by fault, and what the readers over it see.

use twolane_core::scan::json::{JsonFault, JsonReason, Kind, Scanner, validate};
use twolane_core::scan::value::{MemberFault, MemberReason, Value};

#[test]
fn the_first_fault_has_its_offset_and_reason() {
    use JsonReason::*;
    let table: &[(&[u8], usize, JsonReason)] = &[
        (b"", 0, UnexpectedEnd),
        (b"  ", 2, UnexpectedEnd),
        (b"{", 1, UnexpectedEnd),
        (b"[1", 2, UnexpectedEnd),
        (b"[1,]", 3, ExpectedValue),
        (b"[,1]", 1, ExpectedValue),
        (b"[1 2]", 3, ExpectedComma),
        (b"[1}", 2, ExpectedComma),
        (b"{\"a\":1]", 6, ExpectedComma),
        (b"{\"a\" 1}", 5, ExpectedColon),
        (b"{\"a\"", 4, UnexpectedEnd),
        (b"{a:1}", 1, ExpectedName),
        (b"{\"a\":1,}", 7, ExpectedName),
        (b"{1:1}", 1, ExpectedName),
        (b"1 1", 2, TrailingBytes),
        (b"{}x", 2, TrailingBytes),
        (b"tru", 3, UnexpectedEnd),
        (b"trux", 3, ExpectedValue),
        (b"True", 0, ExpectedValue),
        (b"'a'", 0, ExpectedValue),
        (b"NaN", 0, ExpectedValue),
        (b"01", 1, InvalidNumber),
        (b"-", 1, UnexpectedEnd),
        (b"-x", 1, InvalidNumber),
        (b"+1", 0, ExpectedValue),
        (b".5", 0, ExpectedValue),
        (b"1.", 2, UnexpectedEnd),
        (b"1.x", 2, InvalidNumber),
        (b"1e", 2, UnexpectedEnd),
        (b"1e+", 3, UnexpectedEnd),
        (b"1ex", 2, InvalidNumber),
        (b"\"a", 2, UnexpectedEnd),
        (b"\"\n\"", 1, ControlCharacter),
        (b"\"\\x\"", 2, InvalidEscape),
        (b"\"\\u12g4\"", 5, InvalidEscape),
        (b"\"\\ud800\"", 1, LoneSurrogate),
        (b"\"\\ud800\\n\"", 1, LoneSurrogate),
        (b"\"\\ud800\\ud800\"", 1, LoneSurrogate),
        (b"\"\\udc00\"", 1, LoneSurrogate),
        (b"\"\xff\"", 1, InvalidUtf8),
        (b"\"ok\xc3\"", 3, InvalidUtf8),
        (b"\"\xed\xa0\x80\"", 1, InvalidUtf8),
        (b"\"\xc0\xaf\"", 1, InvalidUtf8),
        (b"\"\xc3\\n\"", 1, InvalidUtf8),
        (b"\xef\xbb\xbf{}", 0, ByteOrderMark),
        (b"[\xc3\xa4]", 1, ExpectedValue),
    ];
    for (text, offset, reason) in table {
        let shown = String::from_utf8_lossy(text);
        assert_eq!(validate(text), Err(JsonFault { offset: *offset, reason: *reason }), "{shown}");
    }
}

#[test]
fn nesting_ends_at_64() {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    assert_eq!(validate(&nested(64)), Ok(()));
    assert_eq!(validate(&nested(65)), Err(JsonFault { offset: 64, reason: JsonReason::TooDeep }));
    assert_eq!(validate(&vec![b'['; 1 << 20]), Err(JsonFault { offset: 64, reason: JsonReason::TooDeep }));
}

#[test]
fn a_fault_stays() {
    let mut scanner = Scanner::new(b"[1,]");
    while scanner.next_token().is_ok() {}
    let fault = JsonFault { offset: 3, reason: JsonReason::ExpectedValue };
    assert_eq!(scanner.next_token(), Err(fault));
    assert_eq!(scanner.next_token(), Err(fault));
}

#[test]
fn tokens_carry_their_spans() {
    let text = br#" {"a\n": [1, -2.5e3, "x", true, null], "b": {}} "#;
    let mut scanner = Scanner::new(text);
    let mut seen = Vec::new();
    while let Some(token) = scanner.next_token().unwrap() {
        seen.push((std::str::from_utf8(&text[token.span()]).unwrap(), token.kind));
    }
    assert_eq!(
        seen,
        [
            ("{", Kind::ObjectStart),
            ("\"a\\n\"", Kind::Name { escaped: true }),
            ("[", Kind::ArrayStart),
            ("1", Kind::Number { digits: true }),
            ("-2.5e3", Kind::Number { digits: false }),
            ("\"x\"", Kind::String { escaped: false }),
            ("true", Kind::Bool(true)),
            ("null", Kind::Null),
            ("]", Kind::ArrayEnd),
            ("\"b\"", Kind::Name { escaped: false }),
            ("{", Kind::ObjectStart),
            ("}", Kind::ObjectEnd),
            ("}", Kind::ObjectEnd),
        ]
    );
}

#[test]
fn a_string_reads_as_its_decoded_text() {
    let text = br#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude80 d\u00c9p\u00f4t""#;
    let string = Value::parse(text).unwrap().as_str().unwrap();
    let decoded = "\"\\/\u{8}\u{c}\n\r\té🚀 dÉpôt";
    assert_eq!(string, *decoded);
    assert_eq!(string.to_string(), decoded);
    assert_eq!(string.decoded_len(), decoded.len());
    assert_eq!(string.as_plain(), None);
    let mut buffer = [0; 64];
    assert_eq!(string.decode_into(&mut buffer), Some(decoded));
    assert_eq!(string.decode_into(&mut [0; 5]), None);
    assert_eq!(Value::parse("\"dépôt\"".as_bytes()).unwrap().as_str().unwrap().as_plain(), Some("dépôt"));
}

#[test]
fn integers_are_digits_that_fit() {
    let integer = |text: &'static str| Value::parse(text.as_bytes()).unwrap().as_u64();
    assert_eq!(integer("0"), Some(0));
    assert_eq!(integer("18446744073709551615"), Some(u64::MAX));
    for other in ["18446744073709551616", "-0", "1.0", "1e2", "\"1\"", "null"] {
        assert_eq!(integer(other), None, "{other}");
    }
}

fn names(text: &[u8]) -> Result<Vec<String>, MemberFault> {
    let mut members = Value::parse(text).unwrap().members().unwrap();
    let mut names = Vec::new();
    while let Some(member) = members.next_member()? {
        names.push(format!("{}={}", member.name, String::from_utf8_lossy(member.value.raw())));
    }
    Ok(names)
}

#[test]
fn members_come_in_order_with_their_values() {
    let text = br#"{"a":1,"b":{"c":[1,2]} , "d":"x"}"#;
    assert_eq!(names(text).unwrap(), ["a=1", "b={\"c\":[1,2]}", "d=\"x\""]);
    assert_eq!(names(b"{}").unwrap(), [""; 0]);
}

#[test]
fn a_name_that_comes_twice_is_a_fault_however_it_is_escaped() {
    let fault = |offset| Err(MemberFault { offset, reason: MemberReason::DuplicateName });
    assert_eq!(names(br#"{"a":1,"a":2}"#), fault(7));
    assert_eq!(names(br#"{"a":1,"\u0061":2}"#), fault(7));
    assert_eq!(
        names(br#"{"b":0,"\u0061":1,"c":0,"a":2}"#),
        fault(24),
        "the escaped one first, others around"
    );
    assert_eq!(names(br#"{"ab":1,"a":2,"abc":3}"#).unwrap().len(), 3, "a name inside another is none");
    assert_eq!(names(br#"{"a":{"a":1},"b":{"a":1}}"#).unwrap().len(), 2, "in different objects it is none");
}

#[test]
fn an_object_to_interpret_has_at_most_64_members() {
    let object = |count: usize| {
        let members: Vec<String> = (0..count).map(|n| format!("\"m{n}\":{n}")).collect();
        format!("{{{}}}", members.join(",")).into_bytes()
    };
    assert_eq!(names(&object(64)).unwrap().len(), 64);
    assert_eq!(names(&object(65)).unwrap_err().reason, MemberReason::TooManyMembers);
}

#[test]
fn elements_come_in_order() {
    let mut elements = Value::parse(b"[1,[2,3],{\"a\":[]},\"]\"]").unwrap().elements().unwrap();
    let mut seen = Vec::new();
    while let Some(element) = elements.next_element().unwrap() {
        seen.push(String::from_utf8_lossy(element.raw()).into_owned());
    }
    assert_eq!(seen, ["1", "[2,3]", "{\"a\":[]}", "\"]\""]);
}

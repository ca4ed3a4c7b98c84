//! The MessagePack scanner, strict reader and writer, against the format's own table and another implementation.

use proptest::prelude::*;
use rmpv::Value;
use twolane_core::scan::msgpack::{
    Counted, Full, Kind, MsgpackFault, MsgpackReason, Output, Reader, Scanner, Writer, Written, validate,
};

fn fault(offset: usize, reason: MsgpackReason) -> Result<(), MsgpackFault> {
    Err(MsgpackFault { offset, reason })
}

/// Each format with its first and last number or length: kind, bytes of the token, whether it is the shortest form.
#[test]
fn every_format_is_read_as_the_specification_of_messagepack_lays_it_out() {
    let long = |header: &[u8], len: usize| [header, &vec![b'a'; len][..]].concat();
    #[rustfmt::skip]
    let table: Vec<(Vec<u8>, Kind, bool)> = vec![
        (vec![0x00], Kind::Unsigned(0), true),
        (vec![0x7f], Kind::Unsigned(127), true),
        (vec![0xcc, 0x7f], Kind::Unsigned(127), false),
        (vec![0xcc, 0x80], Kind::Unsigned(128), true),
        (vec![0xcd, 0x00, 0xff], Kind::Unsigned(255), false),
        (vec![0xcd, 0x01, 0x00], Kind::Unsigned(256), true),
        (vec![0xce, 0x00, 0x00, 0xff, 0xff], Kind::Unsigned(65535), false),
        (vec![0xce, 0x00, 0x01, 0x00, 0x00], Kind::Unsigned(65536), true),
        (vec![0xcf, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], Kind::Unsigned(4_294_967_295), false),
        (vec![0xcf, 0, 0, 0, 1, 0, 0, 0, 0], Kind::Unsigned(4_294_967_296), true),
        (vec![0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Kind::Unsigned(u64::MAX), true),
        (vec![0xff], Kind::Negative(-1), true),
        (vec![0xe0], Kind::Negative(-32), true),
        (vec![0xd0, 0xe0], Kind::Negative(-32), false),
        (vec![0xd0, 0xdf], Kind::Negative(-33), true),
        (vec![0xd0, 0x05], Kind::Unsigned(5), false),
        (vec![0xd1, 0xff, 0x80], Kind::Negative(-128), false),
        (vec![0xd1, 0xff, 0x7f], Kind::Negative(-129), true),
        (vec![0xd2, 0xff, 0xff, 0x80, 0x00], Kind::Negative(-32768), false),
        (vec![0xd2, 0xff, 0xff, 0x7f, 0xff], Kind::Negative(-32769), true),
        (vec![0xd3, 0xff, 0xff, 0xff, 0xff, 0x80, 0, 0, 0], Kind::Negative(-2_147_483_648), false),
        (vec![0xd3, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff], Kind::Negative(-2_147_483_649), true),
        (vec![0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0], Kind::Negative(i64::MIN), true),
        (vec![0xc0], Kind::Nil, true),
        (vec![0xc2], Kind::Bool(false), true),
        (vec![0xc3], Kind::Bool(true), true),
        (vec![0xca, 0x3f, 0x80, 0, 0], Kind::Float32(0x3f80_0000), true),
        (vec![0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0], Kind::Float64(0x3ff0_0000_0000_0000), true),
        (long(&[0xa0], 0), Kind::Str, true),
        (long(&[0xbf], 31), Kind::Str, true),
        (long(&[0xd9, 31], 31), Kind::Str, false),
        (long(&[0xd9, 32], 32), Kind::Str, true),
        (long(&[0xda, 0, 255], 255), Kind::Str, false),
        (long(&[0xda, 1, 0], 256), Kind::Str, true),
        (long(&[0xdb, 0, 0, 0xff, 0xff], 65535), Kind::Str, false),
        (long(&[0xdb, 0, 1, 0, 0], 65536), Kind::Str, true),
        (long(&[0xc4, 0], 0), Kind::Bin, true),
        (long(&[0xc4, 255], 255), Kind::Bin, true),
        (long(&[0xc5, 0, 255], 255), Kind::Bin, false),
        (long(&[0xc5, 1, 0], 256), Kind::Bin, true),
        (long(&[0xc6, 0, 0, 0xff, 0xff], 65535), Kind::Bin, false),
        (long(&[0xc6, 0, 1, 0, 0], 65536), Kind::Bin, true),
        (long(&[0xd4, 0xfe], 1), Kind::Ext(-2), true),
        (long(&[0xd5, 1], 2), Kind::Ext(1), true),
        (long(&[0xd6, 1], 4), Kind::Ext(1), true),
        (long(&[0xd7, 1], 8), Kind::Ext(1), true),
        (long(&[0xd8, 1], 16), Kind::Ext(1), true),
        (long(&[0xc7, 16, 1], 16), Kind::Ext(1), false),
        (long(&[0xc7, 17, 1], 17), Kind::Ext(1), true),
        (long(&[0xc8, 0, 17, 1], 17), Kind::Ext(1), false),
        (long(&[0xc8, 1, 0, 1], 256), Kind::Ext(1), true),
        (long(&[0xc9, 0, 0, 1, 0, 1], 256), Kind::Ext(1), false),
        (long(&[0xc9, 0, 1, 0, 0, 1], 65536), Kind::Ext(1), true),
        (vec![0x80], Kind::Map(0), true),
        (vec![0x90], Kind::Array(0), true),
        (vec![0xdc, 0, 0], Kind::Array(0), false),
        (vec![0xdd, 0, 0, 0, 0], Kind::Array(0), false),
        (vec![0xde, 0, 0], Kind::Map(0), false),
        (vec![0xdf, 0, 0, 0, 0], Kind::Map(0), false),
        (long(&[0xdc, 0, 15], 15), Kind::Array(15), false),
        (long(&[0xdc, 0, 16], 16), Kind::Array(16), true),
        (long(&[0xdd, 0, 1, 0, 0], 65536), Kind::Array(65536), true),
        (long(&[0xde, 0, 15], 30), Kind::Map(15), false),
        (long(&[0xde, 0, 16], 32), Kind::Map(16), true),
        (long(&[0xdf, 0, 1, 0, 0], 131_072), Kind::Map(65536), true),
    ];
    for (bytes, kind, shortest) in table {
        let head = &bytes[..bytes.len().min(9)];
        let mut scanner = Scanner::new(&bytes);
        let token = scanner.next_token().unwrap_or_else(|fault| panic!("{head:02x?}: {fault}")).unwrap();
        assert_eq!((token.kind, token.shortest), (kind, shortest), "{head:02x?}");
        while scanner.next_token().unwrap().is_some() {}
        assert_eq!(scanner.position(), bytes.len(), "{head:02x?}");
        for len in 0..bytes.len().min(40) {
            let cut = validate(&bytes[..len]);
            assert_eq!(cut, fault(len, MsgpackReason::UnexpectedEnd), "{head:02x?} cut to {len}");
        }
    }
}

#[test]
fn what_is_no_value_is_named_with_its_place() {
    let nested = |depth: usize| [&vec![0x91; depth][..], &[0xc0]].concat();
    assert_eq!(validate(&nested(32)), Ok(()));
    assert_eq!(validate(&nested(33)), fault(32, MsgpackReason::TooDeep));
    // An empty container is a level as well.
    let mut empty = vec![0x91; 32];
    empty.push(0x90);
    assert_eq!(validate(&empty), fault(32, MsgpackReason::TooDeep));
    assert_eq!(validate(&[]), fault(0, MsgpackReason::UnexpectedEnd));
    assert_eq!(validate(&[0x92, 0x01, 0xc1]), fault(2, MsgpackReason::Reserved));
    assert_eq!(validate(&[0xc0, 0xc0]), fault(1, MsgpackReason::TrailingBytes));
    assert_eq!(validate(&[0xa3, b'a', 0xff, b'b']), fault(2, MsgpackReason::InvalidUtf8));
    assert_eq!(validate(&[0xa3, 0xed, 0xa0, 0x80]), fault(1, MsgpackReason::InvalidUtf8));
}

/// A length that the bytes cannot hold is refused when it is read, whatever would follow.
#[test]
fn a_count_that_cannot_be_there_ends_the_bytes_at_once() {
    for bytes in [&[0xdd, 0xff, 0xff, 0xff, 0xff, 0xc1][..], &[0xdf, 0x80, 0, 0, 0, 0xc1], &[0x81, 0xc0]] {
        assert_eq!(validate(bytes), fault(bytes.len(), MsgpackReason::UnexpectedEnd));
    }
}

#[test]
fn a_fault_stays() {
    let mut scanner = Scanner::new(&[0x92, 0xc1, 0xc0]);
    scanner.next_token().unwrap();
    let first = scanner.next_token();
    assert!(first.is_err());
    assert_eq!(scanner.next_token(), first);
}

#[test]
fn a_value_is_passed_over_with_all_that_is_inside() {
    // [[], {1: [2, 3]}, "x"]
    let bytes = [0x93, 0x90, 0x81, 0x01, 0x92, 0x02, 0x03, 0xa1, b'x'];
    let mut scanner = Scanner::new(&bytes);
    scanner.next_token().unwrap();
    let mut spans = Vec::new();
    while let Some((_, span)) = scanner.skip_value().unwrap() {
        spans.push(span);
    }
    assert_eq!(spans, [1..2, 2..7, 7..9]);
}

#[test]
fn the_reader_takes_what_is_asked_for_in_its_shortest_form_and_nothing_else() {
    let not_shortest = MsgpackReason::NotShortest;
    assert_eq!(Reader::new(&[0xd9, 1, b'a']).str(), Err(MsgpackFault { offset: 0, reason: not_shortest }));
    assert_eq!(Reader::new(&[0xcc, 5]).unsigned(9), Err(MsgpackFault { offset: 0, reason: not_shortest }));
    assert_eq!(Reader::new(&[0xd0, 5]).unsigned(9), Err(MsgpackFault { offset: 0, reason: not_shortest }));
    assert_eq!(Reader::new(&[0xde, 0, 0]).map(), Err(MsgpackFault { offset: 0, reason: not_shortest }));
    assert_eq!(Reader::new(&[0xdc, 0, 0]).array(), Err(MsgpackFault { offset: 0, reason: not_shortest }));
    assert_eq!(Reader::new(&[0xc5, 0, 1, 0]).bin(), Err(MsgpackFault { offset: 0, reason: not_shortest }));
    let out_of_range = MsgpackReason::OutOfRange { max: 9 };
    for bytes in [&[10][..], &[0xff], &[0xcf, 1, 0, 0, 0, 0, 0, 0, 0]] {
        assert_eq!(
            Reader::new(bytes).unsigned(9),
            Err(MsgpackFault { offset: 0, reason: out_of_range }),
            "{bytes:?}"
        );
    }
    // Text for bytes, bytes for text, a float for a number, an extension, an array for a map.
    assert!(Reader::new(&[0xa1, b'a']).bin().is_err() && Reader::new(&[0xc4, 1, b'a']).str().is_err());
    assert!(Reader::new(&[0xca, 0, 0, 0, 0]).unsigned(9).is_err());
    assert!(Reader::new(&[0xd4, 0, 1]).bin().is_err());
    assert!(Reader::new(&[0x90]).map().is_err() && Reader::new(&[0x80]).array().is_err());
    let mut reader = Reader::new(&[0xc3, 0xc0, 0x07]);
    assert!(!reader.nil() && reader.bool() == Ok(true) && reader.nil() && !reader.nil());
    assert_eq!(reader.end(), fault(2, MsgpackReason::TrailingBytes));
    assert_eq!(reader.unsigned(7), Ok(7));
    assert_eq!(reader.end(), Ok(()));
}

#[test]
fn a_full_buffer_is_told_and_a_count_needs_none() {
    let mut buffer = [0; 4];
    let mut written = Written::new(&mut buffer);
    assert_eq!(Writer(&mut written).str("abcd"), Err(Full));
    let mut count = Counted(0);
    Writer(&mut count).str("abcd").unwrap();
    Writer(&mut count).unsigned(u64::MAX).unwrap();
    assert_eq!(count.0, 5 + 9);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (any::<i64>(), 0..63).prop_map(|(number, shift)| Value::from(number >> shift)),
        (any::<u64>(), 0..63).prop_map(|(number, shift)| Value::from(number >> shift)),
        any::<f32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(Value::from),
        (any::<i8>(), proptest::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(kind, bytes)| Value::Ext(kind, bytes)),
    ];
    leaf.prop_recursive(5, 60, 20, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..20).prop_map(Value::Array),
            proptest::collection::vec((inner.clone(), inner), 0..20).prop_map(Value::Map),
        ]
    })
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).unwrap();
    bytes
}

/// The value that a scanner's tokens say.
fn rebuilt(scanner: &mut Scanner<'_>) -> Result<Value, MsgpackFault> {
    let token = scanner.next_token()?.expect("a value");
    let content = scanner.bytes()[token.content_span()].to_vec();
    Ok(match token.kind {
        Kind::Nil => Value::Nil,
        Kind::Bool(value) => Value::from(value),
        Kind::Unsigned(number) => Value::from(number),
        Kind::Negative(number) => Value::from(number),
        Kind::Float32(bits) => Value::F32(f32::from_bits(bits)),
        Kind::Float64(bits) => Value::F64(f64::from_bits(bits)),
        Kind::Str => Value::from(scanner.text(&token).expect("a text")),
        Kind::Bin => Value::from(content),
        Kind::Ext(kind) => Value::Ext(kind, content),
        Kind::Array(count) => Value::Array((0..count).map(|_| rebuilt(scanner)).collect::<Result<_, _>>()?),
        Kind::Map(count) => Value::Map(
            (0..count).map(|_| Ok((rebuilt(scanner)?, rebuilt(scanner)?))).collect::<Result<_, _>>()?,
        ),
    })
}

/// Writes a value that has no float, extension or negative number.
fn write<O: Output>(writer: &mut Writer<'_, O>, value: &Value) -> Result<(), Full> {
    match value {
        Value::Nil => writer.nil(),
        Value::Boolean(value) => writer.bool(*value),
        Value::Integer(number) => writer.unsigned(number.as_u64().unwrap_or_default()),
        Value::String(text) => writer.str(text.as_str().unwrap_or_default()),
        Value::Binary(bytes) => writer.bin(bytes),
        Value::Array(elements) => {
            writer.array(u32::try_from(elements.len()).unwrap())?;
            elements.iter().try_for_each(|element| write(writer, element))
        }
        Value::Map(pairs) => {
            writer.map(u32::try_from(pairs.len()).unwrap())?;
            pairs.iter().try_for_each(|(key, value)| {
                write(writer, key)?;
                write(writer, value)
            })
        }
        _ => writer.nil(),
    }
}

/// What the other implementation makes of bytes: the value and how many it read.
fn rival(bytes: &[u8]) -> Option<(Value, usize)> {
    let mut rest = bytes;
    let value = rmpv::decode::read_value_with_max_depth(&mut rest, 1000).ok()?;
    Some((value, bytes.len() - rest.len()))
}

fn has_broken_text(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_err(),
        Value::Array(elements) => elements.iter().any(has_broken_text),
        Value::Map(pairs) => pairs.iter().any(|(key, value)| has_broken_text(key) || has_broken_text(value)),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_another_implementation_writes_is_read_as_it_was(value in any_value()) {
        let bytes = encoded(&value);
        let mut scanner = Scanner::new(&bytes);
        let ours = rebuilt(&mut scanner).unwrap();
        prop_assert_eq!(scanner.next_token(), Ok(None));
        // By their bytes: a float that is no number is not equal to itself.
        prop_assert_eq!(encoded(&ours), bytes);
    }

    #[test]
    fn what_we_write_is_what_another_implementation_writes(value in any_value()) {
        let mut ours = Vec::new();
        let mut count = Counted(0);
        let mut buffer = vec![0; 1 << 20];
        let mut written = Written::new(&mut buffer);
        struct All<'a>(&'a mut Vec<u8>);
        impl Output for All<'_> {
            fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
                self.0.extend_from_slice(bytes);
                Ok(())
            }
        }
        write(&mut Writer(&mut All(&mut ours)), &value).unwrap();
        write(&mut Writer(&mut count), &value).unwrap();
        write(&mut Writer(&mut written), &value).unwrap();
        let len = written.len();
        prop_assert_eq!(&buffer[..len], &ours[..]);
        prop_assert_eq!(count.0, ours.len() as u64);
        let read = rebuilt(&mut Scanner::new(&ours)).unwrap();
        prop_assert_eq!(encoded(&read), ours);
    }

    /// Two readers accept the same bytes, but for depth and broken text, which the other one keeps.
    #[test]
    fn any_bytes_are_judged_as_another_implementation_judges_them(
        value in any_value(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..3),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut bytes = encoded(&value);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() * 2 + 1));
        let ours = validate(&bytes);
        match (ours, rival(&bytes)) {
            (Ok(()), Some((value, len))) => {
                prop_assert_eq!(len, bytes.len());
                let read = rebuilt(&mut Scanner::new(&bytes)).unwrap();
                prop_assert_eq!(encoded(&read), encoded(&value));
            }
            (Ok(()), None) => prop_assert!(false, "refused there alone"),
            (Err(MsgpackFault { reason: MsgpackReason::InvalidUtf8, .. }), Some((value, _))) => {
                prop_assert!(has_broken_text(&value));
            }
            (Err(MsgpackFault { offset, reason: MsgpackReason::TrailingBytes }), Some((_, len))) => {
                prop_assert_eq!(offset, len);
            }
            // The byte that starts no value is nil there.
            (Err(MsgpackFault { reason: MsgpackReason::TooDeep | MsgpackReason::Reserved, .. }), _)
            | (Err(_), None) => {}
            (Err(fault), Some(_)) => prop_assert!(false, "refused here alone: {fault}"),
        }
    }
}

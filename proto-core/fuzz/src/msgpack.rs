//! The MessagePack scanner against another reader of the same format.
//!
//! | difference | reason |
//! |---|---|
//! | nesting over 32 is refused here | our bound is the wire's |
//! | 0xc1 is refused here, nil there | no value starts with it |
//! | text that is no UTF-8 is refused here, kept there | two readers must not see two texts |

use rmpv::Value as Rival;
use twolane_core::scan::msgpack::{Kind, MsgpackFault, MsgpackReason, Reader, Scanner, validate};

/// Deeper than any input that the scanner passes, shallower than what a stack of the other reader holds.
const RIVAL_DEPTH: usize = 200;

/// The bytes are one value.
pub fn run(bytes: &[u8]) {
    let ours = validate(bytes);
    let mut rest = bytes;
    let rival = rmpv::decode::read_value_with_max_depth(&mut rest, RIVAL_DEPTH);
    let len = bytes.len() - rest.len();
    match (ours, rival) {
        (Ok(()), Ok(rival)) => {
            assert_eq!(len, bytes.len(), "bytes left there");
            same(&mut Scanner::new(bytes), &rival);
        }
        (Ok(()), Err(fault)) => panic!("refused there alone: {fault}"),
        (
            Err(MsgpackFault {
                reason: MsgpackReason::TooDeep | MsgpackReason::InvalidUtf8 | MsgpackReason::Reserved,
                ..
            }),
            _,
        ) => {}
        (Err(MsgpackFault { offset, reason: MsgpackReason::TrailingBytes }), Ok(_)) => {
            assert_eq!(offset, len)
        }
        (Err(fault), Ok(_)) => panic!("refused here alone: {fault}"),
        (Err(fault), Err(_)) => assert!(fault.offset <= bytes.len()),
    }
    read(bytes);
}

/// Both readers see the same value.
fn same(scanner: &mut Scanner<'_>, rival: &Rival) {
    let token = scanner.next_token().expect("valid").expect("a value");
    let content = &scanner.bytes()[token.content_span()];
    match (token.kind, rival) {
        (Kind::Nil, Rival::Nil) => {}
        (Kind::Bool(ours), Rival::Boolean(theirs)) => assert_eq!(ours, *theirs),
        (Kind::Unsigned(ours), Rival::Integer(theirs)) => assert_eq!(Some(ours), theirs.as_u64()),
        (Kind::Negative(ours), Rival::Integer(theirs)) => assert_eq!(Some(ours), theirs.as_i64()),
        (Kind::Float32(ours), Rival::F32(theirs)) => assert_eq!(ours, theirs.to_bits()),
        (Kind::Float64(ours), Rival::F64(theirs)) => assert_eq!(ours, theirs.to_bits()),
        (Kind::Str, Rival::String(theirs)) => assert_eq!(scanner.text(&token), theirs.as_str()),
        (Kind::Bin, Rival::Binary(theirs)) => assert_eq!(content, theirs),
        (Kind::Ext(kind), Rival::Ext(theirs, bytes)) => assert_eq!((kind, content), (*theirs, &bytes[..])),
        (Kind::Array(_), Rival::Array(elements)) => {
            elements.iter().for_each(|element| same(scanner, element));
        }
        (Kind::Map(_), Rival::Map(pairs)) => pairs.iter().for_each(|(key, value)| {
            same(scanner, key);
            same(scanner, value);
        }),
        (kind, rival) => panic!("{kind:?} here, {rival} there"),
    }
}

/// What the strict reader takes, the scanner passes as the shortest form.
fn read(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    while reader.position() < bytes.len() {
        let before = reader.position();
        let taken = reader.nil()
            || reader.bool().is_ok()
            || reader.unsigned(u64::MAX).is_ok()
            || reader.str().is_ok()
            || reader.bin().is_ok()
            || reader.array().is_ok()
            || reader.map().is_ok();
        if !taken {
            break;
        }
        let mut value = Scanner::new(&bytes[before..]);
        // A container alone may announce more than follows, which is the caller's to find.
        if let Ok(Some(token)) = value.next_token() {
            assert!(token.shortest, "taken in a long form");
            assert_eq!(before + token.end, reader.position());
        }
    }
}

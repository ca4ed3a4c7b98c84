//! The scanner against another reader of the same language.
//!
//! | difference | reason |
//! |---|---|
//! | nesting over 64 is refused here, over 127 there | our bound is the wire's |
//! | equal names in one object: refused here when its members are asked for, the last wins there | two readers must not see two values |
//! | a name that the other reader keeps for itself | its arbitrary precision hides numbers under it |

use serde_json::Value as Rival;
use twolane_core::limits::JSON_DEPTH_MAX;
use twolane_core::scan::json::{JsonReason, Kind, validate};
use twolane_core::scan::value::Value;

const PRIVATE_NAME: &[u8] = b"$serde_json";

/// The bytes are one text.
pub fn run(bytes: &[u8]) {
    if bytes.windows(PRIVATE_NAME.len()).any(|window| window == PRIVATE_NAME) {
        return;
    }
    let ours = validate(bytes);
    assert_eq!(Value::parse(bytes).map(drop), ours, "the two readers of the core");
    let rival = serde_json::from_slice::<Rival>(bytes);
    match (ours, rival) {
        (Ok(()), Ok(rival)) => {
            let value = Value::parse(bytes).expect("a text that was validated");
            same(&value, &rival);
        }
        (Err(fault), Ok(_)) => {
            assert_eq!(fault.reason, JsonReason::TooDeep, "refused here alone: {fault}");
            let opened = bytes[..=fault.offset].iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
            assert!(opened > usize::from(JSON_DEPTH_MAX), "too deep at {opened} brackets");
        }
        (Ok(()), Err(fault)) => panic!("refused there alone: {fault}"),
        (Err(fault), Err(_)) => assert!(fault.offset <= bytes.len()),
    }
}

/// Both readers see the same value.
fn same(value: &Value<'_>, rival: &Rival) {
    match (value.kind(), rival) {
        (Kind::Null, Rival::Null) => {}
        (Kind::Bool(ours), Rival::Bool(theirs)) => assert_eq!(ours, *theirs),
        (Kind::Number { .. }, Rival::Number(number)) => {
            // As far as it is digits only: `1e2` and `-0` are no integers of the wire.
            if let Some(ours) = value.as_u64() {
                assert_eq!(Some(ours), number.as_u64());
            }
        }
        (Kind::String { .. }, Rival::String(theirs)) => {
            let ours = value.as_str().expect("a string");
            assert!(ours == theirs.as_str() && ours.chars().eq(theirs.chars()));
            assert_eq!(ours.decoded_len(), theirs.len());
        }
        (Kind::ArrayStart, Rival::Array(theirs)) => {
            let mut elements = value.elements().expect("an array");
            for rival in theirs {
                same(&elements.next_element().expect("valid").expect("as many elements"), rival);
            }
            assert!(elements.next_element().expect("valid").is_none(), "more elements");
        }
        (Kind::ObjectStart, Rival::Object(theirs)) => {
            let mut members = value.members().expect("an object");
            let mut count = 0;
            loop {
                match members.next_member() {
                    Ok(Some(member)) => {
                        count += 1;
                        let name: String = member.name.chars().collect();
                        same_unless_later(&member.value, theirs.get(&name), value);
                    }
                    Ok(None) => break assert_eq!(count, theirs.len()),
                    Err(_) => break,
                }
            }
        }
        (kind, rival) => panic!("{kind:?} here, {rival} there"),
    }
}

/// The last of equal names wins there, so that an earlier value is only the same where no later one follows.
fn same_unless_later(value: &Value<'_>, rival: Option<&Rival>, object: &Value<'_>) {
    let rival = rival.expect("a member of that name");
    let mut members = object.members().expect("an object");
    let unique = loop {
        match members.next_member() {
            Ok(Some(_)) => {}
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    if unique {
        same(value, rival);
    }
}

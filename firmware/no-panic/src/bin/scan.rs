//! The JSON scanner and the readers over it.
#![no_std]
#![no_main]

use no_panic::{output, program};
use twolane_core::scan::json::{Scanner, validate};
use twolane_core::scan::value::Value;

program!(|bytes| {
    output(validate(bytes));
    let mut scanner = Scanner::new(bytes);
    while let Ok(Some(token)) = scanner.next_token() {
        output(token);
    }
    if let Ok(value) = Value::parse(bytes) {
        output(value.as_u64());
        if let Some(text) = value.as_str() {
            output(text.decoded_len());
            output(text == *"role");
            let mut decoded = [0; 64];
            output(text.decode_into(&mut decoded));
        }
        if let Some(mut members) = value.members() {
            while let Ok(Some(member)) = members.next_member() {
                output(member.name_span);
            }
        }
        if let Some(mut elements) = value.elements() {
            while let Ok(Some(element)) = elements.next_element() {
                output(element.span());
            }
        }
    }
});

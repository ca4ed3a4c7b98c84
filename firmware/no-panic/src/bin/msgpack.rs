//! The MessagePack scanner, and the strict reader and writer.
#![no_std]
#![no_main]

use no_panic::{output, program};
use twolane_core::scan::msgpack::{Counted, Reader, Scanner, Writer, Written, validate};

program!(|bytes| {
    output(validate(bytes));
    let mut scanner = Scanner::new(bytes);
    while let Ok(Some(token)) = scanner.next_token() {
        output(token);
        output(scanner.text(&token));
    }
    output(Scanner::new(bytes).skip_value());
    let mut reader = Reader::new(bytes);
    output((reader.map(), reader.array(), reader.str(), reader.bin(), reader.unsigned(99)));
    output((reader.bool(), reader.nil(), reader.is_map(), reader.short_str("role"), reader.end()));
    let mut buffer = [0; 64];
    let mut written = Written::new(&mut buffer);
    let mut writer = Writer(&mut written);
    output((writer.bin(bytes), writer.map(u32::from(bytes.len() > 9)), writer.unsigned(bytes.len() as u64)));
    output(core::str::from_utf8(bytes).is_ok_and(|text| Writer(&mut Counted(0)).str(text).is_ok()));
});

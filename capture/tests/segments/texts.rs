//! Hexadecimal and base64 text, and telling them apart.

use proptest::prelude::*;
use twolane_capture::{CloseReason, Format, Opening, Reason, SNIFF_BYTES, Source};

use crate::scene::{Event, Heard, read_in};

fn decoded(text: &[u8], chunk: usize) -> (Vec<u8>, Format) {
    let (heard, result, source) = read_in(text, chunk);
    assert_eq!(result, Ok(()), "{}", String::from_utf8_lossy(text));
    let format = source.format().expect("sniffed");
    let [Event::Opened(Opening::Stream), Event::Bytes(bytes), end] = &heard.a_to_b()[..] else {
        panic!("{:?}", heard.a_to_b());
    };
    assert_eq!(*end, Event::Closed(CloseReason::EndOfCapture));
    (bytes.clone(), format)
}

const BYTES: &[u8] = b"k\x00\x00\x00\x01\x02\n|{\"a\": 1}";

#[test]
fn hex_in_every_dress() {
    let table = [
        "6b 00 00 00 01 02 0a 7c 7b 22 61 22 3a 20 31 7d",
        "6b000000 01020a7c 7b226122 3a20317d\n",
        "6B0000000102\n\n0a7c7b22\r\n61223a20317d\r\n",
        "0x6b, 0x00, 0x00, 0x00, 0x01, 0x02, 0x0a, 0x7c,\n  0x7b, 0x22, 0x61, 0x22, 0x3a, 0x20, 0x31, 0x7d\n",
        "0x6b00000001020a7c7b2261223a20317d",
        r"\x6b\x00\x00\x00\x01\x02\x0a\x7c\x7b\x22\x61\x22\x3a\x20\x31\x7d",
        "6b:00:00:00:01:02:0a:7c:7b:22:61:22:3a:20:31:7d",
        "00000000: 6b00 0000 0102 0a7c 7b22 6122 3a20 317d  k......|{\"a\": 1}\n",
        "00000010: 6b00 0000 0102 0a7c  k......|\n00000018: 7b22 6122 3a20 317d  {\"a\": 1}\n",
        "00000000: 6b 00 00 00 01 02 0a 7c 7b 22 61 22 3a     k......|{\"a\":\n0000000d: 20 31 7d                                    1}",
        "\n00000000  6b 00 00 00 01 02 0a 7c  7b 22 61 22 3a 20 31 7d  |k......|{\"a\": 1}|\n00000010\n",
    ];
    for text in table {
        for chunk in [1, 3, 4096] {
            let (bytes, format) = decoded(text.as_bytes(), chunk);
            assert_eq!(bytes, BYTES, "{text}");
            assert_eq!(format, Format::Hex);
        }
    }
}

#[test]
fn a_star_in_a_dump_repeats_the_line_before() {
    let zeros = "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|";
    let text = format!("00000000  {zeros}\n*\n00000040  01                        |.|\n00000041\n");
    let (bytes, _) = decoded(text.as_bytes(), 5);
    assert_eq!(bytes, [&[0; 64][..], &[1]].concat());
    let text = format!("00000000  {zeros}\n*\n00000040\n");
    assert_eq!(decoded(text.as_bytes(), 4096).0, [0; 64]);
}

#[test]
fn base64_padded_and_wrapped() {
    let table: [(&str, &[u8]); 4] = [
        ("awAAAAECCnx7ImEiOiAxfQ==", BYTES),
        ("awAAAAEC\r\nCnx7ImEi\r\nOiAxfQ==\r\n", BYTES),
        ("Zm9vYmE=", b"fooba"),
        ("Zm9v+/+/", b"foo\xfb\xff\xbf"),
    ];
    for (text, expected) in table {
        for chunk in [1, 4096] {
            let (bytes, format) = decoded(text.as_bytes(), chunk);
            assert_eq!((bytes.as_slice(), format), (expected, Format::Base64), "{text}");
        }
    }
}

#[test]
fn faults_name_the_character() {
    let line = "6b000000";
    let dump = "00000000: 6b00 0000  k...\n";
    let canonical = "00000000  6b 00  |k.|\n";
    let table: [(&str, String, u64, Reason); 15] = [
        ("a letter", format!("{line} 0g"), 10, Reason::NotHex),
        ("half a byte", format!("{line} 0"), 9, Reason::OddDigits),
        ("half a byte in a line", format!("{line} 012 34"), 11, Reason::OddDigits),
        ("x out of place", format!("{line} 1x22"), 10, Reason::NotHex),
        ("dump: letter", format!("{dump}00000004: 6g\n"), 37, Reason::NotHex),
        ("dump: half a byte", format!("{dump}00000004: 6b0\n"), 38, Reason::OddDigits),
        ("dump: a line left out", format!("{dump}00000010: 6b00\n"), 26, Reason::DumpOffset),
        ("dump: backwards", format!("{dump}00000000: 6b00\n"), 26, Reason::DumpOffset),
        ("dump: no colon", format!("{dump}00000004 6b00\n"), 34, Reason::NotHex),
        ("dump: a star and no end", format!("{canonical}*\n"), 24, Reason::DumpOffset),
        ("dump: too much repeated", format!("{canonical}*\nffffffff\n"), 24, Reason::DumpOffset),
        ("dump: a line too long", format!("{dump}{}", " ".repeat(2_000)), 26, Reason::DumpLineTooLong),
        ("base64: letter", "Zm9v!mFy".into(), 4, Reason::NotBase64),
        ("base64: after the padding", "Zm9vYg==Zm9v".into(), 8, Reason::NotBase64),
        ("base64: bits under the padding", "Zm9vYh==".into(), 7, Reason::NotBase64),
    ];
    for (name, text, offset, reason) in table {
        let format = if reason == Reason::NotBase64 { Format::Base64 } else { Format::Hex };
        for chunk in [1, 4096] {
            let mut heard = Heard::default();
            let mut source = Source::with_format(format);
            let pushed = text.as_bytes().chunks(chunk).try_for_each(|chunk| source.push(chunk, &mut heard));
            let fault = pushed.and_then(|()| source.finish(&mut heard)).expect_err(name);
            assert_eq!((fault.offset, fault.reason), (offset, reason), "{name}");
            let Event::Bytes(before) = &heard.a_to_b()[1] else {
                panic!("{name}: nothing was delivered");
            };
            assert!(before.starts_with(b"k\0") || before.starts_with(b"foo"), "{name}");
        }
    }
    let mut source = Source::with_format(Format::Base64);
    let mut heard = Heard::default();
    source.push(b"Zm9vYg", &mut heard).expect("so far");
    let fault = source.finish(&mut heard).expect_err("half a group");
    assert_eq!(fault.reason, Reason::Truncated { have: 2, need: 4 });
    assert_eq!(fault.offset, 6);
}

#[test]
fn sniffing() {
    let table: [(&[u8], Format); 9] = [
        (b"0a0b", Format::Hex),
        (b"abcd", Format::Hex),
        (b"abc", Format::Hex),
        (b"abcg", Format::Base64),
        (b"\x6b\x00\x00\x00\x01", Format::Raw),
        (b"0a0b\x00", Format::Raw),
        (b"{\"a\":1}", Format::Raw),
        (b"\xd4\xc3\xb2\xa1", Format::Pcap),
        (b"\x0a\x0d\x0d\x0a", Format::PcapNg),
    ];
    for (text, expected) in table {
        let (_, _, source) = read_in(text, 1);
        assert_eq!(source.format(), Some(expected), "{text:?}");
    }
}

#[test]
fn a_raw_stream_is_handed_on_from_its_fourth_byte() {
    let mut heard = Heard::default();
    let mut source = Source::new();
    source.push(b"\x05\0\0", &mut heard).expect("raw");
    assert_eq!(source.format(), None);
    source.push(b"\0", &mut heard).expect("raw");
    assert_eq!(source.format(), Some(Format::Raw));
    source.push(b"\x01", &mut heard).expect("raw");
    assert_eq!(heard.a_to_b()[1], Event::Bytes(b"\x05\0\0\0\x01".to_vec()));
}

#[test]
fn a_text_is_decided_at_the_stated_number_of_bytes() {
    let mut heard = Heard::default();
    let mut source = Source::new();
    source.push(&vec![b'0'; SNIFF_BYTES - 1], &mut heard).expect("text");
    assert_eq!(source.format(), None);
    source.push(b"0", &mut heard).expect("text");
    assert_eq!(source.format(), Some(Format::Hex));
    assert_eq!(heard.a_to_b()[1], Event::Bytes(vec![0; SNIFF_BYTES / 2]));
    let fault = source.push(b"zz", &mut heard).expect_err("not hex");
    assert_eq!(fault.offset, u64::try_from(SNIFF_BYTES).expect("small"));
}

proptest! {
    #[test]
    fn dumps_decode_to_what_was_dumped(bytes in prop::collection::vec(any::<u8>(), 1..300), chunk in 1usize..80) {
        let mut xxd = String::new();
        for (line, bytes) in bytes.chunks(16).enumerate() {
            xxd.push_str(&format!("{:08x}: ", line * 16));
            let groups: Vec<String> = bytes
                .chunks(2)
                .map(|pair| pair.iter().map(|byte| format!("{byte:02x}")).collect())
                .collect();
            let printable = |byte: &u8| if (32..127).contains(byte) { char::from(*byte) } else { '.' };
            let characters: String = bytes.iter().map(printable).collect();
            xxd.push_str(&format!("{:<39}  {characters}\n", groups.join(" ")));
        }
        let (found, format) = decoded(xxd.as_bytes(), chunk);
        prop_assert_eq!(found, bytes);
        prop_assert_eq!(format, Format::Hex);
    }

    #[test]
    fn no_text_panics(text in "[0-9a-fA-F x:|*\n\\\\,=+/g]{0,200}", chunk in 1usize..50) {
        for format in [Format::Hex, Format::Base64] {
            let read = |chunk: usize| {
                let mut heard = Heard::default();
                let mut source = Source::with_format(format);
                let chunks = text.as_bytes().chunks(chunk);
                let pushed = chunks.map(|chunk| source.push(chunk, &mut heard)).find(Result::is_err);
                let finished = source.finish(&mut heard);
                (heard.a_to_b(), pushed.unwrap_or(finished), finished)
            };
            prop_assert_eq!(read(chunk), read(4096));
        }
    }
}

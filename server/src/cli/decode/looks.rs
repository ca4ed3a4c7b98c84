//! What bytes look like that begin with no frame.

/// Bytes of the input's beginning that are looked at.
pub(super) const HEAD_LEN: usize = 512;

/// What the beginning of an input looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    Gzip,
    Zstd,
    Png,
    /// Text that is neither hexadecimal nor base64, or was not to be read as that.
    Text,
    Unknown,
}

impl Looks {
    /// Judges the first bytes of an input.
    pub(super) fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [0x89, b'P', b'N', b'G', ..] => Self::Png,
            _ if is_text(head) => Self::Text,
            _ => Self::Unknown,
        }
    }

    /// What was found and what to try, for an input of this name.
    pub(super) fn advice(self, name: &str) -> String {
        let unpack = |program: &str| match name {
            "-" => format!("try `... | {program} | twolane decode -`"),
            _ => format!("try `{program} {name} | twolane decode -`"),
        };
        match self {
            Self::Gzip => format!("the input looks like gzip; {}", unpack("gunzip -c")),
            Self::Zstd => format!("the input looks like zstd; {}", unpack("zstd -dc")),
            Self::Png => "the input looks like a PNG image, which holds no frames; try a capture".to_owned(),
            Self::Text => {
                "the input looks like plain text that is neither hex nor base64; where a dump begins \
                           further down, try that part with --input hex or --input base64"
                    .to_owned()
            }
            Self::Unknown => {
                "the input begins with no frame; another format? --input says what it is: pcap, \
                              pcapng, raw, hex or base64; --resync looks for the first frame"
                    .to_owned()
            }
        }
    }
}

/// The last character may be cut off.
fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(fault) if fault.error_len().is_none() => head
            .get(..fault.valid_up_to())
            .and_then(|head| std::str::from_utf8(head).ok())
            .unwrap_or_default(),
        Err(_) => return false,
    };
    !text.is_empty() && text.chars().all(|c| !c.is_control() || c.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_named_for_what_it_is() {
        for (head, looks) in [
            (&b"\x1f\x8b\x08\0"[..], Looks::Gzip),
            (b"\x28\xb5\x2f\xfd\x04", Looks::Zstd),
            (b"\x89PNG\r\n\x1a\n", Looks::Png),
            (b"no dump at all\n", Looks::Text),
            ("gr\u{fc}n".as_bytes(), Looks::Text),
            (b"gr\xc3", Looks::Text),
            (b"gr\xc3n", Looks::Unknown),
            (b"one\0two", Looks::Unknown),
            (b"", Looks::Unknown),
        ] {
            assert_eq!(Looks::of(head), looks, "{head:?}");
        }
    }
}

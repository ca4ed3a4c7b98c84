//! Integers in digits, without the division that small processors do not have.

use core::fmt;

/// The powers of ten that a u64 holds, the largest first.
const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut at = 19;
    while at > 0 {
        powers[at - 1] = powers[at] * 10;
        at -= 1;
    }
    powers
};

/// Writes `value` without a leading zero.
pub(crate) fn write_decimal(out: &mut impl fmt::Write, value: u64) -> fmt::Result {
    let mut rest = value;
    let mut begun = false;
    for power in POWERS {
        let mut digit = b'0';
        while rest >= power {
            rest -= power;
            digit += 1;
        }
        begun |= digit != b'0' || power == 1;
        if begun {
            out.write_char(char::from(digit))?;
        }
    }
    Ok(())
}

/// The value of `digits`, which are digits alone; `None` where it is over 64 bits.
pub(crate) fn read_decimal(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, &digit| {
        // Ten times as eight times and twice, by shifts; what is over the largest tenth would lose bits.
        let ten = (value <= u64::MAX / 10).then_some((value << 3).wrapping_add(value << 1))?;
        ten.checked_add(u64::from(digit.checked_sub(b'0')?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn integers_are_written_and_read_as_the_library_does() {
        let powers = (0..64).flat_map(|bits| [(1 << bits) - 1, 1_u64 << bits]);
        for value in POWERS.into_iter().chain(powers).chain([u64::MAX, 9, 99, 101]) {
            let mut text = String::new();
            write_decimal(&mut text, value).unwrap();
            assert_eq!(text, value.to_string());
            assert_eq!(read_decimal(text.as_bytes()), Some(value));
        }
    }

    #[test]
    fn what_does_not_fit_is_none() {
        for text in
            ["18446744073709551616", "20000000000000000000", "99999999999999999999", "184467440737095516150"]
        {
            assert_eq!(read_decimal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(read_decimal(b"-1"), None);
    }
}

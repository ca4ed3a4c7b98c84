//! Reading single values: times, sizes, numbers.

use std::time::Duration;

/// `250ms`, `10s`, `2m`; at most a day.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let number: u64 = number.parse().map_err(|_| EXPECTED_TIME.to_owned())?;
    let scale_ms = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        _ => return Err(EXPECTED_TIME.to_owned()),
    };
    match number.checked_mul(scale_ms) {
        Some(ms) if ms <= 24 * 60 * 60_000 => Ok(Duration::from_millis(ms)),
        _ => Err("longer than a day".to_owned()),
    }
}

/// `90m`, `24h`, `30d`; at most a year.
pub(super) fn long_time(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let expected = || "expected a whole number with a unit, such as 90s, 60m, 24h or 30d".to_owned();
    let number: u64 = number.parse().map_err(|_| expected())?;
    let scale_s = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(expected()),
    };
    match number.checked_mul(scale_s) {
        Some(s) if s <= 366 * 24 * 3600 => Ok(Duration::from_secs(s)),
        _ => Err("longer than a year".to_owned()),
    }
}

const EXPECTED_TIME: &str = "expected a whole number with a unit, such as 250ms, 10s or 2m";

/// `4096`, `64KiB`, `1MiB`; at most 1 GiB.
pub(super) fn bytes(text: &str) -> Result<u32, String> {
    let expected = || "expected bytes, such as 4096, 64KiB or 1MiB".to_owned();
    let (number, unit) = split(text);
    let number: u64 = number.parse().map_err(|_| expected())?;
    let scale = match unit {
        "" | "B" => 1,
        "KiB" => 1024,
        "MiB" => 1024 * 1024,
        _ => return Err(expected()),
    };
    match number.checked_mul(scale).map(u32::try_from) {
        Some(Ok(bytes)) if bytes <= 1024 * 1024 * 1024 => Ok(bytes),
        _ => Err("more than 1 GiB".to_owned()),
    }
}

/// A number of connections, at least 1.
pub(super) fn count(text: &str) -> Result<usize, String> {
    match text.parse::<u32>() {
        Ok(number @ 1..=65_536) => Ok(number as usize),
        _ => Err("expected a number from 1 to 65536".to_owned()),
    }
}

/// `true` or `false`.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "expected true or false".to_owned())
}

fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for text in ["", "10", "s", "-1s", "1h", "1.5s", "999999999999999999m", "99999999999999999999s"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_binary() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("64KiB"), Ok(65_536));
        assert_eq!(bytes("1MiB"), Ok(1_048_576));
        for text in ["", "64K", "64kb", "-1", "2000MiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_bounded() {
        assert_eq!(count("256"), Ok(256));
        for text in ["0", "-1", "65537", "many"] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}

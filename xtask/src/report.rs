//! The closing table of a run.

use std::fmt::Write as _;
use std::time::Duration;

/// How one part ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    Failed,
    /// An earlier part failed.
    NotRun,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "FAILED",
            Self::NotRun => "not run",
        }
    }
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
}

/// The parts with their times, and the sum.
pub(crate) fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let width = width.max("total".len());
    let mut text = String::new();
    for row in rows {
        let time = match row.outcome {
            Outcome::NotRun => String::new(),
            Outcome::Ok | Outcome::Failed => duration(row.took),
        };
        let _ = writeln!(text, "  {:width$}  {time:>8}  {}", row.name, row.outcome.word());
    }
    let total: Duration = rows.iter().map(|row| row.took).sum();
    let failed = rows.iter().any(|row| row.outcome == Outcome::Failed);
    let word = if failed { Outcome::Failed } else { Outcome::Ok }.word();
    let _ = writeln!(text, "  {:width$}  {:>8}  {word}", "total", duration(total));
    text
}

/// Minutes and seconds, tenths below a minute.
pub(crate) fn duration(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = (took.as_millis() + 500) / 1000;
    format!("{}m {:02} s", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_round_without_a_sixtieth_second() {
        let cases = [
            (0, "0.0 s"),
            (40, "0.0 s"),
            (59_940, "59.9 s"),
            (59_960, "1m 00 s"),
            (119_600, "2m 00 s"),
            (754_000, "12m 34 s"),
        ];
        for (millis, text) in cases {
            assert_eq!(duration(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn columns_line_up_and_parts_that_never_ran_have_no_time() {
        let row = |name, seconds, outcome| Row { name, took: Duration::from_secs(seconds), outcome };
        let rows = [
            row("format", 1, Outcome::Ok),
            row("clippy", 75, Outcome::Failed),
            row("unit", 0, Outcome::NotRun),
        ];
        let expected = "  format     1.0 s  ok\n  \
                          clippy   1m 15 s  FAILED\n  \
                          unit              not run\n  \
                          total    1m 16 s  FAILED\n";
        assert_eq!(table(&rows), expected);
    }
}

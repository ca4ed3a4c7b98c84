//! The sizes that are kept, and what is too much more.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::Sizes;

/// What a change may add without being asked.
pub(super) const GROWTH_PERCENT: u64 = 2;

/// Sizes and the compiler that made them: another one makes others.
pub(super) struct Snapshot {
    pub(super) rustc: String,
    pub(super) sizes: Sizes,
}

impl Snapshot {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text).context("the snapshot is no JSON")?;
        let rustc = value["rustc"].as_str().context("the snapshot names no compiler")?.to_owned();
        let mut sizes = Sizes::new();
        for (target, parts) in value["sizes"].as_object().context("the snapshot has no sizes")? {
            for (part, figures) in parts.as_object().into_iter().flatten() {
                for (name, bytes) in figures.as_object().into_iter().flatten() {
                    let bytes =
                        bytes.as_u64().with_context(|| format!("{target} {part} {name} is no size"))?;
                    let parts = sizes.entry(target.clone()).or_default();
                    parts.entry(part.clone()).or_default().insert(name.clone(), bytes);
                }
            }
        }
        Ok(Self { rustc, sizes })
    }

    pub(super) fn render(&self) -> String {
        let value = json!({ "rustc": self.rustc, "sizes": self.sizes });
        format!("{value:#}\n")
    }
}

/// What grew too much, a line each. A size that was never kept is none that grew, but has to be kept.
pub(super) fn grown(kept: &Sizes, measured: &Sizes) -> Vec<String> {
    let mut lines = Vec::new();
    for (target, parts) in measured {
        for (part, figures) in parts {
            for (name, &bytes) in figures {
                let before = kept.get(target).and_then(|parts| parts.get(part)?.get(name));
                match before {
                    Some(&before) if bytes * 100 <= before * (100 + GROWTH_PERCENT) => {}
                    Some(before) => lines.push(format!("  {target} {part} {name}: {bytes}, was {before}")),
                    None => lines.push(format!("  {target} {part} {name}: {bytes}, not kept yet")),
                }
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Figures;

    fn sizes(bytes: u64) -> Sizes {
        let figures = Figures::from([("flash".to_owned(), bytes)]);
        Sizes::from([("thumb".to_owned(), [("peek".to_owned(), figures)].into())])
    }

    #[test]
    fn two_percent_pass_and_a_byte_more_does_not() {
        assert_eq!(grown(&sizes(1000), &sizes(1020)), [""; 0]);
        assert_eq!(grown(&sizes(1000), &sizes(10)), [""; 0]);
        assert_eq!(grown(&sizes(1000), &sizes(1021)), ["  thumb peek flash: 1021, was 1000"]);
        assert_eq!(grown(&Sizes::new(), &sizes(1)), ["  thumb peek flash: 1, not kept yet"]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let snapshot = Snapshot { rustc: "1.0.0".to_owned(), sizes: sizes(7) };
        let read = Snapshot::parse(&snapshot.render()).unwrap();
        assert_eq!((read.rustc.as_str(), &read.sizes), ("1.0.0", &snapshot.sizes));
        assert!(Snapshot::parse("{}").is_err());
    }
}

//! The sizes as a table, on the terminal and in the guide.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result, bail};

use super::{PARTS, Sizes};
use crate::command::root;

const GUIDE: &str = "docs/link-the-core.md";

/// What stands around the table in the guide.
const BEGIN: &str = "<!-- sizes: written by cargo xtask size --write -->\n";
const END: &str = "<!-- /sizes -->\n";

/// Every figure there may be, in the order of the columns.
const COLUMNS: [&str; 6] = ["flash", "ram", "stack", "raw", "gzip", "brotli"];

/// Bytes, one row a target and part; `-` where there is no such figure.
pub(super) fn render(sizes: &Sizes) -> String {
    let mut text = format!("| target | part | {} |\n|---|---|", COLUMNS.join(" | "));
    text.push_str(&"--:|".repeat(COLUMNS.len()));
    text.push('\n');
    for (target, parts) in sizes {
        for part in PARTS {
            let Some(figures) = parts.get(*part) else { continue };
            let cell = |name: &&str| figures.get(*name).map_or("-".to_owned(), u64::to_string);
            let cells: Vec<String> = COLUMNS.iter().map(cell).collect();
            // A string takes whatever is written.
            let _ = writeln!(text, "| {target} | {part} | {} |", cells.join(" | "));
        }
    }
    text
}

/// Puts the table into the guide.
pub(super) fn write(sizes: &Sizes) -> Result<()> {
    let path = root().join(GUIDE);
    let guide = fs::read_to_string(&path).with_context(|| format!("cannot read {GUIDE}"))?;
    let (before, after) = around(&guide)?;
    fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", render(sizes)))?;
    Ok(())
}

/// That the guide shows the sizes that are kept.
pub(super) fn check(sizes: &Sizes) -> Result<()> {
    let guide = fs::read_to_string(root().join(GUIDE)).with_context(|| format!("cannot read {GUIDE}"))?;
    around(&guide)?;
    if guide.contains(&render(sizes)) {
        return Ok(());
    }
    bail!("{GUIDE} shows other sizes than fixtures/sizes.json; try: cargo xtask size --write")
}

fn around(guide: &str) -> Result<(&str, &str)> {
    let place = guide.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    place.with_context(|| format!("{GUIDE} has no place for the sizes: {BEGIN}{END}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Figures;

    #[test]
    fn a_row_has_every_column() {
        let figures = Figures::from([("flash".to_owned(), 12), ("stack".to_owned(), 3)]);
        let sizes = Sizes::from([("thumb".to_owned(), [("peek".to_owned(), figures)].into())]);
        assert!(render(&sizes).ends_with("|\n| thumb | peek | 12 | - | 3 | - | - | - |\n"));
    }

    #[test]
    fn the_place_in_the_guide_is_found_or_named() {
        let guide = format!("before\n{BEGIN}old\n{END}after\n");
        assert_eq!(around(&guide).unwrap(), ("before\n", "after\n"));
        assert!(around("nothing").unwrap_err().to_string().contains("no place"));
    }
}

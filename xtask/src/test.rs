//! Runs parts one after the other and says how each went.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;

use crate::parts::{PARTS, Part};
use crate::report::{Outcome, Row, duration, table};

/// What of the tests to run.
#[derive(Args)]
pub(crate) struct Options {
    /// Run this part alone; may be given more than once
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// Print the parts and run none
    #[arg(long)]
    list: bool,
    /// Run the remaining parts after a failure
    #[arg(long)]
    keep_going: bool,
}

/// `cargo xtask test`.
pub(crate) fn test(options: &Options) -> Result<()> {
    if options.list {
        let width = PARTS.iter().map(|part| part.name.len()).max().unwrap_or(0);
        for part in PARTS {
            println!("{:width$}  {}", part.name, part.about);
        }
        return Ok(());
    }
    run(&selected(&options.only)?, options.keep_going)
}

/// `cargo xtask check`.
pub(crate) fn check() -> Result<()> {
    let parts: Vec<&Part> = PARTS.iter().filter(|part| part.quick).collect();
    run(&parts, false)
}

/// The named parts in the order they run, all when none is named.
fn selected(only: &[String]) -> Result<Vec<&'static Part>> {
    for name in only {
        if !PARTS.iter().any(|part| part.name == name) {
            let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
            bail!("no part is named {name:?}; there are {}", names.join(", "));
        }
    }
    let wanted = |part: &&Part| only.is_empty() || only.iter().any(|name| name == part.name);
    Ok(PARTS.iter().filter(wanted).collect())
}

fn run(parts: &[&Part], keep_going: bool) -> Result<()> {
    let mut rows = Vec::with_capacity(parts.len());
    let mut failed = Vec::new();
    for part in parts {
        if !failed.is_empty() && !keep_going {
            rows.push(Row { name: part.name, took: Duration::ZERO, outcome: Outcome::NotRun });
            continue;
        }
        eprintln!("==> {}: {}", part.name, part.about);
        let started = Instant::now();
        let result = (part.run)();
        let took = started.elapsed();
        let outcome = match result {
            Ok(()) => {
                eprintln!("<== {}: ok in {}\n", part.name, duration(took));
                Outcome::Ok
            }
            Err(error) => {
                eprintln!("{error:#}");
                eprintln!("<== {}: FAILED after {}\n", part.name, duration(took));
                failed.push(part.name);
                Outcome::Failed
            }
        };
        rows.push(Row { name: part.name, took, outcome });
    }
    eprint!("{}", table(&rows));
    if failed.is_empty() {
        return Ok(());
    }
    bail!("{} failed; again: cargo xtask test --only {}", failed.join(", "), failed.join(" --only "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_run_in_their_own_order_whatever_the_order_asked() {
        let names = |only: &[&str]| -> Vec<&str> {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            selected(&only).unwrap().iter().map(|part| part.name).collect()
        };
        assert_eq!(names(&["unit", "format"]), ["format", "unit"]);
        assert_eq!(names(&[]).len(), PARTS.len());
    }

    #[test]
    fn an_unknown_part_is_refused_with_the_known_ones() {
        let error = selected(&["lint".into()]).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("format, clippy"), "{error}");
    }

    #[test]
    fn no_two_parts_share_a_name() {
        let mut names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PARTS.len());
    }
}

//! `cargo xtask size`: what each part of the core costs on each kind of machine, against fixtures/sizes.json.

mod program;
mod snapshot;
mod table;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::command::{program as command, root};
use crate::firmware::{STACK_MAX, on_the_machine};
use crate::setup::{PAGE_TARGET, text_of};
use snapshot::Snapshot;

/// Whether to compare or to write.
#[derive(Args)]
pub(crate) struct Options {
    /// Take these sizes as the ones to compare with, and write them into the guide
    #[arg(long)]
    write: bool,
}

/// The parts that are weighed, in the order of their weight.
pub(crate) const PARTS: &[&str] = &["peek", "decode", "lanes", "sealed"];

/// Each kind of machine, with the emulated one that tells its stack.
const TARGETS: &[(&str, Option<&str>)] = &[
    ("thumbv6m-none-eabi", Some("mps2-an385")),
    ("thumbv7em-none-eabihf", Some("mps2-an386")),
    ("riscv32imc-unknown-none-elf", None),
    (PAGE_TARGET, None),
];

/// Bytes by what they are of: `flash`, `ram`, `stack`; or `raw`, `gzip`, `brotli` of a module.
pub(crate) type Figures = BTreeMap<String, u64>;

/// Figures by target and part.
pub(crate) type Sizes = BTreeMap<String, BTreeMap<String, Figures>>;

const SNAPSHOT: &str = "fixtures/sizes.json";

/// `cargo xtask size [--write]`.
pub(crate) fn size(options: &Options) -> Result<()> {
    let measured = Snapshot { rustc: compiler()?, sizes: measure()? };
    print!("{}", table::render(&measured.sizes));
    let path = root().join(SNAPSHOT);
    if options.write {
        fs::write(&path, measured.render()).with_context(|| format!("cannot write {SNAPSHOT}"))?;
        return table::write(&measured.sizes);
    }
    let text = fs::read_to_string(&path)
        .with_context(|| format!("cannot read {SNAPSHOT}; try: cargo xtask size --write"))?;
    let kept = Snapshot::parse(&text)?;
    if kept.rustc != measured.rustc {
        println!("  not judged: {SNAPSHOT} is of rustc {}, this is {}", kept.rustc, measured.rustc);
        return Ok(());
    }
    let grown = snapshot::grown(&kept.sizes, &measured.sizes);
    if grown.is_empty() {
        return table::check(&kept.sizes);
    }
    bail!(
        "grown by more than {} %:\n{}\n  try: make it smaller, or with a reason: cargo xtask size --write",
        snapshot::GROWTH_PERCENT,
        grown.join("\n")
    )
}

/// The part of the tests.
pub(crate) fn check() -> Result<()> {
    size(&Options { write: false })
}

/// The version that sizes and the list of panic sites belong to.
pub(crate) fn compiler() -> Result<String> {
    let text = text_of(command("rustc").arg("--version"))?;
    text.split(' ').nth(1).map(str::to_owned).with_context(|| format!("{text:?} names no version"))
}

fn measure() -> Result<Sizes> {
    let mut sizes = Sizes::new();
    for (target, machine) in TARGETS {
        let mut parts = program::figures(target)?;
        if let Some(machine) = machine {
            for line in on_the_machine(target, machine, "stack")?.lines() {
                let (part, stack) = line.split_once(' ').with_context(|| format!("{line:?} is no result"))?;
                let stack: u64 = stack.parse()?;
                if stack > STACK_MAX {
                    bail!(
                        "{part} on {target} takes {stack} bytes of stack; at most {STACK_MAX} are promised"
                    );
                }
                let figures = parts.get_mut(part).with_context(|| format!("no part is named {part:?}"))?;
                figures.insert("stack".to_owned(), stack);
            }
        }
        sizes.insert((*target).to_owned(), parts);
    }
    Ok(sizes)
}

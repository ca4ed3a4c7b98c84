//! The functions around seal and open that keep a way to a panic, by symbol: a list that may only shrink.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use object::read::elf::ElfFile32;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget, SymbolKind};

use crate::command::{cargo, root, run, target_dir};
use crate::size::compiler;

const LIST: &str = "firmware/no-panic/seal-panics.txt";

/// The one symbol that every panic goes to.
const PANIC: &str = "a_panic_is_reachable";

/// The part of `no-panic` that cannot be clean: the ciphers are not ours.
pub(crate) fn check(target: &str, opt_levels: &[&str]) -> Result<()> {
    let mut found = BTreeSet::new();
    for opt_level in opt_levels {
        let program = build(target, opt_level)?;
        found.extend(sites(&program).with_context(|| format!("cannot read {}", program.display()))?);
    }
    let kept = fs::read_to_string(root().join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let (head, kept) = kept.split_once('\n').context("the list has no first line")?;
    let ours = format!("rustc {}", compiler()?);
    if head != ours {
        println!("  seal: not judged: {LIST} is of {head}, this is {ours}");
        return Ok(());
    }
    let kept: BTreeSet<&str> = kept.lines().collect();
    let new: Vec<&str> = found.iter().map(String::as_str).filter(|site| !kept.contains(site)).collect();
    let text: String = found.iter().map(|site| format!("{site}\n")).collect();
    if !new.is_empty() {
        bail!(
            "new ways to a panic from seal and open:\n{}\n  try: remove them; all are now:\n{text}",
            new.join("\n")
        );
    }
    println!("  seal: {} sites inside the ciphers, as listed", found.len());
    if found.len() < kept.len() {
        bail!("{LIST} may shrink: {} of its lines are gone; it should be:\n{text}", kept.len() - found.len());
    }
    Ok(())
}

/// Links although a panic is reachable, and keeps who calls whom.
fn build(target: &str, opt_level: &str) -> Result<std::path::PathBuf> {
    let folder = target_dir()?.join("panic-sites");
    let mut command = cargo(["build", "--quiet", "--locked", "--release", "--target", target]);
    command.args(["--bin", "seal", "--features", "listed"]);
    command.arg("--manifest-path").arg(root().join("firmware/no-panic/Cargo.toml"));
    command.arg("--target-dir").arg(&folder);
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level);
    run(command.env("RUSTFLAGS", "-Clink-arg=--emit-relocs"), "")?;
    Ok(folder.join(target).join("release/seal"))
}

/// The nearest functions above the panic that are not the language's own.
fn sites(path: &Path) -> Result<BTreeSet<String>> {
    let bytes = fs::read(path)?;
    let callers = callers(&ElfFile32::<Endianness>::parse(&*bytes)?)?;
    let mut sites = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![PANIC.to_owned()];
    while let Some(name) = open.pop() {
        for caller in callers.get(&name).into_iter().flatten() {
            if !seen.insert(caller.clone()) {
                continue;
            }
            let is_language =
                ["core::", "<core::", "compiler_builtins::"].iter().any(|own| caller.starts_with(own));
            if is_language || caller.contains("rust_begin_unwind") {
                open.push(caller.clone());
            } else {
                sites.insert(caller.clone());
            }
        }
    }
    if sites.is_empty() {
        bail!("no way to {PANIC} was found, though the program does not link without it");
    }
    Ok(sites)
}

/// For each function, those that call it or hold its address.
fn callers(file: &ElfFile32<'_, Endianness>) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut functions = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        // The lowest bit says Thumb.
        functions.insert(symbol.address() & !1, (symbol.size(), demangled(symbol.name()?)));
    }
    let around = |address: u64| {
        let (start, (size, name)) = functions.range(..=address).next_back()?;
        (address < start + size).then_some(name)
    };
    let mut callers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for section in file.sections() {
        for (offset, relocation) in section.relocations() {
            let RelocationTarget::Symbol(index) = relocation.target() else { continue };
            let target = file.symbol_by_index(index)?;
            if let (Some(caller), SymbolKind::Text) = (around(offset), target.kind()) {
                callers.entry(demangled(target.name()?)).or_default().insert(caller.clone());
            }
        }
    }
    Ok(callers)
}

/// Without the hash, which another compiler changes.
fn demangled(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

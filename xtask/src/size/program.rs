//! The program of one part: built, and weighed by what would be loaded.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use object::Endianness;
use object::elf::{SHF_ALLOC, SHF_WRITE, SHT_NOBITS};
use object::read::elf::{ElfFile32, SectionHeader as _};

use super::{Figures, PARTS};
use crate::command::{cargo, root, run, target_dir};
use crate::setup::PAGE_TARGET;
use crate::wasm;

/// The figures of each part on one target.
pub(super) fn figures(target: &str) -> Result<BTreeMap<String, Figures>> {
    let folder = target_dir()?.join("parts");
    let mut build = cargo(["build", "--quiet", "--locked", "--release", "--bins", "--target", target]);
    // The settings of small machines are in firmware/.cargo.
    build.current_dir(root().join("firmware/parts")).arg("--target-dir").arg(&folder);
    run(&mut build, "cargo xtask setup")?;
    let built = folder.join(target).join("release");
    let weigh = |part: &&str| {
        let figures = if target == PAGE_TARGET {
            of_module(&built.join(format!("{part}.wasm")))?
        } else {
            of_program(&built.join(part))?
        };
        Ok(((*part).to_owned(), figures))
    };
    PARTS.iter().map(weigh).collect()
}

/// Flash holds what is loaded; RAM what may be written, zeros too.
fn of_program(path: &Path) -> Result<Figures> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = ElfFile32::<Endianness>::parse(&*bytes)?;
    let endian = file.endian();
    let (mut flash, mut ram) = (0, 0);
    for section in file.elf_section_table().iter() {
        let (flags, size) = (section.sh_flags(endian), u64::from(section.sh_size(endian)));
        if flags & SHF_ALLOC == 0 {
            continue;
        }
        if section.sh_type(endian) != SHT_NOBITS {
            flash += size;
        }
        if flags & SHF_WRITE != 0 {
            ram += size;
        }
    }
    Ok(Figures::from([("flash".to_owned(), flash), ("ram".to_owned(), ram)]))
}

fn of_module(path: &Path) -> Result<Figures> {
    let [raw, gzip, brotli] = wasm::measure(path)?;
    Ok(Figures::from([("raw".to_owned(), raw), ("gzip".to_owned(), gzip), ("brotli".to_owned(), brotli)]))
}

//! The page's module: the crate built for the browser, and the glue that loads it.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

use crate::command::{cargo, program, root, run, target_dir};
use crate::setup::{PAGE_TARGET, text_of};

/// The module's name; its files are `twolane_wasm.js`, `twolane_wasm_bg.wasm` and their types.
const NAME: &str = "twolane_wasm";

const PROFILE: &str = "wasm";

/// The most that the module may have after brotli, in bytes: what it has come down to and 2 % of that. Lowered when the
/// module shrinks, raised only for something that is worth more than its bytes: 9.6 KB are the connector's messages,
/// found, judged and named without a key, 10 KB their fields and the cipher that opens them.
const BROTLI_BYTES_MAX: u64 = 88_700;

/// Of one file, in bytes as stored and as sent. The path is the script's last argument.
const MEASURE: &str = "const z = require('zlib'), b = require('fs').readFileSync(process.argv[1]);
console.log([b, z.gzipSync(b, { level: 9 }), z.brotliCompressSync(b)].map(x => x.length).join(' '))";

/// Builds the module and, where it differs from the last one, its glue.
pub(crate) fn build() -> Result<()> {
    let arguments = ["build", "--package", "twolane-wasm", "--lib"];
    let place = ["--target", PAGE_TARGET, "--profile", PROFILE];
    run(&mut cargo(arguments.into_iter().chain(place)), "cargo xtask setup")?;
    let built = target_dir()?.join(PAGE_TARGET).join(PROFILE).join(format!("{NAME}.wasm"));
    let module = fs::read(&built).with_context(|| format!("cannot read {}", built.display()))?;
    let folder = root().join("web-demo/src/wasm");
    if !is_current(&folder, &module) {
        generate(&folder, &module)?;
    }
    let sizes = Sizes::of(&folder.join(format!("{NAME}_bg.wasm")))?;
    println!("  {sizes}");
    sizes.check()
}

/// The glue's stamp is by content: target folders are shared, moved and restored with odd times.
fn is_current(folder: &Path, module: &[u8]) -> bool {
    let complete =
        ["_bg.wasm", ".js", ".d.ts"].iter().all(|end| folder.join(format!("{NAME}{end}")).is_file());
    complete && fs::read_to_string(stamp(folder)).is_ok_and(|text| text == digest(module))
}

fn generate(folder: &Path, module: &[u8]) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    Bindgen::new()
        .input_bytes(NAME, module.to_vec())
        .web(true)?
        .typescript(true)
        .remove_producers_section(true)
        .generate(folder)
        .context("wasm-bindgen cannot write the page's glue")?;
    fs::write(stamp(folder), digest(module))?;
    Ok(())
}

fn stamp(folder: &Path) -> PathBuf {
    folder.join(".input")
}

fn digest(module: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    module.hash(&mut hasher);
    format!("{:016x}\n", hasher.finish())
}

/// Bytes of a module as stored, after gzip and after brotli.
pub(crate) fn measure(module: &Path) -> Result<[u64; 3]> {
    let text = text_of(program("node").args(["-e", MEASURE]).arg(module))?;
    let sizes: Vec<u64> = text.split(' ').filter_map(|size| size.parse().ok()).collect();
    <[u64; 3]>::try_from(sizes).map_err(|_| anyhow::anyhow!("Node measured {text:?}, not three sizes"))
}

/// Of the module, in bytes.
struct Sizes {
    raw: u64,
    gzip: u64,
    brotli: u64,
}

impl Sizes {
    fn of(module: &Path) -> Result<Self> {
        let [raw, gzip, brotli] = measure(module)?;
        Ok(Self { raw, gzip, brotli })
    }

    fn check(&self) -> Result<()> {
        if self.brotli > BROTLI_BYTES_MAX {
            bail!(
                "the page's module has {} bytes after brotli, {BROTLI_BYTES_MAX} are allowed (xtask/src/wasm.rs)\n  \
                 try: what it is made of shows `twiggy top` of a module built with CARGO_PROFILE_WASM_STRIP=none",
                self.brotli
            );
        }
        Ok(())
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [raw, gzip, brotli] = [self.raw, self.gzip, self.brotli].map(kibibytes);
        write!(f, "wasm {raw}, gzip {gzip}, brotli {brotli}")
    }
}

fn kibibytes(bytes: u64) -> String {
    format!("{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_kibibytes() {
        assert_eq!(kibibytes(0), "0.0 KiB");
        assert_eq!(kibibytes(1535), "1.4 KiB");
        assert_eq!(kibibytes(1024 * 1024), "1024.0 KiB");
    }

    #[test]
    fn a_module_over_its_bound_is_refused_and_one_at_it_is_not() {
        let sizes = |brotli| Sizes { raw: 3 * brotli, gzip: 2 * brotli, brotli };
        assert!(sizes(BROTLI_BYTES_MAX).check().is_ok());
        let error = sizes(BROTLI_BYTES_MAX + 1).check().unwrap_err().to_string();
        assert!(error.contains(&(BROTLI_BYTES_MAX + 1).to_string()), "{error}");
    }

    #[test]
    fn another_module_has_another_stamp() {
        assert_eq!(digest(b"one"), digest(b"one"));
        assert_ne!(digest(b"one"), digest(b"two"));
    }
}

//! Lists the built page's files for `inspect::assets` to embed. Runs no Node: where the page is
//! not built the list is empty.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Asked for now: a build folder that two checkouts share keeps this program, not its place.
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folder = package.join("../web-demo/dist");
    // A folder that is watched but missing would make every build a new one.
    if folder.parent().is_some_and(Path::is_dir) {
        fs::create_dir_all(&folder)?;
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut table = String::from("static PAGE: &[(&str, &[u8])] = &[\n");
    for (number, file) in files(&folder)?.iter().enumerate() {
        let Some(address) = file.strip_prefix(&folder).ok().and_then(Path::to_str) else {
            continue;
        };
        // A copy: the page may be built anew while the compiler reads this one.
        let copy = out.join(format!("page-{number}"));
        fs::copy(file, &copy)?;
        let _ = writeln!(table, "    ({:?}, include_bytes!({:?})),", format!("/{address}"), copy.display());
    }
    table.push_str("];\n");
    fs::write(out.join("page.rs"), table)
}

/// Every file under the folder, sorted, so that the same page makes the same binary.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        } else if path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

//! The page: module, packages, bundle. Each is skipped when nothing it is made of changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Result, bail};

use crate::command::{program, root, run};
use crate::wasm;

/// Under `web-demo/`, but no part of the bundle.
const NOT_BUNDLED: &[&str] = &["node_modules", "dist", "test", "bench", "README.md"];

/// `cargo xtask page`: leaves the built page in `web-demo/dist`.
pub(crate) fn page() -> Result<()> {
    let folder = folder()?;
    wasm::build()?;
    packages()?;
    let built = folder.join("dist/index.html");
    if is_newer(&built, &inputs(&folder)?) {
        println!("  page is up to date");
        return Ok(());
    }
    npm_run(&["build"])
}

/// The page as a part of the tests: built, and its types checked even when the bundle is current.
pub(crate) fn page_and_types() -> Result<()> {
    page()?;
    npm_run(&["typecheck", "--if-present"])
}

/// `npm run` in the page's folder.
fn npm_run(arguments: &[&str]) -> Result<()> {
    run(
        program("npm").args(["run", "--silent", "--prefix", "web-demo"]).args(arguments),
        "rm -r web-demo/node_modules && cargo xtask page",
    )
}

/// The page's installed packages, from the lock file alone. Install scripts never run.
pub(crate) fn packages() -> Result<()> {
    let folder = folder()?;
    let lock = folder.join("package-lock.json");
    if !lock.is_file() {
        bail!(
            "web-demo/package-lock.json is missing; try: npm install --prefix web-demo, \
             and commit the lock file"
        );
    }
    // npm writes this file last, so that an install cut short is done again.
    let installed = folder.join("node_modules/.package-lock.json");
    if is_newer(&installed, &[lock]) {
        return Ok(());
    }
    run(
        program("npm").args(["ci", "--prefix", "web-demo"]).args([
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
        ]),
        "npm install --prefix web-demo, where npm says that the lock file is out of step; \
         else see that npm reaches its registry",
    )
}

fn folder() -> Result<PathBuf> {
    let folder = root().join("web-demo");
    if !folder.join("package.json").is_file() {
        bail!("web-demo/package.json is missing: there is no page to build in this checkout");
    }
    Ok(folder)
}

/// Every file and folder the bundle is made of; folders, because a deleted file changes theirs.
fn inputs(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![folder.join("node_modules/.package-lock.json")];
    let mut open = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !NOT_BUNDLED.iter().any(|name| entry.file_name() == *name) {
            open.push(entry.path());
        }
    }
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        }
        found.push(path);
    }
    Ok(found)
}

/// Whether `made` is there and no older than anything it is `made_of`.
fn is_newer(made: &Path, made_of: &[PathBuf]) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let Some(made) = changed(made) else {
        return false;
    };
    made_of.iter().all(|path| changed(path).is_some_and(|time| time <= made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_never_current() {
        let here = root().join("Cargo.toml");
        let gone = root().join("no-such-file");
        assert!(is_newer(&here, std::slice::from_ref(&here)));
        assert!(!is_newer(&gone, std::slice::from_ref(&here)));
        assert!(!is_newer(&here, &[gone]));
    }
}

//! What we depend on: licences that may be passed on, and one version of what must agree with itself. Offline.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::command::{cargo, root};
use crate::setup::text_of;

/// The packages with a lock file of their own.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "proto-core/fuzz/Cargo.toml",
    "firmware/no-panic/Cargo.toml",
    "firmware/qemu/Cargo.toml",
    "firmware/parts/Cargo.toml",
];

/// `deny.toml`: what is allowed, in the words of cargo-deny, which reads the same file.
#[derive(Debug, Default)]
struct Rules {
    licences: BTreeSet<String>,
    banned: BTreeSet<String>,
    single: BTreeSet<String>,
}

/// `cargo xtask deny`, also a part of the tests.
pub(crate) fn deny() -> Result<()> {
    let rules = Rules::read(&fs::read_to_string(root().join("deny.toml")).context("cannot read deny.toml")?);
    let mut wrong = Vec::new();
    for manifest in MANIFESTS {
        let mut command = cargo(["metadata", "--format-version", "1", "--locked", "--all-features"]);
        let text = text_of(command.args(["--manifest-path", manifest]))?;
        let metadata: Value = serde_json::from_str(&text).context("cargo metadata printed no JSON")?;
        let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
        let shipped = shipped(&metadata);
        let faults = rules.broken_by(packages, &shipped);
        wrong.extend(faults.into_iter().map(|fault| format!("{manifest}: {fault}")));
        println!("  {manifest}: {} packages, {} of them shipped", packages.len(), shipped.len());
    }
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("{}\n  try: another crate, or the list in deny.toml with a reason", wrong.join("\n"))
}

/// The packages that are linked into ours, not those that only tests, builds and these tasks need.
fn shipped(metadata: &Value) -> BTreeSet<&str> {
    let nodes = metadata["resolve"]["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let by_id: BTreeMap<&str, &Value> =
        nodes.iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let members = metadata["workspace_members"].as_array().into_iter().flatten();
    let mut open: Vec<&str> =
        members.filter_map(Value::as_str).filter(|id| !id.contains("/xtask#")).collect();
    let mut shipped = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !shipped.insert(id) {
            continue;
        }
        let node = by_id.get(id).copied().unwrap_or(&Value::Null);
        for dependency in node["deps"].as_array().into_iter().flatten() {
            let mut kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
            if kinds.any(|kind| kind["kind"].is_null()) {
                open.extend(dependency["pkg"].as_str());
            }
        }
    }
    shipped
}

impl Rules {
    /// The three lists, one quoted entry a line.
    fn read(text: &str) -> Self {
        let mut rules = Self::default();
        let mut list: Option<&mut BTreeSet<String>> = None;
        let mut table = "";
        for line in text.lines().map(str::trim) {
            match (table, line) {
                (_, _) if line.starts_with('[') && !line.starts_with("[\"") => table = line,
                ("[licenses]", "allow = [") => list = Some(&mut rules.licences),
                ("[bans]", "deny = [") => list = Some(&mut rules.banned),
                ("[bans]", "deny-multiple-versions = [") => list = Some(&mut rules.single),
                (_, "]") => list = None,
                _ => {
                    if let (Some(list), Some(name)) = (&mut list, line.split('"').nth(1)) {
                        list.insert(name.to_owned());
                    }
                }
            }
        }
        rules
    }

    /// Licences are judged of all packages, the rest of those that are `shipped`.
    fn broken_by(&self, packages: &[Value], shipped: &BTreeSet<&str>) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for package in packages {
            let name = package["name"].as_str().unwrap_or_default();
            let version = package["version"].as_str().unwrap_or_default();
            let licence = package["license"].as_str().unwrap_or("no licence");
            // Our own packages without a licence are not published.
            if !package["source"].is_null() && !self.allows(licence) {
                wrong.push(format!("{name} {version} is under {licence:?}, which is not allowed"));
            }
            if !package["id"].as_str().is_some_and(|id| shipped.contains(id)) {
                continue;
            }
            versions.entry(name).or_default().insert(version);
            if self.banned.contains(name) {
                wrong.push(format!("{name} {version} is banned"));
            }
        }
        for (name, versions) in versions.iter().filter(|(name, _)| self.single.contains(**name)) {
            if versions.len() > 1 {
                let versions: Vec<&str> = versions.iter().copied().collect();
                wrong.push(format!("{name} is there in versions {}", versions.join(" and ")));
            }
        }
        wrong
    }

    /// Whether one may choose only allowed licences: every side of an AND, one of an OR.
    fn allows(&self, expression: &str) -> bool {
        let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
        expression.split(" AND ").all(|all| all.split(" OR ").any(|one| self.licences.contains(one.trim())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "[licenses]\nallow = [\n  \"MIT\", # why\n  \"Unicode-3.0\",\n]\n[bans]\ndeny = [\n  \"bad\",\n]\ndeny-multiple-versions = [\n  \"sha2\",\n]\n";

    fn package(name: &str, version: &str, licence: &str) -> Value {
        let id = format!("{name}-{version}");
        serde_json::json!({ "id": id, "source": "crates.io", "name": name, "version": version, "license": licence })
    }

    #[test]
    fn one_side_of_an_or_is_enough_and_every_side_of_an_and_is_needed() {
        let rules = Rules::read(RULES);
        for licence in ["MIT", "MIT OR Apache-2.0", "Apache-2.0/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert!(rules.allows(licence), "{licence}");
        }
        for licence in ["GPL-3.0", "MIT AND GPL-3.0", "no licence", ""] {
            assert!(!rules.allows(licence), "{licence}");
        }
    }

    #[test]
    fn every_broken_rule_is_named() {
        let packages = [
            package("bad", "1.0.0", "GPL-3.0"),
            package("sha2", "1.0.0", "MIT"),
            package("sha2", "2.0.0", "MIT"),
            package("sha2", "3.0.0", "MIT"),
        ];
        let shipped = BTreeSet::from(["bad-1.0.0", "sha2-1.0.0", "sha2-2.0.0"]);
        let wrong = Rules::read(RULES).broken_by(&packages, &shipped).join("\n");
        assert!(!wrong.contains("3.0.0"), "what only a test needs may be there twice: {wrong}");
        for part in ["bad 1.0.0 is under", "bad 1.0.0 is banned", "sha2 is there in versions 1.0.0 and 2.0.0"]
        {
            assert!(wrong.contains(part), "{wrong}");
        }
    }

    #[test]
    fn the_file_of_this_checkout_has_all_three_lists() {
        let rules = Rules::read(&fs::read_to_string(root().join("deny.toml")).unwrap());
        assert!(rules.licences.contains("MIT") && !rules.banned.is_empty() && rules.single.contains("sha2"));
    }
}

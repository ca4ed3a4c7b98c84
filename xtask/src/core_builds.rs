//! The core built alone, as firmware takes it: in the workspace other crates turn features on.

use anyhow::Result;

use crate::command::{cargo, run, target_dir};
use crate::setup::TARGETS;

/// Every set of the core's features that is promised to work.
const FEATURE_SETS: &[&str] = &[
    "",
    "seal",
    "alloc",
    "seal,alloc",
    "std",
    "schema,seal",
    "embedded-io-07",
    "embedded-io-async-07",
    "defmt",
];

/// The sets that must build without a system below.
const BARE_FEATURE_SETS: &[&str] = &["", "seal", "alloc", "seal,alloc", "embedded-io-async-07,defmt"];

pub(crate) fn features() -> Result<()> {
    for features in FEATURE_SETS {
        announce(features);
        run(&mut core("build", features, &["--lib"]), "")?;
        run(&mut core("clippy", features, &["--lib", "--", "-D", "warnings"]), "")?;
    }
    compact()
}

/// The core without its fast paths has to say the same: its tests, built so.
fn compact() -> Result<()> {
    println!("  tests with twolane_backend=\"compact\"");
    let mut tests =
        cargo(["test", "--quiet", "--package", "twolane-core", "--features", "alloc,embedded-io-async-07"]);
    tests.arg("--lib");
    for test in ["envelope_vectors", "frames", "body", "goldens", "json_scanner", "dissect", "stream"] {
        tests.args(["--test", test]);
    }
    tests.arg("--target-dir").arg(target_dir()?.join("compact"));
    run(tests.env("RUSTFLAGS", "--cfg=twolane_backend=\"compact\""), "")
}

pub(crate) fn targets() -> Result<()> {
    let mut arguments = vec!["--lib"];
    for target in TARGETS {
        arguments.extend(["--target", target]);
    }
    for features in BARE_FEATURE_SETS {
        announce(features);
        run(&mut core("build", features, &arguments), "cargo xtask setup")?;
    }
    Ok(())
}

fn core(subcommand: &str, features: &str, arguments: &[&str]) -> std::process::Command {
    let mut command = cargo([subcommand, "--package", "twolane-core", "--no-default-features"]);
    if !features.is_empty() {
        command.args(["--features", features]);
    }
    command.args(arguments);
    command
}

fn announce(features: &str) {
    let named = if features.is_empty() { "none" } else { features };
    println!("  features: {named}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a manifest's `[features]`, without `default`.
    fn declared(manifest: &str) -> Vec<&str> {
        manifest
            .lines()
            .skip_while(|line| line.trim() != "[features]")
            .skip(1)
            .take_while(|line| !line.starts_with('['))
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name.trim())
            .filter(|name| !name.starts_with('#') && *name != "default")
            .collect()
    }

    #[test]
    fn every_feature_of_the_core_is_in_some_set() {
        let path = crate::command::root().join("proto-core/Cargo.toml");
        let manifest = std::fs::read_to_string(path).unwrap();
        let names = declared(&manifest);
        assert!(names.contains(&"alloc"), "{names:?}");
        for name in names {
            let built = FEATURE_SETS.iter().any(|set| set.split(',').any(|feature| feature == name));
            assert!(built, "no set of FEATURE_SETS has {name:?}");
        }
    }
}

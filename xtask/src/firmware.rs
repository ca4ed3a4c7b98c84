//! Programs on a machine without a system: firmware/qemu in QEMU, compared with the host.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use digest_of_dissection::{Kind, digest};
use serde_json::Value;
use twolane_core::dissect::Stage;

use crate::command::{cargo, program, root, run, target_dir};
use crate::setup::{on_path, text_of};

/// Each with the machine whose processor runs its code; a Cortex-M3 runs that of a Cortex-M0 as well.
const TARGETS: &[(&str, &str)] =
    &[("thumbv7m-none-eabi", "mps2-an385"), ("thumbv6m-none-eabi", "mps2-an385")];

/// A program that does not end by itself is stuck.
const SECONDS_MAX: &str = "60";

/// Most bytes of stack that the core may take anywhere.
pub(crate) const STACK_MAX: u64 = 4096;

/// The part of the tests: every golden dissected on the machine as on the host.
pub(crate) fn firmware() -> Result<()> {
    let expected = on_the_host()?;
    for (target, machine) in TARGETS {
        let printed = on_the_machine(target, machine, "goldens")?;
        let mut found = BTreeMap::new();
        for line in printed.lines() {
            let (name, value) = line.split_once(' ').with_context(|| format!("{line:?} is no result"))?;
            found.insert(name.to_owned(), value.to_owned());
        }
        let stack = found.remove("stack").context("the program did not tell its stack")?;
        compare(&expected, &found).with_context(|| format!("{target} on {machine}"))?;
        println!("  {target} on {machine}: {} goldens as on the host, stack {stack} bytes", found.len());
        if stack.parse::<u64>()? > STACK_MAX {
            bail!("a dissection takes {stack} bytes of stack; at most {STACK_MAX} are promised");
        }
    }
    Ok(())
}

/// Builds a program of firmware/qemu, runs it and gives what it printed.
pub(crate) fn on_the_machine(target: &str, machine: &str, name: &str) -> Result<String> {
    let folder = target_dir()?.join("qemu");
    let mut build = cargo(["build", "--quiet", "--locked", "--release", "--target", target, "--bin", name]);
    // The settings of small machines are in firmware/.cargo.
    build.current_dir(root().join("firmware/qemu")).arg("--target-dir").arg(&folder);
    run(&mut build, "cargo xtask setup")?;
    on_path("qemu-system-arm").context("no qemu-system-arm found; try: cargo xtask setup")?;
    text_of(emulator(machine).arg(folder.join(target).join("release").join(name)))
        .with_context(|| format!("{name} for {target} failed; run it by hand to see its panic"))
}

/// QEMU with the host's terminal as the machine's, stopped after a minute.
fn emulator(machine: &str) -> Command {
    let mut command = program("timeout");
    command.args([SECONDS_MAX, "qemu-system-arm", "-machine", machine, "-nographic"]);
    command.args(["-monitor", "none", "-serial", "none"]);
    command.args(["-semihosting-config", "enable=on,target=native", "-kernel"]);
    command
}

/// The digest of each golden by name.
fn on_the_host() -> Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    for entry in fs::read_dir(root().join("fixtures/golden"))? {
        let path = entry?.path();
        let goldens: Value = serde_json::from_slice(&fs::read(&path)?)
            .with_context(|| format!("{} is no JSON", path.display()))?;
        for golden in goldens.as_array().into_iter().flatten() {
            let member =
                |name: &str| golden[name].as_str().with_context(|| format!("a golden without {name}"));
            let kind = match member("kind")? {
                "ClientHello" => Kind::Handshake(Stage::ClientHello),
                "ServerProof" => Kind::Handshake(Stage::ServerProof),
                "ClientAuth" => Kind::Handshake(Stage::ClientAuth),
                _ => Kind::Frame,
            };
            let digest = digest(kind, &bytes(member("hex")?)?);
            digests.insert(member("name")?.to_owned(), format!("{digest:016x}"));
        }
    }
    Ok(digests)
}

fn bytes(hex: &str) -> Result<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    hex.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            &[high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect::<Option<_>>()
        .with_context(|| format!("{hex:?} is no hex"))
}

/// Both ways: a golden that the machine left out is as wrong as one that it read otherwise.
fn compare(expected: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Result<()> {
    let mut wrong: Vec<String> = Vec::new();
    for (name, digest) in expected {
        match found.get(name) {
            Some(other) if other == digest => {}
            Some(other) => wrong.push(format!("{name}: {other}, on the host {digest}")),
            None => wrong.push(format!("{name}: not there")),
        }
    }
    let strangers = found.keys().filter(|name| !expected.contains_key(*name));
    wrong.extend(strangers.map(|name| format!("{name}: no such golden")));
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("the machine does not read what the host reads:\n{}", wrong.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rows: &[(&str, &str)]) -> BTreeMap<String, String> {
        rows.iter().map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned())).collect()
    }

    #[test]
    fn a_golden_read_otherwise_left_out_or_made_up_is_named() {
        let expected = map(&[("a", "1"), ("b", "2")]);
        assert!(compare(&expected, &map(&[("a", "1"), ("b", "2")])).is_ok());
        for (found, named) in [
            (map(&[("a", "1"), ("b", "3")]), "b: 3"),
            (map(&[("a", "1")]), "b: not there"),
            (map(&[("a", "1"), ("b", "2"), ("c", "3")]), "c: no such"),
        ] {
            let text = compare(&expected, &found).unwrap_err().to_string();
            assert!(text.contains(named), "{text}");
        }
    }

    #[test]
    fn every_golden_has_a_digest_of_its_own_bytes() {
        let digests = on_the_host().unwrap();
        assert!(digests.len() > 70, "{}", digests.len());
        assert_ne!(digests["v1-Ping"], digests["v1-Pong"]);
    }
}

//! `cargo xtask golden`: the one writer of fixtures/golden, connector and schemas. Everything else reads them.

mod cases;
mod connector;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use twolane_core::connector::schema;
use twolane_core::dissect::{Stage, Tree};

/// Whether to write or to compare.
#[derive(Args)]
pub(crate) struct Options {
    /// Write the files; without it they are only compared with what the core says now
    #[arg(long)]
    write: bool,
}

/// What the bytes of a golden are.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A frame, whole or damaged.
    Frame,
    /// A handshake message with its length prefix.
    Handshake(Stage),
    /// A connector frame with its length prefix.
    Connector,
    /// A document as a seal holds it.
    Document,
}

/// Bytes with a name; their dissection is the core's to say and a reviewer's to judge.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
    /// The golden that a sealed frame opens to.
    pub(crate) opens_to: Option<&'static str>,
}

/// `cargo xtask golden [--write]`.
pub(crate) fn golden(options: &Options) -> Result<()> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let [goldens, sealed, schemas] = ["golden", "connector", "schemas"].map(|name| fixtures.join(name));
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut count = 0;
    for (folder, all) in [(&goldens, cases::all()?), (&sealed, connector::all()?)] {
        for (file, cases) in all {
            count += cases.len();
            files.push((folder.join(file), render(&cases)?));
        }
    }
    files.extend(schema::schemas().into_iter().map(|(id, text)| (schemas.join(format!("{id}.json")), text)));
    if options.write {
        for folder in [&goldens, &sealed, &schemas] {
            fs::create_dir_all(folder)?;
        }
        for (path, text) in &files {
            fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        eprintln!("{count} goldens written, to {} files with the schemas", files.len());
        return Ok(());
    }
    for (path, text) in &files {
        let found = fs::read_to_string(path)
            .with_context(|| format!("cannot read {}; try: cargo xtask golden --write", path.display()))?;
        if let Some(line) = first_difference(&found, text) {
            bail!(
                "{}:{line} is not what the core says now; look at: cargo xtask golden --write && git diff fixtures",
                path.display()
            );
        }
    }
    for folder in [&goldens, &sealed, &schemas] {
        no_strangers(folder, &files)?;
    }
    eprintln!("{count} goldens are as the core says, in {} files with the schemas", files.len());
    Ok(())
}

/// `cargo xtask test` compares.
pub(crate) fn check() -> Result<()> {
    golden(&Options { write: false })
}

fn no_strangers(folder: &Path, files: &[(PathBuf, String)]) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !files.iter().any(|(known, _)| *known == path) {
            bail!("{} is written by nobody: remove it or add its cases to xtask/src/golden", path.display());
        }
    }
    Ok(())
}

fn first_difference(found: &str, expected: &str) -> Option<usize> {
    if found == expected {
        return None;
    }
    let same = found.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
    Some(same + 1)
}

/// One golden after another, one node a line, so that a change shows as the lines it touches.
fn render(cases: &[Case]) -> Result<String> {
    let mut out = String::from("[\n");
    for (place, case) in cases.iter().enumerate() {
        let (kind, tree) = match case.kind {
            Kind::Frame => ("frame", Tree::frame(&case.bytes)),
            Kind::Handshake(stage) => (stage.name(), Tree::handshake(&case.bytes, stage)),
            Kind::Connector => ("connector", Tree::connector(&case.bytes)),
            Kind::Document => ("document", Tree::document(&case.bytes)),
        };
        let hex: String = case.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let (name, kind) = (json!(case.name), json!(kind));
        let opens_to = case.opens_to.map_or(String::new(), |golden| format!("\"opens_to\":\"{golden}\","));
        writeln!(out, "{{\"name\":{name},\"kind\":{kind},{opens_to}\n\"hex\":\"{hex}\",\n\"nodes\":[")?;
        for (at, node) in tree.nodes.iter().enumerate() {
            let row = json!([
                node.depth,
                node.start,
                node.value_start,
                node.end,
                node.mask,
                node.kind.name(),
                node.name,
                node.value,
                node.meaning
            ]);
            writeln!(out, "{row}{}", if at + 1 < tree.nodes.len() { "," } else { "" })?;
        }
        let fault = tree
            .fault
            .map_or(Value::Null, |fault| json!({"offset": fault.offset, "reason": fault.reason.to_string()}));
        writeln!(out, "],\n\"fault\":{fault}}}{}", if place + 1 < cases.len() { "," } else { "" })?;
    }
    out.push_str("]\n");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_rendered_files_are_json() {
        let mut names = Vec::new();
        for (_, cases) in [cases::all().unwrap(), connector::all().unwrap()].concat() {
            let parsed: Value = serde_json::from_str(&render(&cases).unwrap()).unwrap();
            assert_eq!(parsed.as_array().unwrap().len(), cases.len());
            names.extend(cases.into_iter().map(|case| case.name));
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_difference_is_named_by_its_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
    }
}

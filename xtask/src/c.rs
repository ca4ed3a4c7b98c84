//! The core from C: the header that cbindgen writes, and the example built by cc and run under valgrind.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::command::{cargo, program, root, run, target_dir};
use crate::setup::text_of;

/// Whether to write or to compare.
#[derive(Args)]
pub(crate) struct Options {
    /// Write the header; without it, it is only compared with what the sources say now
    #[arg(long)]
    write: bool,
}

const HEADER: &str = "proto-c/include/twolane.h";

/// `cargo xtask header [--write]`.
pub(crate) fn header(options: &Options) -> Result<()> {
    let text = generated(&root().join("proto-c"))?;
    let path = root().join(HEADER);
    if options.write {
        return fs::write(&path, text).with_context(|| format!("cannot write {HEADER}"));
    }
    if fs::read_to_string(&path).is_ok_and(|kept| kept == text) {
        return Ok(());
    }
    bail!("{HEADER} is not what proto-c/src says; try: cargo xtask header --write")
}

fn generated(package: &Path) -> Result<String> {
    let config = cbindgen::Config::from_root_or_default(package);
    let bindings = cbindgen::Builder::new().with_crate(package).with_config(config).generate()?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    Ok(String::from_utf8(text)?)
}

/// The part of the tests.
pub(crate) fn c() -> Result<()> {
    header(&Options { write: false })?;
    let arguments =
        ["build", "--quiet", "--package", "twolane-c", "--lib", "--release", "--features", "seal"];
    run(&mut cargo(arguments), "")?;
    let folder = target_dir()?;
    let example = folder.join("c-client");
    let mut compiler = program("cc");
    compiler.args(["-std=c99", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-DTWOLANE_SEAL", "-o"]);
    compiler.arg(&example).args(["-Iproto-c/include", "proto-c/example/client.c"]);
    compiler.arg(folder.join("release/libtwolane_c.a")).args(["-lpthread", "-ldl", "-lm"]);
    run(&mut compiler, "install a C compiler")?;
    let golden = |name| hex_of("fixtures/golden/handshake.json", name);
    let frames = ["v1-Response", "v1-Ping", "v1-Goodbye"].map(|name| hex_of("fixtures/golden/v1.json", name));
    let frames = frames.into_iter().collect::<Result<Vec<String>>>()?.concat();
    let printed = text_of(under_valgrind(&example).args([golden("handshake-proof")?, frames]))
        .context("the C example failed; run the line above to see why")?;
    let corr = 0x0102_0304_0506_0708_u64;
    let expected = [
        format!("hello {}", golden("handshake-hello")?),
        format!("auth {}", golden("handshake-auth")?),
        format!("frame type 1 channel 3 corr {corr} body {{\"result\":{{\"sessions\":[]}}}}"),
        format!("frame type 7 channel 3 corr {corr} body "),
        format!("frame type 11 channel 3 corr {corr} body "),
        "opened a turn".to_owned(),
    ];
    let found: Vec<&str> = printed.lines().collect();
    if found != expected {
        bail!("the C example printed\n{printed}\nand not\n{}", expected.join("\n"));
    }
    println!(
        "  the header is current; the example says and hears what the goldens hold, without a fault in valgrind"
    );
    Ok(())
}

/// A read or write outside its place, a jump on what was never written, or a byte that is not given back is a failure.
fn under_valgrind(example: &Path) -> Command {
    let mut command = program("valgrind");
    command.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all"]);
    command.arg(example);
    command
}

fn hex_of(file: &str, name: &str) -> Result<String> {
    let goldens: Value = serde_json::from_slice(&fs::read(root().join(file))?)?;
    let golden = goldens.as_array().into_iter().flatten().find(|golden| golden["name"] == name);
    let hex = golden.and_then(|golden| golden["hex"].as_str());
    hex.map(str::to_owned).with_context(|| format!("{file} has no {name}"))
}

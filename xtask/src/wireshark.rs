//! The dissector of docs/wireshark in a real tshark.

use anyhow::{Context as _, Result};

use crate::command::{cargo, run};
use crate::debian;
use crate::setup::on_path;

/// A part of its own, since tshark is large and only this one test needs it.
pub(crate) fn wireshark() -> Result<()> {
    if on_path("tshark").is_none() {
        debian::install(&["tshark"])?;
    }
    let tshark = on_path("tshark").context("tshark is installed but not on the path")?;
    println!("  tshark        {}", tshark.display());
    let test = ["test", "-p", "twolane", "--test", "captures", "--", "--ignored", "wireshark"];
    run(&mut cargo(test), "")
}

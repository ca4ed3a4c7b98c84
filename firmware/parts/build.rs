//! What a linker script for a microcontroller does: no unwinding tables, nothing that is not loaded.

use std::path::PathBuf;
use std::{env, fs};

const SCRIPT: &str = "ENTRY(_start)
SECTIONS
{
  .text : { *(.text .text.*) }
  .rodata : { *(.rodata .rodata.* .srodata .srodata.*) }
  .data : { *(.data .data.* .sdata .sdata.*) }
  .bss : { *(.bss .bss.* .sbss .sbss.*) }
  /DISCARD/ : { *(.ARM.exidx .ARM.exidx.* .ARM.extab.* .eh_frame .eh_frame_hdr) }
}
";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    let script = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("parts.x");
    fs::write(&script, SCRIPT).expect("the folder is ours");
    println!("cargo::rustc-link-arg-bins=-T{}", script.display());
}
